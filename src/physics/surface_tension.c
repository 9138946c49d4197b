// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With d the change of the velocity out of the liquid at its surface faces, m their masses, a their open shares, q the
// pressure in the liquid cell beside them and j = tension * curvature in the same units:
//
//      m d = a (q - j)                              ghost fluid: as pressure.c, with j instead of 0
//      (m + c H) d = a (q - j) - c (1 - b) H u      with the surface's inertia
//
// H is the Laplacian of the graph that joins surface faces of one axis and side to those next to them: the second
// derivative of the surface's area by the way it moves (that the surface goes on with u for the step and bends by it is
// what an implicit step knows: S. Hysing, Int. J. Numer. Meth. Fluids 51, 2006; M. Raessi, M. Bussmann, J. Mostaghimi,
// same 59, 2009; M. Sussman, M. Ohta, SIAM J. Sci. Comput. 31, 2009). On components of the velocity, not on the speed
// along the normal: so liquid that moves as a whole feels nothing of it.
//
// A mode of frequency w then moves with w^2 / (1 + g (w dt)^2), c = g tension dt^2 / (density h^3), and loses (1 - b) g
// (w dt)^2 / 2 of its swing in a short step. Explicit steps (g = 0) are stable for w dt < 2; the highest w is known
// (rh_curvature_stiffness). With g any step is stable if 4 + 2 g (1 + b) (w dt)^2 > (w dt)^2: g > 1/3. H has 2 (n - 1)
// / (n + 1) of the stiffness of mode n of a round drop in the plane, 2/3 of the lowest; g = 1 - 2 / (w dt)^2 leaves
// room. Where that is not positive there is none.
//
// Ripples of three to five cells, which the curvature sees in part, grow slowly; they are taken out of the velocities
// of the surface first, (m + e H^2) u_new = m u. (Diffusing the speed of the surface before the projection instead, in
// a step of its own, is stable to about twice the explicit step only: the layer that is stopped is a small part of what
// a wave moves, and pressure sets it in motion again.)
#include "physics/surface_tension.h"

#include <math.h>
#include <string.h>
#include "grid/curvature.h"
#include "physics/pressure.h"
#include "solve/krylov.h"

static const double KEPT = 0.5;  // b: part of the bending motion that long steps keep
static const double CALM = 0.3;  // e of a step that is as long as sqrt(density h^3 / tension)
static const double INNER_TOLERANCE = 1e-7, CALM_TOLERANCE = 1e-5;
enum { INNER_ITERATIONS = 400 };

void rh_surface_tension_init(rh_surface_tension *s, rh_faces curvature, double tension, double density, double h,
                             double dt, double kick, rh_arena *arena, rh_status *status)
{
    double scale = tension * dt * kick / (density * h * h * h), square = rh_curvature_stiffness() * scale;
    *s = (rh_surface_tension){.curvature = curvature,
                              .strength = (float)(tension * kick / (density * h)),
                              .inertia = (float)(fmax(0, 1 - 2 / square) * scale),
                              .calming = (float)(CALM * sqrt(scale)),
                              .arena = arena,
                              .status = status};
}

// --- the list of faces -----------------------------------------------------------------------------------------------
static const int step_near[3] = {1, 3, 9}, step_cell[3] = {1, 8, 64};

// The cell below a face; -1 when its tile is not there.
static int64_t cell_below(const rh_tiles *tiles, int32_t t, int axis, int c)
{
    bool first = (c >> (3 * axis) & 7) == 0;
    int32_t other = first ? tiles->near[t][RH_HERE - step_near[axis]] : t;
    return other < 0 ? -1 : (int64_t)other * tiles->cells + (first ? c + 7 * step_cell[axis] : c - step_cell[axis]);
}

// Place of an unknown in vectors of the operator; -1: it is none.
static int64_t unknown_at(const rh_pressure *p, int64_t cell)
{
    if (cell < 0 || !rh_pressure_is_unknown(p, cell)) return -1;
    return (int64_t)p->layout.slot[cell / p->tiles->cells] * p->tiles->cells + cell % p->tiles->cells;
}

// Faces of one tile, by axis and cell; returns how many. `out` may be NULL.
static int32_t list_tile(const rh_surface_tension *s, const rh_pressure *p, int32_t t, rh_tension_face *out)
{
    const rh_tiles *tiles = p->tiles;
    int32_t count = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        float mass[RH_CELLS];
        bool measured = false;
        for (int c = 0; c < tiles->cells; c++) {
            int64_t here = (int64_t)t * tiles->cells + c, low = cell_below(tiles, t, a, c);
            if (low < 0 || (p->surface->phi[here] < 0) == (p->surface->phi[low] < 0)) continue;
            int64_t above = unknown_at(p, here), below = unknown_at(p, low);
            if (above < 0 && below < 0) continue;
            if (!measured) rh_pressure_face_masses(p, t, a, mass);
            measured = true;
            if (!(mass[c] > 0)) continue;
            if (out)
                out[count] = (rh_tension_face){.at = here,
                                               .cell = (int32_t)(above < 0 ? below : above),
                                               .axis = (int8_t)a,
                                               .side = above < 0 ? 1 : -1,
                                               .next = {-1, -1, -1},
                                               .open = p->cut->open[a][t][c],
                                               .mass = mass[c],
                                               .jump = s->strength * s->curvature.axis[a][here]};
            count++;
        }
    }
    return count;
}

// The listed face of an axis and a side at a cell counted from tile t; -1 when there is none.
static int32_t find(const rh_surface_tension *s, const rh_tiles *tiles, int32_t t, int axis, int side, const int at[3])
{
    rh_tile tile = {tiles->at[t].x + (at[0] >> 3), tiles->at[t].y + (at[1] >> 3), tiles->at[t].z + (at[2] >> 3)};
    int32_t other = (at[0] | at[1] | at[2]) >> 3 == 0 ? t : rh_tiles_find(tiles, tile);
    if (other < 0) return -1;
    int64_t place = (int64_t)other * tiles->cells + (at[0] & 7) + 8 * (at[1] & 7) + 64 * (at[2] & 7);
    int32_t low = s->tile_first[other], high = s->tile_first[other + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const rh_tension_face *f = &s->faces[middle];
        if (f->axis < axis || (f->axis == axis && f->at < place)) low = middle + 1;
        else high = middle;
    }
    const rh_tension_face *f = &s->faces[low];
    bool found = low < s->tile_first[other + 1] && f->axis == axis && f->at == place && f->side == side;
    return found ? low : -1;
}

// The nearest face of an axis and a side in a row of cells, seen from a face: `across` (may be -1) and `up` say how the
// row lies beside it. Looks so many cells along the axis. *way: cells between the two.
static int32_t find_in_row(const rh_surface_tension *s, const rh_tiles *tiles, int32_t t, const rh_tension_face *f,
                           int across, int up, int side, int reach, float *way)
{
    int c = (int)(f->at - (int64_t)t * tiles->cells);
    for (int n = 0; n <= 2 * reach; n++) {
        int at[3] = {c & 7, c >> 3 & 7, c >> 6}, off = n & 1 ? (n + 1) / 2 : -n / 2;
        if (across >= 0) at[across] += up;
        at[f->axis] += off;
        *way = sqrtf((float)(up * up + off * off));
        int32_t found = find(s, tiles, t, f->axis, side, at);
        if (found >= 0) return found;
    }
    return -1;
}

// Joins the faces of a tile to those in the next rows, upwards, and where rows end (at the top of a drop, say) to the
// face on the other side of the same row. The integral of the squared slope between two of them is that of a straight
// line over their distance. (Without the links around the ends both sides of a drop could move apart without bending
// anything, its lowest mode.)
enum { ASIDE = 8, OPPOSITE = 32 };

static void join_tile(rh_surface_tension *s, const rh_tiles *tiles, int32_t t)
{
    for (int32_t n = s->tile_first[t]; n < s->tile_first[t + 1]; n++) {
        rh_tension_face *f = &s->faces[n];
        int joined = 0;
        bool ends = false;
        float way;
        for (int across = 0; across < tiles->dimension; across++) {
            if (across == f->axis) continue;
            ends = ends || find_in_row(s, tiles, t, f, across, -1, f->side, ASIDE, &way) < 0;
            f->next[joined] = find_in_row(s, tiles, t, f, across, 1, f->side, ASIDE, &way);
            ends = ends || f->next[joined] < 0;
            f->join[joined++] = 1 / way;
        }
        if (!ends) continue;
        f->next[2] = find_in_row(s, tiles, t, f, -1, 0, -f->side, OPPOSITE, &way);
        f->join[2] = 1 / way;
    }
}

static rh_code take(rh_surface_tension *s)
{
    size_t count = (size_t)s->count + 1;
    s->faces = rh_arena_take(s->arena, count * sizeof *s->faces, s->status);
    s->speed = rh_arena_take(s->arena, count * sizeof *s->speed, s->status);
    s->inverse = rh_arena_take(s->arena, count * sizeof *s->inverse, s->status);
    s->load = rh_arena_take(s->arena, count * sizeof *s->load, s->status);
    s->bent = rh_arena_take(s->arena, count * sizeof *s->bent, s->status);
    return s->bent && s->faces && s->speed && s->inverse && s->load ? RH_OK : RH_MEMORY;
}

// --- inertia ---------------------------------------------------------------------------------------------------------
// y += scale H x; x and y are speeds out of the liquid.
static void add_bending(const rh_surface_tension *s, float scale, const float *x, float *y)
{
    for (int32_t n = 0; n < s->count; n++) {
        const rh_tension_face *f = &s->faces[n];
        for (int i = 0; i < RH_TENSION_JOINS; i++) {
            int32_t other = f->next[i];
            if (other < 0) continue;
            float same = (float)(f->side * s->faces[other].side);
            float bent = scale * f->join[i] * (x[n] - same * x[other]);
            y[n] += bent;
            y[other] -= same * bent;
        }
    }
}

// The diagonal of H.
static void bending_diagonal(const rh_surface_tension *s, float *out)
{
    for (int32_t n = 0; n < s->count; n++) out[n] = 0;
    for (int32_t n = 0; n < s->count; n++)
        for (int i = 0; i < RH_TENSION_JOINS; i++) {
            int32_t other = s->faces[n].next[i];
            if (other < 0) continue;
            out[n] += s->faces[n].join[i];
            out[other] += s->faces[n].join[i];
        }
}

static void apply_mass(void *user, const float *x, float *y)
{
    const rh_surface_tension *s = user;
    for (int32_t n = 0; n < s->count; n++) y[n] = s->faces[n].mass * x[n];
    add_bending(s, s->inertia, x, y);
}

static void apply_inverse(void *user, const float *r, float *z)
{
    const rh_surface_tension *s = user;
    for (int32_t n = 0; n < s->count; n++) z[n] = s->inverse[n] * r[n];
}

// speed = (m + c H)^-1 load from speed = 0; load is destroyed.
static rh_code move_faces(rh_surface_tension *s)
{
    if (s->inertia == 0) {
        for (int32_t n = 0; n < s->count; n++) s->speed[n] = s->load[n] / s->faces[n].mass;
        return RH_OK;
    }
    for (int32_t n = 0; n < s->count; n++) s->speed[n] = 0;
    bending_diagonal(s, s->inverse);
    for (int32_t n = 0; n < s->count; n++) s->inverse[n] = 1 / (s->faces[n].mass + s->inertia * s->inverse[n]);
    const rh_krylov system = {.a = {s->count, apply_mass, s}, .m = {s->count, apply_inverse, s}};
    rh_krylov_report report;
    return rh_krylov_cg(&system, s->load, s->speed, INNER_TOLERANCE, INNER_ITERATIONS, s->arena, &report, s->status);
}

// y = (m + e H^2) x.
static void apply_calming(void *user, const float *x, float *y)
{
    const rh_surface_tension *s = user;
    for (int32_t n = 0; n < s->count; n++) y[n] = s->faces[n].mass * x[n], s->bent[n] = 0;
    add_bending(s, 1, x, s->bent);
    add_bending(s, s->calming, s->bent, y);
}

// Takes ripples out of the velocities of the surface: (m + e H^2) u_new = m u.
static rh_code calm(rh_surface_tension *s, rh_faces velocity)
{
    bending_diagonal(s, s->inverse);
    for (int32_t n = 0; n < s->count; n++) {
        const rh_tension_face *f = &s->faces[n];
        s->inverse[n] = 1 / (f->mass + s->calming * s->inverse[n] * (s->inverse[n] + 1));
        s->speed[n] = (float)f->side * velocity.axis[f->axis][f->at];
        s->load[n] = f->mass * s->speed[n];
    }
    const rh_krylov system = {.a = {s->count, apply_calming, s}, .m = {s->count, apply_inverse, s}};
    rh_krylov_report report;
    RH_TRY(rh_krylov_cg(&system, s->load, s->speed, CALM_TOLERANCE, INNER_ITERATIONS, s->arena, &report, s->status));
    for (int32_t n = 0; n < s->count; n++)
        velocity.axis[s->faces[n].axis][s->faces[n].at] = (float)s->faces[n].side * s->speed[n];
    return RH_OK;
}

rh_code rh_surface_tension_gather(rh_surface_tension *s, const rh_pressure *p, rh_faces velocity)
{
    const rh_tiles *tiles = p->tiles;
    s->heavier = p->heavier;
    s->tile_first = rh_arena_take(s->arena, ((size_t)tiles->count + 1) * sizeof *s->tile_first, s->status);
    if (!s->tile_first) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) s->tile_first[t] = list_tile(s, p, t, NULL);
    s->count = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        int32_t own = s->tile_first[t];
        s->tile_first[t] = s->count;
        s->count += own;
    }
    s->tile_first[tiles->count] = s->count;
    RH_TRY(take(s));
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) list_tile(s, p, t, s->faces + s->tile_first[t]);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) join_tile(s, tiles, t);
    RH_TRY(calm(s, velocity));
    if (s->inertia == 0) return RH_OK;
    for (int32_t n = 0; n < s->count; n++) s->bent[n] = 0;  // speed is that of the faces, from calm
    add_bending(s, s->inertia * (float)(1 - KEPT), s->speed, s->bent);
    for (int32_t n = 0; n < s->count; n++) s->faces[n].jump += s->bent[n] / s->faces[n].open;
    return RH_OK;
}

rh_code rh_surface_tension_load(rh_surface_tension *s, float *b)
{
    for (int32_t n = 0; n < s->count; n++) s->load[n] = s->faces[n].open * s->faces[n].jump;
    RH_TRY(move_faces(s));
    for (int32_t n = 0; n < s->count; n++) b[s->faces[n].cell] += s->faces[n].open * s->speed[n];
    return RH_OK;
}

double rh_surface_tension_resist(void *user, const float *x, float *y)
{
    rh_surface_tension *s = user;
    double sum = 0;
    for (int32_t n = 0; n < s->count; n++) s->load[n] = s->faces[n].open * x[s->faces[n].cell];
    move_faces(s);
    for (int32_t n = 0; n < s->count; n++) {
        const rh_tension_face *f = &s->faces[n];
        float more = f->open * (s->speed[n] - f->open * x[f->cell] / (f->mass + f->open * s->heavier));
        y[f->cell] += more;
        sum += (double)x[f->cell] * (double)more;
    }
    return sum;
}

rh_code rh_surface_tension_settle(rh_surface_tension *s, const rh_pressure *p, rh_faces jump)
{
    for (int32_t n = 0; n < s->count; n++) s->load[n] = s->faces[n].open * (p->q[s->faces[n].cell] - s->faces[n].jump);
    RH_TRY(move_faces(s));
    for (int a = 0; a < p->tiles->dimension; a++)
        memset(jump.axis[a], 0, (size_t)rh_tiles_values(p->tiles) * sizeof(float));
    for (int32_t n = 0; n < s->count; n++) {
        const rh_tension_face *f = &s->faces[n];
        jump.axis[f->axis][f->at] = p->q[f->cell] - s->speed[n] * f->mass / f->open;
    }
    return s->status->code;
}
