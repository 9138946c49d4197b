// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A program in memory: the expression and the loop in C run in turns, each on its own copy of the points, in one
// process, so that both have the same neighbours on the machine. The least time of each counts. Both must end with the
// same points.
#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "lang/lang.h"
#include "expression.h"

static const double SPACING = 0.05, CELL = 0.1;  // m

double bench_points_cell(void) { return CELL; }

static float spread(uint64_t seed, int64_t id, int number, double low, double high)
{
    return (float)(low +
                   (high - low) *
                       ((double)(rh_mix64(seed ^ rh_mix64((uint64_t)id * 8 + (uint64_t)number)) >> 11) * 0x1p-53));
}

static void fill(const bench_points *p)
{
    int64_t side = (int64_t)ceil(cbrt((double)p->count));
#pragma omp parallel for schedule(static) num_threads(rh_threads())
    for (int64_t i = 0; i < p->count; i++) {
        double x = (double)(i % side), y = (double)(i / side % side), z = (double)(i / side / side);
        p->position[i] = (rh_vec3){(float)(SPACING * x) + spread(1, i, 0, 0, SPACING),
                                   (float)(SPACING * y) + spread(1, i, 1, 0, SPACING),
                                   (float)(SPACING * z) + spread(1, i, 2, 0, SPACING)};
        p->velocity[i] = (rh_vec3){spread(1, i, 3, 1, 3), spread(1, i, 4, -1, 1), spread(1, i, 5, -1, 1)};
        p->radius[i] = spread(1, i, 6, 0.01, 0.03);
        p->id[i] = i;
    }
}

rh_code bench_points_make(bench_points *p, int64_t count, rh_status *status)
{
    size_t n = (size_t)count;
    *p = (bench_points){.position = rh_alloc(n * sizeof *p->position, "bench.points", status),
                        .velocity = rh_alloc(n * sizeof *p->velocity, "bench.points", status),
                        .radius = rh_alloc(n * sizeof *p->radius, "bench.points", status),
                        .id = rh_alloc(n * sizeof *p->id, "bench.points", status),
                        .dead = rh_alloc_zero(n, "bench.points", status),
                        .count = count};
    if (!p->position || !p->velocity || !p->radius || !p->id || !p->dead) return RH_MEMORY;
    fill(p);
    return RH_OK;
}

void bench_points_free(bench_points *p)
{
    void *const all[] = {p->position, p->velocity, p->radius, p->id, p->dead};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) rh_free(all[i]);
    *p = (bench_points){.count = 0};
}

static void *column_of(const bench_points *p, const char *name)
{
    return strcmp(name, "P") == 0        ? (void *)p->position
           : strcmp(name, "v") == 0      ? (void *)p->velocity
           : strcmp(name, "radius") == 0 ? (void *)p->radius
                                         : (void *)p->id;
}

// ---- the two sides

typedef struct contest {
    bench_program program;
    bench_points ours, theirs;
    rh_lang_program *code;
    rh_lang_scope scope;
    rh_lang_pool pool;
    rh_lang_column columns[8];
} contest;

static rh_code prepare(contest *c, int64_t count, bench_side *ours, rh_status *status)
{
    const char *text = bench_program_text[c->program];
    rh_lang_options options = {.domain = RH_LANG_POINTS};
    rh_lang_messages messages = {0};
    rh_code code = rh_lang_compile(text, strlen(text), &options, &c->code, &messages, status);
    rh_lang_messages_free(&messages);
    RH_TRY(code);
    ours->compile = rh_lang_program_seconds(c->code);
    RH_TRY(bench_points_make(&c->ours, count, status));
    RH_TRY(bench_points_make(&c->theirs, count, status));
    c->scope = (rh_lang_scope){.dead = c->ours.dead};
    const rh_lang_listing *l = rh_lang_program_listing(c->code);
    for (int i = 0; i < l->attribute_count; i++)
        c->columns[i] = (rh_lang_column){column_of(&c->ours, l->attributes[i].name),
                                         (int64_t)rh_lang_type_size(l->attributes[i].type)};
    return rh_lang_pool_init(&c->pool, c->code, &c->scope, status);
}

static void keep_least(bench_side *side, double seconds, double cpu, int turn)
{
    if (turn == 0 || seconds < side->whole) side->whole = side->execute = seconds;
    if (turn == 0 || cpu < side->cpu) side->cpu = cpu;
}

static rh_code take_turn(contest *c, int turn, bench_expression_result *out, rh_status *status)
{
    fill(&c->ours),
        fill(&c->theirs);  // the step's drag drives points apart: some steps more and nothing finite is left
    double start = rh_seconds(), cpu = bench_cpu_seconds();
    bench_hand_run(c->program, &c->theirs);
    keep_least(&out->peer, rh_seconds() - start, bench_cpu_seconds() - cpu, turn);
    rh_lang_result result;
    const rh_lang_elements elements = {.attributes = c->columns};
    start = rh_seconds(), cpu = bench_cpu_seconds();
    rh_code code = rh_lang_pass(c->code, &c->pool, &elements, c->ours.count, &result, status);
    keep_least(&out->ours, rh_seconds() - start, bench_cpu_seconds() - cpu, turn);
    rh_lang_result_free(&result);
    return code;
}

static bool close_to(float a, float b) { return fabsf(a - b) <= 1e-5f * (1 + fabsf(b)); }

// pow() and products round differently in the last place, hence not to the bit.
static rh_code compare(const contest *c, bench_expression_result *out, rh_status *status)
{
    for (int64_t i = 0; i < c->ours.count; i++) {
        rh_vec3 a = c->ours.position[i], b = c->theirs.position[i];
        bool same = close_to(a.x, b.x) && close_to(a.y, b.y) && close_to(a.z, b.z) &&
                    c->ours.dead[i] == c->theirs.dead[i];
        if (!same)
            return rh_fail(status, RH_NUMERIC, "the expression and the loop in C have different results for point %lld",
                           (long long)i);
        out->left += !c->ours.dead[i];
    }
    return RH_OK;
}

static rh_code run(const bench_expression_entry *entry, int repeats, bench_expression_result *out, rh_status *status)
{
    contest c = {.program = entry->program};
    rh_code code = prepare(&c, entry->points, &out->ours, status);
    for (int turn = 0; turn < repeats && code == RH_OK; turn++) code = take_turn(&c, turn, out, status);
    if (code == RH_OK) code = compare(&c, out, status);
    out->points = entry->points;
    out->repeats = repeats;
    rh_lang_pool_free(&c.pool);
    rh_lang_program_free(c.code);
    bench_points_free(&c.ours);
    bench_points_free(&c.theirs);
    return code;
}

// ---- in a child process

typedef struct job {
    const bench_expression_entry *entry;
    int threads, repeats;
} job;

static void run_in_child(const void *argument, void *out)
{
    const job *j = argument;
    bench_expression_result *r = out;
    rh_status status = {0};
    rh_threads_set(j->threads);
    if (j->entry->files) {
        bench_files_run(j->entry, j->threads, j->repeats, r);
        return;
    }
    r->code = run(j->entry, j->repeats, r, &status);
    r->ours.resident = r->peer.resident = rh_memory_resident_peak();
    snprintf(r->message, sizeof r->message, "%.511s", r->code == RH_OK ? "" : status.message);
}

void bench_expression_measure(const bench_expression_entry *entry, int threads, int repeats,
                              bench_expression_result *out)
{
    job j = {entry, threads, repeats};
    *out = (bench_expression_result){.code = RH_OK};
    if (!bench_in_child(run_in_child, &j, out, sizeof *out)) {
        *out = (bench_expression_result){.code = RH_MEMORY};
        snprintf(out->message, sizeof out->message, "the process died, most likely because memory ran out");
    }
    out->threads = threads;
}
