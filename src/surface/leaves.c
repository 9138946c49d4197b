// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which leaves can hold something, and their fields one by one: each leaf gathers from the search
// cells around it, so it is written by one thread, without locks, in an order that does not depend on threads.
//
// Leaves are tiles whose axes are turned round (parts.h): the topology, its hash and its neighbours are those of
// grid/tiles.h, built around the centres of the leaves as if they were particles.
#include <math.h>
#include <string.h>
#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "surface/parts.h"

enum { PAGE = RH_LEAF * 4, FIRST_BLOCK = 64 * PAGE, LARGEST_BLOCK = 4096 * PAGE };  // bytes
static const int64_t MOST_LEAVES = (int64_t)1 << 28;  // candidates, counted once for each search tile that reaches them

// --- pages -----------------------------------------------------------------------------------------------------------
typedef struct block {
    struct block *next;
} block;

typedef struct owner {  // of one thread
    block *blocks;
    size_t used, size;  // of the newest
    char apart[64];
} owner;

struct rh_pages {
    int threads;
    rh_context *context;  // of whoever made the leaves, for the threads that take pages
    owner owners[];
};

static void *take_page(struct rh_pages *pages)
{
    owner *o = &pages->owners[rh_thread()];
    if (!o->blocks ||
        o->used + PAGE > o->size) {  // each block twice as large: few leaves take little, many come in large pages
        size_t size = o->size == 0 ? FIRST_BLOCK : o->size < LARGEST_BLOCK ? 2 * o->size : LARGEST_BLOCK;
        rh_context_scope before = rh_context_enter(pages->context);
        block *more = rh_alloc(size + 64, "surface.leaves", NULL);
        rh_context_leave(before);
        if (!more) return NULL;
        o->size = size;
        more->next = o->blocks;
        o->blocks = more;
        o->used = 0;
    }
    void *page = (char *)o->blocks + 64 + o->used;
    o->used += PAGE;
    return page;
}

void rh_leaves_free(rh_leaves *leaves)
{
    for (int n = 0; leaves->pages && n < leaves->pages->threads; n++)
        for (block *b = leaves->pages->owners[n].blocks; b;) {
            block *next = b->next;
            rh_free(b);
            b = next;
        }
    rh_free(leaves->pages);
    leaves->pages = NULL;
}

// --- candidates ------------------------------------------------------------------------------------------------------
typedef struct lister {
    const rh_surface_cloud *cloud;
    float reach, inverse_voxel;  // voxels, 1/m
    int side;                    // leaves along an axis that a search tile can reach
    uint64_t *marks;             // per thread: side^3 bits
    size_t words;
} lister;

static inline int leaf_of(float voxel) { return rh_floor(voxel * 0.125f); }

// The first leaf that the tile's points can reach, along one axis.
static int first_leaf(const lister *l, int tile)
{
    return leaf_of((float)tile * RH_TILE * l->cloud->cells.h * l->inverse_voxel - l->reach) - 1;
}

static void mark_cell(const lister *l, const int origin[3], uint32_t begin, uint32_t end, uint64_t *marks)
{
    rh_vec3 low = l->cloud->position[begin], high = low;
    for (uint32_t p = begin + 1; p < end; p++) {
        rh_vec3 x = l->cloud->position[p];
        low = rh_v3(rh_min(low.x, x.x), rh_min(low.y, x.y), rh_min(low.z, x.z));
        high = rh_v3(rh_max_of(high.x, x.x), rh_max_of(high.y, x.y), rh_max_of(high.z, x.z));
    }
    int from[3], to[3];
    for (int a = 0; a < 3; a++) {
        from[a] = leaf_of((&low.x)[a] * l->inverse_voxel - l->reach) - origin[a];
        to[a] = leaf_of((&high.x)[a] * l->inverse_voxel + l->reach) - origin[a];
        if (from[a] < 0) from[a] = 0;
        if (to[a] >= l->side) to[a] = l->side - 1;
    }
    for (int x = from[0]; x <= to[0]; x++)
        for (int y = from[1]; y <= to[1]; y++)
            for (int z = from[2]; z <= to[2]; z++) {
                size_t bit = (size_t)((x * l->side + y) * l->side + z);
                marks[bit >> 6] |= 1ull << (bit & 63);
            }
}

// Leaves that tile t reaches; their centres go to `out` unless it is NULL. Returns how many.
static int64_t list_tile(const lister *l, int32_t t, rh_vec3 *out)
{
    const rh_tiles *cells = &l->cloud->cells;
    const uint32_t *first = cells->first + (int64_t)t * cells->cells;
    if (first[0] == first[RH_LEAF]) return 0;
    uint64_t *marks = l->marks + (size_t)rh_thread() * l->words;
    int origin[3] = {first_leaf(l, cells->at[t].x), first_leaf(l, cells->at[t].y), first_leaf(l, cells->at[t].z)};
    memset(marks, 0, l->words * sizeof *marks);
    for (int c = 0; c < RH_LEAF; c++)
        if (first[c] < first[c + 1]) mark_cell(l, origin, first[c], first[c + 1], marks);
    int64_t count = 0;
    float voxel = (float)l->cloud->voxel;
    for (size_t w = 0; w < l->words; w++)
        for (uint64_t bits = marks[w]; bits; bits &= bits - 1, count++) {
            if (!out) continue;
            int at = (int)(w * 64) + __builtin_ctzll(bits), z = at % l->side, y = at / l->side % l->side,
                x = at / l->side / l->side;
            out[count] = rh_v3(((float)(8 * (origin[2] + z)) + 4.5f) * voxel,
                               ((float)(8 * (origin[1] + y)) + 4.5f) * voxel,
                               ((float)(8 * (origin[0] + x)) + 4.5f) * voxel);
        }
    return count;
}

static rh_code too_many(const rh_surface_cloud *cloud, float reach, rh_status *status)
{
    return rh_fail(status, RH_USER,
                   "the surface would need too many voxels: voxels of %g m for particles of %g m radius that reach %g "
                   "m far; take larger voxels or smaller particles",
                   cloud->voxel, cloud->mean_radius, (double)reach * cloud->voxel);
}

rh_code rh_leaves_make(rh_leaves *leaves, const rh_surface_cloud *cloud, float reach, rh_arena *arena,
                       rh_status *status)
{
    RH_ASSERT(reach > 0);
    *leaves = (rh_leaves){.field = NULL};
    const rh_tiles *cells = &cloud->cells;
    rh_arena_mark mark = rh_arena_save(arena);
    lister l = {cloud, reach, (float)(1 / cloud->voxel), 0, NULL, 0};
    double side = floor(RH_TILE * (double)cells->h / cloud->voxel / RH_TILE + 2 * (double)reach / RH_TILE) + 4;
    if (side > 1024) return too_many(cloud, reach, status);
    l.side = (int)side;
    l.words = ((size_t)l.side * (size_t)l.side * (size_t)l.side + 63) / 64;
    l.marks = rh_arena_take(arena, (size_t)rh_threads() * l.words * sizeof *l.marks, status);
    int64_t *starts = rh_arena_take(arena, ((size_t)cells->count + 1) * sizeof *starts, status);
    if (!l.marks || !starts) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < cells->count; t++) starts[t] = list_tile(&l, t, NULL);
    int64_t total = 0;
    for (int32_t t = 0; t <= cells->count; t++) {
        int64_t own = t < cells->count ? starts[t] : 0;
        starts[t] = total;
        total += own;
    }
    if (total > MOST_LEAVES) return too_many(cloud, reach, status);
    rh_vec3 *centres = rh_arena_take(arena, (size_t)(total + 1) * sizeof *centres, status);
    if (!centres) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < cells->count; t++) list_tile(&l, t, centres + starts[t]);
    RH_TRY(rh_leaf_tiles(&leaves->tiles, cloud->voxel, centres, total, mark, arena, status));
    size_t count = (size_t)leaves->tiles.count + 1;
    leaves->field = rh_arena_take_zero(arena, count * sizeof *leaves->field, status);
    leaves->nearest = rh_arena_take_zero(arena, count * sizeof *leaves->nearest, status);
    leaves->inside = rh_arena_take_zero(arena, count, status);
    leaves->pages = rh_alloc_zero(sizeof *leaves->pages + (size_t)rh_threads() * sizeof(owner), "surface.leaves",
                                  status);
    if (!leaves->field || !leaves->nearest || !leaves->inside || !leaves->pages) return RH_MEMORY;
    leaves->pages->threads = rh_threads();
    leaves->pages->context = rh_context_current();
    return RH_OK;
}

rh_code rh_leaf_tiles(rh_tiles *tiles, double voxel, const rh_vec3 *centres, int64_t count, rh_arena_mark mark,
                      rh_arena *arena, rh_status *status)
{
    RH_TRY(rh_tiles_build(tiles, 3, voxel, centres, count, 1, arena, status));
    tiles->keys = NULL;
    rh_arena_keep(arena, mark,
                  (rh_arena_piece[]){{(void **)&tiles->at, ((size_t)tiles->count + 1) * sizeof *tiles->at},
                                     {(void **)&tiles->near, ((size_t)tiles->count + 1) * sizeof *tiles->near},
                                     {(void **)&tiles->slots, ((size_t)tiles->slot_mask + 1) * sizeof *tiles->slots}},
                  3);
    return RH_OK;
}

// --- one leaf --------------------------------------------------------------------------------------------------------
// Cells [from, to] of the row (j, k): runs of points in cells that are not too deep. Cells side by side in memory make
// one run.
static void gather_row(rh_leaf_work *w, int from, int to, int j, int k)
{
    const rh_tiles *cells = &w->cloud->cells;
    for (int i = from; i <= to;) {
        int next = (i & ~7) + RH_TILE, last = to < next - 1 ? to : next - 1;
        int32_t t = rh_tiles_find(cells, (rh_tile){i >> 3, j >> 3, k >> 3});
        if (t >= 0) {
            int64_t row = (int64_t)t * RH_LEAF + 8 * (j & 7) + 64 * (k & 7);
            for (int c = i & 7; c <= (last & 7); c++) {
                uint32_t begin = cells->first[row + c], end = cells->first[row + c + 1];
                if (begin == end || w->cloud->depth[row + c] >= w->cloud->skip_depth) continue;
                if (w->run_count && w->runs[w->run_count - 1].end == begin) w->runs[w->run_count - 1].end = end;
                else w->runs[w->run_count++] = (rh_point_range){begin, end};
            }
        }
        i = next;
    }
}

// Search cells between two voxel coordinates along an axis, as far as there are any.
static void cell_range(const rh_surface_cloud *cloud, int axis, float low, float high, int *from, int *to)
{
    double scale = cloud->voxel / (double)cloud->cells.h;
    *from = (int)fmax(floor((double)low * scale - 1e-4), cloud->low[axis]);
    *to = (int)fmin(floor((double)high * scale + 1e-4), cloud->high[axis]);
}

static void gather(rh_leaf_work *w, float reach)
{
    int from[3], to[3];
    for (int a = 0; a < 3; a++)
        cell_range(w->cloud, a, (&w->corner.x)[a] - reach, (&w->corner.x)[a] + 7 + reach, &from[a], &to[a]);
    w->run_count = 0;
    for (int k = from[2]; k <= to[2]; k++)
        for (int j = from[1]; j <= to[1]; j++) gather_row(w, from[0], to[0], j, k);
    RH_ASSERT(w->run_count <= w->run_room);
}

static int run_room(const rh_surface_cloud *cloud, float reach)
{
    double across = (7 + 2 * (double)reach) * cloud->voxel / cloud->cells.h + 3,
           most = across * across * across / 2 + across * across;
    return (int)fmin(most, (double)cloud->points->count) +
           16;  // no two runs in neighbouring cells of a row, none empty
}

static int depth_at(const rh_surface_cloud *cloud, int i, int j, int k)
{
    int32_t t = rh_tiles_find(&cloud->cells, (rh_tile){i >> 3, j >> 3, k >> 3});
    return t < 0 ? 0 : cloud->depth[(int64_t)t * RH_LEAF + (i & 7) + 8 * (j & 7) + 64 * (k & 7)];
}

// Voxels of one cell that lie in the leaf, along one axis: bits.
static unsigned cell_voxels(const rh_surface_cloud *cloud, float corner, int cell)
{
    unsigned bits = 0;
    double scale = cloud->voxel / (double)cloud->cells.h;
    for (int n = 0; n < RH_TILE; n++) bits |= (unsigned)((int)floor((double)(corner + (float)n) * scale) == cell) << n;
    return bits;
}

// Marks the voxels in deep cells; true when that is all of them.
static bool find_known(rh_leaf_work *w)
{
    const rh_surface_cloud *cloud = w->cloud;
    int from[3], to[3];
    w->any_known = false;
    w->known = (rh_bits){{0}};
    // With voxels as large as cells nothing is so deep that it pays to look.
    if (cloud->inside_depth > cloud->deepest || cloud->voxel > (double)cloud->cells.h) return false;
    for (int a = 0; a < 3; a++) cell_range(cloud, a, (&w->corner.x)[a], (&w->corner.x)[a] + 7, &from[a], &to[a]);
    for (int i = from[0]; i <= to[0]; i++)
        for (int j = from[1]; j <= to[1]; j++)
            for (int k = from[2]; k <= to[2]; k++) {
                if (depth_at(cloud, i, j, k) < cloud->inside_depth) continue;
                unsigned x = cell_voxels(cloud, w->corner.x, i), y = cell_voxels(cloud, w->corner.y, j),
                         z = cell_voxels(cloud, w->corner.z, k);
                uint64_t layer = 0;
                for (int n = 0; n < RH_TILE; n++) layer |= (uint64_t)(y >> n & 1 ? z : 0) << (8 * n);
                for (int n = 0; n < RH_TILE; n++) w->known.layer[n] |= x >> n & 1 ? layer : 0;
                w->any_known = true;
            }
    uint64_t all = ~0ull;
    for (int n = 0; n < RH_TILE; n++) all &= w->known.layer[n];
    return all == ~0ull;
}

static void apply_known(rh_leaf_work *w)
{
    for (int x = 0; x < RH_TILE && w->any_known; x++)
        for (uint64_t bits = w->known.layer[x]; bits; bits &= bits - 1) {
            float *value = &w->field[64 * x + __builtin_ctzll(bits)];
            if (*value > -0.5f) *value = -0.5f;
        }
}

static void range_of(const float *field, float *least, float *most)
{
    rh_f8 low = rh_f8_load(field), high = low;
    for (int c = RH_TILE; c < RH_LEAF; c += RH_TILE) {
        low = rh_f8_min(low, rh_f8_load(field + c));
        high = rh_f8_max(high, rh_f8_load(field + c));
    }
    *least = *most = low[0];
    for (int n = 0; n < RH_TILE; n++) *least = rh_min(*least, low[n]), *most = rh_max_of(*most, high[n]);
}

// False when memory runs out.
static bool fill_leaf(rh_leaves *leaves, const rh_leaves_job *job, int32_t t, rh_leaf_work *w)
{
    w->at = rh_leaf_turned(leaves->tiles.at[t]);
    w->corner = rh_v3((float)(8 * w->at.x), (float)(8 * w->at.y), (float)(8 * w->at.z));
    if (find_known(w)) return leaves->inside[t] = 1, true;
    gather(w, job->reach);
    if (w->run_count == 0 && !w->any_known) return true;
    job->fill(w, job->data);
    apply_known(w);
    float least, most;
    range_of(w->field, &least, &most);
    if (least >= job->band) return true;
    leaves->inside[t] = most < job->front;
    if (job->keep_nearest) {
        leaves->nearest[t] = take_page(leaves->pages);
        if (!leaves->nearest[t]) return false;
        memcpy(leaves->nearest[t], w->nearest, PAGE);
    }
    leaves->field[t] = take_page(leaves->pages);
    if (!leaves->field[t]) return false;
    memcpy(leaves->field[t], w->field, PAGE);
    return true;
}

rh_code rh_leaves_fill(rh_leaves *leaves, const rh_surface_cloud *cloud, const rh_leaves_job *job, rh_status *status)
{
    int threads = rh_threads(), room = run_room(cloud, job->reach);
    rh_leaf_work *works = rh_alloc((size_t)threads * sizeof *works, "surface.leaves", status);
    rh_point_range *runs = rh_alloc((size_t)threads * (size_t)room * sizeof *runs, "surface.leaves", status);
    bool failed = !works || !runs;
    for (int n = 0; n < threads && !failed; n++)
        works[n] = (rh_leaf_work){.cloud = cloud, .runs = runs + (int64_t)n * room, .run_room = room};
    if (!failed) {
#pragma omp parallel for schedule(dynamic, 2) reduction(|| : failed)
        for (int32_t t = 0; t < leaves->tiles.count; t++)
            if (!failed && !fill_leaf(leaves, job, t, &works[rh_thread()])) failed = true;
    }
    rh_free(runs);
    rh_free(works);
    return failed ? rh_fail(status, RH_MEMORY, "out of memory for the surface's voxels") : RH_OK;
}
