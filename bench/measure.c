// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One entry: the scene is run by the same loop as `rheo run`, without files, in a child process, so that peaks of
// memory are its own and a run that dies leaves the others alone. The parent never starts a thread: a child made by
// fork has only the thread that forked.
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "grid/tiles.h"
#include "scene/scene.h"
#include "world/world.h"
#include "bench.h"

typedef struct watch {
    const bench_entry *entry;
    const rh_world *world;
    bench_result *result;
    int64_t last_skipped;  // frame
    atomic_int stop;
} watch;

double bench_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static bench_stage *stage_of(bench_result *r, const char *name)
{
    for (int i = 0; i < r->stage_count; i++)
        if (strcmp(r->stages[i].name, name) == 0) return &r->stages[i];
    if (r->stage_count == RH_MAX_STAGES) return NULL;
    bench_stage *fresh = &r->stages[r->stage_count++];
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    return fresh;
}

// A method that tells its solves apart: those of this stage.
static double iterations_of(const rh_step_report *report, const char *stage, double all)
{
    for (int i = 0; i < report->solve_count; i++)
        if (strcmp(report->solves[i].stage, stage) == 0) return report->solves[i].iterations;
    return all;
}

static void add_solves(bench_result *r, const rh_step_report *report)
{
    for (int i = 0; i < report->solve_count; i++) {
        const rh_solve_report *s = &report->solves[i];
        int k = 0;
        while (k < r->solve_count && strcmp(r->solves[k].stage, s->stage) != 0) k++;
        if (k == RH_MAX_SOLVES) continue;
        bench_solve *sum = &r->solves[k];
        if (k == r->solve_count) {
            r->solve_count++;
            snprintf(sum->stage, sizeof sum->stage, "%s", s->stage);
        }
        sum->solves++;
        sum->iterations += s->iterations;
        sum->cg += s->cg;
        sum->expansions += s->expansions;
        sum->proportionings += s->proportionings;
        sum->preparations += s->preparations;
    }
}

static bool has_lists(const rh_step_report *report)
{
    for (int i = 0; i < report->stage_count; i++)
        if (strcmp(report->stage_names[i], "neighbours") == 0) return true;
    return false;
}

static void add_stages(bench_result *r, const rh_step_report *report, const bench_work *all)
{
    for (int i = 0; i < report->stage_count; i++) {
        bench_stage *stage = stage_of(r, report->stage_names[i]);
        if (!stage) continue;
        stage->seconds += report->stage_seconds[i];
        bench_work work = *all;
        work.iterations = iterations_of(report, stage->name, all->iterations);
        work.lists = has_lists(report);
        stage->bytes += bench_traffic(stage->name, &work);
    }
}

static void after_step(const rh_progress *p, bool frame_done, void *user)
{
    watch *w = user;
    bench_result *r = w->result;
    int64_t counted = p->particles ? p->particles : p->cells;  // what has no particles is counted by its cells
    if (counted > r->most_particles) r->most_particles = counted;
    if (p->frame == w->last_skipped && frame_done) r->cpu_seconds = bench_cpu_seconds();  // taken away at the end
    if (p->step == 0 || p->frame <= w->last_skipped) return;
    bench_work work = {(double)p->particles, (double)p->cells, (double)p->tiles * RH_TILE * RH_TILE * RH_TILE,
                       p->iterations, false};
    r->steps++;
    r->particle_steps += (double)counted;
    r->cell_steps += work.cells;
    r->tile_steps += (double)p->tiles;
    r->iterations += p->iterations;
    if (p->iterations > r->most_iterations) r->most_iterations = p->iterations;
    r->seconds += p->seconds;
    r->simulated += p->dt;
    add_solves(r, rh_world_report(w->world));
    add_stages(r, rh_world_report(w->world), &work);
    if (w->entry->most_steps && r->steps >= w->entry->most_steps) atomic_store(&w->stop, 1);
}

void bench_note_memory(bench_memory *out)
{
    rh_memory_label labels[BENCH_LABELS];
    out->peak = rh_memory_peak();
    out->resident = rh_memory_resident_peak();
    out->label_count = rh_memory_labels(labels, BENCH_LABELS);
    for (int i = 0; i < out->label_count; i++) {
        snprintf(out->labels[i].name, sizeof out->labels[i].name, "%s", labels[i].label);
        out->labels[i].peak = labels[i].peak;
    }
}

rh_code bench_load_scene(const char *name, const char *const *settings, int count, rh_scene *scene, rh_status *status)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s.yaml", RHEO_SOURCE_DIR, strchr(name, '/') ? "" : "bench/scenes/", name);
    return rh_scene_load(path, settings, count, scene, status);
}

static rh_code run_world(const bench_entry *entry, const rh_scene *scene, bench_result *r, rh_status *status)
{
    rh_world *world;
    RH_TRY(rh_world_create(scene, &world, status));
    watch w = {.entry = entry, .world = world, .result = r, .last_skipped = scene->frames.first + entry->skip};
    rh_run_options options = {.first = scene->frames.first,
                              .last = w.last_skipped + entry->frames,
                              .stop = &w.stop,
                              .progress = after_step,
                              .user = &w};
    rh_code code = rh_world_run(world, &options, status);
    if (code == RH_STOPPED) code = RH_OK;  // by most_steps
    r->cpu_seconds = bench_cpu_seconds() - r->cpu_seconds;
    r->hash = rh_points_hash(rh_world_points(world));
    bench_note_memory(&r->memory);
    rh_world_free(world);
    return code;
}

typedef struct job {
    const bench_entry *entry;
    int threads;
} job;

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts, (void)kind, (void)where;
    return remove(path);
}

// The frames that a layer stands on, in a folder of its own.
static rh_code run_base(const bench_entry *entry, char *folder, rh_status *status)
{
    rh_scene scene;
    rh_world *world;
    if (!mkdtemp(folder)) return rh_fail(status, RH_IO, "cannot make %s: %s", folder, strerror(errno));
    RH_TRY(bench_load_scene(entry->base, &entry->base_setting, 1, &scene, status));
    rh_run_options options = {.folder = folder, .first = 1, .last = 2 + entry->skip + entry->frames};
    rh_code code = rh_world_create(&scene, &world, status);
    if (code == RH_OK) {
        code = rh_world_run(world, &options, status);
        rh_world_free(world);
    }
    rh_scene_free(&scene);
    return code;
}

static void run_entry(const void *argument, void *out)
{
    const job *j = argument;
    bench_result *r = out;
    rh_status status = {0};
    rh_scene scene;
    int settings = 0;
    while (settings < BENCH_SETTINGS && j->entry->settings[settings]) settings++;
    rh_threads_set(j->threads);
    r->threads = rh_threads();
    char folder[] = "scratch-bench-base-XXXXXX", from[64], last[64];
    const char *all[BENCH_SETTINGS + 2] = {0};
    for (int i = 0; i < settings; i++) all[i] = j->entry->settings[i];
    if (j->entry->base) {
        r->code = run_base(j->entry, folder, &status);
        snprintf(from, sizeof from, "from[0].run=%s", folder);
        snprintf(last, sizeof last, "frames.last=%d", 2 + j->entry->skip + j->entry->frames);
        all[settings++] = from;
        all[settings++] = last;
    }
    if (r->code == RH_OK) r->code = bench_load_scene(j->entry->scene, all, settings, &scene, &status);
    if (r->code == RH_OK) {
        r->code = run_world(j->entry, &scene, r, &status);
        rh_scene_free(&scene);
    }
    if (j->entry->base) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    snprintf(r->message, sizeof r->message, "%.511s", r->code == RH_OK ? "" : status.message);
}

// --- several worlds at the same time ---------------------------------------------------------------------------------
typedef struct world_job {
    job job;
    bench_result result;
} world_job;

static void *run_in_context(void *argument)
{
    world_job *me = argument;
    rh_status status = {0};
    rh_context *context = rh_context_create(&status);
    if (!context) return me->result.code = RH_MEMORY, NULL;
    rh_context_set_threads(context, me->job.threads);
    rh_context_scope before = rh_context_enter(context);
    run_entry(&me->job, &me->result);
    rh_context_leave(before);
    rh_context_release(context);
    return NULL;
}

// Both do the same: their work counts together, over the time of the slower one.
static void run_worlds(const void *argument, void *out)
{
    world_job all[2] = {{.job = *(const job *)argument}, {.job = *(const job *)argument}};
    pthread_t other;
    bench_result *r = out, *a = &all[0].result, *b = &all[1].result;
    if (pthread_create(&other, NULL, run_in_context, &all[1]) != 0) {
        r->code = RH_MEMORY;
        return;
    }
    run_in_context(&all[0]);
    pthread_join(other, NULL);
    *r = *a;
    if (a->code != RH_OK) return;
    r->code = b->code == RH_OK && a->hash != b->hash ? RH_NUMERIC : b->code;
    snprintf(r->message, sizeof r->message, "%s", b->code == RH_OK ? "two worlds of one scene differ" : b->message);
    r->steps += b->steps;
    r->particle_steps += b->particle_steps;
    r->cell_steps += b->cell_steps;
    r->tile_steps += b->tile_steps;
    r->iterations += b->iterations;
    r->simulated += b->simulated;
    r->threads += b->threads;
    if (b->seconds > r->seconds) r->seconds = b->seconds;
    for (int i = 0; i < r->stage_count && i < b->stage_count; i++) {
        if (b->stages[i].seconds > r->stages[i].seconds) r->stages[i].seconds = b->stages[i].seconds;
        r->stages[i].bytes += b->stages[i].bytes;
    }
    bench_note_memory(&r->memory);  // of the process, which counts both
    if (r->code == RH_OK) r->message[0] = 0;
}

static bool read_whole(int from, void *out, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        ssize_t n = read(from, (char *)out + got, bytes - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        got += (size_t)n;
    }
    return true;
}

static bool write_whole(int to, const void *data, size_t bytes)
{
    size_t put = 0;
    while (put < bytes) {
        ssize_t n = write(to, (const char *)data + put, bytes - put);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        put += (size_t)n;
    }
    return true;
}

bool bench_in_child(void (*work)(const void *argument, void *out), const void *argument, void *out, size_t bytes)
{
    int ends[2], state = 0;
    if (pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work(argument, out);
        _exit(write_whole(ends[1], out, bytes) ? 0 : 1);
    }
    close(ends[1]);
    bool whole = child > 0 && read_whole(ends[0], out, bytes);
    close(ends[0]);
    while (child > 0 && waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFSIGNALED(state))
        fprintf(stderr, "bench: a run was ended by signal %d (%s)\n", WTERMSIG(state), strsignal(WTERMSIG(state)));
    return whole && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static void run_once(const bench_entry *entry, int threads, bench_result *out)
{
    job j = {entry, threads};
    *out = (bench_result){0};
    if (bench_in_child(entry->worlds > 1 ? run_worlds : run_entry, &j, out, sizeof *out)) return;
    *out = (bench_result){.code = RH_MEMORY};
    snprintf(out->message, sizeof out->message, "the process died, most likely because memory ran out");
}

static void keep_least(bench_result *best, const bench_result *again)
{
    if (again->seconds < best->seconds) best->seconds = again->seconds;
    if (again->cpu_seconds < best->cpu_seconds) best->cpu_seconds = again->cpu_seconds;
    for (int i = 0; i < best->stage_count; i++)
        if (again->stages[i].seconds < best->stages[i].seconds) best->stages[i].seconds = again->stages[i].seconds;
    if (again->memory.peak > best->memory.peak) best->memory.peak = again->memory.peak;
    if (again->memory.resident > best->memory.resident) best->memory.resident = again->memory.resident;
}

void bench_measure(const bench_entry *entry, int threads, int repeats, bench_result *out)
{
    double start = rh_seconds();
    run_once(entry, threads, out);
    int n = 1;
    for (; n < repeats && out->code == RH_OK && rh_seconds() - start < BENCH_PATIENCE; n++) {
        bench_result again;
        run_once(entry, threads, &again);
        if (again.code != RH_OK) *out = again;
        else if (again.hash != out->hash || again.stage_count != out->stage_count) {
            out->code = RH_NUMERIC;
            snprintf(out->message, sizeof out->message, "two runs of the same scene gave different particles");
        } else keep_least(out, &again);
    }
    out->repeats = n;
}
