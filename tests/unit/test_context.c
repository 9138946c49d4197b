// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Many runs in one process: memory, limits, messages and threads belong to a context, and simulations that step at the
// same time in threads of the caller's give the bits that each gives alone.
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <rheo/rheo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/parallel.h"

static void memory_counts_in_its_own_context(void **state)
{
    (void)state;
    int64_t before = rh_memory_bytes();
    rh_context *a = rh_context_create(NULL), *b = rh_context_create(NULL);
    int64_t contexts = rh_memory_bytes() - before;
    rh_context_scope out = rh_context_enter(a);
    void *first = rh_alloc(1000, "test.first", NULL);
    rh_context_scope inner = rh_context_enter(b);
    void *second = rh_alloc(300, "test.second", NULL);
    assert_int_equal(rh_memory_bytes(), 300);
    rh_free(first);  // counted where it came from
    assert_int_equal(rh_memory_bytes(), 300);
    rh_memory_label labels[4];
    assert_int_equal(rh_memory_labels(labels, 4), 1);
    assert_string_equal(labels[0].label, "test.second");
    rh_context_leave(inner);
    assert_true(rh_context_current() == a);
    assert_int_equal(rh_memory_bytes(), 0);
    assert_int_equal(rh_memory_peak(), 1000);
    assert_int_equal(rh_memory_of_process(), before + contexts + 300);
    rh_context_leave(out);
    rh_context_release(a);
    rh_context_release(b);  // lives on: one of its blocks does
    assert_true(rh_memory_bytes() > before + 300);
    rh_free(second);
    assert_int_equal(rh_memory_bytes(), before);
}

static void limits_hold_for_one_and_for_all(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_context *a = rh_context_create(NULL);
    rh_context_scope out = rh_context_enter(a);
    rh_memory_set_limit(5000);
    void *kept = rh_alloc(4000, "test", &status);
    assert_non_null(kept);
    assert_null(rh_alloc(1001, "test", &status));
    assert_non_null(strstr(status.message, "more than the limit allows"));
    rh_context_leave(out);
    void *outside = rh_alloc(100000, "test", &status);  // another's limit is not ours
    assert_non_null(outside);
    rh_free(outside);
    rh_memory_set_limit(rh_memory_bytes() + 500);  // of the process: one for all together
    rh_context_enter(a);
    assert_null(rh_alloc(600, "test", &status));
    rh_context_leave(out);
    rh_memory_set_limit(0);
    rh_free(kept);
    rh_context_release(a);
}

static void collect(rh_log_level level, const char *message, void *user)
{
    (void)level;
    strcat(user, message);
}

static void messages_go_to_their_sink(void **state)
{
    (void)state;
    char all[64] = "", own[64] = "";
    rh_context *a = rh_context_create(NULL);
    rh_log_set_sink(collect, all);
    rh_context_scope out = rh_context_enter(a);
    rh_log(RH_LOG_INFO, "1");  // no sink of its own yet
    rh_log_set_sink(collect, own);
    rh_log(RH_LOG_INFO, "2");
    rh_context_leave(out);
    rh_log(RH_LOG_INFO, "3");
    rh_log_set_sink(NULL, NULL);
    rh_context_release(a);
    assert_string_equal(all, "13");
    assert_string_equal(own, "2");
}

static void threads_are_those_of_the_context(void **state)
{
    (void)state;
    int callers = omp_get_max_threads();
    rh_context *a = rh_context_create(NULL);
    rh_context_set_threads(a, 3);
    rh_context_scope out = rh_context_enter(a);
    assert_int_equal(rh_threads(), 3);
    rh_context_leave(out);
    assert_int_equal(omp_get_max_threads(), callers);
    rheo_set_threads(5);  // the default of those that have none
    assert_int_equal(omp_get_max_threads(), callers);
    out = rh_context_enter(a);
    assert_int_equal(rh_threads(), 3);
    rh_context_leave(out);
    rh_context_set_threads(a, 0);
    out = rh_context_enter(a);
    assert_int_equal(rh_threads(), 5);
    rh_context_leave(out);
    rheo_set_threads(0);
    rh_context_release(a);
}

// --- simulations side by side ----------------------------------------------------------------------------------------
typedef struct task {
    const char *scene, *cell;
    int threads;
    double print;  // of all positions at the end
    int64_t peak;  // bytes
    rheo_code code;
    rheo_error error;
} task;

// Positions by id, added up with weights: any particle elsewhere shows.
static double print_of(const rheo_simulation *sim)
{
    const float *P = rheo_points_float(sim, "P", 3);
    const int64_t *id = rheo_points_id(sim);
    double sum = 0;
    for (int64_t i = 0; i < 3 * rheo_point_count(sim); i++) sum += (double)P[i] * sin((double)(3 * id[i / 3] + i % 3));
    return sum;
}

static void *simulate(void *user)
{
    task *t = user;
    char path[512];
    rheo_simulation *sim = NULL;
    snprintf(path, sizeof path, RHEO_SOURCE_DIR "/scenes/%s.yaml", t->scene);
    const char *settings[] = {t->cell};
    const rheo_options options = {.threads = t->threads, .memory_limit = 200000000};
    t->code = rheo_open_as(path, settings, 1, &options, &sim, &t->error);
    for (int n = 0; n < 3 && t->code == RHEO_OK; n++) t->code = rheo_advance_frame(sim, &t->error);
    if (t->code == RHEO_OK) {
        t->print = print_of(sim);
        rheo_simulation_memory(sim, &t->peak);
    }
    rheo_close(sim);
    return NULL;
}

static void simulations_do_not_meet(void **state)
{
    (void)state;
    const task tasks[4] = {{.scene = "dam_break", .cell = "cell=0.1", .threads = 2},
                           {.scene = "sand/column", .cell = "cell=0.04", .threads = 1},
                           {.scene = "splash/colliding_streams", .cell = "cell=0.3", .threads = 3},
                           {.scene = "dam_break", .cell = "cell=0.125", .threads = 2}};
    task alone[4], together[4];
    memcpy(alone, tasks, sizeof tasks);
    for (int i = 0; i < 4; i++) {
        alone[i].threads = 1;
        simulate(&alone[i]);
        if (alone[i].code != RHEO_OK) fail_msg("%s", alone[i].error.message);
    }
    for (int count = 2; count <= 4; count += 2) {
        pthread_t threads[4];
        memcpy(together, tasks, sizeof tasks);
        for (int i = 0; i < count; i++) assert_int_equal(pthread_create(&threads[i], NULL, simulate, &together[i]), 0);
        for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < count; i++) {
            if (together[i].code != RHEO_OK) fail_msg("%s", together[i].error.message);
            assert_true(together[i].print == alone[i].print);
            assert_true(together[i].print != alone[(i + 1) % 4].print);
            assert_true(together[i].peak > 0 && together[i].peak < 3 * alone[i].peak);  // its own, not the sum of all
        }
    }
    assert_int_equal(rheo_memory_bytes(), 0);
}

// One that may not have the memory it needs fails by itself.
static void a_limit_is_one_simulations_own(void **state)
{
    (void)state;
    const char *cell = "cell=0.1";
    rheo_simulation *poor, *rich;
    rheo_error error;
    assert_int_equal(rheo_open(RHEO_SOURCE_DIR "/scenes/dam_break.yaml", &cell, 1, &rich, &error), RHEO_OK);
    const rheo_options options = {.memory_limit = 100000};
    assert_int_equal(rheo_open_as(RHEO_SOURCE_DIR "/scenes/dam_break.yaml", &cell, 1, &options, &poor, &error),
                     RHEO_MEMORY);
    assert_null(poor);
    assert_int_equal(rheo_advance_frame(rich, &error), RHEO_OK);
    rheo_close(rich);
    assert_int_equal(rheo_memory_bytes(), 0);
}

// A former key of a scene is told to the log of the simulation that met it.
typedef struct listener {
    const char *path;
    char heard[2048];
    rheo_error error;
    rheo_code code;
} listener;

static void note(const char *message, void *user)
{
    listener *l = user;
    snprintf(l->heard, sizeof l->heard, "%s", message);
}

static void *open_and_close(void *user)
{
    listener *l = user;
    rheo_simulation *sim;
    const rheo_options options = {.log = note, .log_user = l};
    l->code = rheo_open_as(l->path, NULL, 0, &options, &sim, &l->error);
    rheo_close(sim);
    return NULL;
}

static void each_hears_its_own(void **state)
{
    (void)state;
    listener listeners[4];
    char paths[4][64];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "context-%d-%d.yaml", (int)getpid(), i);
        FILE *file = fopen(paths[i], "w");
        assert_non_null(file);
        fprintf(file, "rheo: 1\ncell: 0.1\nrest: true\nphysics: {liquid: {}}\nbodies: [{shape: {box: {min: [0, 0, 0], "
                      "max: [1, 1, 1]}}}]\n");
        fclose(file);
        listeners[i] = (listener){.path = paths[i]};
    }
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, &listeners[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        remove(paths[i]);
        if (listeners[i].code != RHEO_OK) fail_msg("%s", listeners[i].error.message);
        assert_non_null(strstr(listeners[i].heard, paths[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_counts_in_its_own_context),
                                       cmocka_unit_test(limits_hold_for_one_and_for_all),
                                       cmocka_unit_test(messages_go_to_their_sink),
                                       cmocka_unit_test(threads_are_those_of_the_context),
                                       cmocka_unit_test(simulations_do_not_meet),
                                       cmocka_unit_test(a_limit_is_one_simulations_own),
                                       cmocka_unit_test(each_hears_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
