// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shapes are the authority; stored distances only prove where they need not be evaluated, as the distance to a shape
// costs as much as all else that is done to a face or particle here.
#include "physics/walls.h"

#include <math.h>
#include "base/parallel.h"
#include "base/simd.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

static rh_dvec3 tile_center(const rh_tiles *tiles, int32_t t)
{
    rh_tile at = tiles->at[t];
    double w = RH_TILE * (double)tiles->h;
    return rh_d3((at.x + 0.5) * w, (at.y + 0.5) * w, tiles->dimension == 3 ? (at.z + 0.5) * w : 0);
}

// m: from the centre of a box with sides of so many cells to its corners.
static double half_diagonal(const rh_tiles *tiles, double cells)
{
    return 0.5 * cells * sqrt((double)tiles->dimension) * (double)tiles->h;
}

static rh_dvec3 face_place(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[axis] -= 0.5f * tiles->h;
    return rh_d3_from(x);
}

// --- inflows ---------------------------------------------------------------------------------------------------------
static double inflow_distance(const rh_inflow *inflow, rh_dvec3 x)
{
    return rh_shape_distance(inflow->shape, rh_pose_to_local(&inflow->pose, x));
}

static bool inflow_reaches(const rh_tiles *tiles, const rh_inflow *inflows, int count, int32_t t)
{
    for (int n = 0; n < count; n++)
        if (inflow_distance(&inflows[n], tile_center(tiles, t)) <=
            half_diagonal(tiles, RH_TILE) + rh_shape_slack(inflows[n].shape))
            return true;
    return false;
}

static void pour_tile(const rh_tiles *tiles, const rh_inflow *inflow, int32_t t, const rh_cut_own *own)
{
    for (int a = 0; a < tiles->dimension; a++)
        for (int c = 0; c < tiles->cells; c++) {
            if (inflow_distance(inflow, face_place(tiles, t, c, a)) > 0) continue;
            own->open[a][c] = 0;
            if (own->pass[a]) own->pass[a][c] = 0;
            own->wall[a][c] = (float)(&inflow->velocity.x)[a];
            own->inflow[c] |= (uint8_t)(1 << a);
        }
}

rh_code rh_walls_add_inflows(const rh_tiles *tiles, rh_cut_cells *cut, const rh_obstacles *obstacles,
                             const rh_inflow *inflows, int count, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(count >= 0 && (inflows || count == 0));
    if (count == 0) return RH_OK;
    int32_t *list = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *list, status), reached = 0;
    if (!list) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) list[t] = inflow_reaches(tiles, inflows, count, t) ? t : -1;
    for (int32_t t = 0; t < tiles->count; t++)
        if (list[t] >= 0) list[reached++] = t;
    rh_cut_own *own = rh_arena_take(arena, ((size_t)reached + 1) * sizeof *own, status);
    if (!own) return RH_MEMORY;
    for (int32_t n = 0; n < reached; n++) RH_TRY(rh_cut_cells_own(cut, tiles, list[n], arena, &own[n], status));
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < reached; n++) {
        int32_t t = list[n];
        for (int i = 0; i < count; i++) pour_tile(tiles, &inflows[i], t, &own[n]);
        rh_cut_near near;
        rh_cut_tile_near(tiles, obstacles, t, &near);
        const float *open[3] = {own[n].open[0], own[n].open[1], own[n].open[2]};
        rh_cut_tile_faces(tiles, obstacles, &near, t, open, cut->distance[t], own[n].faces);
    }
    return RH_OK;
}

void rh_walls_set_inflow_velocities(const rh_tiles *tiles, const rh_cut_cells *cut, rh_faces velocity,
                                    uint8_t *const known[3])
{
    if (!cut->inflow) return;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension && cut->inflow[t]; a++)
            for (int c = 0; c < tiles->cells; c++) {
                if (!(cut->inflow[t][c] >> a & 1)) continue;
                velocity.axis[a][(int64_t)t * tiles->cells + c] = cut->wall[a][t][c];
                if (known) known[a][(int64_t)t * tiles->cells + c] = 1;
            }
}

// --- velocities on closed faces --------------------------------------------------------------------------------------

// Component `b` of the velocity at the centre of a face of axis `a`: mean of the four surrounding faces of axis b.
static float across(const rh_tiles *tiles, float blocks[3][SMALL], int a, int b, const int at[3])
{
    if (a == b) return blocks[b][rh_block_index(tiles, 1, at[0], at[1], at[2])];
    float sum = 0;
    for (int n = 0; n < 4; n++) {
        int cell[3] = {at[0], at[1], at[2]};
        cell[a] -= n & 1;
        cell[b] += n >> 1;
        sum += blocks[b][rh_block_index(tiles, 1, cell[0], cell[1], cell[2])];
    }
    return 0.25f * sum;
}

static float wall_component(const rh_obstacles *obstacles, int which, rh_dvec3 x, rh_dvec3 u, int axis,
                            bool only_no_slip)
{
    const rh_obstacle *solid = &obstacles->items[which];
    rh_dvec3 wall = rh_obstacles_velocity(obstacles, which, x);
    // No pressure acts on a face that a thin wall closes: left to what flows beside it, water in a cup never came to
    // rest.
    if (solid->thin) only_no_slip = false;
    if (solid->wall == RH_WALL_NO_SLIP && !only_no_slip) return (float)(&wall.x)[axis];
    rh_dvec3 n = rh_obstacles_normal(obstacles, which, x);
    double into = rh_d3_dot(rh_d3_sub(u, wall), n);
    if (only_no_slip)
        return (float)(solid->wall == RH_WALL_NO_SLIP ? (&wall.x)[axis] + into * (&n.x)[axis] : (&u.x)[axis]);
    // A thin wall has another side, from where leaving is going through.
    if (solid->wall == RH_WALL_SEPARATE && into > 0 && !solid->thin) return (float)(&u.x)[axis];
    return (float)((&u.x)[axis] - into * (&n.x)[axis]);
}

// A resting wall along the grid: its faces need neither neighbours nor shapes.
static bool is_simple(const rh_obstacles *obstacles, const rh_cut_faces *f)
{
    if (!f->aligned) return false;
    const rh_obstacle *o = &obstacles->items[f->which];
    return rh_d3_dot(o->linear, o->linear) == 0 && rh_d3_dot(o->angular, o->angular) == 0;
}

static int32_t count_others(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_faces *faces)
{
    int32_t count = 0;
    for (int a = 0; a < tiles->dimension; a++)
        if (!is_simple(obstacles, &faces[a])) count += faces[a].count;
    return count;
}

// Velocities of all faces of the tile that are not simple, in order.
static void find_others(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_faces *faces,
                        rh_faces velocity, bool only_no_slip, int32_t t, float *out)
{
    float blocks[3][SMALL];
    for (int a = 0; a < tiles->dimension; a++) rh_block_load(tiles, velocity.axis[a], t, 1, 0, blocks[a]);
    for (int a = 0; a < tiles->dimension; a++) {
        if (is_simple(obstacles, &faces[a])) continue;
        for (int k = 0; k < tiles->layers; k++)
            for (uint64_t left = faces[a].bits[k]; left; left &= left - 1) {
                int c = __builtin_ctzll(left), cell[3] = {c & 7, c >> 3, k}, which = faces[a].which;
                rh_dvec3 x = face_place(tiles, t, c + 64 * k, a), u = {0, 0, 0};
                if (which < 0) rh_obstacles_distance(obstacles, x, &which);
                for (int b = 0; b < tiles->dimension; b++) (&u.x)[b] = (double)across(tiles, blocks, a, b, cell);
                *out++ = wall_component(obstacles, which, x, u, a, only_no_slip);
            }
    }
}

// With a normal along +-axis the velocity that is left is u - u: 0, or not a number when u is not one.
static void set_simple(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_faces *f, int axis, float *u)
{
    bool separate = obstacles->items[f->which].wall == RH_WALL_SEPARATE;
    float sign = (float)(&f->normal.x)[axis];
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE && f->bits[k]; j++) {
            int row = (int)(f->bits[k] >> 8 * j & 255);
            if (!row) continue;
            rh_f8 old = rh_f8_load(u + 8 * j + 64 * k);
            rh_i8 mask = rh_i8_from_bits(row);
            if (separate) mask &= ~(old * sign > 0);
            rh_f8_store(u + 8 * j + 64 * k, rh_f8_select(mask, old - old, old));
        }
}

static void set_faces(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_faces *faces,
                      const float *others, bool only_no_slip, int32_t t, rh_faces velocity)
{
    for (int a = 0; a < tiles->dimension; a++) {
        float *u = velocity.axis[a] + (int64_t)t * tiles->cells;
        if (faces[a].count == 0) continue;
        if (is_simple(obstacles, &faces[a])) {
            if (!only_no_slip) set_simple(tiles, obstacles, &faces[a], a, u);
            continue;
        }
        for (int k = 0; k < tiles->layers; k++)
            for (uint64_t left = faces[a].bits[k]; left; left &= left - 1)
                u[__builtin_ctzll(left) + 64 * k] = *others++;
    }
}

rh_code rh_walls_constrain(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles,
                           rh_faces velocity, bool only_no_slip, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(rh_faces_fit(tiles, velocity));
    rh_arena_mark mark = rh_arena_save(arena);
    int64_t *start = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *start, status);
    if (!start) return RH_MEMORY;
    start[0] = 0;
    for (int32_t t = 0; t < tiles->count; t++)
        start[t + 1] = start[t] + (cut->kind[t] == RH_TILE_FREE ? 0 : count_others(tiles, obstacles, cut->faces[t]));
    float *others = rh_arena_take(arena, ((size_t)start[tiles->count] + 1) * sizeof *others, status);
    if (!others) return RH_MEMORY;
        // Faces read their neighbours as they were, so all are found before any is set.
#pragma omp parallel for schedule(dynamic, 4) if (start[tiles->count] > 0)
    for (int32_t t = 0; t < tiles->count; t++)
        if (start[t + 1] > start[t])
            find_others(tiles, obstacles, cut->faces[t], velocity, only_no_slip, t, others + start[t]);
#pragma omp parallel for schedule(dynamic, 32)
    for (int32_t t = 0; t < tiles->count; t++)
        if (cut->kind[t] != RH_TILE_FREE)
            set_faces(tiles, obstacles, cut->faces[t], others + start[t], only_no_slip, t, velocity);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

bool rh_walls_any_no_slip(const rh_obstacles *obstacles)
{
    bool any = false;
    for (int i = 0; i < obstacles->count; i++) any = any || obstacles->items[i].wall == RH_WALL_NO_SLIP;
    return any;
}

// --- particles -------------------------------------------------------------------------------------------------------
enum { PUSHES = 10, HALVINGS = 12 };

void rh_walls_stop(const rh_obstacles *obstacles, int which, rh_dvec3 x, rh_dvec3 normal, bool friction,
                   rh_vec3 *velocity)
{
    rh_dvec3 v = rh_d3_from(*velocity), wall = rh_obstacles_velocity(obstacles, which, x);
    double into = rh_d3_dot(rh_d3_sub(v, wall), normal);
    if (into >= 0) return;
    v = rh_d3_sub(v, rh_d3_scale(normal, into));
    rh_dvec3 along = rh_d3_sub(rh_d3_sub(v, wall), rh_d3_scale(normal, rh_d3_dot(rh_d3_sub(v, wall), normal)));
    double speed = friction ? rh_d3_length(along) : 0;
    if (speed > 0) v = rh_d3_sub(v, rh_d3_scale(along, fmin(1, -into * obstacles->items[which].friction / speed)));
    *velocity = rh_v3_from(v);
}

// Back along the way it came, to the last place that is free; stays when that is not free either.
static void go_back(const rh_obstacles *obstacles, rh_dvec3 end, rh_dvec3 start, rh_vec3 *position)
{
    if (rh_obstacles_distance(obstacles, start, NULL) <= 0) return;
    for (int n = 0; n < HALVINGS; n++) {
        rh_dvec3 middle = rh_d3_scale(rh_d3_add(start, end), 0.5);
        if (rh_obstacles_distance(obstacles, middle, NULL) > 0) start = middle;
        else end = middle;
    }
    *position = rh_v3_from(start);
}

static void collide(const rh_obstacles *obstacles, const rh_collision *c, int dimension, uint32_t p, rh_vec3 *position,
                    rh_vec3 *velocity)
{
    rh_dvec3 first = rh_d3_from(*position);
    // Several times, so that a particle pushed out of one wall into another (a corner) leaves both: the narrower the
    // wedge, the more often.
    for (int n = 0; n < PUSHES; n++) {
        int which;
        rh_dvec3 x = rh_d3_from(*position);
        double distance = rh_obstacles_distance(obstacles, x, &which);
        if (which < 0 || distance >= c->gap * 0.999) return;
        rh_dvec3 normal = rh_obstacles_normal(obstacles, which, x);
        if (dimension == 2) normal.z = 0;
        x = rh_d3_add(x, rh_d3_scale(normal, c->gap - distance));
        *position = rh_v3_from(x);
        if (c->stop) rh_walls_stop(obstacles, which, x, normal, c->friction, velocity);
    }
    if (c->before && rh_obstacles_distance(obstacles, rh_d3_from(*position), NULL) < 0)
        go_back(obstacles, first, rh_d3_from(c->before[p]), position);
}

// m: by how much two distances may differ beyond the way between their places: those of meshes by their slack at either
// end.
static double distance_error(const rh_obstacles *obstacles)
{
    double slack = 0;
    for (int i = 0; i < obstacles->count; i++) slack = fmax(slack, rh_shape_slack(&obstacles->items[i].shape));
    return 2 * slack;
}

// Solids that can move are no longer where `cut` has seen them.
static bool is_mover_near(const rh_tiles *tiles, const rh_obstacles *obstacles, double gap, int32_t t)
{
    if (!obstacles->any_moving) return false;
    for (int i = 0; i < obstacles->count; i++) {
        const rh_obstacle *o = &obstacles->items[i];
        if (o->rests) continue;
        double reach = half_diagonal(tiles, 3 * RH_TILE) + gap + 2 * rh_shape_slack(&o->shape);
        if (rh_obstacle_within(obstacles, i, tile_center(tiles, t), reach)) return true;
    }
    return false;
}

// Positions far from the origin are coarse: how far rounding may move one against its cell, m.
static float rounding(const rh_tiles *tiles, int32_t t)
{
    rh_tile at = tiles->at[t];
    float most = fmaxf(fabsf((float)at.x), fmaxf(fabsf((float)at.y), fabsf((float)at.z)));
    return tiles->h * (1e-4f + 4e-6f * (most + 2));  // cells: eight a tile, a few roundings of 6e-8 each
}

// Stored distances in a tile and its neighbours; lengths in cells, places counted from the lower corner of the
// neighbours.
typedef struct vicinity {
    const float *pages[RH_NEAR];  // NULL = not there
    float corner[3];
    float inverse_h, half;  // half: what a cell's centre is above its corner; 0 along z in 2D
    float gap;              // wanted distance, with all that stored ones may be off
} vicinity;

static void look_around(const rh_tiles *tiles, const rh_cut_cells *cut, int32_t t, double gap, vicinity *v)
{
    const rh_tile at = tiles->at[t];
    bool flat = tiles->dimension == 2;
    for (int n = 0; n < RH_NEAR; n++)
        v->pages[n] = tiles->near[t][n] < 0 || (flat && n / 9 != 1) ? NULL : cut->distance[tiles->near[t][n]];
    v->corner[0] = (float)((at.x - 1) * RH_TILE);
    v->corner[1] = (float)((at.y - 1) * RH_TILE);
    v->corner[2] = (float)((at.z - 1) * RH_TILE);
    v->inverse_h = tiles->inverse_h;
    v->half = flat ? 0 : 0.5f;
    v->gap = ((float)gap + rounding(tiles, t)) * tiles->inverse_h;
}

// Distance at the centre of a cell, in cells; 0 where nothing is known.
static inline float stored(const vicinity *v, int i, int j, int k)
{
    const float *page = v->pages[(i >> 3) + 3 * (j >> 3) + 9 * (k >> 3)];
    return page ? page[(i & 7) + 8 * (j & 7) + 64 * (k & 7)] * v->inverse_h : 0;
}

static inline bool proves(const vicinity *v, float distance, float x, float y, float z)
{
    float room = distance - v->gap;
    return room > 0 && room * room >= x * x + y * y + z * z;
}

// A distance changes by no more than the length of the way: the stored one of a cell minus the way from its centre is a
// lower bound. Tries the particle's own cell, then the next one in the direction `away` from walls, whose bound is
// often better close to them.
static inline bool is_safe(const vicinity *v, rh_vec3 p, const int away[3])
{
    const float most = 3 * RH_TILE - 1;  // leaves room for the next cell
    float x = p.x * v->inverse_h - v->corner[0], y = p.y * v->inverse_h - v->corner[1];
    float z = v->half > 0 ? p.z * v->inverse_h - v->corner[2] : RH_TILE;
    if (!(x >= 1 && x < most && y >= 1 && y < most && z >= 1 && z < most)) return false;
    int i = (int)x, j = (int)y, k = (int)z;
    x -= (float)i + 0.5f, y -= (float)j + 0.5f, z -= (float)k + v->half;  // from the centre
    if (proves(v, stored(v, i, j, k), x, y, z)) return true;
    return proves(v, stored(v, i + away[0], j + away[1], k + away[2]), x - (float)away[0], y - (float)away[1],
                  z - (float)away[2]);
}

// --- a box that is free of walls -------------------------------------------------------------------------------------
// At walls along the grid all particles but those of the last layer are in one box without walls, so that one
// comparison is enough for them.
typedef struct room {
    int low[3], high[3];
} room;  // cells, counted as in vicinity; high is in

// The part of a room's volume that lies in the tile itself, or of all of it when none does.
static int worth(const room *r)
{
    int inner = 1, whole = 1;
    for (int a = 0; a < 3; a++) {
        int low = r->low[a] > RH_TILE ? r->low[a] : RH_TILE,
            high = r->high[a] < 2 * RH_TILE - 1 ? r->high[a] : 2 * RH_TILE - 1;
        inner *= high >= low ? high - low + 1 : 0;
        whole *= r->high[a] >= r->low[a] ? r->high[a] - r->low[a] + 1 : 0;
    }
    return whole + 32768 * inner;
}

// Cuts off one side of the room so that it no longer holds any of the box, and stays as large as it can.
static void shut_out(room *r, const int low[3], const int high[3])
{
    room best = *r;
    int most = -1;
    for (int a = 0; a < 3; a++) {
        if (high[a] < r->low[a] || low[a] > r->high[a]) return;
        room above = *r, below = *r;
        above.low[a] = high[a] + 1;
        below.high[a] = low[a] - 1;
        if (worth(&above) > most) best = above, most = worth(&above);
        if (worth(&below) > most) best = below, most = worth(&below);
    }
    *r = best;
}

static room find_room(const rh_tiles *tiles, const rh_cut_cells *cut, int32_t t)
{
    static const int order[RH_NEAR] = {13, 4,  10, 12, 14, 16, 22, 1, 3, 5,  7,  9,  11, 15,
                                       17, 19, 21, 23, 25, 0,  2,  6, 8, 18, 20, 24, 26};
    bool flat = tiles->dimension == 2;
    room r = {{0, 0, flat ? RH_TILE : 0}, {3 * RH_TILE - 1, 3 * RH_TILE - 1, flat ? RH_TILE : 3 * RH_TILE - 1}};
    for (int n = 0; n < RH_NEAR; n++) {
        int32_t other = tiles->near[t][order[n]];
        rh_cut_box box = other < 0 ? (rh_cut_box){{0, 0, 0}, {RH_TILE - 1, RH_TILE - 1, RH_TILE - 1}}
                                   : cut->touch[other];
        if (box.high[0] < 0 || (flat && order[n] / 9 != 1)) continue;
        int low[3], high[3], corner[3] = {order[n] % 3 * RH_TILE, order[n] / 3 % 3 * RH_TILE, order[n] / 9 * RH_TILE};
        for (int a = 0; a < 3; a++) low[a] = corner[a] + box.low[a], high[a] = corner[a] + box.high[a];
        shut_out(&r, low, high);
    }
    return r;
}

// The room's sides in metres, in lanes 1 to 3. Two dimensions have no sides along z; no cut, no room.
static void room_sides(const rh_tiles *tiles, const rh_cut_cells *cut, int32_t t, rh_f4 *low, rh_f4 *high)
{
    room r = cut ? find_room(tiles, cut, t) : (room){{RH_TILE, RH_TILE, RH_TILE}, {0, 0, 0}};
    const rh_tile at = tiles->at[t];
    const int corner[3] = {(at.x - 1) * RH_TILE, (at.y - 1) * RH_TILE, (at.z - 1) * RH_TILE};
    float slack = rounding(tiles, t);
    *low = rh_f4_all(-INFINITY);
    *high = rh_f4_all(INFINITY);
    for (int a = 0; a < tiles->dimension; a++) {
        (*low)[a + 1] = (float)(corner[a] + r.low[a]) * tiles->h + slack;
        (*high)[a + 1] = (float)(corner[a] + r.high[a] + 1) * tiles->h - slack;
    }
}

static void collide_tile(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles,
                         const rh_collision *c, double error, int32_t t, rh_vec3 *positions, rh_vec3 *velocities)
{
    uint32_t begin = rh_tile_first(tiles, t), end = tiles->first[(int64_t)(t + 1) * tiles->cells];
    if (begin == end) return;
    double gap = c->gap;
    bool mover = is_mover_near(tiles, obstacles, gap, t);
    vicinity v;
    look_around(tiles, cut, t, gap + error, &v);
    rh_f4 low, high;
    room_sides(tiles, !mover && gap <= RH_CUT_TOUCH * (double)tiles->h ? cut : NULL, t, &low, &high);
    for (uint32_t p = begin; p < end; p++) {
        // One float early, so that the last particle's fourth lane is not beyond the array; but not before the tile's
        // own particles: another thread may be moving those.
        rh_f4 x = p > begin ? rh_f4_load((const float *)positions + 3 * (size_t)p - 1)
                            : (rh_f4){0, positions[p].x, positions[p].y, positions[p].z};
        int above = rh_i4_bits(x > low), below = rh_i4_bits(x < high);
        if ((above & below & 14) == 14) continue;
        const int away[3] = {(below >> 1 & 1) - (above >> 1 & 1), (below >> 2 & 1) - (above >> 2 & 1),
                             (below >> 3 & 1) - (above >> 3 & 1)};
        if (mover || !is_safe(&v, positions[p], away))
            collide(obstacles, c, tiles->dimension, p, &positions[p], &velocities[p]);
    }
}

void rh_walls_collide(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles,
                      const rh_collision *collision, rh_vec3 *positions, rh_vec3 *velocities)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && collision->gap >= 0);
    if (obstacles->count == 0) return;
    double error = distance_error(obstacles);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        collide_tile(tiles, cut, obstacles, collision, error, t, positions, velocities);
}

void rh_walls_push_out(const rh_obstacles *obstacles, int dimension, double gap, int64_t count, rh_vec3 *positions)
{
    rh_collision collision = {.gap = gap};
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t p = 0; p < count; p++) {
        rh_vec3 kept = {0, 0, 0};
        collide(obstacles, &collision, dimension, 0, &positions[p], &kept);
    }
}
