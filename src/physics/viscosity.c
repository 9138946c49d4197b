// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Backward Euler in variational form (C. Batty, R. Bridson, "Accurate viscous free surfaces for buckling, coiling, and
// rotating liquids", SCA 2008): the new velocities minimise
//
//      sum over faces  F L (u - u*)^2  +  t / (rho h^2) sum over stresses  c mu (L / F) (D u)^2        c: 2 normal, 1
//      shear
//
// with the shares of control volumes (grid/fractions.h) in liquid L and in free space F. No stress on the free surface
// is what minimising means. A wall has the velocity of its solid on closed faces. Its place is in L / F: between a face
// at distance F h from a wall and the wall the rate of shear is u / (F h), while D has u / h. So a flow along a wall
// anywhere between faces is exact. Walls with slip take no part: stresses that touch a closed face are left out, and
// others count with F L. A slip length b (C. L. M. H. Navier, 1823) is slip and a spring between the wall and the faces
// nearest to it, at a distance d, with as much of the wall's area as belongs to each: mu (u - u_wall) / (b + d), for
// all components, as the pressure lets none across the wall. (With c mu L / (F + b / h) on stresses that touch closed
// faces, exact along the grid, a wall at 45 degrees held twice as much as it should: stairs have more of them.)
//
// (Takahashi and Lin, 2019, blend the velocities of liquid and solid on cut faces, F u + (1 - F) u_solid, as the
// unknown. The stresses are the same; but the momentum of cut faces is then drawn towards the wall's by 1 - F in each
// step, however thin the liquid: what they report as stickiness. Here a liquid of no viscosity keeps its velocities.)
//
// In a step of the liquid the mass of a face is what its particles weigh, not F L: as they take over its change by that
// weight, stress gives and takes momentum in pairs. (With F L walls got up to 2 % more or less than the liquid lost.)
//
// Faces that no wall closes but that have stress count with little mass at least, as their share of liquid may be 0:
// they follow the liquid.
#include "physics/viscosity.h"

#include <math.h>
#include <string.h>
#include "solve/viscous_mic.h"
#include "solve/viscous_multigrid.h"

enum { SIDE = RH_TILE + 2, BLOCK = SIDE * SIDE * SIDE };
static const int block_step[3] = {1, SIDE, SIDE *SIDE};

// Of a stress: less free space counts as so much. A wall without slip seems by as much of a cell further away; a tenth
// of it made the torque between cylinders better by 0.1 % and the system ten times as stiff.
static const float LEAST_FREE = 0.01f;
static const float LEAST_LIQUID = 1e-3f;  // of a stress; less is none
// Of a face. What stress gives to such faces particles do not get: with 1e-4 a drop and a ball lost 2e-5 of their
// momentum in 120 steps.
static const float LEAST_MASS = 1e-6f;
static const double NO_STRESS = 1e30;  // m: slip length of walls with slip

typedef struct preconditioner {
    rh_viscous_multigrid multigrid;
    rh_viscous_mic mic;
} preconditioner;

typedef struct rh_viscosity_system {
    const rh_viscosity *v;
    rh_viscous a;
    int32_t *of;  // per tile of the system: its number among all, -1 = not there
    float *mean;  // Pa s, per cell: mean viscosity of its particles, -1 = no particles; NULL where it is one number
    bool one_law;
    double slip;  // m: of all walls, with one law
    float *spring[3],
        *pulled[3];        // per face: of slip lengths, as a mass; and that times the wall's velocity; NULL = none
    int16_t *tied[3];      // per face: the dynamic solid at the other end of its spring, or -1
    bool coupled, strong;  // with dynamic solids
    preconditioner m;
    rh_viscous_solids solids;  // where coupled
    rh_krylov way;             // the whole system: operator and preconditioner
} assembly;

// --- walls -----------------------------------------------------------------------------------------------------------
static double slip_of(const rh_obstacle *wall) { return wall->wall == RH_WALL_NO_SLIP ? wall->slip_length : NO_STRESS; }

static void find_law(assembly *s)
{
    const rh_obstacles *all = s->v->obstacles;
    s->one_law = true;
    s->slip = all->count ? slip_of(&all->items[0]) : NO_STRESS;
    for (int i = 1; i < all->count; i++) s->one_law = s->one_law && slip_of(&all->items[i]) == s->slip;
}

// What a tile knows of solids, with a cell around.
typedef struct walls {
    bool any;
    float open[3][BLOCK];
    uint8_t poured[3][BLOCK];  // faces of inflows
    rh_fractions share;        // inside solids
    rh_cut_near near;
} walls;

static void load_walls(const assembly *s, int32_t t, walls *w)
{
    const rh_tiles *tiles = s->v->tiles;
    const rh_cut_cells *cut = s->v->cut;
    float distance[BLOCK];
    w->any = false;
    for (int n = 0; n < RH_NEAR; n++) {
        int32_t other = tiles->near[t][n];
        bool poured = other >= 0 && cut->inflow && cut->inflow[other];
        w->any = w->any || (other >= 0 && (cut->kind[other] != RH_TILE_FREE || poured));
    }
    if (!w->any) return;
    memset(w->poured, 0, sizeof w->poured);
    for (int d = 0; d < tiles->dimension; d++) rh_block_load_apart(tiles, cut->open[d], t, 1, 1, w->open[d]);
    for (int d = 0; d < tiles->dimension && cut->inflow; d++)
        for (int k = tiles->dimension == 3 ? -1 : 0; k < (tiles->dimension == 3 ? 9 : 1); k++)
            for (int j = -1; j < 9; j++)
                for (int i = -1; i < 9; i++) {
                    int32_t other = tiles->near[t][RH_HERE + (i >> 3) + 3 * (j >> 3) + 9 * (k >> 3)];
                    if (other < 0 || !cut->inflow[other]) continue;
                    w->poured[d][rh_block_index(tiles, 1, i, j, k)] =
                        cut->inflow[other][(i & 7) + 8 * (j & 7) + 64 * (k & 7)] >> d & 1;
                }
    rh_block_load_apart(tiles, cut->distance, t, 1, RH_CUT_REACH * tiles->h, distance);
    rh_fractions_of_tile(tiles, distance, s->v->fractions, &w->share);
    if (!s->one_law || s->spring[0]) rh_cut_tile_near(tiles, s->v->obstacles, t, &w->near);
}

// The faces of stress q at p: up to four, with their components.
typedef struct faces {
    int count, component[4], at[4];
} faces;

static faces faces_of(int q, int p)
{
    if (q < 3) return (faces){2, {q, q}, {p, p + block_step[q]}};
    int a = q == 5, b = q == 3 ? 1 : 2;
    return (faces){4, {a, a, b, b}, {p, p - block_step[b], p, p - block_step[a]}};
}

static double slip_at(const assembly *s, const walls *w, int32_t t, int q, int c)
{
    if (s->one_law) return s->slip;
    const rh_tiles *tiles = s->v->tiles;
    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    for (int d = 0; d < tiles->dimension && q >= 3; d++) {
        bool across = q == 3 ? d < 2 : q == 4 ? d != 1 : d > 0;
        if (across) (&x.x)[d] -= 0.5f * tiles->h;
    }
    int which = -1;
    rh_cut_tile_distance(s->v->obstacles, &w->near, rh_d3_from(x), &which);
    return which < 0 ? NO_STRESS : slip_of(&s->v->obstacles->items[which]);
}

// What walls make of a stress that has the share `solid` of its volume in solids.
static float at_walls(const assembly *s, const walls *w, int32_t t, int q, int c, float solid)
{
    faces f = faces_of(q, rh_block_index(s->v->tiles, 1, c & 7, c >> 3 & 7, c >> 6));
    int closed = 0;
    bool poured = false;
    for (int n = 0; n < f.count; n++) {
        closed += w->open[f.component[n]][f.at[n]] <= 0;
        poured = poured || w->poured[f.component[n]][f.at[n]];
    }
    if (closed == f.count) return 0;
    if (!closed && solid <= 0) return 1;
    float free = fmaxf(1 - solid, LEAST_FREE);
    if (poured) return 1 / free;
    double slip = slip_at(s, w, t, q, c);
    if (slip > 0) return closed ? 0 : free;
    return 1 / free;
}

static bool has_slip_length(const rh_viscosity *v)
{
    bool any = false;
    for (int i = 0; i < v->obstacles->count; i++) {
        double slip = slip_of(&v->obstacles->items[i]);
        any = any || (slip > 0 && slip < NO_STRESS);
    }
    return any;
}

static rh_code take_springs(assembly *s, rh_arena *arena, rh_status *status)
{
    if (!has_slip_length(s->v)) return RH_OK;
    for (int d = 0; d < s->v->tiles->dimension; d++) {
        s->spring[d] = rh_arena_take_zero(arena, ((size_t)s->a.lane + 8) * sizeof(float), status);
        s->pulled[d] = rh_arena_take_zero(arena, ((size_t)s->a.lane + 8) * sizeof(float), status);
        s->tied[d] = rh_arena_take(arena, ((size_t)s->a.lane + 8) * sizeof **s->tied, status);
        if (!s->spring[d] || !s->pulled[d] || !s->tied[d]) return RH_MEMORY;
        memset(s->tied[d], -1, (size_t)s->a.lane * sizeof **s->tied);
    }
    return RH_OK;
}

// The wall as a face sees it.
typedef struct wall_view {
    double far;          // m: its distance
    double normal, row;  // how steeply the distance grows along the axis closest to the wall's normal: at the face, and
                         // where the row of faces along that axis meets the wall
    double bend;         // R / r: the wall's radius along the face's axis by the radius through the face; 1 where flat
    int which;           // solid; -1 = none
} wall_view;

static wall_view look_at_wall(const assembly *s, const walls *w, int d, rh_dvec3 x)
{
    wall_view v = {.which = -1, .bend = 1};
    int dimension = s->v->tiles->dimension;
    double h = (double)s->v->tiles->h, n[3] = {0}, step = 0.01 * h;
    v.far = rh_cut_tile_distance(s->v->obstacles, &w->near, x, &v.which);
    if (v.which < 0 || v.far < 0 || v.far >= h) return v;
    for (int b = 0; b < dimension; b++)
        for (int side = -1; side <= 1; side += 2) {
            rh_dvec3 at = x;
            (&at.x)[b] += side * step;
            n[b] += side * rh_cut_tile_distance(s->v->obstacles, &w->near, at, NULL) / (2 * step);
        }
    for (int b = 0; b < dimension; b++) v.normal = fmax(v.normal, fabs(n[b]));
    // How it bends: half a cell further away, so that no difference reaches through a thin wall.
    double curvature = 0, across = 1 - n[d] * n[d], reach = 0.5 * h;
    rh_dvec3 away = rh_d3_add(x, (rh_dvec3){reach * n[0], reach * n[1], reach * n[2]});
    for (int side = -1; side <= 1; side++) {
        rh_dvec3 at = away;
        (&at.x)[d] += side * reach;
        double there = rh_cut_tile_distance(s->v->obstacles, &w->near, at, NULL);
        curvature += (side ? there : -2 * there) / (reach * reach);
    }
    if (across > 0.05) v.bend = 1 - v.far * curvature / across / (1 - reach * curvature / across);
    v.bend = fmin(fmax(v.bend, 0.5), 1.5);
    v.row = sqrt(fmax(1 - (1 - v.normal * v.normal) / (v.bend * v.bend), 0.25));
    return v;
}

// The spring of a face, if its nearest wall has a slip length. `stress`: that of the liquid there, as k.
//
// Of each row of faces along the axis closest to the wall's normal the one nearest to the wall is tied to it, for the
// area of the wall that belongs to the row. (When all faces within a cell of the wall were, each for the area of a
// cell, walls at 45 degrees had 0.7 or 1.4 times their area, and round ones that of a circle half a cell wider.)
// Between a round wall of radius R and a face at r the liquid turns: R / r once for velocities and once for the lever,
// and shear falls as 1 / r^2.
static void tie_face(const assembly *s, const walls *w, int32_t t, int d, int c, float stress, int64_t at)
{
    const rh_tiles *tiles = s->v->tiles;
    rh_vec3 place = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&place.x)[d] -= 0.5f * tiles->h;
    rh_dvec3 x = rh_d3_from(place);
    wall_view v = look_at_wall(s, w, d, x);
    double h = (double)tiles->h;
    if (v.which < 0 || v.far < 0 || v.far >= 0.5 * h * (v.normal + v.row)) return;
    double slip = slip_of(&s->v->obstacles->items[v.which]);
    if (!(slip > 0 && slip < NO_STRESS)) return;
    rh_dvec3 u = rh_obstacles_velocity(s->v->obstacles, v.which, x);
    double layer = 0.5 * v.far * v.bend * (1 + v.bend);
    s->spring[d][at] = (float)((double)stress * h * v.bend * v.bend / (v.row * (slip + layer)));
    s->pulled[d][at] = s->spring[d][at] * (float)(&u.x)[d];
    s->a.mass[d][at] += s->spring[d][at];
    if (s->v->dynamics) s->tied[d][at] = (int16_t)s->v->dynamics->of_obstacle[v.which];
}

// --- viscosity of particles ------------------------------------------------------------------------------------------
static rh_code find_means(assembly *s, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = s->v->tiles;
    if (!s->v->of_particles) return RH_OK;
    s->mean = rh_field_new(tiles, arena, status);
    if (!s->mean) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < rh_tiles_values(tiles); c++) {
        double sum = 0;
        for (uint32_t p = tiles->first[c]; p < tiles->first[c + 1]; p++) sum += (double)s->v->of_particles[p];
        s->mean[c] = tiles->first[c + 1] > tiles->first[c] ? (float)(sum / (tiles->first[c + 1] - tiles->first[c]))
                                                           : -1;
    }
    return RH_OK;
}

// Harmonic mean over the cells from `low` to `high` around p that have particles; -1 = none has. Where two liquids meet
// the shear stress is the same on both sides and the rates of shear add up: so flow along their boundary is exact.
// (With arithmetic means the thicker one was half a cell larger; and at the corners of a boundary across the grid faces
// hung on a single stiff stress, two at a time, which no smoother of single faces sees.)
static float mean_of(const rh_tiles *tiles, const float *mean, int p, const int low[3], const int high[3])
{
    float sum = 0;
    int count = 0;
    for (int k = tiles->dimension == 3 ? low[2] : 0; k <= (tiles->dimension == 3 ? high[2] : 0); k++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int i = low[0]; i <= high[0]; i++) {
                float m = mean[p + i + SIDE * (j + SIDE * k)];
                if (m >= 0) sum += 1 / fmaxf(m, 1e-30f), count++;
            }
    return count ? (float)count / sum : -1;
}

static float viscosity_at(const assembly *s, const float *mean, int q, int c)
{
    if (!s->mean) return (float)s->v->viscosity;
    static const int around[2][3] = {{-1, -1, -1}, {1, 1, 1}}, here[3] = {0, 0, 0};
    int p = rh_block_index(s->v->tiles, 1, c & 7, c >> 3 & 7, c >> 6);
    int low[3] = {q == 3 || q == 4 ? -1 : 0, q == 3 || q == 5 ? -1 : 0, q == 4 || q == 5 ? -1 : 0};
    float found = mean_of(s->v->tiles, mean, p, low, here);
    if (found < 0) found = mean_of(s->v->tiles, mean, p, around[0], around[1]);
    return found < 0 ? (float)s->v->viscosity : found;
}

// --- the system ------------------------------------------------------------------------------------------------------
// Tiles within two cells of what may have stress, whether they are in the grid or not: multigrid needs faces beyond the
// surface. Returns their number, some named often; keys may be NULL.
static int64_t list_near(const rh_tiles *tiles, const float *phi, rh_tile *keys)
{
    int64_t count = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        int low[3] = {8, 8, 8}, high[3] = {-1, -1, -1};
        for (int c = 0; c < tiles->cells; c++) {
            int cell[3] = {c & 7, c >> 3 & 7, c >> 6};
            if (phi[(int64_t)t * tiles->cells + c] >= tiles->h) continue;
            for (int d = 0; d < 3; d++) {
                low[d] = cell[d] < low[d] ? cell[d] : low[d];
                high[d] = cell[d] > high[d] ? cell[d] : high[d];
            }
        }
        if (high[0] < 0) continue;
        rh_tile at = tiles->at[t];
        bool deep = tiles->dimension == 3;
        for (int z = deep ? (low[2] - 2) >> 3 : 0; z <= (deep ? (high[2] + 2) >> 3 : 0); z++)
            for (int y = (low[1] - 2) >> 3; y <= (high[1] + 2) >> 3; y++)
                for (int x = (low[0] - 2) >> 3; x <= (high[0] + 2) >> 3; x++, count++)
                    if (keys) keys[count] = (rh_tile){at.x + x, at.y + y, at.z + z};
    }
    return count;
}

static rh_code list_tiles(assembly *s, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = s->v->tiles;
    int64_t count = list_near(tiles, s->v->phi, NULL);
    rh_tile *keys = rh_arena_take(arena, ((size_t)count + 1) * sizeof *keys, status);
    if (!keys) return RH_MEMORY;
    list_near(tiles, s->v->phi, keys);
    RH_TRY(rh_viscous_init(&s->a, tiles->dimension, keys, count, arena, status));
    s->of = rh_arena_take(arena, ((size_t)s->a.tiles.count + 1) * sizeof *s->of, status);
    if (!s->of) return RH_MEMORY;
    for (int32_t n = 0; n < s->a.tiles.count; n++) s->of[n] = rh_tiles_find(tiles, s->a.tiles.at[n]);
    return RH_OK;
}

static const float *share_of(const rh_fractions *f, int q) { return q < 3 ? f->cell : f->edge[q - 3]; }

// Stresses of a tile, masses of all its faces, and which are walls.
static void fill_tile(const assembly *s, int32_t n)
{
    const rh_viscosity *v = s->v;
    const rh_tiles *tiles = v->tiles;
    int32_t t = s->of[n];
    if (t < 0) return;
    float phi[BLOCK], mean[BLOCK];
    rh_fractions liquid;
    walls w;
    rh_block_load(tiles, v->phi, t, 1, RH_CUT_REACH * tiles->h, phi);
    rh_fractions_of_tile(tiles, phi, v->fractions, &liquid);
    load_walls(s, t, &w);
    if (s->mean) rh_block_load(tiles, s->mean, t, 1, -1, mean);
    float scale = (float)(v->time / v->density) * tiles->inverse_h * tiles->inverse_h;
    int64_t at = (int64_t)n * tiles->cells;
    for (int q = 0; q < RH_STRESSES; q++) {
        if (!s->a.stress[q]) continue;
        const float *share = share_of(&liquid, q), *solid = w.any ? share_of(&w.share, q) : NULL;
        for (int c = 0; c < tiles->cells; c++) {
            if (share[c] < LEAST_LIQUID) continue;
            float k = (q < 3 ? 2 : 1) * scale * share[c] * viscosity_at(s, mean, q, c);
            s->a.stress[q][at + c] = w.any ? k * at_walls(s, &w, t, q, c, solid[c]) : k;
        }
    }
    for (int d = 0; d < tiles->dimension; d++)
        for (int c = 0; c < tiles->cells; c++) {
            bool wall = w.any && v->cut->open[d][t][c] <= 0;
            float mass = liquid.face[d][c] * (w.any ? 1 - w.share.face[d][c] : 1);
            if (v->weight.axis[0]) mass = v->weight.axis[d][(int64_t)t * tiles->cells + c] / v->per_cell;
            s->a.mass[d][at + c] = wall ? 0 : fmaxf(mass, LEAST_MASS);
            s->a.kind[d][at + c] = wall ? RH_FACE_WALL : RH_FACE_AIR;
            if (w.any && s->spring[0] && !wall && liquid.face[d][c] > 0)
                tie_face(s, &w, t, d, c, scale * liquid.face[d][c] * viscosity_at(s, mean, d, c), at + c);
        }
}

// The stresses that a face takes part in: its normal ones and both shears of each other axis.
static float stiffness_of(const rh_viscous *a, int d, float k[RH_STRESSES][BLOCK], int p)
{
    float sum = k[d][p] + k[d][p - block_step[d]];
    for (int b = 0; b < a->tiles.dimension; b++)
        if (b != d) sum += k[rh_shear_of(d, b)][p] + k[rh_shear_of(d, b)][p + block_step[b]];
    return sum;
}

// Faces that are no walls and have stress or liquid are unknowns.
static void find_unknowns(const assembly *s, int32_t n)
{
    const rh_viscous *a = &s->a;
    float k[RH_STRESSES][BLOCK];
    if (s->of[n] < 0) return;
    for (int q = 0; q < RH_STRESSES; q++)
        if (a->stress[q]) rh_block_load(&a->tiles, a->stress[q], n, 1, 0, k[q]);
    for (int d = 0; d < a->tiles.dimension; d++)
        for (int c = 0; c < a->tiles.cells; c++) {
            int64_t at = (int64_t)n * a->tiles.cells + c;
            int p = rh_block_index(&a->tiles, 1, c & 7, c >> 3 & 7, c >> 6);
            if (a->kind[d][at] == RH_FACE_WALL) continue;
            a->kind[d][at] = stiffness_of(a, d, k, p) > 0 ? RH_FACE_UNKNOWN : RH_FACE_AIR;
        }
}

static rh_code build(assembly *s, rh_arena *arena, rh_status *status)
{
    find_law(s);
    RH_TRY(find_means(s, arena, status));
    RH_TRY(list_tiles(s, arena, status));
    RH_TRY(take_springs(s, arena, status));
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t n = 0; n < s->a.tiles.count; n++) fill_tile(s, n);
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t n = 0; n < s->a.tiles.count; n++) find_unknowns(s, n);
    return rh_viscous_finish(&s->a, arena, status);
}

// --- the solve -------------------------------------------------------------------------------------------------------
// x = the velocities that there are, with those of walls.
static void take_velocities(const assembly *s, rh_faces velocity, float *x)
{
    const rh_viscous *a = &s->a;
    int cells = a->tiles.cells;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < a->tiles.count; n++)
        for (int d = 0; d < a->tiles.dimension && s->of[n] >= 0; d++) {
            const float *from = velocity.axis[d] + (int64_t)s->of[n] * cells, *wall = s->v->cut->wall[d][s->of[n]];
            const uint8_t *kind = a->kind[d] + (int64_t)n * cells;
            float *to = x + d * a->lane + (int64_t)n * cells;
            for (int c = 0; c < cells; c++)
                to[c] = kind[c] == RH_FACE_UNKNOWN ? from[c] : kind[c] == RH_FACE_WALL ? wall[c] : 0;
        }
}

static void add_change(const assembly *s, const float *change, rh_faces velocity)
{
    const rh_viscous *a = &s->a;
    int cells = a->tiles.cells;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < a->tiles.count; n++)
        for (int d = 0; d < a->tiles.dimension && s->of[n] >= 0; d++) {
            const float *from = change + d * a->lane + (int64_t)n * cells;
            float *to = velocity.axis[d] + (int64_t)s->of[n] * cells;
            for (int c = 0; c < cells; c++) to[c] += from[c];
        }
}

static void apply(void *user, const float *x, float *y) { rh_viscous_apply(user, x, y); }
static void cycle(void *user, const float *x, float *y) { rh_viscous_multigrid_cycle(user, x, y); }
static void jacobi(void *user, const float *x, float *y) { rh_viscous_smooth_zero(user, 1, x, y); }

static rh_code precondition(assembly *s, rh_operator *out, rh_arena *arena, rh_status *status)
{
    preconditioner *m = &s->m;
    int64_t size = rh_viscous_size(&s->a);
    switch (s->v->preconditioner) {
    case RH_PRECONDITION_MULTIGRID:
        *out = (rh_operator){size, cycle, &m->multigrid};
        return rh_viscous_multigrid_create(&m->multigrid, &s->a, arena, status);
    case RH_PRECONDITION_MIC:
        *out = (rh_operator){size, rh_viscous_mic_apply, &m->mic};
        return rh_viscous_mic_create(&m->mic, &s->a, arena, status);
    case RH_PRECONDITION_NONE: break;
    }
    *out = (rh_operator){size, jacobi, &s->a};
    return RH_OK;
}

// --- dynamic solids --------------------------------------------------------------------------------------------------
// The dynamic solid that a face belongs to: as one of its wall, or by a spring of a slip length. -1: none.
static int solid_of(const assembly *s, int32_t t, int d, int c, int64_t at, bool spring)
{
    if (!spring) return s->a.kind[d][at] == RH_FACE_WALL ? s->v->owner[t][d * s->a.tiles.cells + c] : -1;
    return s->a.kind[d][at] == RH_FACE_UNKNOWN && s->spring[d][at] > 0 ? s->tied[d][at] : -1;
}

// Wall faces, or springs, of dynamic solids in the tiles of the system. Returns their number; `out` may be NULL.
static int64_t list_faces(const assembly *s, bool spring, rh_viscous_face *out)
{
    const rh_viscosity *v = s->v;
    const rh_tiles *tiles = v->tiles;
    int64_t count = 0;
    for (int32_t n = 0; n < s->a.tiles.count; n++) {
        int32_t t = s->of[n];
        for (int d = 0; t >= 0 && d < tiles->dimension && (spring || v->owner[t]); d++)
            for (int c = 0; c < tiles->cells; c++) {
                int64_t at = (int64_t)n * tiles->cells + c;
                int solid = solid_of(s, t, d, c, at, spring);
                if (solid < 0) continue;
                rh_viscous_face *face = out ? &out[count] : NULL;
                count++;
                if (!face) continue;
                double row[RH_DYNAMICS_PARTS];
                rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
                (&x.x)[d] -= 0.5f * tiles->h;
                rh_dynamics_row(rh_d3_from(x), v->obstacles->items[v->dynamics->items[solid].obstacle].origin, d, row);
                if (tiles->dimension == 2) row[2] = row[3] = row[4] = 0;
                *face = (rh_viscous_face){.at = d * s->a.lane + at, .solid = solid};
                if (spring) face->spring = s->spring[d][at];
                for (int k = 0; k < RH_DYNAMICS_PARTS; k++) face->row[k] = (float)row[k];
            }
    }
    return count;
}

static rh_code take_faces(const assembly *s, bool spring, rh_viscous_face **out, int64_t *count, rh_arena *arena,
                          rh_status *status)
{
    *count = list_faces(s, spring, NULL);
    *out = rh_arena_take(arena, ((size_t)*count + 1) * sizeof **out, status);
    if (!*out) return RH_MEMORY;
    list_faces(s, spring, *out);
    return RH_OK;
}

// How many solids may have vectors of their own for the liquid's answers.
enum { ANSWERED = 4 };

static rh_code prepare_solids(assembly *s, rh_operator m, rh_viscous_solids *solids, rh_arena *arena, rh_status *status)
{
    double h = s->v->tiles->h, cell = s->v->tiles->dimension == 3 ? h * h * h : h * h;
    *solids = (rh_viscous_solids){.dynamics = s->v->dynamics, .mass = s->v->density * cell, .a = &s->a, .m = m};
    RH_TRY(take_faces(s, false, &solids->faces, &solids->face_count, arena, status));
    if (s->spring[0]) RH_TRY(take_faces(s, true, &solids->springs, &solids->spring_count, arena, status));
    rh_viscous_solids_tell_springs(solids, s->pulled);
    bool multigrid = s->v->preconditioner == RH_PRECONDITION_MULTIGRID;
    bool answers = multigrid && s->v->coupling == RH_VISCOUS_STRONG && s->v->dynamics->count <= ANSWERED;
    return rh_viscous_solids_prepare(solids, answers, arena, status);
}

// --- all together ----------------------------------------------------------------------------------------------------
// b = mass u - A u: what stress does to the velocities that there are.
static void find_stress(const assembly *s, const float *x, const float *pull, float *b)
{
    const rh_viscous *a = &s->a;
    for (int d = 0; d < a->tiles.dimension; d++)
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < a->lane; c++) {
            int64_t i = d * a->lane + c;
            float kept = s->spring[d] ? (a->mass[d][c] - s->spring[d][c]) * x[i] + s->pulled[d][c]
                                      : a->mass[d][c] * x[i];
            b[i] = a->kind[d][c] == RH_FACE_UNKNOWN ? kept - pull[i] : 0;
        }
}

// What walls receive: the stress on their faces, and that of slip lengths on the faces beside them. `pull`: of the
// velocities `now`.
static void tell_walls(const assembly *s, const float *now, const float *pull, bool dynamic)
{
    const rh_viscous *a = &s->a;
    int cells = a->tiles.cells;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < a->tiles.count; n++) {
        int32_t t = s->of[n];
        for (int d = 0; d < a->tiles.dimension && t >= 0; d++)
            for (int c = 0; c < cells; c++) {
                int64_t at = (int64_t)n * cells + c, i = d * a->lane + at;
                bool wall = a->kind[d][at] == RH_FACE_WALL;
                bool moved = s->v->owner && s->v->owner[t] && s->v->owner[t][d * cells + c] >= 0;
                float to = wall && (dynamic || !moved) ? -pull[i] : 0;
                if (!wall && s->spring[d] && (dynamic || s->tied[d][at] < 0))
                    to = s->spring[d][at] * now[i] - s->pulled[d][at];
                s->v->to_walls.axis[d][(int64_t)t * cells + c] = to;
            }
    }
}

static rh_code connect(assembly *s, rh_arena *arena, rh_status *status)
{
    const rh_viscosity *v = s->v;
    s->coupled = v->dynamics && v->owner && v->coupling != RH_VISCOUS_ONE_WAY;
    s->strong = s->coupled && v->coupling == RH_VISCOUS_STRONG;
    s->way = (rh_krylov){.a = {rh_viscous_size(&s->a), apply, &s->a}};
    RH_TRY(precondition(s, &s->way.m, arena, status));
    if (s->coupled) RH_TRY(prepare_solids(s, s->way.m, &s->solids, arena, status));
    if (!s->strong) return RH_OK;
    int64_t size = rh_viscous_solids_size(&s->solids);
    s->way.a = (rh_operator){size, rh_viscous_solids_apply, &s->solids};
    s->way.m = (rh_operator){size, rh_viscous_solids_precondition, &s->solids};
    return RH_OK;
}

rh_code rh_viscosity_prepare(const rh_viscosity *v, rh_viscosity_system **system, rh_arena *arena, rh_status *status)
{
    assembly *s = rh_arena_take_zero(arena, sizeof *s, status);
    if (!s) return RH_MEMORY;
    s->v = v;
    *system = s;
    RH_TRY(build(s, arena, status));
    return s->a.unknowns > 0 ? connect(s, arena, status) : RH_OK;
}

static float *vector_of(const assembly *s, rh_arena *arena, rh_status *status)
{
    return rh_arena_take_zero(arena, ((size_t)s->way.a.size + 8) * sizeof(float), status);
}

// Solved for the change of velocities, A e = mass u - A u: so rounding is relative to it.
static rh_code relax(assembly *s, rh_faces velocity, rh_arena *arena, rh_krylov_report *report, rh_status *status)
{
    const rh_viscous *a = &s->a;
    const rh_viscosity *v = s->v;
    float *now = rh_viscous_vector(a, arena, status), *pull = rh_viscous_vector(a, arena, status);
    float *x = vector_of(s, arena, status), *b = vector_of(s, arena, status);
    if (!now || !pull || !x || !b) return RH_MEMORY;
    take_velocities(s, velocity, now);
    rh_viscous_pull(a, now, pull);
    find_stress(s, now, pull, b);
    if (s->strong) rh_viscous_solids_begin(&s->solids, pull, now, b);
    RH_TRY(rh_krylov_cg(&s->way, b, x, v->tolerance, v->max_iterations, arena, report, status));
    add_change(s, x, velocity);
    for (int64_t i = 0; i < rh_viscous_size(a); i++) now[i] += x[i];
    if (s->strong) rh_viscous_solids_give(&s->solids, x, now);
    if (s->strong) rh_viscous_solids_tell_springs(&s->solids, s->pulled);
    bool weak = s->coupled && !s->strong;
    if (weak || v->to_walls.axis[0]) rh_viscous_pull(a, now, pull);
    if (v->to_walls.axis[0]) tell_walls(s, now, pull, s->strong);
    if (weak) rh_viscous_solids_follow(&s->solids, pull, now);
    return RH_OK;
}

rh_code rh_viscosity_relax(rh_viscosity_system *s, rh_faces velocity, rh_arena *arena, rh_krylov_report *report,
                           rh_status *status)
{
    *report = (rh_krylov_report){.converged = true};
    if (s->a.unknowns == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = relax(s, velocity, arena, report, status);
    rh_arena_restore(arena, mark);
    return code;
}

// The part of the faces that are unknowns, as a vector of the system.
static void take_push(const assembly *s, rh_faces push, float *b)
{
    const rh_viscous *a = &s->a;
    int cells = a->tiles.cells;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < a->tiles.count; n++)
        for (int d = 0; d < a->tiles.dimension && s->of[n] >= 0; d++) {
            const float *from = push.axis[d] + (int64_t)s->of[n] * cells;
            const uint8_t *kind = a->kind[d] + (int64_t)n * cells;
            float *to = b + d * a->lane + (int64_t)n * cells;
            for (int c = 0; c < cells; c++) to[c] = kind[c] == RH_FACE_UNKNOWN ? from[c] : 0;
        }
}

static rh_code answer(assembly *s, rh_faces push, double *impulse, double tolerance, rh_faces change, rh_arena *arena,
                      rh_krylov_report *report, rh_status *status)
{
    int64_t size = rh_viscous_size(&s->a);
    float *x = vector_of(s, arena, status), *b = vector_of(s, arena, status);
    if (!x || !b) return RH_MEMORY;
    take_push(s, push, b);
    if (s->strong) rh_viscous_solids_push(&s->solids, impulse, b + size);
    RH_TRY(rh_krylov_cg(&s->way, b, x, tolerance, s->v->max_iterations, arena, report, status));
    add_change(s, x, change);
    for (int k = 0; s->strong && k < RH_DYNAMICS_PARTS * s->v->dynamics->count; k++)
        impulse[k] = s->solids.mass * (double)x[size + k];
    return RH_OK;
}

rh_code rh_viscosity_answer(rh_viscosity_system *s, rh_faces push, double *impulse, double tolerance, rh_faces change,
                            rh_arena *arena, rh_krylov_report *report, rh_status *status)
{
    *report = (rh_krylov_report){.converged = true};
    if (s->a.unknowns == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = answer(s, push, impulse, tolerance, change, arena, report, status);
    rh_arena_restore(arena, mark);
    return code;
}

rh_code rh_viscosity_show_walls(rh_viscosity_system *s, rh_faces velocity, rh_arena *arena, rh_status *status)
{
    if (!s->v->to_walls.axis[0] || s->a.unknowns == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(arena);
    float *now = rh_viscous_vector(&s->a, arena, status), *pull = rh_viscous_vector(&s->a, arena, status);
    if (!now || !pull) return RH_MEMORY;
    take_velocities(s, velocity, now);
    rh_viscous_pull(&s->a, now, pull);
    if (s->strong) rh_viscous_solids_tell_springs(&s->solids, s->pulled);
    tell_walls(s, now, pull, s->strong);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

void rh_viscosity_diagonal(const rh_viscosity_system *s, int32_t tile, int axis, float *mass, float *stiffness)
{
    const rh_viscous *a = &s->a;
    float k[RH_STRESSES][BLOCK];
    int32_t n = rh_tiles_find(&a->tiles, s->v->tiles->at[tile]);
    memset(mass, 0, (size_t)a->tiles.cells * sizeof *mass);
    memset(stiffness, 0, (size_t)a->tiles.cells * sizeof *stiffness);
    for (int q = 0; q < RH_STRESSES && n >= 0; q++)
        if (a->stress[q]) rh_block_load(&a->tiles, a->stress[q], n, 1, 0, k[q]);
    for (int c = 0; c < a->tiles.cells && n >= 0; c++) {
        int64_t at = (int64_t)n * a->tiles.cells + c;
        if (a->kind[axis][at] != RH_FACE_UNKNOWN) continue;
        mass[c] = a->mass[axis][at];
        stiffness[c] = stiffness_of(a, axis, k, rh_block_index(&a->tiles, 1, c & 7, c >> 3 & 7, c >> 6));
    }
}

rh_code rh_viscosity_act(const rh_viscosity *v, rh_faces velocity, rh_arena *arena, rh_krylov_report *report,
                         rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    rh_viscosity_system *system;
    *report = (rh_krylov_report){.converged = true};
    rh_code code = rh_viscosity_prepare(v, &system, arena, status);
    if (code == RH_OK) code = rh_viscosity_relax(system, velocity, arena, report, status);
    rh_arena_restore(arena, mark);
    return code;
}
