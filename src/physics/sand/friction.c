// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Given the pressure, the stress s of largest dissipation solves
//      minimise  1/2 sum over faces of fill u^2,   u = u* + div s / fill
//      with      |s| <= sqrt(2) m (tan(angle) q + c) in every cell
// (Narain, Golas and Lin 2010 solve it with a box around every component). m is 1 for shear in a plane; in space it is
// what Matsuoka and Nakai (1974) found for the form of the stress: more where sand is squeezed along one axis, less
// where it is stretched (with 1 for all forms round columns gave way as a whole and round heaps were flat). Stress that
// is too large is shortened, whatever its form: sand flows along its stress. It is solved by projected gradients with
// momentum (Beck and Teboulle 2009), which starts over whenever it points uphill (O'Donoghue and Candes 2015). Centres
// and edges are projected on their own, each with the norm of what is around it. With the tangent a layer on a slope
// gives way at the friction angle; Mohr and Coulomb's sine is right for sand that is squeezed, but let slopes of 30
// degrees go at 27 and tall columns run a fifth too far.
//
// Sand at rest stays at rest: cells whose stress is inside the bound and whose faces are slower than a part of what
// forces add in a step are stopped, and cells that were at rest stay so on slopes a little too steep (piles start to
// slide at an angle one to three degrees above the one they stop at: Daerr and Douady 1999). Pressure and friction are
// solved for in turn, so the support of sand may be short by what one of them changed: sinking by three times as much
// as it may slide does not count as motion. Without the first, a pile crept by the errors of the solves; without the
// second it started and stopped for ever.
#include "physics/sand/friction.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "grid/rows.h"
#include "physics/observer.h"
#include "physics/sand/settle.h"
#include "physics/sand/upright.h"

static const float ZEROS[RH_CELLS];
static const float WALL = -1;                                      // bound of cells inside walls
static const float NEAR_WALL = 0.99f;                              // room up to which a cell is beside a wall
static const float STOPPED = 0.1f, CALM = 0.5f, SUPPORTED = 1.5f;  // speeds, of what gravity adds in a step
static const float SAG = 3;           // cells at rest may sink by so much more than they may slide
static const float THIN = 0.3f;       // filling: emptier cells do not count as sand that lies on something
static const float INSIDE = 0.99f;    // of the bound: with less stress a cell is held
static const float ENOUGH = 0.0005f;  // change of stress in an iteration, of a cell's weight: the solve stops

typedef struct solve {
    const rh_unilateral_view *view;
    const rh_tiles *tiles;
    rh_friction *f;
    float step;    // m/s to cells per step
    float weight;  // what gravity adds in a step, cells per step
    rh_faces start, u;
    rh_stress now, ahead, trial, rate;  // rate: the gradient's steps, 1 / (largest eigenvalue); for centres part 0
    float *bound;                       // of cells: |s| / sqrt 2; WALL inside walls
    float *core;   // the same for the normal parts: 0 without pressure, where they would pull; at slanting walls they
                   // pull along these, at most by the walls' friction
    float *slide;  // beside walls: the largest friction of these
    float *press, *coefficient;     // what presses on walls across the grid, and their coefficients of friction
    float *edge[RH_STRESS_PARTS];   // of shears
    float *size;                    // |trial|^2 / 2 at centres that bear something, 0 elsewhere
    float *mean[RH_STRESS_PARTS];   // 1/4, and 0 for edges on walls: in Coulomb's law only the stress along the wall
                                    // counts
    uint8_t *bears, *busy, *moved;  // per row: any cell bears something, any edge too, any face is moved
    rh_stress_rows rows;
    double *sums[2];  // per listed tile
} solve;

static bool is_shear(int p) { return rh_stress_axes[p][0] != rh_stress_axes[p][1]; }

// --- the tiles -------------------------------------------------------------------------------------------------------
// Stress is in cells that pressure knows, and on edges around them.
static rh_code list_tiles(rh_friction *f, const rh_unilateral_view *view, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    f->list = rh_arena_take(view->arena, ((size_t)tiles->count + 1) * sizeof *f->list, status);
    if (!f->list) return RH_MEMORY;
    f->count = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        bool any = false;
        for (int n = 0; n < RH_NEAR && !any; n++)
            any = tiles->near[t][n] >= 0 && view->limit->layout.slot[tiles->near[t][n]] >= 0;
        if (any) f->list[f->count++] = t;
    }
    return RH_OK;
}

// m/s: the largest speed of walls, and the largest change of velocity by forces.
typedef struct drive {
    double wall, kick;
} drive;

static drive drive_of_tile(const rh_unilateral_view *view, int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    rh_f8 wall = rh_f8_all(0), kick = rh_f8_all(0), zero = rh_f8_all(0);
    drive out = {0, 0};
    for (int a = 0; a < tiles->dimension; a++)
        for (int c = 0; c < tiles->cells; c += 8) {
            int64_t at = (int64_t)t * tiles->cells + c;
            rh_i8 closed = rh_f8_load(view->cut->pass[a][t] + c) <= rh_f8_all(RH_SAND_CLOSED),
                  filled = rh_f8_load(view->limit->fill.axis[a] + at) > rh_f8_all(THIN);
            wall = rh_f8_max(rh_f8_select(closed, rh_f8_abs(rh_f8_load(view->cut->wall[a][t] + c)), zero), wall);
            kick = rh_f8_max(
                rh_f8_select(filled,
                             rh_f8_abs(rh_f8_load(view->velocity.axis[a] + at) - rh_f8_load(view->before.axis[a] + at)),
                             zero),
                kick);
        }
    for (int i = 0; i < 8; i++) out.wall = fmax(out.wall, (double)wall[i]), out.kick = fmax(out.kick, (double)kick[i]);
    return out;
}

// Extent of the sand along gravity, in cells; without gravity along the longest axis.
static double extent(const rh_friction *f, const rh_tiles *tiles, rh_dvec3 g)
{
    double along[3] = {fabs(g.x), fabs(g.y), fabs(g.z)}, all = rh_d3_length(g), high = 0;
    for (int a = 0; a < 3; a++) {
        int low = INT_MAX, top = INT_MIN;
        for (int32_t n = 0; n < f->count; n++) {
            rh_tile at = tiles->at[f->list[n]];
            int place[3] = {at.x, at.y, at.z};
            low = place[a] < low ? place[a] : low, top = place[a] > top ? place[a] : top;
        }
        double cells = f->count ? 8.0 * (top - low + 1) : 0;
        high = all > 0 ? high + cells * along[a] / all : fmax(high, cells);
    }
    return high;
}

// Sand wedged between walls that go on moving can be held by friction whatever the pressure, and then pressure and
// friction raise each other without end: it shot out at 1700 m/s. So pressure counts for friction only up to several
// times what the weight of all sand and the speed of walls account for: then the sand gives way, as walls or grains
// would. (The speed of sand counted too at first: what had begun to shoot out then drove itself.)
static float most_pressure(const rh_friction *f, const rh_unilateral_view *view)
{
    double wall = 0, kick = 0, step = (double)(view->dt * view->tiles->inverse_h);
#pragma omp parallel for schedule(static) reduction(max : wall, kick)
    for (int32_t n = 0; n < f->count; n++) {
        drive d = drive_of_tile(view, f->list[n]);
        wall = fmax(wall, d.wall), kick = fmax(kick, d.kick);
    }
    wall *= step, kick *= step;
    return kick > 0 ? (float)(RH_SAND_WEDGED * (kick * extent(f, view->tiles, view->around->gravity) + wall * wall))
                    : INFINITY;
}

static void inverse_mass_rows(const rh_friction *f, const rh_tiles *tiles, int32_t t, rh_rows out[3])
{
    for (int a = 0; a < tiles->dimension; a++) out[a] = rh_rows_of(tiles, f->faces.inverse_mass.axis[a], t, ZEROS);
}

// Edges of a row beside walls across the grid, and those of them that carry no stress (idle): they have a face of the
// wall, whose friction is found elsewhere (wall_friction.h), or one without sand. Stress there would be friction with
// the air, and hold a layer of one cell back by a quarter of its friction.
typedef struct wall_edges {
    rh_i8 all, idle;
} wall_edges;

static wall_edges wall_edges_of(const rh_rows_around *cut, const rh_rows inverse_mass[3], int r, const int *axes)
{
    int a = axes[0], b = axes[1];
    rh_f8 zero = rh_f8_all(0);
    rh_i8 full = (rh_f8_load(inverse_mass[a].here + 8 * r) > zero) & (rh_row_below(&inverse_mass[a], b, r) > zero) &
                 (rh_f8_load(inverse_mass[b].here + 8 * r) > zero) & (rh_row_below(&inverse_mass[b], a, r) > zero),
          all = rh_row_around_edge(cut, r, axes) > zero;
    return (wall_edges){all, all & ~full};
}

// Cells of a row whose sand may bear normal stress: not those at walls across the grid that leave their load to a
// neighbour, or have a face without sand.
static rh_i8 bears_normal(const rh_friction *f, int64_t at)
{
    return (rh_f8_load(f->walls.gives + at) == rh_f8_all(0)) & ~rh_i8_from_bits(f->walls.bare[at / 8]);
}

// Removes carried stress from cells and edges at walls that bear none.
static void clear_tile(const rh_friction *f, const rh_tiles *tiles, int32_t t)
{
    rh_rows inverse_mass[3];
    inverse_mass_rows(f, tiles, t, inverse_mass);
    rh_rows_around cut = rh_rows_around_of(tiles, f->walls.mark, t, ZEROS);
    for (int p = 0; p < RH_STRESS_PARTS; p++)
        for (int r = 0; r < tiles->cells / 8 && f->carried.part[p]; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            rh_i8 idle = is_shear(p) ? wall_edges_of(&cut, inverse_mass, r, rh_stress_axes[p]).idle
                                     : ~bears_normal(f, at);
            float *s = f->carried.part[p] + at;
            rh_f8_store(s, rh_f8_select(idle, rh_f8_all(0), rh_f8_load(s)));
        }
}

rh_code rh_friction_begin(rh_friction *f, const rh_friction_options *options, const rh_unilateral_view *view,
                          rh_status *status)
{
    *f = (rh_friction){.options = *options};
    RH_TRY(list_tiles(f, view, status));
    f->most = most_pressure(f, view);
    f->between = rh_between_upright_walls(f->list, f->count, view, status);
    if (!f->between) return RH_MEMORY;
    RH_TRY(rh_stress_from_particles(&f->carried, view, f->between, status));
    RH_TRY(rh_sand_faces_make(&f->faces, view, f->between, status));
    RH_TRY(rh_wall_friction_begin(&f->walls, f->list, f->count, view, &f->faces, status));
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < f->walls.count; n++) clear_tile(f, view->tiles, f->list[n]);
    rh_stress_add_divergence(&f->carried, f->faces.inverse_mass, view->velocity, view->tiles->h / view->dt, view->tiles,
                             &(rh_stress_rows){f->list, f->count, NULL}, view->velocity);
    rh_wall_friction_push(&f->walls, f->walls.carried, &f->carried, f->faces.inverse_mass, view->tiles->h / view->dt,
                          view->tiles, view->velocity);
    return RH_OK;
}

// --- bounds ----------------------------------------------------------------------------------------------------------
// Are all faces of the cells of a row slower than `slow` of their axis? Nearly empty faces do not count.
static rh_i8 are_slow(const rh_rows u[3], const rh_rows fill[3], int dimension, int r, const float slow[3])
{
    rh_i8 all = rh_f8_all(0) == rh_f8_all(0);
    rh_f8 thin = rh_f8_all(THIN);
    for (int a = 0; a < dimension; a++) {
        all &= (rh_f8_abs(rh_f8_load(u[a].here + 8 * r)) < rh_f8_all(slow[a])) |
               (rh_f8_load(fill[a].here + 8 * r) < thin);
        all &= (rh_f8_abs(rh_row_above(&u[a], a, r)) < rh_f8_all(slow[a])) | (rh_row_above(&fill[a], a, r) < thin);
    }
    return all;
}

// Coulomb's coefficients of the walls near the cells of a tile.
static void wall_friction(const solve *s, int32_t t, float *out)
{
    const rh_obstacles *obstacles = s->view->around->obstacles_after;
    const rh_tiles *tiles = s->tiles;
    bool same = true;
    for (int i = 1; i < obstacles->count; i++)
        same = same && obstacles->items[i].friction == obstacles->items[0].friction;
    for (int c = 0; c < tiles->cells; c++) {
        out[c] = obstacles->count ? (float)obstacles->items[0].friction : 0;
        if (same || s->view->cut->room[t][c] >= NEAR_WALL) continue;
        rh_dvec3 at = {((double)(8 * tiles->at[t].x + (c & 7)) + 0.5) * (double)tiles->h,
                       ((double)(8 * tiles->at[t].y + (c >> 3 & 7)) + 0.5) * (double)tiles->h,
                       tiles->dimension == 3 ? ((double)(8 * tiles->at[t].z + (c >> 6)) + 0.5) * (double)tiles->h : 0};
        int which;
        rh_obstacles_distance(obstacles, at, &which);
        if (which >= 0) out[c] = (float)obstacles->items[which].friction;
    }
}

// Load of the sand below the centres of cells that lie on a wall: the wall bears it too, but it is not in the pressure
// at the centre.
static rh_f8 below_centre(const solve *s, const rh_rows *room, const float *fill, int r)
{
    rh_dvec3 g = s->view->around->gravity;
    double along[3] = {g.x, g.y, g.z}, all = rh_d3_length(g);
    rh_f8 sum = rh_f8_all(0);
    for (int a = 0; a < s->tiles->dimension && all > 0; a++) {
        rh_f8 next = along[a] < 0 ? rh_row_below(room, a, r) : rh_row_above(room, a, r);
        sum += rh_f8_select(next < rh_f8_all(RH_SAND_SOLID_ROOM),
                            rh_f8_all(0.5f * s->weight * (float)(fabs(along[a]) / all)), rh_f8_all(0));
    }
    return sum * rh_f8_min(rh_f8_load(fill + 8 * r), rh_f8_all(1));
}

// Axes along which gravity pulls, and the side it pulls to.
static int pulls(const solve *s, int axis)
{
    rh_dvec3 g = s->view->around->gravity;
    double along = axis == 0 ? g.x : axis == 1 ? g.y : g.z;
    return fabs(along) <= 0.5 * rh_d3_length(g) ? 0 : along < 0 ? -1 : 1;
}

// Sand that does not fill its cell has no pressure of its own, but its weight loads it where it lies on a wall or on
// cells with pressure: half of it in the mean.
static rh_f8 weight_row(const solve *s, const rh_rows *q, const rh_rows *room, const float *fill, int r)
{
    rh_i8 lies = rh_f8_all(0) != rh_f8_all(0);
    for (int a = 0; a < s->tiles->dimension; a++) {
        int side = pulls(s, a);
        if (side == 0) continue;
        rh_f8 below = side < 0 ? rh_row_below(q, a, r) : rh_row_above(q, a, r),
              free = side < 0 ? rh_row_below(room, a, r) : rh_row_above(room, a, r);
        lies |= (below > rh_f8_all(0)) | (free < rh_f8_all(RH_SAND_SOLID_ROOM));
    }
    rh_f8 here = rh_f8_load(fill + 8 * r);
    return rh_f8_select(lies & (here > rh_f8_all(THIN)), 0.5f * s->weight * here, rh_f8_all(0));
}

// A shear stress at the centre of a cell, from the edges around: the mean, and the mean of squares.
typedef struct edges {
    rh_f8 mean, square;
} edges;

static edges edges_at_centre(const rh_rows_around *f, int r, const int *axes)
{
    edges sum = {rh_f8_all(0), rh_f8_all(0)};
    for (int n = 0; n < 4; n++) {
        int d[3] = {0, 0, 0};
        d[axes[0]] = n & 1, d[axes[1]] = n >> 1;
        rh_f8 there = rh_row_at(f, r, d[0], d[1], d[2]);
        sum.mean += 0.25f * there, sum.square += 0.25f * there * there;
    }
    return sum;
}

// Of a row of cells beside walls, whose normal n is the direction in which room grows: how far the wall slants, and
// what the carried stress s adds to the pressure on it, -n . s n. Coulomb's law with the pressure alone was a tenth too
// weak under a block: sand that is free to spread presses down more than sideways.
typedef struct wall_row {
    rh_f8 slant, press;
} wall_row;  // slant: 0 for walls along the axes, 1 at 45 degrees

static wall_row wall_at(const solve *s, const rh_rows *room, int32_t t, int r)
{
    const rh_tiles *tiles = s->tiles;
    rh_f8 sum = rh_f8_all(0), all = rh_f8_all(1e-12f), slant = rh_f8_all(0), n[3];
    for (int a = 0; a < tiles->dimension; a++) {
        n[a] = rh_row_above(room, a, r) - rh_row_below(room, a, r), all += n[a] * n[a];
        sum -= n[a] * n[a] * rh_f8_load(s->f->carried.part[a] + (int64_t)t * tiles->cells + 8 * r);
    }
    for (int p = 3; p < RH_STRESS_PARTS; p++) {
        const int *axes = rh_stress_axes[p];
        if (!s->f->carried.part[p]) continue;
        rh_f8 both = n[axes[0]] * n[axes[1]];
        if (rh_i8_bits(both != rh_f8_all(0)) == 0) continue;
        rh_rows_around around = rh_rows_around_of(tiles, s->f->carried.part[p], t, ZEROS);
        sum -= 2.0f * both * edges_at_centre(&around, r, axes).mean;
        slant += both * both;
    }
    return (wall_row){2.0f * rh_f8_sqrt(slant) / all, sum / all};
}

static void bound_tile(const solve *s, int32_t t)
{
    const rh_tiles *tiles = s->tiles;
    const rh_friction_options *o = &s->f->options;
    const float *fill = s->view->cells + (int64_t)t * tiles->cells;
    float wall[RH_CELLS], inside = (float)o->friction_coefficient, extra = (float)o->cohesion_cells * s->weight,
                          cohesion = (float)o->cohesion / s->view->pressure_unit;
    wall_friction(s, t, wall);
    rh_rows q = rh_layout_rows(&s->view->limit->layout, s->view->q, t),
            free = rh_rows_apart(tiles, s->view->cut->room, t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 room = rh_f8_load(free.here + 8 * r),
              press = rh_f8_min(rh_f8_load(q.here + 8 * r), rh_f8_all(s->f->most)),
              p = rh_f8_max(press, weight_row(s, &q, &free, fill, r));
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        rh_f8_store(s->press + at, press);
        rh_f8_store(s->coefficient + at, rh_f8_min(rh_f8_load(wall + 8 * r), rh_f8_all(inside)));
        p = rh_f8_select(press > rh_f8_all(0), p + below_centre(s, &free, fill, r), p);
        wall_row by = wall_at(s, &free, t, r);
        rh_f8 most = inside * (p + extra) + cohesion,
              slips = rh_f8_min(rh_f8_load(wall + 8 * r), rh_f8_all(inside)) * rh_f8_max(p + by.press, rh_f8_all(0));
        rh_i8 glued = rh_f8_load(fill + 8 * r) > rh_f8_all(cohesion > 0 ? 0.5f : INFINITY),
              lies = (p > rh_f8_all(0)) | glued;
        most = rh_f8_select(lies, most, rh_f8_all(0)), slips = rh_f8_select(lies, slips, rh_f8_all(0));
        rh_i8 solid = (room < rh_f8_all(RH_SAND_SOLID_ROOM)) | (rh_f8_load(s->f->walls.gives + at) > rh_f8_all(0));
        rh_f8_store(s->bound + at, rh_f8_select(solid, rh_f8_all(WALL), most));
        rh_i8 across = rh_i8_from_bits(s->f->walls.cut[at / 8]);
        rh_f8 along = rh_f8_select((room < rh_f8_all(NEAR_WALL)) & ~across,
                                   rh_f8_min(most, slips / rh_f8_max(by.slant, rh_f8_all(1e-6f))), most);
        rh_f8_store(s->core + at, rh_f8_select(~solid & bears_normal(s->f, at) & ((press > rh_f8_all(0)) | glued),
                                               along, rh_f8_all(0)));
        rh_f8_store(s->slide + at, rh_f8_select(solid, rh_f8_all(0), slips));
    }
}

// The bound of an edge is the mean of those of the cells around it, without those inside walls: with these the friction
// of walls was half of what it should be. On a wall it is the bound of the wall's friction; cohesion does not act
// there.
static void bound_edges(const solve *s, int32_t t)
{
    const rh_tiles *tiles = s->tiles;
    rh_rows_around bound = rh_rows_around_of(tiles, s->bound, t, ZEROS),
                   slide = rh_rows_around_of(tiles, s->slide, t, ZEROS),
                   cut = rh_rows_around_of(tiles, s->f->walls.mark, t, ZEROS);
    rh_rows inverse_mass[3];
    inverse_mass_rows(s->f, tiles, t, inverse_mass);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        rh_f8 largest = rh_f8_load(s->bound + at);
        s->bears[at >> 3] = rh_i8_bits(largest > rh_f8_all(0)) != 0;
        for (int p = 3; p < RH_STRESS_PARTS; p++) {
            if (!s->edge[p]) continue;
            const int *axes = rh_stress_axes[p];
            rh_f8 sum = rh_f8_all(0), count = rh_f8_all(0), slips = rh_row_around_edge(&slide, r, axes);
            for (int n = 0; n < 4; n++) {
                int d[3] = {0, 0, 0};
                d[axes[0]] = -(n & 1), d[axes[1]] = -(n >> 1);
                rh_f8 there = rh_row_at(&bound, r, d[0], d[1], d[2]);
                sum += rh_f8_max(there, rh_f8_all(0));
                count += rh_f8_select(there >= rh_f8_all(0), rh_f8_all(1), rh_f8_all(0));
            }
            rh_f8 mean = rh_f8_all(1) / rh_f8_max(count, rh_f8_all(1));
            wall_edges across = wall_edges_of(&cut, inverse_mass, r, axes);
            rh_i8 on_wall = (count < rh_f8_all(4)) & ~across.all;
            sum = rh_f8_select(on_wall, slips, rh_f8_select(across.idle, rh_f8_all(0), sum));
            rh_f8_store(s->mean[p] + at, rh_f8_select(on_wall, rh_f8_all(0), mean));
            rh_f8_store(s->edge[p] + at, sum * mean);
            largest = rh_f8_max(largest, sum);
        }
        s->busy[at >> 3] = rh_i8_bits(largest > rh_f8_all(0)) != 0 || s->f->walls.cut[at >> 3];
    }
}

// Marks rows beside busy ones, and starts the search at the carried stress where a cell or edge can bear any.
static void begin_tile(const solve *s, int32_t t)
{
    const rh_tiles *tiles = s->tiles;
    rh_bit_rows busy = rh_bit_rows_of(tiles, s->busy, t);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        int any = busy.here[r] | busy.low[0][r] | busy.high[0][r];
        for (int a = 1; a < tiles->dimension; a++)
            any |= rh_bits_row_below(&busy, a, r) | rh_bits_row_above(&busy, a, r);
        s->moved[at >> 3] = any != 0;
        for (int p = 0; p < RH_STRESS_PARTS && s->busy[at >> 3]; p++) {
            if (!s->now.part[p]) continue;
            memcpy(s->now.part[p] + at, s->f->carried.part[p] + at, 8 * sizeof(float));
            memcpy(s->ahead.part[p] + at, s->f->carried.part[p] + at, 8 * sizeof(float));
        }
        for (int a = 0; a < tiles->dimension; a++) memcpy(s->u.axis[a] + at, s->start.axis[a] + at, 8 * sizeof(float));
    }
}

// --- steps of the gradient -------------------------------------------------------------------------------------------
// The largest eigenvalue of the map from a stress to the strain rate that it causes is 4 in the plane, 8 in space, over
// faces of filling 1.
static void rate_tile(const solve *s, int32_t t)
{
    const rh_tiles *tiles = s->tiles;
    float most = tiles->dimension == 2 ? 0.22f : 0.11f;
    rh_rows inverse_mass[3];
    inverse_mass_rows(s->f, tiles, t, inverse_mass);
    for (int p = 0; p < RH_STRESS_PARTS; p++) {
        if (!s->rate.part[p] || p == 1 || p == 2) continue;
        int a = rh_stress_axes[p][0], b = rh_stress_axes[p][1];
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 largest = rh_f8_all(0);
            for (int x = 0; x < tiles->dimension && !is_shear(p); x++)
                largest = rh_f8_max(
                    largest, rh_f8_max(rh_f8_load(inverse_mass[x].here + 8 * r), rh_row_above(&inverse_mass[x], x, r)));
            if (is_shear(p))
                largest = rh_f8_max(
                    rh_f8_max(rh_f8_load(inverse_mass[a].here + 8 * r), rh_row_below(&inverse_mass[a], b, r)),
                    rh_f8_max(rh_f8_load(inverse_mass[b].here + 8 * r), rh_row_below(&inverse_mass[b], a, r)));
            rh_f8 rate = most / rh_f8_max(largest, rh_f8_all(0.1f));
            rh_f8_store(s->rate.part[p] + (int64_t)t * tiles->cells + 8 * r,
                        rh_f8_select(largest > rh_f8_all(0), rate, rh_f8_all(0)));
        }
    }
}

// trial = ahead + rate * strain
static void climb_tile(const solve *s, int32_t t)
{
    const rh_tiles *tiles = s->tiles;
    int dimension = tiles->dimension;
    int64_t base = (int64_t)t * tiles->cells;
    rh_rows u[3], inverse_mass[3];
    for (int a = 0; a < dimension; a++) u[a] = rh_rows_of(tiles, s->u.axis[a], t, ZEROS);
    inverse_mass_rows(s->f, tiles, t, inverse_mass);
    for (int r = 0; r < tiles->cells / 8; r++) {
        if (!s->busy[base / 8 + r]) continue;
        rh_f8 e[3], mean = rh_f8_all(0), rate = rh_f8_load(s->rate.part[0] + base + 8 * r);
        rh_i8 bears = rh_f8_load(s->core + base + 8 * r) > rh_f8_all(0);
        for (int a = 0; a < dimension; a++) e[a] = rh_row_above(&u[a], a, r) - rh_f8_load(u[a].here + 8 * r);
        if (s->f->walls.cut[base / 8 + r])
            rh_wall_friction_strain(&s->f->walls, u, inverse_mass, base + 8 * r, r, dimension, e);
        for (int a = 0; a < dimension; a++) mean += e[a];
        mean *= 1.0f / (float)dimension;
        for (int a = 0; a < dimension; a++) {
            rh_f8 trial = rh_f8_load(s->ahead.part[a] + base + 8 * r) + rate * (e[a] - mean);
            rh_f8_store(s->trial.part[a] + base + 8 * r, rh_f8_select(bears, trial, rh_f8_all(0)));
        }
        for (int p = 3; p < RH_STRESS_PARTS; p++) {
            if (!s->trial.part[p]) continue;
            int a = rh_stress_axes[p][0], b = rh_stress_axes[p][1];
            rh_f8 shear = 0.5f * (rh_f8_load(u[a].here + 8 * r) - rh_row_below(&u[a], b, r) +
                                  rh_f8_load(u[b].here + 8 * r) - rh_row_below(&u[b], a, r));
            rh_f8_store(s->trial.part[p] + base + 8 * r, rh_f8_load(s->ahead.part[p] + base + 8 * r) +
                                                             rh_f8_load(s->rate.part[p] + base + 8 * r) * shear);
        }
    }
}

// How much less than in plane shear a stress of this form may be (Matsuoka and Nakai 1974, as a function of the
// invariants): y of y^3 - y = J3 (3 - S^2) S / 2 J2^(3/2), squared. Newton's steps, begun on the tangent at plane
// shear, descend to it.
static rh_f8 form_of(const rh_f8 normal[3], const rh_f8 across[3], float friction_coefficient)
{
    rh_f8 second = rh_f8_all(1e-30f),
          third = normal[0] * normal[1] * normal[2] + 2.0f * across[0] * across[1] * across[2];
    for (int a = 0; a < 3; a++)
        second += 0.5f * normal[a] * normal[a] + across[a] * across[a], third -= normal[a] * across[a] * across[a];
    rh_f8 root = rh_f8_sqrt(second), most = rh_f8_all(0.3849f);
    rh_f8 d = rh_f8_max(-most, rh_f8_min(most, 0.5f * friction_coefficient *
                                                   (3 - friction_coefficient * friction_coefficient) * third /
                                                   (second * root))),
          y = 1.0f + 0.5f * d;
    for (int k = 0; k < 3; k++) y -= (y * y * y - y - d) / (3.0f * y * y - 1.0f + 1e-6f);
    return y * y;
}

static void size_tile(const solve *s, const rh_stress *stress, int32_t t)
{
    const rh_tiles *tiles = s->tiles;
    int64_t base = (int64_t)t * tiles->cells;
    rh_rows_around shears[RH_STRESS_PARTS];
    for (int p = 3; p < RH_STRESS_PARTS; p++)
        if (stress->part[p]) shears[p] = rh_rows_around_of(tiles, stress->part[p], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        if (!s->bears[base / 8 + r]) continue;
        rh_f8 sum = rh_f8_all(0), normal[3], across[3];
        for (int p = 0; p < tiles->dimension; p++) {
            normal[p] = rh_f8_load(stress->part[p] + base + 8 * r);
            sum += 0.5f * normal[p] * normal[p];
        }
        for (int p = 3; p < RH_STRESS_PARTS; p++) {
            if (!stress->part[p]) continue;
            edges at = edges_at_centre(&shears[p], r, rh_stress_axes[p]);
            across[3 - rh_stress_axes[p][0] - rh_stress_axes[p][1]] = at.mean;
            sum += at.square;
        }
        if (tiles->dimension == 3) sum *= form_of(normal, across, fminf((float)s->f->options.friction_coefficient, 1));
        rh_f8_store(s->size + base + 8 * r,
                    rh_f8_select(rh_f8_load(s->bound + base + 8 * r) > rh_f8_all(0), sum, rh_f8_all(0)));
    }
}

// What one part of the tile changes by: largest, and how far downhill.
typedef struct progress {
    rh_f8 largest, downhill;
} progress;

static void accept(const solve *s, int p, int64_t at, rh_f8 scale, float momentum, float twice, progress *sum)
{
    rh_f8 next = scale * rh_f8_load(s->trial.part[p] + at), old = rh_f8_load(s->now.part[p] + at),
          ahead = rh_f8_load(s->ahead.part[p] + at);
    rh_f8 change = next - old;
    sum->largest = rh_f8_max(sum->largest, rh_f8_abs(change));
    sum->downhill += twice * (ahead - next) * change;
    rh_f8_store(s->now.part[p] + at, next);
    rh_f8_store(s->ahead.part[p] + at, next + momentum * change);
}

static rh_f8 into_bound(rh_f8 bound, rh_f8 square)
{
    rh_f8 zero = rh_f8_all(0), root = rh_f8_sqrt(square);
    bound = rh_f8_max(bound, zero);
    return rh_f8_select(root > bound, bound / rh_f8_max(root, rh_f8_all(1e-30f)), rh_f8_all(1));
}

static void project_tile(const solve *s, int32_t n, float momentum)
{
    const rh_tiles *tiles = s->tiles;
    int32_t t = s->f->list[n];
    int64_t base = (int64_t)t * tiles->cells;
    progress sum = {rh_f8_all(0), rh_f8_all(0)};
    rh_rows u[3], inverse_mass[3];
    for (int a = 0; a < tiles->dimension; a++) u[a] = rh_rows_of(tiles, s->u.axis[a], t, ZEROS);
    inverse_mass_rows(s->f, tiles, t, inverse_mass);
    rh_rows_around size = rh_rows_around_of(tiles, s->size, t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = base + 8 * r;
        if (s->f->walls.cut[at >> 3])
            rh_wall_friction_climb(&s->f->walls, u, inverse_mass, at, r, tiles->dimension, momentum, &sum.largest,
                                   &sum.downhill);
        if (!s->busy[at >> 3]) continue;
        rh_f8 scale = into_bound(rh_f8_load(s->core + at), rh_f8_load(s->size + at));
        for (int p = 0; p < tiles->dimension; p++) accept(s, p, at, scale, momentum, 1, &sum);
        for (int p = 3; p < RH_STRESS_PARTS; p++) {
            if (!s->edge[p]) continue;
            rh_f8 own = rh_f8_load(s->trial.part[p] + at),
                  around = rh_f8_load(s->mean[p] + at) * rh_row_around_edge(&size, r, rh_stress_axes[p]);
            accept(s, p, at, into_bound(rh_f8_load(s->edge[p] + at), rh_f8_max(own * own, around)), momentum, 2, &sum);
        }
    }
    float largest = 0;
    for (int i = 0; i < 8; i++) largest = sum.largest[i] > largest ? sum.largest[i] : largest;
    s->sums[0][n] = (double)largest;
    s->sums[1][n] = (double)rh_f8_sum(sum.downhill);
}

// u = start + what stress and tractions do
static void push(const solve *s, const rh_stress *stress, const rh_faces traction[2])
{
    rh_faces inverse_mass = s->f->faces.inverse_mass;
    rh_stress_add_divergence(stress, inverse_mass, s->start, 1, s->tiles, &s->rows, s->u);
    rh_wall_friction_push(&s->f->walls, traction, stress, inverse_mass, 1, s->tiles, s->u);
}

static void iterate(solve *s)
{
    const rh_friction *f = s->f;
    double pace = 1;
    for (s->f->iterations = 0; s->f->iterations < f->options.iterations; s->f->iterations++) {
        double next = 0.5 * (1 + sqrt(1 + 4 * pace * pace));
        float momentum = (float)((pace - 1) / next);
        push(s, &s->ahead, f->walls.ahead);
#pragma omp parallel
        {
#pragma omp for schedule(static, 2)
            for (int32_t n = 0; n < f->count; n++) climb_tile(s, f->list[n]);
#pragma omp for schedule(static, 2)
            for (int32_t n = 0; n < f->count; n++) size_tile(s, &s->trial, f->list[n]);
#pragma omp for schedule(static, 2)
            for (int32_t n = 0; n < f->count; n++) project_tile(s, n, momentum);
        }
        pace = rh_sum(s->sums[1], f->count) > 0 ? 1 : next;
        if (rh_max(s->sums[0], f->count) <= (double)(ENOUGH * s->weight)) break;
    }
    push(s, &s->now, f->walls.now);
}

// --- rest ------------------------------------------------------------------------------------------------------------
// A bit for every cell, a byte for every row.
typedef struct rest_bits {
    uint8_t *rest, *moves;  // cells that bear something: those that stop, the others
    uint8_t *calm;          // of the others those that are slow
    uint8_t *gradual;       // slow cells that bear no more than weight and walls account for (rh_stress_motion)
    uint8_t *lies;          // cells that lie on a wall or on cells that stop
} rest_bits;

// Bits of cells that stop: those inside their bound, and those on it whose speed is what a slope a little too steep
// gives in one step from rest. The upper faces of those without pressure have just begun to fall.
static void rest_tile(const solve *s, int32_t t, const rest_bits *out)
{
    const rh_tiles *tiles = s->tiles;
    float begin = (float)sin(s->f->options.static_excess_angle * 0.017453292519943295) * s->weight, slow[3], falling[3],
          starts[3], starts_falling[3], was[3], calm[3], creeps[3], by_weight = s->f->most / (float)RH_SAND_WEDGED;
    for (int a = 0; a < 3; a++) {
        calm[a] = CALM * s->weight, slow[a] = STOPPED * s->weight, starts[a] = pulls(s, a) ? SAG * begin : begin,
        was[a] = begin / s->step, creeps[a] = SUPPORTED * s->weight;
        falling[a] = pulls(s, a) ? SUPPORTED * s->weight : slow[a],
        starts_falling[a] = pulls(s, a) ? SUPPORTED * s->weight : begin;
    }
    rh_rows u[3], before[3], fill[3], q = rh_layout_rows(&s->view->limit->layout, s->view->q, t);
    for (int a = 0; a < tiles->dimension; a++)
        u[a] = rh_rows_of(tiles, s->u.axis[a], t, ZEROS),
        before[a] = rh_rows_of(tiles, s->view->before.axis[a], t, ZEROS);
    for (int a = 0; a < tiles->dimension; a++) fill[a] = rh_rows_of(tiles, s->view->limit->fill.axis[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        int d = tiles->dimension;
        rh_f8 bound = rh_f8_load(s->bound + at), press = rh_f8_load(q.here + 8 * r);
        rh_i8 pressed = press > rh_f8_all(0), inside = rh_f8_load(s->size + at) < INSIDE * INSIDE * bound * bound;
        rh_i8 holds = inside &
                      ((are_slow(u, fill, d, r, slow) & pressed) | (are_slow(u, fill, d, r, falling) & ~pressed));
        holds |= are_slow(before, fill, d, r, was) &
                 ((are_slow(u, fill, d, r, starts) & pressed) | (are_slow(u, fill, d, r, starts_falling) & ~pressed));
        int bears = rh_i8_bits(bound > rh_f8_all(0));
        out->rest[at >> 3] = (uint8_t)(rh_i8_bits(holds) & bears);
        out->moves[at >> 3] = (uint8_t)(~rh_i8_bits(holds) & bears);
        out->calm[at >> 3] = (uint8_t)(rh_i8_bits(are_slow(u, fill, d, r, calm)) & out->moves[at >> 3]);
        out->gradual[at >> 3] = (uint8_t)rh_i8_bits(are_slow(u, fill, d, r, creeps) & (press < rh_f8_all(by_weight)));
    }
}

// One or two slow cells alone among cells that rest have nowhere to flow to: without this, in three dimensions, specks
// of cells crept for ever and kept the pile awake.
static void settle_tile(const solve *s, int32_t t, const rest_bits *bits)
{
    rh_bit_rows moves = rh_bit_rows_of(s->tiles, bits->moves, t);
    for (int r = 0; r < s->tiles->cells / 8; r++) {
        int64_t row = (int64_t)t * (s->tiles->cells / 8) + r;
        int one = 0, two = 0;
        for (int a = 0; a < s->tiles->dimension && bits->calm[row]; a++) {
            int below = rh_bits_row_below(&moves, a, r), above = rh_bits_row_above(&moves, a, r);
            two |= (one & below) | ((one | below) & above), one |= below | above;
        }
        bits->rest[row] |= (uint8_t)(bits->calm[row] & ~two);
    }
}

static void lying_tile(const solve *s, int32_t t, const rest_bits *out)
{
    rh_bit_rows bits = rh_bit_rows_of(s->tiles, out->rest, t);
    rh_rows bound = rh_rows_of(s->tiles, s->bound, t, ZEROS);
    for (int r = 0; r < s->tiles->cells / 8; r++) {
        int all = 0;
        for (int a = 0; a < s->tiles->dimension; a++) {
            int side = pulls(s, a);
            if (side) all |= side < 0 ? rh_bits_row_below(&bits, a, r) : rh_bits_row_above(&bits, a, r);
            if (side)
                all |= rh_i8_bits((side < 0 ? rh_row_below(&bound, a, r) : rh_row_above(&bound, a, r)) ==
                                  rh_f8_all(WALL));
        }
        out->lies[(int64_t)t * (s->tiles->cells / 8) + r] = (uint8_t)all;
    }
}

static int slower_bits(const float *u, float than) { return rh_i8_bits(rh_f8_abs(rh_f8_load(u)) < rh_f8_all(than)); }

// A face stops between cells that rest, or between one and a wall or air. Single grains on cells that rest stop if they
// have no more than begun to fall; faces above their centres only when they are about to stop by themselves (which they
// did ever more slowly, and in the end moved the pile below them).
static void stop_tile(const solve *s, int32_t t, const rest_bits *of)
{
    const rh_tiles *tiles = s->tiles;
    rh_bit_rows bits = rh_bit_rows_of(tiles, of->rest, t), lies = rh_bit_rows_of(tiles, of->lies, t);
    rh_rows bound = rh_rows_of(tiles, s->bound, t, ZEROS);
    // Without friction nothing is borne anywhere, and all sand would count as single grains.
    bool rubs = s->f->options.friction_coefficient > 0 || s->f->options.cohesion > 0;
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        int here = bits.here[r], empty = rh_i8_bits(rh_f8_load(bound.here + 8 * r) <= rh_f8_all(0));
        for (int a = 0; a < tiles->dimension; a++) {
            int other = rh_bits_row_below(&bits, a, r),
                other_empty = rh_i8_bits(rh_row_below(&bound, a, r) <= rh_f8_all(0));
            float *u = s->u.axis[a] + at;
            int landed = lies.here[r] | (rh_bits_row_below(&lies, a, r) &
                                         slower_bits(s->view->before.axis[a] + at, STOPPED * s->weight / s->step));
            int grains = rubs ? empty & other_empty & landed & slower_bits(u, SUPPORTED * s->weight) : 0;
            rh_f8_store(u, rh_f8_select(rh_i8_from_bits((here & (other | other_empty)) | (other & empty) | grains),
                                        rh_f8_all(0), rh_f8_load(u)));
        }
    }
}

static rh_code stop(const solve *s, rest_bits *out, rh_status *status)
{
    const rh_friction *f = s->f;
    size_t rows = (size_t)rh_tiles_values(s->tiles) / 8 + 1;
    uint8_t *all = rh_arena_take_zero(s->view->arena, 5 * rows, status);
    size_t bytes = (size_t)s->tiles->cells / 8;
    if (!all) return RH_MEMORY;
    rest_bits bits = {all, all + rows, all + 2 * rows, all + 3 * rows, all + 4 * rows};
    *out = bits;
#pragma omp parallel
    {
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) size_tile(s, &s->now, f->list[n]);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) rest_tile(s, f->list[n], &bits);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++)
            if (!f->between[f->list[n]]) memset(bits.gradual + f->list[n] * bytes, 0, bytes);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) settle_tile(s, f->list[n], &bits);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) lying_tile(s, f->list[n], &bits);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) stop_tile(s, f->list[n], &bits);
    }
    return RH_OK;
}

// --- all of it -------------------------------------------------------------------------------------------------------
static rh_code take_fields(solve *s, rh_status *status)
{
    rh_arena *arena = s->view->arena;
    RH_TRY(rh_faces_new(&s->u, s->tiles, true, arena, status));
    RH_TRY(rh_stress_new(&s->now, s->tiles, true, arena, status));
    RH_TRY(rh_stress_new(&s->ahead, s->tiles, true, arena, status));
    RH_TRY(rh_stress_new(&s->trial, s->tiles, true, arena, status));
    RH_TRY(rh_stress_new(&s->rate, s->tiles, true, arena, status));
    s->bound = rh_field_new(s->tiles, arena, status);
    s->core = rh_field_new(s->tiles, arena, status);
    s->slide = rh_field_new(s->tiles, arena, status);
    s->press = rh_field_new(s->tiles, arena, status);
    s->coefficient = rh_field_new(s->tiles, arena, status);
    s->size = rh_field_new(s->tiles, arena, status);
    for (int i = 0; i < 2; i++) s->sums[i] = rh_arena_take(arena, ((size_t)s->f->count + 1) * sizeof(double), status);
    size_t rows = (size_t)rh_tiles_values(s->tiles) / 8 + 1;
    s->bears = rh_arena_take(arena, 3 * rows, status);
    if (!s->bears) return RH_MEMORY;
    memset(s->bears, 0, 3 * rows);
    s->busy = s->bears + rows, s->moved = s->busy + rows;
    if (!s->bound || !s->core || !s->slide || !s->press || !s->coefficient || !s->size || !s->sums[0] || !s->sums[1])
        return RH_MEMORY;
    memset(s->bound, 0, (size_t)rh_tiles_values(s->tiles) * sizeof(float));
    memset(s->core, 0, (size_t)rh_tiles_values(s->tiles) * sizeof(float));
    memset(s->slide, 0, (size_t)rh_tiles_values(s->tiles) * sizeof(float));
    memset(s->size, 0, (size_t)rh_tiles_values(s->tiles) * sizeof(float));
    for (int p = 3; p < RH_STRESS_PARTS; p++) {
        s->edge[p] = s->now.part[p] ? rh_field_new(s->tiles, arena, status) : NULL;
        s->mean[p] = s->now.part[p] ? rh_field_new(s->tiles, arena, status) : NULL;
        if (s->now.part[p] && (!s->edge[p] || !s->mean[p])) return RH_MEMORY;
    }
    return RH_OK;
}

static rh_code begin(solve *s, rh_status *status)
{
    rh_friction *f = s->f;
    // The effect of the carried stress before the pressure is taken back: it is only where the search begins.
    rh_stress_add_divergence(&f->carried, f->faces.inverse_mass, s->start, -1, s->tiles,
                             &(rh_stress_rows){f->list, f->count, NULL}, s->start);
    rh_wall_friction_push(&f->walls, f->walls.carried, &f->carried, f->faces.inverse_mass, -1, s->tiles, s->start);
    RH_TRY(rh_wall_friction_share(&f->walls, s->view, f->faces.inverse_mass, s->start, status));
#pragma omp parallel
    {
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) bound_tile(s, f->list[n]), rate_tile(s, f->list[n]);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) bound_edges(s, f->list[n]);
#pragma omp for schedule(static, 2)
        for (int32_t n = 0; n < f->count; n++) begin_tile(s, f->list[n]);
    }
    s->rows = (rh_stress_rows){f->list, f->count, s->moved};
    return rh_wall_friction_bound(&f->walls, s->view, s->coefficient, s->press, f->most, &f->carried, status);
}

static void give_velocities(const solve *s)
{
    const rh_tiles *tiles = s->tiles;
    const rh_friction *f = s->f;
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < f->count; n++)
        for (int a = 0; a < tiles->dimension; a++)
            for (int c = 0; c < tiles->cells; c += 8) {
                int64_t at = (int64_t)f->list[n] * tiles->cells + c;
                rh_i8 moves = rh_f8_load(f->faces.inverse_mass.axis[a] + at) > rh_f8_all(0);
                float *u = s->view->velocity.axis[a] + at;
                rh_f8_store(u, rh_f8_select(moves, rh_f8_load(s->u.axis[a] + at) / s->step, rh_f8_load(u)));
            }
}

// Shows an observer what friction does to the faces that belong to walls.
static rh_code show_walls(const solve *s, rh_status *status)
{
    const rh_unilateral_view *view = s->view;
    const rh_tiles *tiles = s->tiles;
    if (!view->around->observer) return RH_OK;
    rh_arena_mark mark = rh_arena_save(view->arena);
    rh_faces walls, friction;
    RH_TRY(rh_faces_new(&walls, tiles, false, view->arena, status));
    RH_TRY(rh_faces_new(&friction, tiles, true, view->arena, status));
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            for (int c = 0; c < tiles->cells; c++)
                walls.axis[a][(int64_t)t * tiles->cells + c] =
                    s->f->faces.open.axis[a][(int64_t)t * tiles->cells + c] == 0 ? 1.0f : 0.0f;
    rh_stress_add_divergence(&s->now, walls, friction, 1, tiles, &(rh_stress_rows){s->f->list, s->f->count, NULL},
                             friction);
    rh_wall_friction_on_walls(&s->f->walls, &s->now, tiles, friction);
    rh_step_view seen = {.what = RH_SIGHT_FRICTION,
                         .around = view->around,
                         .dt = view->dt,
                         .kick = view->kick,
                         .density = view->density,
                         .tiles = tiles,
                         .points = view->points,
                         .arena = view->arena,
                         .cut = view->cut,
                         .obstacles = view->around->obstacles_after,
                         .speed = tiles->h / view->dt,
                         .friction = friction};
    RH_TRY(rh_observe(&seen, status));
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}

rh_code rh_friction_solve(rh_friction *f, const rh_unilateral_view *view, rh_status *status)
{
    float step = view->dt * view->tiles->inverse_h;
    solve s = {.view = view,
               .tiles = view->tiles,
               .f = f,
               .step = step,
               .weight = (float)rh_d3_length(view->around->gravity) * view->kick * step};
    rh_faces loaded = f->faces.inverse_mass;  // with what rides on faces beside walls
    RH_TRY(rh_sand_faces_make(&f->faces, view, f->between, status));
    f->faces.inverse_mass = loaded;
    s.start = f->faces.start;
    RH_TRY(take_fields(&s, status));
    RH_TRY(begin(&s, status));
    iterate(&s);
    rest_bits bits;
    RH_TRY(stop(&s, &bits, status));
    give_velocities(&s);
    RH_TRY(show_walls(&s, status));
    rh_settling settling = {.list = f->list,
                            .count = f->count,
                            .rest = bits.rest,
                            .coefficients = s.coefficient,
                            .friction_angle = atan(f->options.friction_coefficient),
                            .weight = s.weight};
    RH_TRY(rh_settle(&settling, view, &s.now, status));
    rh_stress_motion motion = {bits.rest, bits.gradual};
    rh_wall_friction_to_particles(&f->walls, &motion, RH_STRESS_QUIET * s.weight, view);
    return rh_stress_to_particles(&s.now, &f->carried, &motion, (float)f->options.stress_smoothing, view, status);
}
