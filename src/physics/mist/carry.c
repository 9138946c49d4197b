// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One axis after the other. Along each, what is between the places that two faces of a cell come from is what the cell
// has afterwards; so what goes over a face is what lies between it and the place it comes from (S. J. Lin, R. B. Rood,
// "Multidimensional flux-form semi-Lagrangian transport schemes", Monthly Weather Review 124, 1996), however many cells
// that is. Faces go back by the midpoint rule: where a flow stretches along one axis by a in a step and shrinks along
// another, the product of both changes is 1 to a^4 / 4, with single steps of Euler's to a^2.
//
// Within cells the density is a parabola (P. Colella, P. R. Woodward, "The piecewise parabolic method", J. Comput.
// Phys. 54, 1984) that is kept from going below zero, and by nothing else, so that peaks stay (Lin and Rood's appendix
// B).
#include "physics/mist/carry.h"

#include <math.h>
#include <string.h>

enum { HALO = 7, SIDE = RH_TILE + 2 * HALO, BLOCK = SIDE * SIDE * SIDE, LONGEST = 4 };  // cells

// Cells along an axis; [0] is the first of the tile's.
typedef struct row {
    const float *q, *u;
    const uint8_t *solid;
    int stride;
} row;

static double velocity(const row *r, double place)
{
    double g = place - 0.5;
    int cell = (int)floor(g);
    double a = (double)r->u[cell * r->stride], b = (double)r->u[(cell + 1) * r->stride];
    return a + (g - cell) * (b - a);
}

static bool closed(const row *r, int face) { return r->solid[face * r->stride] || r->solid[(face - 1) * r->stride]; }

// How many cells back from a face what crosses it comes from; below 0: from behind it. It comes through no wall.
static double way_back(const row *r, int face, double courant)
{
    if (closed(r, face)) return 0;
    double half = fmin(fmax(0.5 * courant * velocity(r, face), -0.5 * LONGEST), 0.5 * LONGEST);
    double way = fmin(fmax(courant * velocity(r, face - half), -LONGEST), LONGEST);
    int side = way > 0 ? -1 : 1;
    for (int n = 1; n < LONGEST && n < fabs(way); n++)
        if (closed(r, face + side * n)) return -side * n;
    return way;
}

// q at both edges of a cell, and 6 times how far its middle is above their mean.
typedef struct parabola {
    float left, right, bulge;
} parabola;

static float edge(const float *q, int stride)  // between the cell before q and that of q
{
    float value = (7 * (q[-stride] + q[0]) - (q[-2 * stride] + q[stride])) / 12;
    return value > 0 ? value : 0;
}

static parabola parabola_of(const float *q, int stride)
{
    parabola p = {.left = edge(q, stride), .right = edge(q + stride, stride)};
    p.bulge = 6 * q[0] - 3 * (p.left + p.right);
    float rise = p.right - p.left;
    if (!(fabsf(rise) < -p.bulge && q[0] + 0.25f * rise * rise / p.bulge + p.bulge / 12 < 0)) return p;
    if (q[0] < p.left && q[0] < p.right) return (parabola){q[0], q[0], 0};
    if (rise > 0) {
        p.bulge = 3 * (p.left - q[0]);
        p.right = p.left - p.bulge;
    } else {
        p.bulge = 3 * (p.right - q[0]);
        p.left = p.right - p.bulge;
    }
    return p;
}

// What goes over a face along the axis, in contents of a cell of density 1.
static float over(const row *r, int face, double courant)
{
    double way = way_back(r, face, courant), length = fabs(way);
    int side = way > 0 ? -1 : 1, whole = (int)length, cell = way > 0 ? face - 1 : face;
    float sum = 0, part = (float)(length - whole);
    for (int n = 0; n < whole; n++) sum += r->q[(cell + side * n) * r->stride];
    if (part > 0) {
        parabola p = parabola_of(r->q + (cell + side * whole) * r->stride, r->stride);
        float near = side < 0 ? p.right : p.left, fall = side < 0 ? p.right - p.left : p.left - p.right;
        sum += part * (near - 0.5f * part * (fall - (1 - 2 * part / 3) * p.bulge));
    }
    return side < 0 ? sum : -sum;
}

typedef struct blocks {
    float q[BLOCK], u[BLOCK];
    uint8_t solid[BLOCK];
} blocks;  // a tile and its surroundings

static void carry_tile(const rh_carried *c, int axis, int32_t tile, const blocks *b, float *out)
{
    static const int strides[3] = {1, SIDE, SIDE * SIDE}, steps[3] = {1, 8, 64};
    const rh_tiles *t = c->tiles;
    double courant = c->dt * (double)t->inverse_h;
    for (int n = 0; n < t->cells / 8; n++) {
        int low = n & 7, high = n >> 3;  // cells across
        int at[3] = {axis == 0 ? 0 : low, axis == 0 ? low : axis == 1 ? 0 : high, axis == 2 ? 0 : high};
        int first = rh_block_index(t, HALO, at[0], at[1], at[2]);
        const row r = {b->q + first, b->u + first, b->solid + first, strides[axis]};
        float *to = out + (int64_t)tile * t->cells + at[0] + 8 * at[1] + 64 * at[2], before = over(&r, 0, courant);
        for (int i = 0; i < RH_TILE; i++) {
            float after = over(&r, i + 1, courant);
            to[i * steps[axis]] = r.q[i * r.stride] + (before - after);
            before = after;
        }
    }
}

rh_code rh_carry(const rh_carried *c, float *density, rh_arena *arena, rh_status *status)
{
    const rh_tiles *t = c->tiles;
    float *out = rh_field_new(t, arena, status);
    if (!out) return RH_MEMORY;
    for (int n = 0; n < t->dimension; n++) {
        int axis = c->backward ? t->dimension - 1 - n : n;
#pragma omp parallel for schedule(dynamic, 2)
        for (int32_t tile = 0; tile < t->count; tile++) {
            static _Thread_local blocks b;
            rh_block_load(t, density, tile, HALO, 0, b.q);
            rh_block_load(t, c->flow.axis[axis], tile, HALO, 0, b.u);
            if (c->solid) rh_block_load_u8(t, c->solid, tile, HALO, 0, b.solid);
            else memset(b.solid, 0, sizeof b.solid);
            carry_tile(c, axis, tile, &b, out);
        }
        memcpy(density, out, (size_t)rh_tiles_values(t) * sizeof *density);
    }
    return RH_OK;
}
