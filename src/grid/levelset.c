// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The liquid's surface from its particles.
//
// Field (Y. Zhu, R. Bridson, "Animating sand as a fluid", ACM TOG 24(3), 2005; Zhu 2005, eqs. 4.2 to 4.5): f(x) = |x -
// xbar| - r with xbar the average of the particles within R of x under k(s) = (1 - s^2)^3. It does not depend on the
// local density, so clumps and gaps leave it smooth.
//
// r = 0.29 R puts the flat surface of a jittered particle set in its place, within 0.05 cells and without bias over all
// positions against the grid (tests/analytic/test_surface.c), in two and in three dimensions. Two neighbours of that
// choice: a particle alone has its own volume with 0.31 R (3D) or 0.28 R (2D); a continuous half space would want 0.25
// R, because there is no scatter to push xbar away.
//
// f is accurate near its zero set but saturates at -r inside, so f(a) / (f(a) - f(b)) would misplace the surface on an
// edge a-b by up to a third of a cell. Instead the zero is searched along each cut edge; distances then start from
// those points (second order). The pressure solve takes its fractions from these distances, not from the zeros: where
// the surface runs almost along an edge, the zero on that edge is anywhere, and dividing by its fraction made resting
// water tremble.
//
// At a solid the missing half of the neighbourhood looks just like a free surface. The part of x - xbar that points
// into the solid is dropped, so a full cell at a wall is inside, and the surface meets the wall at a right angle.
//
// Most tiles are margin or deep liquid and most cells of the others are too: bits per cell (grid/bits.h) find those
// that need f, and only around them particles are looked at. Lengths are in cells from the tile's corner, except phi
// and the solids' distance.
#include "grid/levelset.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "grid/vicinity.h"

static const float RADIUS_SHARE = 0.29f;  // r / R

// A cell with more than this many times its particles counts as one with just so many: a clump would pull the average
// of all cells around it to itself, they would look empty, and the hole without pressure would draw in more liquid.
static const float CROWDED = 1.5f;

static const float NOTHING = 1e30f;  // no particle within R

static const float WALL_DEPTH = 0.25f;  // a cell without particles, so deep in a solid, is no gap in the liquid
static const float DEEP = 1.5f;         // deeper in a solid there is no liquid

enum { HAS_PARTICLES = 1, HAS_GAPS = 2 };

typedef struct builder {
    const rh_tiles *tiles;
    const float *const *solid;  // NULL when there are none
    float radius, offset;       // R and r
    int reach;                  // cells R may span
    rh_bits *filled;            // cells with particles
    rh_bits *gap;               // cells that lack them
    rh_bits *inside;            // f < 0
    uint8_t *content;           // per tile: HAS_PARTICLES, HAS_GAPS
    float *f;                   // becomes phi
    int32_t *slot;              // per tile: where its cuts are, -1 when no lower face of its cells is cut
    float *cut;  // [slots][dimension][cells]: where between two cell centres the surface crosses, 0 at the lower one;
                 // only on cut faces
    rh_vicinity *vicinities;  // one for each thread
} builder;

static inline int next_bit(uint64_t *bits)
{
    int n = __builtin_ctzll(*bits);
    *bits &= *bits - 1;
    return n;
}

// --- solids, read from their sampled distance ------------------------------------------------------------------------
enum { WALL_HALO = 4, WALL_SIDE = RH_TILE + 2 * WALL_HALO };

typedef struct solid_block {
    float values[WALL_SIDE * WALL_SIDE * WALL_SIDE];
    bool any;  // a solid is near; `values` is filled
} solid_block;

static bool is_solid_near(const builder *b, int32_t t)
{
    if (!b->solid) return false;
    const float *d = b->solid[t];
    rh_f8 least = rh_f8_load(d);
    for (int c = RH_TILE; c < b->tiles->cells; c += RH_TILE) least = rh_f8_min(least, rh_f8_load(d + c));
    return rh_i8_bits(least < 3 * b->tiles->h) != 0;
}

// A row of 16 cells of the block; a tile that does not exist is far from solids.
static void load_solid_row(const builder *b, int32_t t, int j, int k, float *out)
{
    const int32_t *near = b->tiles->near[t] + 3 * (1 + (j >> 3)) + 9 * (1 + (k >> 3));
    int row = RH_TILE * ((j & 7) + RH_TILE * (k & 7));
    rh_f8 far = rh_f8_all(WALL_HALO), scale = rh_f8_all(b->tiles->inverse_h);
    rh_f8 west = near[0] < 0 ? far : rh_f8_load(b->solid[near[0]] + row) * scale;
    rh_f8 here = near[1] < 0 ? far : rh_f8_load(b->solid[near[1]] + row) * scale;
    rh_f8 east = near[2] < 0 ? far : rh_f8_load(b->solid[near[2]] + row) * scale;
    rh_f8_store(out, __builtin_shufflevector(west, here, 4, 5, 6, 7, 8, 9, 10, 11));
    rh_f8_store(out + 8, __builtin_shufflevector(here, east, 4, 5, 6, 7, 8, 9, 10, 11));
}

static void load_solid(const builder *b, int32_t t, solid_block *out)
{
    out->any = is_solid_near(b, t);
    if (!out->any) return;
    bool flat = b->tiles->dimension == 2;
    for (int k = 0; k < (flat ? 1 : WALL_SIDE); k++)
        for (int j = 0; j < WALL_SIDE; j++)
            load_solid_row(b, t, j - WALL_HALO, flat ? 0 : k - WALL_HALO,
                           out->values + WALL_SIDE * (j + WALL_SIDE * k));
}

static float solid_in_cell(const builder *b, const solid_block *s, int i, int j, int k)
{
    return s->values[rh_block_index(b->tiles, WALL_HALO, i, j, k)];
}

// Cells deeper than DEEP in solids.
static rh_bits deep_cells(const builder *b, int32_t t)
{
    rh_bits deep = {{0}};
    if (!b->solid) return deep;
    const float *d = b->solid[t];
    for (int r = 0; r < b->tiles->cells / RH_TILE; r++)
        deep.layer[r >> 3] |= (uint64_t)rh_i8_bits(rh_f8_load(d + RH_TILE * r) < -DEEP * b->tiles->h) << (8 * (r & 7));
    return deep;
}

// Distance to solids at a point in or next to the tile, linear between cell centres.
static float solid_at(const builder *b, const solid_block *s, rh_vec3 x)
{
    int base[3] = {0, 0, 0}, side = WALL_SIDE;
    float way[3] = {0, 0, 0}, sum = 0;
    bool flat = b->tiles->dimension == 2;
    for (int a = 0; a < b->tiles->dimension; a++) {
        float g = rh_clamp((&x.x)[a] - 0.5f + WALL_HALO, 0, WALL_SIDE - 1.01f);
        base[a] = (int)g;
        way[a] = g - (float)base[a];
    }
    const float *v = s->values + base[0] + side * (base[1] + side * base[2]);
    for (int k = 0; k < (flat ? 1 : 2); k++)
        for (int j = 0; j < 2; j++) {
            const float *row = v + side * (j + side * k);
            float w = (j ? way[1] : 1 - way[1]) * (flat ? 1 : k ? way[2] : 1 - way[2]);
            sum += w * (row[0] + way[0] * (row[1] - row[0]));
        }
    return sum;
}

static rh_vec3 solid_normal(const builder *b, const solid_block *s, rh_vec3 x)
{
    rh_vec3 g = {0, 0, 0};
    for (int a = 0; a < b->tiles->dimension; a++) {
        rh_vec3 low = x, high = x;
        (&low.x)[a] -= 0.5f;
        (&high.x)[a] += 0.5f;
        (&g.x)[a] = solid_at(b, s, high) - solid_at(b, s, low);
    }
    float length = rh_v3_length(g);
    return length > 0 ? rh_v3_scale(g, 1 / length) : g;
}

static rh_vec3 drop_part_into(rh_vec3 off, rh_vec3 normal)
{
    float into = rh_v3_dot(off, normal);
    return into < 0 ? rh_v3_sub(off, rh_v3_scale(normal, into)) : off;
}

// Takes out of x - xbar what walls around x put there: first the part into the nearest wall; then, as long as a solid
// lies close ahead in the direction that is left (the other walls of a corner), the part into that one.
static rh_vec3 drop_walls(const builder *b, const solid_block *walls, rh_vec3 x, float distance, rh_vec3 normal,
                          rh_vec3 off)
{
    off = drop_part_into(off, normal);
    for (int n = 1; n < b->tiles->dimension; n++) {
        float length = rh_v3_length(off);
        if (length < 0.05f * b->radius) break;
        rh_vec3 ahead = rh_v3_add(x, rh_v3_scale(off, 1 / length));
        if (solid_at(b, walls, ahead) > distance - 0.4f) break;
        off = drop_part_into(off, solid_normal(b, walls, ahead));
    }
    return off;
}

// f at a point in or next to the tile whose surroundings are loaded.
static float evaluate(const builder *b, const rh_vicinity *v, const solid_block *walls, rh_vec3 x)
{
    float distance = walls->any ? solid_at(b, walls, x) : 1e10f;
    rh_vec3 normal = {0, 0, 0}, off;
    if (distance < b->radius) normal = solid_normal(b, walls, x);
    if (distance < 0) {
        x = rh_v3_add(x, rh_v3_scale(normal, -distance));
        distance = 0;
    }
    if (!rh_vicinity_average(v, x, &off)) return NOTHING;
    off = rh_v3_scale(off, -1);
    if (distance < b->radius) off = drop_walls(b, walls, x, distance, normal, off);
    return rh_v3_length(off) - b->offset;
}

// Loads the particles around rows of cells, seen from points up to `beyond` cells below them. A point in a solid looks
// from the solid's surface, up to two cells off.
static void load_particles(const builder *b, int32_t t, uint64_t rows, int beyond, const solid_block *walls,
                           rh_vicinity *v)
{
    uint64_t walled = 0;
    for (uint64_t left = walls->any ? rows : 0; left;) {
        int r = next_bit(&left);
        rh_f8 d = rh_f8_load(walls->values + rh_block_index(b->tiles, WALL_HALO, 0, r & 7, r >> 3));
        if (rh_i8_bits(d < (float)beyond)) walled |= (uint64_t)1 << r;
    }
    rh_vicinity_load(v, t, rows, walled, b->reach + beyond);
}

static rh_vec3 center_of(const builder *b, int i, int j, int k)
{
    return rh_v3((float)i + 0.5f, (float)j + 0.5f, b->tiles->dimension == 3 ? (float)k + 0.5f : 0);
}

// The rows of a tile with a set bit: bit j + 8 k.
static uint64_t rows_of(const builder *b, const rh_bits *bits)
{
    uint64_t rows = 0;
    for (int r = 0; r < b->tiles->cells / RH_TILE; r++) rows |= (uint64_t)(rh_bits_row(bits, r & 7, r >> 3) != 0) << r;
    return rows;
}

// --- cell centres ----------------------------------------------------------------------------------------------------

// Which cells have particles, which lack them.
static void mark_tile(builder *b, int32_t t)
{
    const rh_tiles *tiles = b->tiles;
    const uint32_t *first = tiles->first + (int64_t)t * tiles->cells;
    const float *solid = b->solid ? b->solid[t] : NULL;
    rh_bits filled = {{0}}, gap = {{0}};
    bool any = first[0] != first[tiles->cells];
    for (int r = 0; r < tiles->cells / RH_TILE; r++) {
        rh_i8 from, to;
        memcpy(&from, first + RH_TILE * r, sizeof from);
        memcpy(&to, first + RH_TILE * r + 1, sizeof to);
        int has = any ? rh_i8_bits(from != to) : 0;
        int lacks = ~has & 0xff & (solid ? ~rh_i8_bits(rh_f8_load(solid + RH_TILE * r) < -WALL_DEPTH * tiles->h) : ~0);
        filled.layer[r >> 3] |= (uint64_t)has << (8 * (r & 7));
        gap.layer[r >> 3] |= (uint64_t)lacks << (8 * (r & 7));
    }
    b->filled[t] = filled;
    b->gap[t] = gap;
    b->content[t] = (uint8_t)((any ? HAS_PARTICLES : 0) | (rh_bits_any(tiles, &gap) ? HAS_GAPS : 0));
}

static int content_around(const builder *b, int32_t t)
{
    int content = 0;
    for (int n = b->tiles->dimension == 3 ? 0 : 9; n < (b->tiles->dimension == 3 ? RH_NEAR : 18); n++)
        content |= b->tiles->near[t][n] < 0 ? HAS_GAPS : b->content[b->tiles->near[t][n]];
    return content;
}

static void evaluate_cells(const builder *b, rh_vicinity *v, int32_t t, const rh_bits *mixed, float *f)
{
    uint64_t rows = rows_of(b, mixed);
    if (!rows) return;
    solid_block walls;
    load_solid(b, t, &walls);
    load_particles(b, t, rows, 0, &walls, v);
    for (int k = 0; k < b->tiles->layers; k++)
        for (uint64_t left = mixed->layer[k]; left;) {
            int c = next_bit(&left);
            f[c + RH_TILE * RH_TILE * k] = evaluate(b, v, &walls, center_of(b, c & 7, c >> 3, k));
        }
}

// f at cell centres: only cells that have both particles and gaps around them need to look.
static void evaluate_tile(builder *b, rh_vicinity *v, int32_t t)
{
    const rh_tiles *tiles = b->tiles;
    float *f = b->f + (int64_t)t * tiles->cells;
    int content = content_around(b, t);
    rh_bits full = {{0}}, mixed = {{0}};
    if (content & HAS_PARTICLES) {
        rh_bits near = rh_bits_spread(tiles, b->filled, t, b->reach, 0, 0), deep = deep_cells(b, t), gaps = {{0}};
        if (content & HAS_GAPS) gaps = rh_bits_spread(tiles, b->gap, t, b->reach, 0, ~(uint64_t)0);
        for (int k = 0; k < tiles->layers; k++) {
            full.layer[k] = near.layer[k] & ~gaps.layer[k] & ~deep.layer[k];
            mixed.layer[k] = near.layer[k] & gaps.layer[k] & ~deep.layer[k];
        }
    }
    for (int r = 0; r < tiles->cells / RH_TILE; r++)
        rh_f8_store(f + RH_TILE * r, rh_f8_select(rh_i8_from_bits(rh_bits_row(&full, r & 7, r >> 3)),
                                                  rh_f8_all(-b->offset), rh_f8_all(NOTHING)));
    evaluate_cells(b, v, t, &mixed, f);
    for (int r = 0; r < tiles->cells / RH_TILE; r++) {
        if (!rh_bits_row(&mixed, r & 7, r >> 3)) continue;
        full.layer[r >> 3] |= (uint64_t)rh_i8_bits(rh_f8_load(f + RH_TILE * r) < 0) << (8 * (r & 7));
    }
    b->inside[t] = full;
}

// --- cut edges -------------------------------------------------------------------------------------------------------

// Can f at a cell centre guide the search? Inside it saturates at -r, far outside there is none.
static bool telling(const builder *b, float f) { return f > -0.8f * b->offset && f < b->radius; }

// The zero of f between two neighbouring cell centres, as a fraction of the way from the lower one: halving while an
// end does not tell where the zero is, secant steps then.
static float find_zero(const builder *b, const rh_vicinity *v, const solid_block *walls, rh_vec3 start, int axis,
                       float f_low, float f_high)
{
    bool lower_inside = f_low < 0;
    float low = 0, high = 1;
    for (int n = 0; n < 4; n++) {
        bool guided = telling(b, f_low) && telling(b, f_high);
        float s = guided ? low + (high - low) * f_low / (f_low - f_high) : 0.5f * (low + high);
        if (n == 3 || (guided && (high - low < 0.3f || n == 2))) return s;
        rh_vec3 x = start;
        (&x.x)[axis] += s;
        float f = evaluate(b, v, walls, x);
        if ((f < 0) == lower_inside) low = s, f_low = f;
        else high = s, f_high = f;
    }
    return 0.5f * (low + high);
}

// Deep in a solid nobody asks where the surface is: no face of a cell whose centre is half a diagonal inside is open.
// Where liquid ends because the solid is deep, the end is put there.
static bool is_hidden(float below, float here, float *zero)
{
    static const float CLOSED = -0.9f;
    if (below < -DEEP || here < -DEEP) {
        *zero = below < here ? 0.0625f : 0.9375f;
        return true;
    }
    *zero = 0.5f;
    return below < CLOSED && here < CLOSED;
}

// f of the cell below cell c of tile t along an axis.
static float value_below(const builder *b, int32_t t, int c, int axis)
{
    static const int step_near[3] = {1, 3, 9}, step_cell[3] = {1, 8, 64};
    int place = c >> (3 * axis) & 7;
    if (place > 0) return b->f[(int64_t)t * b->tiles->cells + c - step_cell[axis]];
    return b->f[(int64_t)b->tiles->near[t][RH_HERE - step_near[axis]] * b->tiles->cells + c + 7 * step_cell[axis]];
}

static void cut_faces(const builder *b, const rh_vicinity *v, const solid_block *walls, int32_t t, int axis,
                      const rh_bits *cut)
{
    float *out = b->cut + ((int64_t)b->slot[t] * b->tiles->dimension + axis) * b->tiles->cells;
    for (int k = 0; k < b->tiles->layers; k++)
        for (uint64_t left = cut->layer[k]; left;) {
            int bit = next_bit(&left), c = bit + RH_TILE * RH_TILE * k;
            int lower[3] = {(bit & 7) - (axis == 0), (bit >> 3) - (axis == 1), k - (axis == 2)};
            if (walls->any && is_hidden(solid_in_cell(b, walls, lower[0], lower[1], lower[2]),
                                        solid_in_cell(b, walls, bit & 7, bit >> 3, k), &out[c]))
                continue;
            out[c] = find_zero(b, v, walls, center_of(b, lower[0], lower[1], lower[2]), axis,
                               value_below(b, t, c, axis), b->f[(int64_t)t * b->tiles->cells + c]);
        }
}

// Faces between cells of which just one is inside.
static rh_bits cut_below(const builder *b, int32_t t, int axis)
{
    rh_bits cut = rh_bits_below(b->tiles, b->inside, t, axis);
    for (int k = 0; k < b->tiles->layers; k++) cut.layer[k] ^= b->inside[t].layer[k];
    return cut;
}

static rh_bits cut_above(const builder *b, int32_t t, int axis)
{
    rh_bits cut = rh_bits_above(b->tiles, b->inside, t, axis);
    for (int k = 0; k < b->tiles->layers; k++) cut.layer[k] ^= b->inside[t].layer[k];
    return cut;
}

static void cut_tile(const builder *b, rh_vicinity *v, int32_t t)
{
    if (b->slot[t] < 0) return;
    solid_block walls;
    load_solid(b, t, &walls);
    rh_bits cut[3];
    uint64_t rows = 0;
    for (int a = 0; a < b->tiles->dimension; a++) {
        cut[a] = cut_below(b, t, a);
        rows |= rows_of(b, &cut[a]);
    }
    load_particles(b, t, rows, 1, &walls, v);
    for (int a = 0; a < b->tiles->dimension; a++) cut_faces(b, v, &walls, t, a, &cut[a]);
}

// A place for the cuts of every tile that has some.
static rh_code place_cuts(builder *b, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = b->tiles;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        bool any = false;
        for (int a = 0; a < tiles->dimension && !any; a++) {
            rh_bits cut = cut_below(b, t, a);
            any = rh_bits_any(tiles, &cut);
        }
        b->slot[t] = any ? 0 : -1;
    }
    int32_t count = 0;
    for (int32_t t = 0; t < tiles->count; t++)
        if (b->slot[t] == 0) b->slot[t] = count++;
    b->cut = rh_arena_take(arena, (size_t)count * (size_t)(tiles->dimension * tiles->cells) * sizeof(float), status);
    return b->cut ? RH_OK : RH_MEMORY;
}

// --- distances next to the surface -----------------------------------------------------------------------------------

// Cuts on the lower faces along `axis` of row (j, k); rows and cells one beyond the tile belong to its neighbour.
static const float *cut_row(const builder *b, int32_t t, int axis, int i, int j, int k)
{
    int32_t other = b->tiles->near[t][(i >> 3) + 1 + 3 * ((j >> 3) + 1) + 9 * ((k >> 3) + 1)];
    if (other < 0 || b->slot[other] < 0) return NULL;
    return b->cut + ((int64_t)b->slot[other] * b->tiles->dimension + axis) * b->tiles->cells + (i & 7) +
           RH_TILE * ((j & 7) + RH_TILE * (k & 7));
}

// Way to the nearer cut along an axis, in cells; 2 when there is none.
static rh_f8 way_to_cut(const builder *b, int32_t t, int axis, int j, int k, int below, int above)
{
    rh_f8 none = rh_f8_all(2), way = none;
    const float *row = below || axis == 0 ? cut_row(b, t, axis, 0, j, k) : NULL;
    if (below) way = rh_f8_select(rh_i8_from_bits(below), 1 - rh_f8_load(row), none);
    if (!above) return way;
    rh_f8 next = none;
    if (axis == 0) next = rh_f8_east(row ? rh_f8_load(row) : none, above & 0x80 ? *cut_row(b, t, 0, RH_TILE, j, k) : 2);
    else next = rh_f8_load(cut_row(b, t, axis, 0, j + (axis == 1), k + (axis == 2)));
    return rh_f8_min(way, rh_f8_select(rh_i8_from_bits(above), next, none));
}

// Distance of a cell next to a cut from the cut points along its axes: 1/d^2 = sum 1/d_axis^2, exact for a plane. All
// other cells are `far`; `todo` gets those among them whose distance is asked for.
static void start_tile(const builder *b, float far, int32_t t, rh_bits *todo)
{
    const rh_tiles *tiles = b->tiles;
    rh_bits low[3], high[3], cut = {{0}};
    for (int a = 0; a < tiles->dimension; a++) {
        low[a] = cut_below(b, t, a);
        high[a] = cut_above(b, t, a);
        for (int k = 0; k < tiles->layers; k++) cut.layer[k] |= low[a].layer[k] | high[a].layer[k];
    }
    // Deep inside the liquid nobody asks how deep.
    rh_bits shallow = rh_bits_spread(tiles, b->inside, t, 1, ~(uint64_t)0, ~(uint64_t)0);
    for (int k = 0; k < RH_TILE; k++) {
        uint64_t inside = b->inside[t].layer[k];
        todo->layer[k] = k < tiles->layers ? ~cut.layer[k] & (~inside | shallow.layer[k]) : 0;
    }
    for (int r = 0; r < tiles->cells / RH_TILE; r++) {
        int j = r & 7, k = r >> 3;
        rh_f8 distance = rh_f8_all(far), sum = {0}, none = {0};
        if (rh_bits_row(&cut, j, k)) {
            for (int a = 0; a < tiles->dimension; a++) {
                rh_f8 way = way_to_cut(b, t, a, j, k, rh_bits_row(&low[a], j, k), rh_bits_row(&high[a], j, k));
                sum += rh_f8_select(way < 2, 1 / rh_f8_max(way * way, rh_f8_all(1e-6f)), none);
            }
            distance = rh_f8_select(sum > none, tiles->h / rh_f8_sqrt(sum), distance);
        }
        rh_f8_store(b->f + (int64_t)t * tiles->cells + RH_TILE * r,
                    rh_f8_select(rh_i8_from_bits(rh_bits_row(&b->inside[t], j, k)), -distance, distance));
    }
}

// --- all together ----------------------------------------------------------------------------------------------------
static rh_code take_scratch(builder *b, const rh_vec3 *positions, float full, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = b->tiles;
    size_t count = (size_t)tiles->count + 1, threads = (size_t)rh_threads(), room = (size_t)rh_vicinity_room(tiles);
    b->inside = rh_arena_take(arena, count * sizeof(rh_bits), status);
    b->filled = rh_arena_take(arena, count * sizeof(rh_bits), status);
    b->gap = rh_arena_take(arena, count * sizeof(rh_bits), status);
    b->content = rh_arena_take(arena, count, status);
    b->slot = rh_arena_take(arena, count * sizeof(int32_t), status);
    b->vicinities = rh_arena_take(arena, threads * sizeof(rh_vicinity), status);
    float *values = rh_arena_take(arena, threads * room * 4 * sizeof(float), status);
    if (!b->inside || !b->filled || !b->gap || !b->content || !b->slot || !b->vicinities || !values) return RH_MEMORY;
    for (size_t n = 0; n < threads; n++) {
        float *own = values + n * room * 4;
        rh_vicinity *v = &b->vicinities[n];
        v->tiles = tiles;
        v->positions = positions;
        v->radius = b->radius;
        v->crowded = CROWDED * full;
        v->reach = b->reach;
        v->x = own, v->y = own + room, v->z = own + 2 * room, v->share = own + 3 * room;
    }
    return RH_OK;
}

rh_code rh_surface_build(rh_surface *surface, const rh_tiles *tiles, const rh_vec3 *positions, float spacing,
                         const float *const *solid, float band, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && spacing > 0 && band > 0);
    *surface = (rh_surface){.band = band};
    surface->phi = rh_field_new(tiles, arena, status);
    if (!surface->phi) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    // R is two spacings, but never less than a cell: a cell centre must see the particles around it.
    builder b = {
        .tiles = tiles, .solid = solid, .radius = rh_max_of(2 * spacing * tiles->inverse_h, 1), .f = surface->phi};
    b.offset = RADIUS_SHARE * b.radius;
    b.reach = b.radius > 1.0001f ? 2 : 1;
    RH_TRY(take_scratch(&b, positions, powf(tiles->h / spacing, (float)tiles->dimension), arena, status));
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) mark_tile(&b, t);
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t t = 0; t < tiles->count; t++) evaluate_tile(&b, &b.vicinities[rh_thread()], t);
    RH_TRY(place_cuts(&b, arena, status));
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t t = 0; t < tiles->count; t++) cut_tile(&b, &b.vicinities[rh_thread()], t);
    rh_bits *todo = b.filled;  // no longer needed
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) start_tile(&b, band * tiles->h, t, &todo[t]);
    RH_TRY(rh_levelset_sweep(tiles, surface->phi, todo, band, arena, status));
    rh_arena_restore(arena, mark);
    return RH_OK;
}

double rh_surface_volume(const rh_tiles *tiles, const float *phi, const float *const *open, rh_arena *arena,
                         rh_status *status)
{
    RH_ASSERT(phi);
    rh_arena_mark mark = rh_arena_save(arena);
    double *sums = rh_arena_take(arena, (size_t)tiles->count * sizeof *sums, status);
    if (!sums) return 0;
    rh_f8 half = rh_f8_all(0.5f), none = {0}, one = rh_f8_all(1);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_f8 sum = none;
        for (int c = 0; c < tiles->cells; c += RH_TILE) {
            rh_f8 share = rh_f8_min(
                rh_f8_max(half - rh_f8_load(phi + (int64_t)t * tiles->cells + c) * tiles->inverse_h, none), one);
            sum += open ? share * rh_f8_load(open[t] + c) : share;
        }
        sums[t] = (double)rh_f8_sum(sum);
    }
    double cells = rh_sum(sums, tiles->count), h = tiles->h;
    rh_arena_restore(arena, mark);
    return cells * h * h * (tiles->dimension == 3 ? h : 1);
}
