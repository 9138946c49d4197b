// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points in their sorted order, in blocks of fixed size. The neighbours of a point lie in the rows around its own: 9
// runs of points (3 in two dimensions), found once for all points of a cell. Runs come in the order of the sort, so
// lists are ascending without a sort of their own.
//
// The distances are computed twice, once to count and once to write. To keep the pairs of the first pass would take
// memory for lists of unknown length in every thread and a copy of them all, which is more bytes than the positions
// that the second pass reads again from the cache.
#include "points/adjacency.h"
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "points/near_parts.h"

enum { LANES = 8, BLOCK = 1024 };
static const char LABEL[] = "points.adjacency";

// Places of the bits that are set, lowest first: row b is for the eight bits b, what follows them does not matter. A
// loop over the bits would be mispredicted once for most eights, and took half of the time of both passes.
typedef struct places {
    uint8_t at[256][LANES];
} places;

typedef struct finder {
    const rh_neighbours *n;
    const places *places;
    rh_adjacency *list;
    float square;  // m^2, of a constant radius
} finder;

static void make_places(places *p)
{
    for (int bits = 0; bits < 256; bits++) {
        int count = 0;
        for (int n = 0; n < LANES; n++) p->at[bits][n] = 0;
        for (int n = 0; n < LANES; n++)
            if (bits >> n & 1) p->at[bits][count++] = (uint8_t)n;
    }
}

// The bits of the eight from q on that are neighbours of p.
static inline int near_bits(const finder *f, rh_vec3 place, rh_f8 own, int64_t q, int64_t end, bool by_particle)
{
    rh_f8 way[3], far = rh_near_eight(f->n, q, place, way), square = rh_f8_all(f->square);
    if (by_particle) {
        rh_f8 larger = rh_f8_max(own, rh_f8_load(f->n->radius + q));
        square = larger * larger;
    }
    return rh_near_bits(far <= square, q, end);
}

// The neighbours of point p; they go to `out` unless it is NULL. Returns how many. Eight are written at a time, of
// which some count: so into a buffer, not over the next list, which may be another thread's.
static inline int64_t look_around(const finder *f, const rh_near_window *a, int64_t p, bool by_particle, uint32_t *out)
{
    enum { ROOM = 256 };
    uint32_t buffer[ROOM];
    const rh_neighbours *n = f->n;
    rh_vec3 place = {n->x[p], n->y[p], n->z[p]};
    rh_f8 own = rh_f8_all(by_particle ? n->radius[p] : 0);
    int64_t count = 0, held = 0;
    for (int r = 0; r < a->count; r++)
        for (int64_t q = a->runs[r].begin, end = a->runs[r].end; q < end; q += LANES) {
            int bits = near_bits(f, place, own, q, end, by_particle), some = __builtin_popcount((unsigned)bits);
            count += some;
            if (!out) continue;
            const uint8_t *at = f->places->at[bits];
            for (int i = 0; i < LANES; i++) buffer[held + i] = (uint32_t)q + at[i];
            held += some;
            if (held <= ROOM - LANES) continue;
            memcpy(out, buffer, (size_t)held * sizeof *out);
            out += held, held = 0;
        }
    if (out) memcpy(out, buffer, (size_t)held * sizeof *out);
    return count;
}

// One block of points: the number of their neighbours is returned, or, with `write`, their lists are written from
// first[] of the block's first point on.
static int64_t do_block(const finder *f, int64_t block, bool by_particle, bool write)
{
    const rh_neighbours *n = f->n;
    rh_adjacency *list = f->list;
    int64_t begin = block * BLOCK, end = begin + BLOCK < n->count ? begin + BLOCK : n->count, total = 0;
    rh_near_window a = {.n = n, .reach = 1, .cell = -1};
    int64_t cell = rh_neighbours_cell_at(n, begin);
    uint64_t at = write ? list->first[begin] : 0;
    for (int64_t p = begin; p < end; p++) {
        while ((int64_t)n->cell_first[cell + 1] <= p) cell++;
        if (a.cell != cell) rh_near_window_to(&a, cell);
        if (write) {
            list->first[p] = at;
            at += (uint64_t)look_around(f, &a, p, by_particle, list->near + at);
        } else {
            total += look_around(f, &a, p, by_particle, NULL);
        }
    }
    return total;
}

// Only the sum of a block is kept between the passes, at the place of its first point.
static void pass(const finder *f, bool write)
{
    int64_t blocks = (f->n->count + BLOCK - 1) / BLOCK;
    bool by_particle = f->square < 0;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t total = by_particle ? do_block(f, b, true, write) : do_block(f, b, false, write);
        if (!write) f->list->first[b * BLOCK] = (uint64_t)total;
    }
}

static rh_code take(void **array, int64_t *room, int64_t wanted, size_t size, rh_status *status)
{
    if (wanted <= *room) return RH_OK;
    rh_free(*array);
    *room = 0;
    *array = rh_alloc((size_t)(wanted + wanted / 16) * size, LABEL, status);
    if (!*array) return RH_MEMORY;
    *room = wanted + wanted / 16;
    return RH_OK;
}

static rh_code check(const rh_neighbours *n, double radius, rh_status *status)
{
    if (radius < 0 && !n->has_radii)
        return rh_fail(status, RH_USER, "neighbours: by particle, but the points were given no radii");
    double widest = radius < 0 ? (double)n->largest : radius;
    if (widest * (1 + 2e-6) <= n->cell || n->count == 0) return RH_OK;
    return rh_fail(status, RH_USER, "neighbours: found a radius of %g m, expected at most that of the cells, %g m",
                   widest, n->cell / (1 + 2e-6));
}

rh_code rh_adjacency_build(rh_adjacency *list, const rh_neighbours *n, double radius, rh_status *status)
{
    list->count = list->pairs = 0;
    RH_TRY(check(n, radius, status));
    RH_TRY(take((void **)&list->first, &list->room, n->count + 1, sizeof *list->first, status));
    float r = (float)radius;
    places table;
    make_places(&table);
    finder f = {n, &table, list, radius < 0 ? -1 : r * r};
    pass(&f, false);
    uint64_t pairs = 0;
    for (int64_t p = 0; p < n->count; p += BLOCK) {
        uint64_t here = list->first[p];
        list->first[p] = pairs, pairs += here;
    }
    RH_TRY(take((void **)&list->near, &list->pair_room, (int64_t)pairs, sizeof *list->near, status));
    pass(&f, true);
    list->first[n->count] = pairs;
    list->count = n->count, list->pairs = (int64_t)pairs;
    return RH_OK;
}

void rh_adjacency_free(rh_adjacency *list)
{
    rh_free(list->first);
    rh_free(list->near);
    *list = (rh_adjacency){0};
}
