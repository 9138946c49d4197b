// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The search for neighbours against its bounds, measured in the same run.
//
//   build   the bytes it must move: positions read twice, keys with numbers written and moved by two passes of the
//           sort, sorted positions written; 12 + 12 + 8 + 2 * 16 + 12 + 16 = 92 a point
//   lists   the tests of eight distances that its cells ask for, in both passes, each as long as it takes alone on
//           points in the nearest cache; or, when that is more, the bytes: 24 read and 8 written a point, 4 a pair
#include "neighbours.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "points/adjacency.h"
#include "points/near_parts.h"

static const double SPACING = 0.05, RADII = 2;  // m; spacings to a radius
static const double BUILD_BYTES = 92, LIST_BYTES = 32, PAIR_BYTES = 4;

const bench_neighbours_entry bench_neighbours_entries[] = {
    {"near-1e5", "neighbours", 100000, 3, .repeats = 5},
    {"near-1e6", "neighbours", 1000000, 3, .repeats = 3},
    {"near-1e7", "neighbours", 10000000, 3, .repeats = 2},
    {"near-flat-1e6", "neighbours", 1000000, 2, .repeats = 3},
    {"near-radii-1e6", "neighbours", 1000000, 3, .by_particle = true, .repeats = 3},
    {"near-one-thread", "neighbours-threads", 1000000, 3, .repeats = 2, .threads = 1},
    {"near-two-threads", "neighbours-threads", 1000000, 3, .repeats = 2, .threads = 2},
    {"tiny-near", "neighbours-tiny", 2000, 3, .repeats = 2, .when = BENCH_NAMED},
};
const int bench_neighbours_entry_count = sizeof bench_neighbours_entries / sizeof bench_neighbours_entries[0];

// --- measuring -------------------------------------------------------------------------------------------------------
typedef struct set {
    rh_vec3 *positions;
    float *radii;
    rh_neighbours n;
    rh_adjacency list;
    rh_arena arena;
} set;

static void fill(const bench_neighbours_entry *e, const set *s)
{
    double side = SPACING * (e->dimension == 2 ? sqrt((double)e->points) : cbrt((double)e->points));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < e->points; i++) {
        for (uint32_t a = 0; a < 3; a++)
            (&s->positions[i].x)[a] = (float)(side * ((double)rh_random(5, (uint64_t)i, 0, a) - 0.4));
        s->radii[i] = (float)(SPACING * RADII) * (1 - 0.3f * rh_random(5, (uint64_t)i, 1, 0));
    }
}

// Tests of eight distances in one pass over all points.
static int64_t count_tests(const rh_neighbours *n)
{
    int64_t tests = 0;
    for (int64_t row = 0; row < n->rows; row++) {
        int64_t y = (int64_t)(n->row_keys[row] & ((1ull << n->bits[1]) - 1)),
                z = (int64_t)(n->row_keys[row] >> n->bits[1]);
        for (int64_t k = z - 1; k <= z + 1; k++)
            for (int64_t j = y - 1; j <= y + 1; j++) {
                if (k < 0 || j < 0 || k > n->high[2] - n->low[2] || j > n->high[1] - n->low[1]) continue;
                int64_t other = rh_neighbours_row(n, (uint64_t)k << n->bits[1] | (uint64_t)j);
                for (int64_t c = n->row_first[row]; other >= 0 && c < n->row_first[row + 1]; c++) {
                    int64_t x = (int64_t)(n->cell_keys[c] & ((1ull << n->bits[0]) - 1));
                    int64_t begin = n->cell_first[rh_neighbours_cell_from(n, other, x - 1)],
                            end = n->cell_first[rh_neighbours_cell_from(n, other, x + 2)];
                    tests += (end - begin + 7) / 8 * (n->cell_first[c + 1] - n->cell_first[c]);
                }
            }
    }
    return tests;
}

// Seconds of a test, with all threads at it, of points that stay in the nearest cache.
static double time_tests(const rh_neighbours *n, int threads)
{
    enum { EIGHTS = 64, ROUNDS = 20000 };
    int64_t few = n->count < 8 * EIGHTS ? n->count / 8 : EIGHTS, hits = 0;
    rh_f8 square = rh_f8_all((float)(SPACING * RADII * SPACING * RADII));
    double least = 1e30;
    for (int turn = 0; turn < 3; turn++) {
        double start = rh_seconds();
#pragma omp parallel for schedule(static, 1) reduction(+ : hits) num_threads(threads)
        for (int t = 0; t < threads; t++)
            for (int r = 0; r < ROUNDS; r++) {
                rh_f8 way[3];
                rh_vec3 place = {n->x[r % few], n->y[r % few], n->z[r % few]};
                for (int64_t p = 0; p < few; p++)
                    hits += __builtin_popcount((unsigned)rh_i8_bits(rh_near_eight(n, 8 * p, place, way) <= square));
            }
        double seconds = rh_seconds() - start;
        if (seconds < least) least = seconds;
    }
    // `hits` is used, or there would be nothing to time.
    return hits > 0 ? least / ((double)few * ROUNDS * threads) : 0;
}

static uint64_t hash_of(const rh_adjacency *list)
{
    uint64_t hash = 0;
    for (int64_t i = 0; i <= list->count; i++) hash = rh_mix64(hash ^ list->first[i]);
    for (int64_t k = 0; k < list->pairs; k++) hash = hash * 0x9e3779b97f4a7c15ull + list->near[k];
    return hash;
}

static rh_code run(const bench_neighbours_entry *e, int threads, int repeats, set *s, bench_neighbours_result *out,
                   rh_status *status)
{
    const rh_neighbours_input input = {.dimension = e->dimension,
                                       .positions = s->positions,
                                       .radii = e->by_particle ? s->radii : NULL,
                                       .count = e->points,
                                       .cell = rh_neighbours_cell(SPACING * RADII)};
    for (int turn = 0; turn < repeats; turn++) {
        rh_arena_reset(&s->arena);
        double start = rh_seconds();
        RH_TRY(rh_neighbours_build(&s->n, &input, &s->arena, status));
        double middle = rh_seconds();
        RH_TRY(rh_adjacency_build(&s->list, &s->n, e->by_particle ? -1 : SPACING * RADII, status));
        double end = rh_seconds();
        if (turn == 0 || middle - start < out->build) out->build = middle - start;
        if (turn == 0 || end - middle < out->lists) out->lists = end - middle;
    }
    out->points = e->points, out->pairs = s->list.pairs, out->repeats = repeats;
    out->tests = 2 * count_tests(&s->n);
    out->test = time_tests(&s->n, threads);
    out->hash = hash_of(&s->list);
    return RH_OK;
}

typedef struct job {
    const bench_neighbours_entry *entry;
    int threads, repeats;
} job;

static void run_in_child(const void *argument, void *out)
{
    const job *j = argument;
    bench_neighbours_result *r = out;
    rh_status status = {0};
    rh_threads_set(j->threads);
    size_t count = (size_t)j->entry->points;
    set s = {.positions = rh_alloc(count * sizeof *s.positions, "bench.points", &status),
             .radii = rh_alloc(count * sizeof *s.radii, "bench.points", &status)};
    rh_arena_init(&s.arena, "bench.scratch");
    r->code = RH_MEMORY;
    if (s.positions && s.radii) {
        fill(j->entry, &s);
        r->code = run(j->entry, j->threads, j->repeats, &s, r, &status);
    }
    r->resident = rh_memory_resident_peak();
    snprintf(r->message, sizeof r->message, "%.511s", r->code == RH_OK ? "" : status.message);
    rh_neighbours_free(&s.n);
    rh_adjacency_free(&s.list);
    rh_arena_free(&s.arena);
    rh_free(s.positions);
    rh_free(s.radii);
}

void bench_neighbours_measure(const bench_neighbours_entry *entry, int threads, int repeats,
                              bench_neighbours_result *out)
{
    job j = {entry, threads, repeats};
    *out = (bench_neighbours_result){.code = RH_OK};
    if (!bench_in_child(run_in_child, &j, out, sizeof *out)) {
        *out = (bench_neighbours_result){.code = RH_MEMORY};
        snprintf(out->message, sizeof out->message, "the process died, most likely because memory ran out");
    }
    out->threads = threads;
}

// --- reports ---------------------------------------------------------------------------------------------------------
void bench_neighbours_list(FILE *to)
{
    static const char *const when[] = {"", "long", "only by name"};
    fprintf(to, "%-17s %-19s %10s %10s %8s %8s  %s\n", "neighbours entry", "group", "points", "dimensions", "repeats",
            "threads", "");
    for (int i = 0; i < bench_neighbours_entry_count; i++) {
        const bench_neighbours_entry *e = &bench_neighbours_entries[i];
        char threads[16] = "all";
        if (e->threads) snprintf(threads, sizeof threads, "%d", e->threads);
        fprintf(to, "%-17s %-19s %10lld %10d %8d %8s  %s\n", e->name, e->group, (long long)e->points, e->dimension,
                e->repeats, threads, when[e->when]);
    }
}

// Seconds that it cannot go below; 0 when the bandwidth is not known.
static double build_bound(const bench_neighbours_row *row)
{
    double rate = bench_best_bandwidth(&row->bandwidth);
    return rate > 0 ? BUILD_BYTES * (double)row->result.points / rate : 0;
}

static double lists_bound(const bench_neighbours_row *row)
{
    const bench_neighbours_result *r = &row->result;
    double rate = bench_best_bandwidth(&row->bandwidth), tests = (double)r->tests * r->test,
           bytes = rate > 0 ? (LIST_BYTES * (double)r->points + PAIR_BYTES * (double)r->pairs) / rate : 0;
    return tests > bytes ? tests : bytes;
}

static double ns(double seconds, int64_t count) { return count > 0 ? 1e9 * seconds / (double)count : 0; }

void bench_neighbours_print(FILE *to, const bench_neighbours_row *rows, int count)
{
    fprintf(to, "\nNeighbours: the search built, and the lists of all points. Least of all runs; bound: bytes at the "
                "measured bandwidth, or of the lists the tests of distances alone. The share is bound / time.\n\n");
    fprintf(to, "%-17s %3s %10s %8s %9s %9s %6s %9s %9s %9s %6s %8s\n", "neighbours entry", "thr", "points", "pairs/p",
            "build/p", "bound", "share", "lists/p", "lists/pair", "bound/p", "share", "RSS/p");
    for (int i = 0; i < count; i++) {
        const bench_neighbours_result *r = &rows[i].result;
        if (!bench_neighbours_fine(&rows[i])) {
            fprintf(to, "%-17s failed: %s\n", rows[i].entry->name, r->message);
            continue;
        }
        double build = build_bound(&rows[i]), lists = lists_bound(&rows[i]);
        fprintf(to, "%-17s %3d %10lld %8.1f %9.1f %9.1f %6.2f %9.1f %9.2f %9.1f %6.2f %8.1f\n", rows[i].entry->name,
                r->threads, (long long)r->points, (double)r->pairs / (double)r->points, ns(r->build, r->points),
                ns(build, r->points), build / r->build, ns(r->lists, r->points), ns(r->lists, r->pairs),
                ns(lists, r->points), lists / r->lists, (double)r->resident / (double)r->points);
    }
}

rh_code bench_neighbours_write_csv(const char *path, const bench_neighbours_row *rows, int count, rh_status *status)
{
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(to, "entry,group,dimension,by_particle,threads,repeats,points,pairs,build_ns_per_point,build_bound_ns_per_"
                "point,lists_ns_per_point,lists_ns_per_pair,lists_bound_ns_per_point,tests,test_ns,resident_bytes,"
                "hash,error\n");
    for (int i = 0; i < count; i++) {
        const bench_neighbours_entry *e = rows[i].entry;
        const bench_neighbours_result *r = &rows[i].result;
        fprintf(to, "%s,%s,%d,%d,%d,%d,", e->name, e->group, e->dimension, e->by_particle, r->threads, r->repeats);
        if (!bench_neighbours_fine(&rows[i])) fprintf(to, "0,,,,,,,,,,,");
        else
            fprintf(to, "%lld,%lld,%.5g,%.5g,%.5g,%.5g,%.5g,%lld,%.5g,%lld,%016llx,", (long long)r->points,
                    (long long)r->pairs, ns(r->build, r->points), ns(build_bound(&rows[i]), r->points),
                    ns(r->lists, r->points), ns(r->lists, r->pairs), ns(lists_bound(&rows[i]), r->points),
                    (long long)r->tests, 1e9 * r->test, (long long)r->resident, (unsigned long long)r->hash);
        bench_write_text(to, r->message);
        fprintf(to, "\n");
    }
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
