// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One row of surfacing in a child process (measure.c says why). Points are made first and not measured. Both sides then
// surface one small square, so that threads have been started and code has been loaded when the clock starts.
#include <string.h>
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "peer_openvdb.h"
#include "surface.h"

static const double VOXEL_RADII = 0.8;       // voxel, particle radii: half the spacing
enum { HALF_BAND = 3, WARM_POINTS = 2000 };  // voxels; points

typedef struct job {
    const bench_surface_entry *entry;
    const bench_splash *splash;
    int threads;
} job;

static float radius_of(const rh_points *points) { return *(const float *)rh_points_find(points, "radius")->data; }

static uint64_t hash_band(const rh_band *band)
{
    size_t count = (size_t)band->count;
    uint64_t hash = rh_hash(band->at, count * sizeof *band->at, 0);
    hash = rh_hash(band->value, count * sizeof *band->value, hash);
    hash = rh_hash(band->active, count * sizeof *band->active, hash);
    for (int c = 0; c < band->channel_count; c++)
        hash = rh_hash(band->channels[c].data, count * RH_LEAF * rh_point_type_size(band->channels[c].type), hash);
    return hash;
}

static void take_stages(const rh_surfacing_report *report, bench_surface_result *out)
{
    out->stage_count = report->stage_count;
    for (int i = 0; i < report->stage_count; i++) {
        snprintf(out->stages[i].name, sizeof out->stages[i].name, "%s", report->stage_names[i]);
        out->stages[i].seconds = report->stage_seconds[i];
    }
}

static rh_code surface_ours(const job *j, rh_points *points, bench_surface_result *out, rh_status *status)
{
    rh_surfacing_params params;
    rh_surfacing_report report;
    rh_band band;
    RH_TRY(rh_params_defaults(&rh_surfacing_table, &params, status));
    params.mode = j->entry->method;
    params.voxel = VOXEL_RADII * (double)radius_of(points);
    params.half_band = HALF_BAND;
    double start = rh_seconds(), cpu = bench_cpu_seconds();
    rh_code code = rh_surfacing_build(&params, points, &band, &report, status);
    out->seconds = rh_seconds() - start;
    out->cpu_seconds = bench_cpu_seconds() - cpu;
    if (code == RH_OK) {
        out->points = report.points;
        out->leaves = report.leaves;
        out->active = report.active;
        out->bytes = report.bytes;
        out->hash = hash_band(&band);
        take_stages(&report, out);
        rh_band_free(&band);
    }
    rh_params_free(&rh_surfacing_table, &params);
    return code;
}

static rh_code surface_peer(const job *j, rh_points *points, bench_surface_result *out, rh_status *status)
{
    bench_peer_result found;
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F),
                  *v = j->entry->velocity ? rh_points_data(points, "v", RH_POINT_VEC3F) : NULL;
    double cpu = bench_cpu_seconds();
    if (!bench_peer_openvdb(&p->x, v ? &v->x : NULL, points->count, radius_of(points),
                            VOXEL_RADII * (double)radius_of(points), j->threads, &found))
        return rh_fail(status, RH_NUMERIC, "%s", found.message);
    out->cpu_seconds = bench_cpu_seconds() - cpu;
    out->seconds = found.seconds;
    out->points = points->count;
    out->leaves = found.leaves;
    out->active = found.active;
    out->bytes = found.bytes;
    return RH_OK;
}

static rh_code surface(const job *j, rh_points *points, bench_surface_result *out, rh_status *status)
{
    return j->entry->method == BENCH_PEER ? surface_peer(j, points, out, status) : surface_ours(j, points, out, status);
}

static rh_code warm_up(const job *j, rh_status *status)
{
    bench_surface_result unused = {.code = RH_OK};
    rh_points points;
    RH_TRY(bench_sea_points(1, j->entry->velocity, &points, status));
    rh_code code = rh_points_resize(&points, WARM_POINTS, status);
    if (code == RH_OK) code = surface(j, &points, &unused, status);
    rh_points_free(&points);
    return code;
}

static rh_code run(const job *j, bench_surface_result *out, rh_status *status)
{
    const bench_surface_entry *e = j->entry;
    rh_points points;
    RH_TRY(warm_up(j, status));
    RH_TRY(e->points == BENCH_SEA ? bench_sea_points(e->size, e->velocity, &points, status)
                                  : bench_splash_points(j->splash, e->velocity, &points, status));
    rh_code code = surface(j, &points, out, status);
    bench_note_memory(&out->memory);
    rh_points_free(&points);
    return code;
}

static void run_in_child(const void *argument, void *out)
{
    const job *j = argument;
    bench_surface_result *r = out;
    rh_status status = {0};
    rh_threads_set(j->threads);
    r->code = run(j, r, &status);
    snprintf(r->message, sizeof r->message, "%.511s", r->code == RH_OK ? "" : status.message);
}

static void run_once(const job *j, bench_surface_result *out)
{
    *out = (bench_surface_result){.code = RH_OK};
    if (!bench_in_child(run_in_child, j, out, sizeof *out)) {
        *out = (bench_surface_result){.code = RH_MEMORY};
        snprintf(out->message, sizeof out->message, "the process died, most likely because memory ran out");
    }
    out->threads = j->threads;
}

static void keep_least(bench_surface_result *best, const bench_surface_result *again)
{
    if (again->seconds < best->seconds) best->seconds = again->seconds;
    if (again->cpu_seconds < best->cpu_seconds) best->cpu_seconds = again->cpu_seconds;
    for (int i = 0; i < best->stage_count; i++)
        if (again->stages[i].seconds < best->stages[i].seconds) best->stages[i].seconds = again->stages[i].seconds;
    if (again->memory.peak > best->memory.peak) best->memory.peak = again->memory.peak;
    if (again->memory.resident > best->memory.resident) best->memory.resident = again->memory.resident;
}

void bench_surface_measure(const bench_surface_entry *entry, const bench_splash *splash, int threads, int repeats,
                           bench_surface_result *out)
{
    job j = {entry, splash, threads};
    double start = rh_seconds();
    run_once(&j, out);
    int n = 1;
    for (; n < repeats && out->code == RH_OK && rh_seconds() - start < BENCH_PATIENCE; n++) {
        bench_surface_result again;
        run_once(&j, &again);
        if (again.code != RH_OK) *out = again;
        else if (again.hash != out->hash || again.active != out->active || again.stage_count != out->stage_count) {
            out->code = RH_NUMERIC;
            snprintf(out->message, sizeof out->message, "two runs on the same points gave different level sets");
        } else keep_least(out, &again);
    }
    out->repeats = n;
}
