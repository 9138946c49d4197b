// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Surfacing's tables for people and CSV for programs. A ratio to the peer is taken between rows of the same points,
// threads and velocities.
#include <errno.h>
#include <string.h>
#include "surface.h"

static const char *const points_names[] = {"splash", "sea"};

const char *bench_method_name(int method)
{
    return method == BENCH_PEER ? "peer" : rh_params_find(&rh_surfacing_table, "mode")->choices[method];
}

static double nanoseconds(const bench_surface_row *row)
{
    return 1e9 * row->result.seconds / (double)row->result.points;
}
static double each(const bench_surface_row *row, double value) { return value / (double)row->result.points; }
static bool is_peer(const bench_surface_row *row) { return row->entry->method == BENCH_PEER; }

static const bench_stage *find_stage(const bench_surface_row *row, const char *name)
{
    return bench_find_stage(row->result.stages, row->result.stage_count, name);
}

static bench_names all_stages(const bench_surface_row *rows, int count)
{
    bench_names all = {.count = 0};
    for (int i = 0; i < count; i++) bench_names_add(&all, rows[i].result.stages, rows[i].result.stage_count);
    return all;
}

// Time of the peer on the same work over that of the row; 0 when there is none. A row of the same group comes before
// one of another.
static double peer_ratio(const bench_surface_row *row, const bench_surface_row *rows, int count)
{
    const bench_surface_row *found = NULL;
    for (int i = 0; i < count; i++) {
        bench_surface_entry wanted = *row->entry;
        wanted.method = BENCH_PEER;
        if (!bench_surface_fine(&rows[i]) || rows[i].result.threads != row->result.threads ||
            !bench_surface_same(rows[i].entry, &wanted))
            continue;
        if (!found || strcmp(rows[i].entry->group, row->entry->group) == 0) found = &rows[i];
    }
    return found ? found->result.seconds / row->result.seconds : 0;
}

// --- list ------------------------------------------------------------------------------------------------------------
void bench_surface_list(FILE *to)
{
    static const char *const when[] = {"", "long", "only by name"};
    fprintf(to, "%-20s %-15s %-7s %5s %-12s %-9s %8s %8s  %s\n", "surface entry", "group", "points", "size", "method",
            "velocity", "repeats", "threads", "");
    for (int i = 0; i < bench_surface_entry_count; i++) {
        const bench_surface_entry *e = &bench_surface_entries[i];
        char threads[16] = "all";
        if (e->threads) snprintf(threads, sizeof threads, "%d", e->threads);
        fprintf(to, "%-20s %-15s %-7s %5d %-12s %-9s %8d %8s  %s\n", e->name, e->group, points_names[e->points],
                e->size, bench_method_name(e->method), e->velocity ? "yes" : "no", e->repeats, threads, when[e->when]);
    }
}

// --- the table of all ------------------------------------------------------------------------------------------------
static void print_row(FILE *to, const bench_surface_row *row, double ratio, const bench_names *stages)
{
    const bench_surface_result *r = &row->result;
    if (!bench_surface_fine(row)) {
        fprintf(to, "%-20s failed: %s\n", row->entry->name, r->message[0] ? r->message : "no points");
        return;
    }
    fprintf(to, "%-20s %3d %9lld ", row->entry->name, r->threads, (long long)r->points);
    for (int i = 0; i < stages->count; i++) {
        const bench_stage *stage = find_stage(row, stages->name[i]);
        if (stage) fprintf(to, " %*.4f", bench_width(stages->name[i]), stage->seconds);
        else fprintf(to, " %*s", bench_width(stages->name[i]), "-");
    }
    fprintf(to, " %9.4f %7.1f %7.1f", r->seconds, nanoseconds(row), 1e9 * each(row, r->cpu_seconds));
    if (ratio > 0) fprintf(to, " %9.2f", ratio);
    else fprintf(to, " %9s", "-");
    fprintf(to, " %10lld %8lld", (long long)r->active, (long long)r->leaves);
    if (is_peer(row)) fprintf(to, " %9s %7s", "-", "-");
    else fprintf(to, " %9.1f %7.1f", 1e-6 * (double)r->memory.peak, each(row, (double)r->memory.peak));
    fprintf(to, " %9.1f\n", 1e-6 * (double)r->memory.resident);
}

static void print_all(FILE *to, const bench_surface_row *rows, int count)
{
    bench_names stages = all_stages(rows, count);
    fprintf(to, "\nSurfacing. Each line: the least of its runs. Stages and all: seconds. ns/p: wall time of a point "
                "(CPU/p: processor time of all threads).\n"
                "peer/ours: time of OpenVDB's rasteriser on the same points with the same voxel and threads over ours. "
                "active: voxels with a distance.\n"
                "peak: through rh_alloc, points included, MB (B/p: bytes a point). RSS: peak of the whole process, MB. "
                "-v: with velocities.\n\n");
    fprintf(to, "%-20s %3s %9s ", "surface entry", "thr", "points");
    for (int i = 0; i < stages.count; i++) fprintf(to, " %*s", bench_width(stages.name[i]), stages.name[i]);
    fprintf(to, " %9s %7s %7s %9s %10s %8s %9s %7s %9s\n", "all", "ns/p", "CPU/p", "peer/ours", "active", "leaves",
            "peak", "B/p", "RSS");
    for (int i = 0; i < count; i++) print_row(to, &rows[i], peer_ratio(&rows[i], rows, count), &stages);
}

// --- comparisons -----------------------------------------------------------------------------------------------------
static void print_growth_of(FILE *to, int method, const bench_surface_row *rows, int count)
{
    const bench_surface_row *first = NULL;
    for (int i = 0; i < count; i++) {
        const bench_surface_row *row = &rows[i];
        if (!bench_surface_fine(row) || row->entry->points != BENCH_SEA || row->entry->method != method ||
            row->entry->velocity)
            continue;
        if (!first) first = row;
        if (first == row)
            fprintf(
                to,
                "\nGrowth, %s: nanoseconds a point, and their ratio to the smallest\n  %-20s %12s %8s %8s %10s %10s\n",
                bench_method_name(method), "", "points", "ns", "ratio", "voxels/p", "RSS MB");
        fprintf(to, "  %-20s %12lld %8.1f %8.2f %10.2f %10.1f\n", row->entry->name, (long long)row->result.points,
                nanoseconds(row), nanoseconds(row) / nanoseconds(first), each(row, (double)row->result.active),
                1e-6 * (double)row->result.memory.resident);
    }
}

static void print_speed_up(FILE *to, const char *name, double one, double two, double all)
{
    fprintf(to, "  %-14s %9.4f %9.4f %9.2f %15.1f%%\n", name, one, two, one / two, 100 * two / all);
}

static void print_threads_of(FILE *to, const bench_surface_row *one, const bench_surface_row *two)
{
    fprintf(to, "\nThreads, %s: seconds with one and with two\n  %-14s %9s %9s %9s %16s\n",
            bench_method_name(one->entry->method), "", "one", "two", "speed-up", "share of the two");
    for (int i = 0; i < one->result.stage_count; i++) {
        const bench_stage *s = &one->result.stages[i], *t = find_stage(two, s->name);
        if (t) print_speed_up(to, s->name, s->seconds, t->seconds, two->result.seconds);
    }
    print_speed_up(to, "all", one->result.seconds, two->result.seconds, two->result.seconds);
}

static void print_threads(FILE *to, const bench_surface_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (rows[i].entry->threads == 1 && rows[k].entry->threads == 2 &&
                bench_surface_same(rows[i].entry, rows[k].entry) && bench_surface_fine(&rows[i]) &&
                bench_surface_fine(&rows[k]))
                print_threads_of(to, &rows[i], &rows[k]);
}

static void print_differences(FILE *to, const bench_surface_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (bench_surface_differ(&rows[i], &rows[k]))
                fprintf(to, "\nTHE LEVEL SETS DIFFER: %s and %s; the result depends on the number of threads\n",
                        rows[k].entry->name, rows[i].entry->name);
}

void bench_surface_print(FILE *to, const bench_surface_row *rows, int count)
{
    print_all(to, rows, count);
    for (int method = BENCH_PEER; method <= RH_SURFACING_DENSITY; method++) print_growth_of(to, method, rows, count);
    print_threads(to, rows, count);
    print_differences(to, rows, count);
}

// --- CSV -------------------------------------------------------------------------------------------------------------
static void write_header(FILE *to, const bench_names *stages)
{
    fprintf(to, "entry,group,points_set,size,method,velocity,threads,repeats,points,seconds,cpu_seconds,ns_per_point,"
                "peer_ratio,active_voxels,leaves,level_set_bytes,"
                "peak_bytes,peak_bytes_per_point,resident_bytes,resident_bytes_per_point,hash,error");
    for (int i = 0; i < stages->count; i++) fprintf(to, ",%s_seconds", stages->name[i]);
    fprintf(to, "\n");
}

static void write_figures(FILE *to, const bench_surface_row *row, double ratio)
{
    const bench_surface_result *r = &row->result;
    fprintf(to, "%lld,%.6g,%.6g,%.6g,", (long long)r->points, r->seconds, r->cpu_seconds, nanoseconds(row));
    if (ratio > 0) fprintf(to, "%.5g", ratio);
    fprintf(to, ",%lld,%lld,%lld,", (long long)r->active, (long long)r->leaves, (long long)r->bytes);
    if (is_peer(row)) fprintf(to, ",,");
    else fprintf(to, "%lld,%.3f,", (long long)r->memory.peak, each(row, (double)r->memory.peak));
    fprintf(to, "%lld,%.3f,", (long long)r->memory.resident, each(row, (double)r->memory.resident));
    if (is_peer(row)) fprintf(to, ",");
    else fprintf(to, "%016llx,", (unsigned long long)r->hash);
}

static void write_line(FILE *to, const bench_surface_row *row, double ratio, const bench_names *stages)
{
    const bench_surface_entry *e = row->entry;
    fprintf(to, "%s,%s,%s,%d,%s,%d,%d,%d,", e->name, e->group, points_names[e->points], e->size,
            bench_method_name(e->method), e->velocity, row->result.threads, row->result.repeats);
    if (bench_surface_fine(row)) write_figures(to, row, ratio);
    else fprintf(to, "0%s", ",,,,,,,,,,,,,");
    bench_write_text(to, row->result.message);
    for (int i = 0; i < stages->count; i++) {
        const bench_stage *s = bench_surface_fine(row) ? find_stage(row, stages->name[i]) : NULL;
        if (s) fprintf(to, ",%.6g", s->seconds);
        else fprintf(to, ",");
    }
    fprintf(to, "\n");
}

rh_code bench_surface_write_csv(const char *path, const bench_surface_row *rows, int count, rh_status *status)
{
    bench_names stages = all_stages(rows, count);
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    write_header(to, &stages);
    for (int i = 0; i < count; i++) write_line(to, &rows[i], peer_ratio(&rows[i], rows, count), &stages);
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
