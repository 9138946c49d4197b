// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Everything that walls do to the material in a step, with the sign turned round.
//   pressed   the closed share of every face, times the difference of pressure across it. Summed over all faces this is
//             what pressure gives the material, by the operator's own transpose.
//   pulled    what tension gives the material at its surface: over a closed surface it adds up to nothing, over one
//   that
//             ends on a wall to the pull of its edge, force and moment. So it counts for the solid that is nearest
//   rubbed    stress of sand, and of viscosity, on faces that are the walls' own
//   held      momentum that walls take from the particles around closed faces, whose velocity is the wall's
//   touched   what methods without a grid say that their particles gave to walls
//   hit       velocity that particles lose when they meet a wall: all there is of spray
// A face or particle belongs to the solid that is nearest to it. Faces of inflows are no solid's.
//
// Forces along the axes act at the centres of faces. Sums go by tile, or block of particles, in fixed order.
#include "world/wall_impulses.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "grid/rows.h"
#include "solid/cut_tile.h"

enum { PARTS = 6 };  // force, moment
enum { WORK_SOLIDS, WORK_INFLOWS, WORK_TENSION, WORKS };
enum { MANY = 16 };  // regions: sums of fewer take less time than waking a second thread
static const float FAR[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1e30f};  // no tile, no solid

// --- sums ------------------------------------------------------------------------------------------------------------
static int64_t sums_of_one(const rh_wall_impulses *w) { return (int64_t)w->count * PARTS + WORKS; }

// Of one tile or block: the works, then PARTS for each region. Whoever fills them clears them: with a hundred solids
// they are megabytes.
static double *take_sums(const rh_wall_impulses *w, int64_t blocks, rh_arena *arena, rh_status *status)
{
    return rh_arena_take(arena, (size_t)((blocks + 1) * sums_of_one(w)) * sizeof(double), status);
}

static double *clear_sums(const rh_wall_impulses *w, double *sums, int64_t block)
{
    int64_t stride = sums_of_one(w);
    memset(sums + block * stride, 0, (size_t)stride * sizeof *sums);
    return sums + block * stride;
}

static bool is_in(const rh_wall_region *region, rh_dvec3 place, int dimension)
{
    bool inside = true;
    for (int a = 0; a < dimension; a++)
        inside = inside && (&place.x)[a] >= (&region->min.x)[a] && (&place.x)[a] <= (&region->max.x)[a];
    return inside;
}

static void add_to_regions(const rh_wall_impulses *w, int first, rh_dvec3 place, rh_dvec3 impulse, double *sums)
{
    rh_dvec3 turn = rh_d3_cross(place, impulse);
    for (int n = first; n >= 0; n = w->next[n]) {
        if (!is_in(&w->regions[n], place, w->dimension)) continue;
        for (int a = 0; a < 3; a++) {
            sums[WORKS + n * PARTS + a] += (&impulse.x)[a];
            sums[WORKS + n * PARTS + 3 + a] += (&turn.x)[a];
        }
    }
}

// Whether any region asks for what solid `which` gets: of most walls nobody does.
static bool is_measured(const rh_wall_impulses *w, int which)
{
    return w->first_of[w->solids] >= 0 || (which < w->solids && w->first_of[which] >= 0);
}

// To solid `which`.
static void add_to_solid(const rh_wall_impulses *w, int which, rh_dvec3 place, rh_dvec3 impulse, double *sums)
{
    if (which < w->solids) add_to_regions(w, w->first_of[which], place, impulse, sums);
    add_to_regions(w, w->first_of[w->solids], place, impulse, sums);
}

static rh_dvec3 face_place(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[axis] -= 0.5f * tiles->h;
    return rh_d3_from(x);
}

// `which`: the solid that is nearest, -1 = not known.
static void add_impulse(const rh_wall_impulses *w, int which, rh_dvec3 place, rh_dvec3 impulse, double *sums)
{
    if (which < 0) rh_obstacles_distance(w->met, place, &which);
    if (which >= 0) add_to_solid(w, which, place, impulse, sums);
}

static void add_sums(rh_wall_impulses *w, const double *sums, int64_t blocks)
{
    int64_t stride = sums_of_one(w);
    for (int64_t b = 0; b < blocks; b++) {
        w->work_solids += sums[b * stride + WORK_SOLIDS];
        w->work_inflows += sums[b * stride + WORK_INFLOWS];
        w->work_tension += sums[b * stride + WORK_TENSION];
    }
#pragma omp parallel for schedule(static) if (w->count > MANY)
    for (int n = 0; n < w->count; n++) {
        double all[PARTS] = {0};
        for (int64_t b = 0; b < blocks; b++)
            for (int k = 0; k < PARTS; k++) all[k] += sums[b * stride + WORKS + n * PARTS + k];
        for (int a = 0; a < 3; a++) {
            (&w->received[n].linear.x)[a] += all[a];
            (&w->received[n].angular.x)[a] += all[3 + a];
        }
    }
}

// --- faces -----------------------------------------------------------------------------------------------------------
static bool is_poured(const rh_cut_cells *cut, int32_t t, int c, int axis)
{
    return cut->inflow && cut->inflow[t] && (cut->inflow[t][c] >> axis & 1);
}

// Without regions only what moves counts; with none but of solids that move, all only near those.
static bool row_counts(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, int axis, int r)
{
    bool measured = w->count > 0 && !(w->all_move && view->cut->kind[t] != RH_TILE_MOVING);
    return measured || rh_i8_bits(rh_f8_load(view->cut->wall[axis][t] + 8 * r) != rh_f8_all(0)) != 0;
}

enum { NOT_LISTED = -1 };  // in place of a number of solids near a tile

// Adds a row of faces, `unit` (kg m/s) times what is given for each. The work is the impulse times the velocity of the
// wall: all that pressure does beyond it inside the material it loses, as a projection only ever loses energy.
// `near`: the solids near the tile, listed when they are asked for first.
static void add_row(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, int axis, int r, rh_f8 given,
                    double unit, rh_cut_near *near, double *sums)
{
    for (int left = rh_i8_bits(given != rh_f8_all(0)); left; left &= left - 1) {
        int i = __builtin_ctz((unsigned)left), c = 8 * r + i;
        rh_dvec3 impulse = {0, 0, 0};
        (&impulse.x)[axis] = unit * (double)given[i];
        bool poured = is_poured(view->cut, t, c, axis);
        sums[poured ? WORK_INFLOWS : WORK_SOLIDS] -= unit * (double)(given[i] * view->cut->wall[axis][t][c]);
        if (poured || w->count == 0) continue;
        // Sharp walls are the cut cells of the solids that are met.
        int which = view->sharp ? (int)view->cut->owner[axis][t][c] - 1 : -1;
        rh_dvec3 place = face_place(view->tiles, t, c, axis);
        if (which < 0 && view->sharp) {
            if (near->count == NOT_LISTED) rh_cut_tile_near(view->tiles, w->met, t, near);
            rh_cut_tile_distance(w->met, near, place, &which);
        }
        if (which < 0 || is_measured(w, which)) add_impulse(w, which, place, impulse, sums);
    }
}

// kg m/s: of a cell full of material that is 1 m/s faster.
static double cell_mass(const rh_step_view *view)
{
    return view->density * pow((double)view->tiles->h, view->tiles->dimension);
}

typedef void face_loop(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, double *sums);

static bool all_move(const rh_wall_impulses *w)
{
    bool all = true;
    for (int n = 0; n < w->count && all; n++)
        all = w->regions[n].solid >= 0 && w->met->items[w->regions[n].solid].kind == RH_SOLID_DYNAMIC;
    return all;
}

static rh_code all_faces(rh_wall_impulses *w, const rh_step_view *view, face_loop *loop, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    double *sums = take_sums(w, tiles->count, view->arena, status);
    if (!sums) return RH_MEMORY;
    w->all_move = view->sharp && all_move(w);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        double *own = clear_sums(w, sums, t);
        if (view->cut->kind[t] != RH_TILE_FREE) loop(w, view, t, own);
    }
    add_sums(w, sums, tiles->count);
    w->time = (double)view->kick;
    return RH_OK;
}

// Faces between two cells with pressure have their open part's mass for the operator, and what particles weigh there
// for the particles, which is less beside a sharp wall, though the face may be open: what the material takes of the
// pressure is that, and the rest is the wall's. Only where a wall is so near that it matters: elsewhere particles weigh
// a little more or less by chance.
static rh_f8 taken_row(const rh_step_view *view, const rh_bit_rows *wet, const rh_rows *distance, int32_t t, int axis,
                       int r, rh_f8 open)
{
    rh_f8 away = rh_f8_load(distance->here + 8 * r) + rh_row_below(distance, axis, r);  // of the face, twice
    int both = wet->here[r] & rh_bits_row_below(wet, axis, r) & rh_i8_bits(open > rh_f8_all(0)) &
               rh_i8_bits(away < rh_f8_all(2 * view->tiles->h));
    rh_f8 weight = rh_f8_load(view->fill.axis[axis] + (int64_t)t * view->tiles->cells + 8 * r) / view->full;
    return rh_f8_select(rh_i8_from_bits(both), weight, open);
}

static void press_tile(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, double *sums)
{
    rh_rows q = rh_layout_rows(view->layout, view->q, t);
    rh_bit_rows wet = rh_bit_rows_of(view->tiles, view->layout->unknown, t);
    rh_rows distance = rh_rows_apart(view->tiles, view->cut->distance, t, FAR);
    rh_cut_near near;
    near.count = NOT_LISTED;
    double unit = cell_mass(view) * (double)view->speed;
    for (int a = 0; a < view->tiles->dimension; a++) {
        float pushed[RH_CELLS];
        if (view->pushed) view->pushed(view, t, a, pushed);
        for (int r = 0; r < view->tiles->cells / 8; r++) {
            if (!row_counts(w, view, t, a, r)) continue;
            rh_f8 taken = rh_f8_load(view->open[a][t] + 8 * r);
            if (view->sharp) taken = taken_row(view, &wet, &distance, t, a, r, taken);
            if (view->pushed) taken *= rh_f8_load(pushed + 8 * r);
            rh_f8 given = (rh_f8_all(1) - taken) * (rh_row_below(&q, a, r) - rh_f8_load(q.here + 8 * r));
            add_row(w, view, t, a, r, given, unit, &near, sums);
        }
    }
}

// Beyond a face of the surface q is the jump, not 0: the material gets as much more. Its work is that times the
// velocity after the projection: what else the projection does only loses energy.
static void pull_tile(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, double *sums)
{
    double unit = cell_mass(view) * (double)view->speed;
    int cells = view->tiles->cells;
    rh_bit_rows wet = rh_bit_rows_of(view->tiles, view->layout->unknown, t);
    for (int a = 0; a < view->tiles->dimension; a++) {
        float pushed[RH_CELLS];
        if (view->pushed) view->pushed(view, t, a, pushed);
        for (int r = 0; r < cells / 8; r++) {
            int here = wet.here[r], across = here ^ rh_bits_row_below(&wet, a, r);
            for (int i = 0; i < 8 && across; i++) {
                int c = 8 * r + i;
                int64_t at = (int64_t)t * cells + c;
                double jump = (double)(view->jump.axis[a][at] * view->open[a][t][c]);
                if (view->pushed) jump *= (double)pushed[c];
                if (!(across >> i & 1) || jump == 0) continue;
                double got = unit * (here >> i & 1 ? jump : -jump);
                rh_dvec3 impulse = {0, 0, 0};
                (&impulse.x)[a] = -got;
                sums[WORK_TENSION] += got * (double)view->velocity.axis[a][at];
                if (w->count) add_impulse(w, -1, face_place(view->tiles, t, c, a), impulse, sums);
            }
        }
    }
}

static rh_code pulled(rh_wall_impulses *w, const rh_step_view *view, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    if (!view->jump.axis[0]) return RH_OK;
    double *sums = take_sums(w, tiles->count, view->arena, status);
    if (!sums) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) pull_tile(w, view, t, clear_sums(w, sums, t));
    add_sums(w, sums, tiles->count);
    return RH_OK;
}

static void rub_tile(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, double *sums)
{
    rh_cut_near near;
    near.count = NOT_LISTED;
    double unit = cell_mass(view) * (double)view->speed;
    for (int a = 0; a < view->tiles->dimension; a++)
        for (int r = 0; r < view->tiles->cells / 8; r++)
            if (row_counts(w, view, t, a, r))
                add_row(w, view, t, a, r, rh_f8_load(view->friction.axis[a] + (int64_t)t * view->tiles->cells + 8 * r),
                        unit, &near, sums);
}

static bool is_rough(const rh_wall_impulses *w, rh_dvec3 place)
{
    int which;
    rh_obstacles_distance(w->met, place, &which);
    return which >= 0 && w->met->items[which].wall == RH_WALL_NO_SLIP;
}

// Faces whose change after the pressure is a wall's doing: closed ones, those between liquid cells right beside it that
// no pressure moved (shores), and of walls that are spread all that are near: such faces lie partly in the wall and
// take the velocity of the flow beside it.
static int held_bits(const rh_step_view *view, const rh_bit_rows *wet, const rh_rows *distance, int32_t t, int axis,
                     int r)
{
    if (!view->sharp && view->around->dynamics) return 255;
    rh_f8 away = rh_f8_load(distance->here + 8 * r) + rh_row_below(distance, axis, r);
    int beside = wet->here[r] & rh_bits_row_below(wet, axis, r) & rh_i8_bits(away < rh_f8_all(2 * view->tiles->h));
    if (!view->sharp) beside = 0;
    return beside | rh_i8_bits(rh_f8_load(view->cut->open[axis][t] + 8 * r) <= rh_f8_all(0));
}

// Closed faces had no part in the pressure; the wall has given them its velocity, which the particles around them feel
// by their weights: half a cell of material at a wall along the grid. (Without this the floor of a tank bore half a
// cell of water too little. With half a cell whatever the particles weighed, and water that fell on a floor in short
// steps, it bore a tenth too much: the same water was stopped several times.) Where pressure works with walls that are
// spread, as in splashes, such faces have it in them, and only rough walls do more. With dynamic solids what faces in
// walls take from the flow beside them counts, too: it is small, but momentum is kept to rounding by it. (In general it
// is not: with bilateral pressure, or pressure by density, walls then bore a tenth to a third too much.)
static void hold_tile(const rh_wall_impulses *w, const rh_step_view *view, int32_t t, double *sums)
{
    rh_cut_near near;
    near.count = NOT_LISTED;
    double unit = cell_mass(view) / (double)view->full;
    rh_bit_rows wet = rh_bit_rows_of(view->tiles, view->layout->unknown, t);
    rh_rows distance = rh_rows_apart(view->tiles, view->cut->distance, t, FAR);
    for (int a = 0; a < view->tiles->dimension; a++)
        for (int r = 0; r < view->tiles->cells / 8; r++) {
            if (!row_counts(w, view, t, a, r)) continue;
            int64_t at = (int64_t)t * view->tiles->cells + 8 * r;
            rh_f8 lost = rh_f8_load(view->before.axis[a] + at) - rh_f8_load(view->velocity.axis[a] + at);
            rh_f8 given = rh_f8_masked(rh_f8_load(view->fill.axis[a] + at) * lost,
                                       held_bits(view, &wet, &distance, t, a, r));
            bool rough_only = !view->sharp && !view->around->dynamics;
            for (int i = 0; i < 8 && rough_only; i++)
                if (given[i] != 0 && !is_rough(w, face_place(view->tiles, t, 8 * r + i, a))) given[i] = 0;
            add_row(w, view, t, a, r, given, unit, &near, sums);
        }
}

// --- particles -------------------------------------------------------------------------------------------------------
static rh_dvec3 velocity_at(const rh_wall_impulses *w, rh_dvec3 place)
{
    int which = -1;
    rh_obstacles_distance(w->met, place, &which);
    return which < 0 ? rh_d3(0, 0, 0) : rh_obstacles_velocity(w->met, which, place);
}

static void add_touch(const rh_wall_impulses *w, const rh_wall_touch *touch, double *sums)
{
    if (touch->solid == RH_TOUCH_NOBODY) return;
    rh_dvec3 impulse = rh_d3_from(touch->impulse);
    sums[touch->solid == RH_TOUCH_INFLOW ? WORK_INFLOWS : WORK_SOLIDS] -= rh_d3_dot(impulse,
                                                                                    rh_d3_from(touch->velocity));
    if (touch->solid >= 0 && w->count) add_to_solid(w, touch->solid, rh_d3_from(touch->place), impulse, sums);
}

static rh_code touched(rh_wall_impulses *w, const rh_step_view *view, rh_status *status)
{
    int64_t blocks = rh_blocks(view->touch_count);
    double *sums = take_sums(w, blocks, view->arena, status);
    if (!sums) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; b++) {
        double *own = clear_sums(w, sums, b);
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, view->touch_count); i++)
            add_touch(w, &view->touches[i], own);
    }
    add_sums(w, sums, blocks);
    w->time = (double)view->kick;
    return RH_OK;
}

static rh_code hit(rh_wall_impulses *w, const rh_points *points, rh_status *status)
{
    const rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    int64_t blocks = rh_blocks(points->count);
    rh_arena_reset(&w->arena);
    double *sums = take_sums(w, blocks, &w->arena, status);
    if (!sums) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t b = 0; b < blocks; b++) {
        double *own = clear_sums(w, sums, b);
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, points->count); i++) {
            if (memcmp(&v[i], &w->speed[i], sizeof v[i]) == 0) continue;
            rh_dvec3 lost = rh_d3_sub(rh_d3_from(w->speed[i]), rh_d3_from(v[i])), place = rh_d3_from(x[i]);
            if (w->met->any_moving) own[WORK_SOLIDS] -= w->particle_mass * rh_d3_dot(lost, velocity_at(w, place));
            if (w->count) add_impulse(w, -1, place, rh_d3_scale(lost, w->particle_mass), own);
        }
    }
    add_sums(w, sums, blocks);
    return RH_OK;
}

static rh_code keep_speeds(rh_wall_impulses *w, const rh_points *points, rh_status *status)
{
    if (points->count > w->speed_room) {
        int64_t room = points->count + points->count / 4;
        rh_vec3 *grown = rh_realloc(w->speed, (size_t)room * sizeof *grown, "solids.impulses", status);
        if (!grown) return RH_MEMORY;
        w->speed = grown;
        w->speed_room = room;
    }
    memcpy(w->speed, rh_points_data(points, "v", RH_POINT_VEC3F), (size_t)points->count * sizeof *w->speed);
    w->speed_count = points->count;
    return RH_OK;
}

// --- the step --------------------------------------------------------------------------------------------------------
rh_code rh_wall_impulses_init(rh_wall_impulses *w, const rh_wall_region *regions, int count, int dimension,
                              double particle_mass, rh_status *status)
{
    *w = (rh_wall_impulses){.count = count, .dimension = dimension, .particle_mass = particle_mass};
    rh_arena_init(&w->arena, "solids.impulses");
    w->regions = rh_alloc((size_t)(count + 1) * sizeof *w->regions, "solids.impulses", status);
    w->received = rh_alloc_zero((size_t)(count + 1) * sizeof *w->received, "solids.impulses", status);
    for (int n = 0; n < count; n++)
        if (regions[n].solid >= w->solids) w->solids = regions[n].solid + 1;
    w->next = rh_alloc((size_t)(count + 1) * sizeof *w->next, "solids.impulses", status);
    w->first_of = rh_alloc((size_t)(w->solids + 1) * sizeof *w->first_of, "solids.impulses", status);
    if (!w->regions || !w->received || !w->next || !w->first_of) {
        rh_wall_impulses_free(w);
        return RH_MEMORY;
    }
    if (count > 0) memcpy(w->regions, regions, (size_t)count * sizeof *regions);
    for (int i = 0; i <= w->solids; i++) w->first_of[i] = -1;
    for (int n = count - 1; n >= 0; n--) {
        int *first = &w->first_of[regions[n].solid >= 0 ? regions[n].solid : w->solids];
        w->next[n] = *first;
        *first = n;
    }
    return RH_OK;
}

void rh_wall_impulses_free(rh_wall_impulses *w)
{
    rh_free(w->regions);
    rh_free(w->received);
    rh_free(w->next);
    rh_free(w->first_of);
    rh_free(w->speed);
    rh_arena_free(&w->arena);
    *w = (rh_wall_impulses){0};
}

void rh_wall_impulses_begin(rh_wall_impulses *w)
{
    memset(w->received, 0, (size_t)w->count * sizeof *w->received);
    w->time = w->work_solids = w->work_inflows = w->work_tension = 0;
    w->speed_count = 0;
}

rh_code rh_wall_impulses_see(rh_wall_impulses *w, const rh_step_view *view, rh_status *status)
{
    w->met = view->obstacles;
    bool grid = view->cut != NULL;
    if (!grid && (view->what == RH_SIGHT_PRESSED || view->what == RH_SIGHT_FLOWS)) return RH_OK;
    switch (view->what) {
    case RH_SIGHT_TOUCHED: return touched(w, view, status);
    case RH_SIGHT_PRESSED: RH_TRY(all_faces(w, view, press_tile, status)); return pulled(w, view, status);
    case RH_SIGHT_FRICTION: return all_faces(w, view, rub_tile, status);
    case RH_SIGHT_FLOWS: return all_faces(w, view, hold_tile, status);
    case RH_SIGHT_MOVED: return keep_speeds(w, view->points, status);
    default: return RH_OK;
    }
}

rh_code rh_wall_impulses_stepped(rh_wall_impulses *w, rh_obstacles *solids, const rh_points *points, rh_status *status)
{
    w->met = solids;
    if (w->speed_count == points->count && points->count > 0) RH_TRY(hit(w, points, status));
    for (int n = 0; n < w->count; n++) {
        const rh_wall_region *r = &w->regions[n];
        bool whole = r->solid >= 0;
        for (int a = 0; a < w->dimension; a++)
            whole = whole && (&r->min.x)[a] <= -RH_WALL_EVERYWHERE && (&r->max.x)[a] >= RH_WALL_EVERYWHERE;
        if (whole) solids->items[r->solid].received = w->received[n];
    }
    return RH_OK;
}
