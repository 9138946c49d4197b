// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// In liquid at rest pressure rises evenly, by g dt from cell to cell, and what it gives to a solid is a sum over faces:
//
//      solve       s             the closed shares of faces, less what is attached on faces all closed: the solid's
//                                chords along rows of faces, 0.5 % off its volume for a ball 20 cells across
//      particles   1 - w         what is missing on faces near the solid, of the weight of a full cell: its volume to a
//                                particle or two, each 0.08 % of such a ball, and they come and go
//
// The difference of the two is owed to the solid and paid a step later (solid/dynamics.h), so it went too fast all the
// time by the first error's work in one step, and was too light or heavy for ever by the second: a ball as heavy as the
// liquid rose or sank by 1 % of its size in a second. As liquid that rests is not disturbed because its particles weigh
// more or less than pressure supports (momentum_error.h), neither is a solid: the part of both errors that belongs to
// liquid at rest is made good. Without gravity there is none, and momentum is kept to rounding.
#include "physics/buoyancy.h"

#include <math.h>
#include <string.h>

enum { PARTS = RH_DYNAMICS_PARTS };
static const double NEAR = 2;  // cells: a solid or wall so near that faces between them are of both

// The cells on both sides of a face; tile -1 = not there.
typedef struct sides {
    int32_t tile[2];
    int cell[2];
} sides;

static sides sides_of(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    static const int step[3] = {1, 8, 64};
    int at = axis == 0 ? c & 7 : axis == 1 ? c >> 3 & 7 : c >> 6;
    if (at > 0) return (sides){{t, t}, {c - step[axis], c}};
    return (sides){{tiles->near[t][RH_HERE - rh_near_step[axis]], t}, {c + 7 * step[axis], c}};
}

static bool is_wet(const rh_layout *layout, int32_t t, int c)
{
    return t >= 0 && (layout->unknown[((int64_t)t * layout->tiles->cells + c) >> 3] >> (c & 7) & 1);
}

// Liquid on both sides, or the solid itself.
static bool is_immersed(const rh_solid_coupling *c, const rh_layout *layout, const sides *s)
{
    bool all = true;
    for (int k = 0; k < 2; k++)
        all = all && s->tile[k] >= 0 &&
              (is_wet(layout, s->tile[k], s->cell[k]) || !(c->cut->distance[s->tile[k]][s->cell[k]] > 0));
    return all;
}

static bool others_near(const rh_solid_coupling *c, const rh_cut_near *near, int solid, rh_dvec3 x)
{
    for (int i = 0; i < near->count; i++)
        if (near->items[i] != c->dynamics->items[solid].obstacle &&
            rh_obstacle_within(c->obstacles, near->items[i], x, NEAR * (double)c->tiles->h))
            return true;
    return false;
}

// Clears `alone` of solids that touch air or are near another; many tiles at once do so for one solid.
static void look_around(const rh_solid_coupling *c, const rh_layout *layout, int32_t t, bool *alone)
{
    const rh_cut_near *near = c->near[t];
    for (int a = 0; a < c->tiles->dimension; a++)
        for (int i = 0; i < c->tiles->cells; i++) {
            int solid = c->owner[t][a * c->tiles->cells + i];
            bool still = false;
            if (solid < 0) continue;
#pragma omp atomic read
            still = alone[solid];
            if (!still) continue;
            sides s = sides_of(c->tiles, t, i, a);
            if (near->count == RH_CUT_NEAR || !is_immersed(c, layout, &s) ||
                (near->count > 1 && others_near(c, near, solid, rh_solid_coupling_place(c, t, i, a)))) {
#pragma omp atomic write
                alone[solid] = false;
            }
        }
}

// Faces all open but near a wall count for the particles: world/wall_impulses.c.
static int owner_of(const rh_solid_coupling *c, const rh_cut_near *near, int32_t t, int i, int axis, bool beside)
{
    int solid = c->owner[t][axis * c->tiles->cells + i], which = -1;
    if (solid >= 0 || !beside || c->open[axis][t][i] < 1) return solid;
    rh_cut_tile_distance(c->obstacles, near, rh_solid_coupling_place(c, t, i, axis), &which);
    return which < 0 ? -1 : c->dynamics->of_obstacle[which];
}

// Adds the volumes (cells) that the solve and the particles see on the faces of a tile along an axis.
static void add_volumes(const rh_solid_coupling *c, const rh_solid_coupling_faces *faces, const rh_layout *layout,
                        const rh_cut_near *near, int32_t t, int axis, const bool *alone, rh_displaced *out)
{
    for (int i = 0; i < c->tiles->cells; i++) {
        sides s = sides_of(c->tiles, t, i, axis);
        if (s.tile[0] < 0) continue;
        float away = c->cut->distance[s.tile[0]][s.cell[0]] + c->cut->distance[t][i];
        bool beside = away < 2 * c->tiles->h && is_wet(layout, s.tile[0], s.cell[0]) && is_wet(layout, t, i);
        int solid = owner_of(c, near, t, i, axis, beside);
        if (solid < 0 || !alone[solid]) continue;
        double open = (double)c->open[axis][t][i],
               weight = (double)(faces->fill.axis[axis][(int64_t)t * c->tiles->cells + i] / faces->full);
        bool closed = !(open > 0);
        double attached = closed && weight > 0 ? weight * rh_solid_coupling_decided(c, solid, t, i, axis) : 0;
        double row[PARTS], solved = 1 - open - attached, counted = closed || beside ? 1 - weight : 1 - open;
        rh_solid_coupling_row(c, solid, t, i, axis, row);
        out[solid].closed[axis] += 1 - open;
        for (int k = 0; k < PARTS; k++) {
            out[solid].solved[axis][k] += solved * row[k];
            out[solid].counted[axis][k] += counted * row[k];
        }
    }
}

// `whole`: kg (kg/m) in the place of the solid, whose centre is that of its mass: so it has no moment.
static void find_shortage(const rh_solid_coupling *c, double whole, bool alone, rh_displaced *of)
{
    for (int a = 0; a < 3; a++) {
        bool there = alone && of->closed[a] > 0;
        of->closed[a] *= there ? c->mass : 0;
        for (int k = 0; k < PARTS; k++) {
            double should = k == a ? whole : 0;
            of->solved[a][k] = there ? should - c->mass * of->solved[a][k] : 0;
            of->counted[a][k] = there ? should - c->mass * of->counted[a][k] : 0;
        }
    }
}

rh_code rh_buoyancy_find(const rh_solid_coupling *c, const rh_solid_coupling_faces *faces, const rh_layout *layout,
                         rh_arena *arena, rh_status *status)
{
    const rh_dynamics *d = c->dynamics;
    rh_arena_mark mark = rh_arena_save(arena);
    bool *alone = rh_arena_take(arena, ((size_t)d->count + 1) * sizeof *alone, status);
    rh_displaced *sums = rh_arena_take_zero(arena, ((size_t)d->count + 1) * sizeof *sums, status);
    if (!alone || !sums) return RH_MEMORY;
    for (int n = 0; n < d->count; n++) alone[n] = !c->obstacles->items[d->items[n].obstacle].thin;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < c->tiles->count; t++)
        if (c->owner[t]) look_around(c, layout, t, alone);
    for (int32_t t = 0; t < c->tiles->count; t++) {  // few contribute: one thread
        const rh_cut_near *near = c->near[t];
        if (!c->owner[t]) continue;
        bool any = false;
        for (int i = 0; i < near->count && near->count < RH_CUT_NEAR; i++) {
            int solid = d->of_obstacle[near->items[i]];
            any = any || (solid >= 0 && alone[solid]);
        }
        for (int a = 0; a < c->tiles->dimension && any; a++) add_volumes(c, faces, layout, near, t, a, alone, sums);
    }
    for (int n = 0; n < d->count; n++) find_shortage(c, d->items[n].mass.volume * c->density, alone[n], &sums[n]);
    rh_dynamics_displace(c->dynamics, sums);
    rh_arena_restore(arena, mark);
    return RH_OK;
}
