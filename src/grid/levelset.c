// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The liquid's surface from its particles.
//
// Field (ZBS-1; Y. Zhu, R. Bridson, "Animating sand as a fluid", ACM TOG 24(3), 2005): f(x) = |x - xbar| - r with
// xbar the average of the particles within R of x under k(s) = (1 - s^2)^3. It does not depend on the local density,
// so clumps and gaps leave it smooth.
//
// r = 0.29 R puts the flat surface of a jittered particle set in its place, within 0.05 cells and without bias over all
// positions against the grid (tests/analytic/test_surface.c), in two and in three dimensions. Two neighbours of that choice: a particle alone has its own volume
// with 0.31 R (3D) or 0.28 R (2D); a continuous half space would want 0.25 R, because there is no scatter to push xbar away.
//
// f is accurate near its zero set but saturates at -r inside, so f(a) / (f(a) - f(b)) would misplace the surface on an edge a-b by up
// to a third of a cell. Instead the zero is searched along each cut edge; distances then start from those points (second order).
// The pressure solve takes its fractions from these distances, not from the zeros: where the surface runs almost along an
// edge, the zero on that edge is anywhere, and dividing by its fraction made resting water tremble.
//
// At a solid the missing half of the neighbourhood looks just like a free surface. The part of x - xbar that points
// into the solid is dropped, so a full cell at a wall is inside, and the surface meets the wall at a right angle.
#include "grid/levelset.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"

static const float RADIUS_SHARE = 0.29f;  // r / R

typedef struct evaluator {
    const rh_tiles *tiles;
    const rh_vec3 *positions;
    float radius, offset;  // R and r, m
    int reach;             // cells a kernel may reach
    float full;            // particles of a full cell
} evaluator;

// A cell with more than this many times its particles counts as one with just so many: a clump would pull the average of all
// cells around it to itself, they would look empty, and the hole without pressure would draw in more liquid.
static const float CROWDED = 1.5f;

static const float NOTHING = 1e30f;  // no particle within R

// Sums of the weighted average around a point.
typedef struct average { float weight, x, y, z; } average;

// Four lanes, added in fixed order: what a compiler may vectorise without being asked to reorder sums, so that the bits do
// not depend on whether it does.
enum { LANES = 4 };
typedef struct lanes { float weight[LANES], x[LANES], y[LANES], z[LANES]; } lanes;

static inline void add_particle(lanes *a, int lane, rh_vec3 p, rh_vec3 x, float inverse)
{
    float dx = p.x - x.x, dy = p.y - x.y, dz = p.z - x.z;
    float s = 1 - (dx * dx + dy * dy + dz * dz) * inverse;
    s = s > 0 ? s : 0;
    float w = s * s * s;
    a->weight[lane] += w;
    a->x[lane] += w * dx;
    a->y[lane] += w * dy;
    a->z[lane] += w * dz;
}

static inline float add_lanes(const float v[LANES]) { return (v[0] + v[1]) + (v[2] + v[3]); }

static inline average add_particles(average a, const evaluator *e, uint32_t begin, uint32_t end, rh_vec3 x, float share)
{
    const rh_vec3 *p = e->positions;
    float inverse = 1 / (e->radius * e->radius);
    lanes sums = {0};
    uint32_t q = begin;
    for (; q + LANES <= end; q += LANES)
        for (int lane = 0; lane < LANES; lane++) add_particle(&sums, lane, p[q + (uint32_t)lane], x, inverse);
    for (int lane = 0; q < end; q++, lane++) add_particle(&sums, lane, p[q], x, inverse);
    return (average){a.weight + share * add_lanes(sums.weight), a.x + share * add_lanes(sums.x), a.y + share * add_lanes(sums.y), a.z + share * add_lanes(sums.z)};
}

// Cells i0 .. i1 of row (j, k) relative to tile t, cells up to one tile away. Neighbours along x follow each other in
// memory, so a row is one range per tile it touches; only where a cell is crowded does it go cell by cell.
static inline average add_row(average a, const evaluator *e, int32_t t, int i0, int i1, int j, int k, rh_vec3 x)
{
    const rh_tiles *tiles = e->tiles;
    int side = 3 * ((j >> 3) + 1) + 9 * ((k >> 3) + 1), row = RH_TILE * ((j & 7) + RH_TILE * (k & 7));
    float limit = CROWDED * e->full;
    for (int i = i0, last; i <= i1; i = last + 1) {
        last = (i | 7) < i1 ? (i | 7) : i1;
        int32_t other = tiles->near[t][(i >> 3) + 1 + side];
        if (other < 0) continue;
        const uint32_t *first = tiles->first + (int64_t)other * tiles->cells + row;
        bool crowded = false;
        for (int c = i & 7; c <= (last & 7); c++) crowded |= (float)(first[c + 1] - first[c]) > limit;
        if (!crowded) a = add_particles(a, e, first[i & 7], first[(last & 7) + 1], x, 1);
        else
            for (int c = i & 7; c <= (last & 7); c++)  // an empty cell divides by zero and gets share 1
                a = add_particles(a, e, first[c], first[c + 1], x, rh_min(1, limit / (float)(first[c + 1] - first[c])));
    }
    return a;
}

// x - xbar at a point in or next to tile t, or false when no particle is near.
static bool average_offset(const evaluator *e, int32_t t, rh_vec3 x, rh_vec3 *out)
{
    rh_tile at = e->tiles->at[t];
    int i = rh_floor(x.x * e->tiles->inverse_h) - at.x * RH_TILE, j = rh_floor(x.y * e->tiles->inverse_h) - at.y * RH_TILE;
    int k = e->tiles->dimension == 3 ? rh_floor(x.z * e->tiles->inverse_h) - at.z * RH_TILE : 0;
    int layers = e->tiles->dimension == 3 ? e->reach : 0;
    average a = {0, 0, 0, 0};
    for (int dz = -layers; dz <= layers; dz++)
        for (int dy = -e->reach; dy <= e->reach; dy++) a = add_row(a, e, t, i - e->reach, i + e->reach, j + dy, k + dz, x);
    if (a.weight <= 1e-12f) return false;
    *out = rh_v3(-a.x / a.weight, -a.y / a.weight, -a.z / a.weight);
    return true;
}

// --- solids, read from their sampled distance ---------------------------------------------------------------------
enum { WALL_HALO = 4, WALL_SIDE = RH_TILE + 2 * WALL_HALO };

typedef struct solid_block {
    float values[WALL_SIDE * WALL_SIDE * WALL_SIDE];
    rh_vec3 corner;  // m, of the tile
    bool any;        // a solid is near; `values` is filled
} solid_block;

static void load_solid(const rh_tiles *tiles, const float *const *solid, int32_t t, solid_block *out)
{
    rh_tile at = tiles->at[t];
    float width = RH_TILE * tiles->h, near = 3 * tiles->h;
    out->corner = rh_v3((float)at.x * width, (float)at.y * width, tiles->dimension == 3 ? (float)at.z * width : 0);
    out->any = false;
    if (!solid) return;
    for (int c = 0; c < tiles->cells && !out->any; c++) out->any = solid[t][c] < near;
    if (out->any) rh_block_load_apart(tiles, solid, t, WALL_HALO, 4 * tiles->h, out->values);
}

// Distance to solids at a point in or next to the tile, linear between cell centres.
static float solid_at(const rh_tiles *tiles, const solid_block *s, rh_vec3 x)
{
    int base[3] = {0, 0, 0}, side = WALL_SIDE;
    float way[3] = {0, 0, 0}, sum = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        float g = rh_clamp(((&x.x)[a] - (&s->corner.x)[a]) * tiles->inverse_h - 0.5f + WALL_HALO, 0, WALL_SIDE - 1.01f);
        base[a] = (int)g;
        way[a] = g - (float)base[a];
    }
    const float *v = s->values + base[0] + side * (base[1] + side * base[2]);
    for (int k = 0; k < (tiles->dimension == 3 ? 2 : 1); k++)
        for (int j = 0; j < 2; j++) {
            const float *row = v + side * (j + side * k);
            float w = (j ? way[1] : 1 - way[1]) * (tiles->dimension == 2 ? 1 : k ? way[2] : 1 - way[2]);
            sum += w * (row[0] + way[0] * (row[1] - row[0]));
        }
    return sum;
}

static rh_vec3 solid_normal(const rh_tiles *tiles, const solid_block *s, rh_vec3 x)
{
    rh_vec3 g = {0, 0, 0};
    for (int a = 0; a < tiles->dimension; a++) {
        rh_vec3 low = x, high = x;
        (&low.x)[a] -= 0.5f * tiles->h;
        (&high.x)[a] += 0.5f * tiles->h;
        (&g.x)[a] = solid_at(tiles, s, high) - solid_at(tiles, s, low);
    }
    float length = rh_v3_length(g);
    return length > 0 ? rh_v3_scale(g, 1 / length) : g;
}

static rh_vec3 drop_part_into(rh_vec3 off, rh_vec3 normal)
{
    float into = rh_v3_dot(off, normal);
    return into < 0 ? rh_v3_sub(off, rh_v3_scale(normal, into)) : off;
}

// Takes out of x - xbar what walls around x put there: first the part into the nearest wall; then, as long as a solid lies
// close ahead in the direction that is left (the other walls of a corner), the part into that one.
static rh_vec3 drop_walls(const evaluator *e, const solid_block *walls, rh_vec3 x, float distance, rh_vec3 normal, rh_vec3 off)
{
    off = drop_part_into(off, normal);
    for (int n = 1; n < e->tiles->dimension; n++) {
        float length = rh_v3_length(off);
        if (length < 0.05f * e->radius) break;
        rh_vec3 ahead = rh_v3_add(x, rh_v3_scale(off, e->tiles->h / length));
        if (solid_at(e->tiles, walls, ahead) > distance - 0.4f * e->tiles->h) break;
        off = drop_part_into(off, solid_normal(e->tiles, walls, ahead));
    }
    return off;
}

// f at a point in or next to tile t.
static float evaluate(const evaluator *e, int32_t t, const solid_block *walls, rh_vec3 x)
{
    float distance = walls->any ? solid_at(e->tiles, walls, x) : 1e10f;
    rh_vec3 normal = {0, 0, 0}, off;
    if (distance < e->radius) normal = solid_normal(e->tiles, walls, x);
    if (distance < 0) {
        x = rh_v3_add(x, rh_v3_scale(normal, -distance));
        distance = 0;
    }
    if (!average_offset(e, t, x, &off)) return NOTHING;
    if (distance < e->radius) off = drop_walls(e, walls, x, distance, normal, off);
    return rh_v3_length(off) - e->offset;
}

// --- cell centres -------------------------------------------------------------------------------------------------
enum { EMPTY = 0, FILLED = 1, WALL = 2 };  // wall: deep enough in a solid not to count as a gap

static void mark_cells(const rh_tiles *tiles, const float *const *solid, uint8_t *kind)
{
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int c = 0; c < tiles->cells; c++) {
            int64_t at = (int64_t)t * tiles->cells + c;
            kind[at] = tiles->first[at] < tiles->first[at + 1] ? FILLED : solid && solid[t][c] < -0.25f * tiles->h ? WALL : EMPTY;
        }
}

typedef enum surroundings { ALL_FULL, ALL_EMPTY, MIXED } surroundings;

static surroundings look_around(const rh_tiles *tiles, const uint8_t *block, int halo, int reach, int i, int j, int k)
{
    bool filled = false, gap = false;
    int layers = tiles->dimension == 3 ? reach : 0;
    for (int dz = -layers; dz <= layers; dz++)
        for (int dy = -reach; dy <= reach; dy++)
            for (int dx = -reach; dx <= reach; dx++) {
                uint8_t kind = block[rh_block_index(tiles, halo, i + dx, j + dy, k + dz)];
                filled |= kind == FILLED;
                gap |= kind == EMPTY;
            }
    return !filled ? ALL_EMPTY : gap ? MIXED : ALL_FULL;
}

static void evaluate_tile(const evaluator *e, const float *const *solid, const uint8_t *kind, int32_t t, float *phi)
{
    const rh_tiles *tiles = e->tiles;
    uint8_t block[(RH_TILE + 4) * (RH_TILE + 4) * (RH_TILE + 4)];
    rh_block_load_u8(tiles, kind, t, 2, EMPTY, block);
    solid_block walls;
    load_solid(tiles, solid, t, &walls);
    float *out = phi + (int64_t)t * tiles->cells;
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                float *value = out + i + RH_TILE * (j + RH_TILE * k);
                rh_vec3 center = rh_cell_center(tiles, t, i, j, k);
                float depth = walls.any ? walls.values[rh_block_index(tiles, WALL_HALO, i, j, k)] : 1e10f;
                surroundings around = look_around(tiles, block, 2, e->reach, i, j, k);
                if (around == ALL_EMPTY || depth < -1.5f * tiles->h) *value = NOTHING;
                else if (around == ALL_FULL) *value = -e->offset;
                else *value = evaluate(e, t, &walls, center);
            }
}

// --- cut edges ----------------------------------------------------------------------------------------------------

// Can f at a cell centre guide the search? Inside it saturates at -r, far outside there is none.
static bool telling(const evaluator *e, float f) { return f > -0.8f * e->offset && f < e->radius; }

// The zero of f between two neighbouring cell centres, as a fraction of the way from the lower one: halving while an end
// does not tell where the zero is, secant steps then.
static float find_zero(const evaluator *e, int32_t t, const int lower[3], int axis, const solid_block *walls, float f_low, float f_high)
{
    const rh_tiles *tiles = e->tiles;
    bool lower_inside = f_low < 0;
    rh_vec3 start = rh_cell_center(tiles, t, lower[0], lower[1], lower[2]);
    float low = 0, high = 1;
    for (int n = 0; n < 4; n++) {
        bool guided = telling(e, f_low) && telling(e, f_high);
        float s = guided ? low + (high - low) * f_low / (f_low - f_high) : 0.5f * (low + high);
        if (n == 3 || (guided && (high - low < 0.3f || n == 2))) return s;
        rh_vec3 x = start;
        (&x.x)[axis] += s * tiles->h;
        float f = evaluate(e, t, walls, x);
        if ((f < 0) == lower_inside) low = s, f_low = f;
        else high = s, f_high = f;
    }
    return 0.5f * (low + high);
}

// Cut faces: where between the centres of its two cells the surface crosses, 0 at the lower one; -1 when it does not.
static void cut_tile(const evaluator *e, const float *const *solid, const float *field, int32_t t, rh_faces cut)
{
    const rh_tiles *tiles = e->tiles;
    float f[(RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)];
    rh_block_load(tiles, field, t, 1, NOTHING, f);
    solid_block walls;
    load_solid(tiles, solid, t, &walls);
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                float here = f[rh_block_index(tiles, 1, i, j, k)];
                int64_t c = (int64_t)t * tiles->cells + i + RH_TILE * (j + RH_TILE * k);
                for (int a = 0; a < tiles->dimension; a++) {
                    int lower[3] = {i - (a == 0), j - (a == 1), k - (a == 2)};
                    float below = f[rh_block_index(tiles, 1, lower[0], lower[1], lower[2])];
                    cut.axis[a][c] = (here < 0) == (below < 0) ? -1 : find_zero(e, t, lower, a, &walls, below, here);
                }
            }
}

// Is everything around a cell inside, corners included?
static bool is_deep(const rh_tiles *tiles, const uint8_t *inside, int i, int j, int k)
{
    int layers = tiles->dimension == 3;
    for (int dz = -layers; dz <= layers; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (!inside[rh_block_index(tiles, 1, i + dx, j + dy, k + dz)]) return false;
    return true;
}

// Distance of a cell next to a cut from the cut points along its axes: 1/d^2 = sum 1/d_axis^2, exact for a plane.
static void start_tile(const rh_tiles *tiles, const rh_surface *surface, rh_faces cut, int32_t t, uint8_t *fixed)
{
    float cuts[3][(RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)];
    uint8_t inside[(RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)];
    rh_block_load_u8(tiles, surface->inside, t, 1, 0, inside);
    for (int a = 0; a < tiles->dimension; a++) rh_block_load(tiles, cut.axis[a], t, 1, -1, cuts[a]);
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                int64_t c = (int64_t)t * tiles->cells + i + RH_TILE * (j + RH_TILE * k);
                float sum = 0;
                for (int a = 0; a < tiles->dimension; a++) {
                    float below = cuts[a][rh_block_index(tiles, 1, i, j, k)];
                    float above = cuts[a][rh_block_index(tiles, 1, i + (a == 0), j + (a == 1), k + (a == 2))];
                    float near = rh_min(below >= 0 ? 1 - below : 2, above >= 0 ? above : 2);
                    if (near < 2) sum += 1 / rh_max_of(near * near, 1e-6f);
                }
                // Deep inside nobody asks how deep: there is nothing to sweep.
                fixed[c] = sum > 0 || (surface->inside[c] && is_deep(tiles, inside, i, j, k));
                float distance = sum > 0 ? tiles->h / sqrtf(sum) : surface->band * tiles->h;
                surface->phi[c] = surface->inside[c] ? -distance : distance;
            }
}

rh_code rh_surface_build(rh_surface *surface, const rh_tiles *tiles, const rh_vec3 *positions, float spacing,
                         const float *const *solid, float band, rh_arena *arena, rh_status *status)
{
    int64_t values = rh_tiles_values(tiles);
    *surface = (rh_surface){.band = band};
    surface->phi = rh_field_new(tiles, arena, status);
    surface->inside = rh_arena_take(arena, (size_t)values, status);
    if (!surface->phi || !surface->inside) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_faces cut;
    RH_TRY(rh_faces_new(&cut, tiles, false, arena, status));
    uint8_t *kind = rh_arena_take(arena, (size_t)values, status);
    if (!kind) return RH_MEMORY;

    // R is two spacings, but never less than a cell: a cell centre must see the particles around it.
    evaluator e = {tiles, positions, rh_max_of(2 * spacing, tiles->h), 0, 0, powf(tiles->h / spacing, (float)tiles->dimension)};
    e.offset = RADIUS_SHARE * e.radius;
    e.reach = e.radius > tiles->h * 1.0001f ? 2 : 1;
    mark_cells(tiles, solid, kind);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        evaluate_tile(&e, solid, kind, t, surface->phi);
        for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) surface->inside[c] = surface->phi[c] < 0;
    }
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) cut_tile(&e, solid, surface->phi, t, cut);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) start_tile(tiles, surface, cut, t, kind);
    rh_levelset_sweep(tiles, surface->phi, kind, band);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

double rh_surface_volume(const rh_tiles *tiles, const float *phi, const float *const *open, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    double *sums = rh_arena_take(arena, (size_t)tiles->count * sizeof *sums, status);
    if (!sums) return 0;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        sums[t] = 0;
        for (int c = 0; c < tiles->cells; c++) {
            float share = rh_clamp(0.5f - phi[(int64_t)t * tiles->cells + c] * tiles->inverse_h, 0, 1);
            sums[t] += (double)(open ? share * open[t][c] : share);
        }
    }
    double cells = rh_sum(sums, tiles->count), h = tiles->h;
    rh_arena_restore(arena, mark);
    return cells * h * h * (tiles->dimension == 3 ? h : 1);
}
