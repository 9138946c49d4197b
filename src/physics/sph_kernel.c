// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums over the cubic (square) lattice, in units of its spacing, and the depth at which the samples of a wall must
// stand so that a lattice that begins half a spacing from the wall has the density of rest there.
#include "physics/sph_kernel.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

// A kernel in spacings of the lattice: its support, and which W it has.
typedef struct shape {
    int dimension;
    double h;
    rh_sph_kernel_kind kind;
} shape;

// How much a shear changes the density where volume stays: particles at the sites of a lattice that is stretched by e^s
// along one axis and e^-s along another, in any directions, have on average the density 1 + D s^2 / 2. For an integral
// over W D is 0. For a sum over few neighbours it is not: with wendland D is 0.22 in the plane and 0.37 in space at two
// spacings. Density is kept, so volume changes instead, and under pressure p that takes work, as if the liquid were
// elastic with a shear modulus D p / 4: a standing wave, 25 particles deep, swung 6 % too fast (reckoned: 7 %). These c
// make D 0.03 (in space 0.06) on the lattice and 0.05 (0.07) for particles off it by 0.05 spacings (normal deviates).
// The wave: 1.0145 of its period with c = 0.85, 0.995 with 0.9, 0.977 with 0.95, 0.943 with 1; water comes to rest the
// sooner the greater D. The cubic spline of Monaghan and Lattanzio (-0.03 in the plane, 0.12 in space) does as well.
// (Derivatives corrected by their moment matrix, transposed in the forces so that momentum and angular momentum stay,
// gave 1.0035 and kept 0.98 of a vortex; but the constraint is then no longer the gradient of anything, and water at
// rest boils at 0.04 sqrt(g H).)
static double fall_of(const shape *k) { return k->dimension == 3 ? 0.7 : 0.9; }

// W / W(0) = (1 - P) (1 - q)^3 (1 + 3 q) + P (1 - q)^4 (1 + 4 q), the second wendland's. Their slopes are 12 q (1 -
// q)^2 and 20 q (1 - q)^3, so together q (1 - q)^2 (1 - c q) / inner for P = c / (20 inner).
static double inner_of(const shape *k) { return (1 - fall_of(k)) / 12 + fall_of(k) / 20; }
static double peak_of(const shape *k) { return fall_of(k) / 20 / inner_of(k); }

static double highest(const shape *k)  // W(0)
{
    double v = pow(k->h, k->dimension);
    if (k->kind == RH_SPH_MUELLER) return k->dimension == 3 ? 315 / (64 * PI * v) : 4 / (PI * v);
    if (k->kind == RH_SPH_ISOCHORIC) {
        double flat = k->dimension == 3 ? 16 * PI / 105 : PI / 5, sharp = k->dimension == 3 ? 2 * PI / 21 : PI / 7;
        return 1 / (v * ((1 - peak_of(k)) * flat + peak_of(k) * sharp));
    }
    return k->dimension == 3 ? 21 / (2 * PI * v) : 7 / (PI * v);
}
static double value_at(const shape *k, double r)
{
    double q = r / k->h;
    if (q >= 1) return 0;
    if (k->kind == RH_SPH_ISOCHORIC)
        return highest(k) * pow(1 - q, 3) * ((1 - peak_of(k)) * (1 + 3 * q) + peak_of(k) * (1 - q) * (1 + 4 * q));
    return highest(k) * (k->kind == RH_SPH_MUELLER ? pow(1 - q * q, 3) : pow(1 - q, 4) * (1 + 4 * q));
}
static double slope_at(const shape *k, double r)  // |grad W|
{
    double q = r / k->h, left = k->h - r;
    if (r <= 0 || q >= 1) return 0;
    if (k->kind == RH_SPH_WENDLAND) return 20 * highest(k) * q / k->h * pow(1 - q, 3);
    if (k->kind == RH_SPH_ISOCHORIC) return highest(k) / inner_of(k) * q / k->h * pow(1 - q, 2) * (1 - fall_of(k) * q);
    return (k->dimension == 3 ? 45 / (PI * pow(k->h, 6)) : 30 / (PI * pow(k->h, 5))) * left * left;
}
static double number_at(const shape *k, double r) { return r > 0 && r < k->h ? k->h / r - 1 : 0; }

// Sums over a layer of points: those at `height` along y, all sites along x (and z).
typedef struct layer {
    double value, number, stiffness, laplacian;
    double gradient, across;  // along the layer, of a linear field; across it, of a constant one
    int count;
} layer;

static layer layer_at(const shape *s, double height)
{
    layer l = {0};
    int reach = (int)ceil(s->h), deep = s->dimension == 3 ? reach : 0;
    for (int i = -reach; i <= reach; i++)
        for (int k = -deep; k <= deep; k++) {
            double square = i * i + height * height + k * k, r = sqrt(square);
            if (r >= s->h) continue;
            l.value += value_at(s, r);
            l.number += number_at(s, r);
            l.count++;
            if (r == 0) continue;
            double link = 2 * r * slope_at(s, r) / (square + 0.01 * s->h * s->h);
            l.stiffness += link;
            l.laplacian += 0.5 * link * i * i;
            l.gradient += i * i / r * slope_at(s, r);
            l.across += height / r * slope_at(s, r);
        }
    return l;
}

static layer whole_lattice(const shape *s)
{
    layer all = {0};
    int reach = (int)ceil(s->h);
    for (int j = -reach; j <= reach; j++) {
        layer l = layer_at(s, j);
        all.value += l.value, all.number += l.number, all.stiffness += l.stiffness, all.gradient += l.gradient;
        all.laplacian += l.laplacian;
    }
    return all;
}

float rh_sph_blend(double samples, double blend_from, double blend_to)
{
    if (!(blend_to > blend_from)) return samples >= blend_from;
    return (float)fmin(fmax((samples - blend_from) / (blend_to - blend_from), 0), 1);
}

// Density, as density.c has it, of the first layer of a lattice on a flat wall whose samples are `gap` below it.
static double density_on_wall(const shape *s, double gap, double blend_from, double blend_to)
{
    layer all = whole_lattice(s), wall = layer_at(s, gap);
    double sample = 1 / layer_at(s, 0).value, density = sample * wall.value, number = sample * all.value * wall.number;
    for (int j = 0; j <= (int)ceil(s->h); j++) {
        layer l = layer_at(s, j);
        density += l.value / all.value;
        number += l.number;
    }
    double share = (double)rh_sph_blend(9.0 * wall.count / (s->dimension == 3 ? 9 : 3), blend_from, blend_to);
    return (1 - share) * density + share * number / all.number;
}

static double rest_gap(const shape *s, double blend_from, double blend_to)
{
    double low = 0.5, high = s->h - 0.01;
    for (int n = 0; n < 60; n++) {
        double middle = 0.5 * (low + high);
        if (density_on_wall(s, middle, blend_from, blend_to) > 1) low = middle;
        else high = middle;
    }
    return low;
}

// What the layers of the lattice add up to at a point `gap` beside the first of them.
static double density_beside(const shape *s, double gap)
{
    double sum = 0;
    for (int j = 0; j <= (int)ceil(s->h); j++) sum += layer_at(s, gap + j).value;
    return sum / whole_lattice(s).value;
}

// Twice the gradient over the layers that a wall takes from the lattice, to that over its samples.
static double mirror_weight(const shape *s, double gap)
{
    double missing = 0, sample = 1 / layer_at(s, 0).value / (1 / whole_lattice(s).value);
    for (int j = 1; j <= (int)ceil(s->h); j++) missing += layer_at(s, j).across;
    return 2 * missing / (sample * layer_at(s, gap).across);
}

// pi / 8 int r^5 W dr in space, 1 / 3 int r^4 W dr in the plane.
static double cohesion(const shape *s)
{
    enum { PARTS = 2000 };
    double sum = 0;
    for (int n = 0; n < PARTS; n++) {
        double r = s->h * (n + 0.5) / PARTS;
        sum += value_at(s, r) * (s->dimension == 3 ? PI / 8 * pow(r, 5) : pow(r, 4) / 3);
    }
    return sum * s->h / PARTS;
}

void rh_sph_kernel_init(rh_sph_kernel *k, const rh_sph_kernel_options *o)
{
    const shape s = {o->dimension, o->support, o->kind};
    double d = o->spacing, h = o->support * d, cell = pow(d, o->dimension),
           gap = rest_gap(&s, o->blend_from, o->blend_to);
    bool deep = o->dimension == 3;
    layer all = whole_lattice(&s);
    *k = (rh_sph_kernel){
        .dimension = o->dimension,
        .kind = o->kind,
        .spacing = (float)d,
        .support = (float)h,
        .inverse = (float)(1 / h),
        .value = (float)(value_at(&s, 0) / cell),
        .slope = (float)(o->kind == RH_SPH_WENDLAND    ? 20 * value_at(&s, 0) / cell / (h * h)
                         : o->kind == RH_SPH_ISOCHORIC ? value_at(&s, 0) / inner_of(&s) / cell / (h * h)
                         : deep                        ? 45 / (PI * pow(h, 4))
                                                       : 30 / (PI * pow(h, 3))),
        .fall = (float)fall_of(&s),
        .peak = (float)peak_of(&s),
        .softening = (float)(0.01 * h * h),
        .volume = (float)(cell / all.value),
        .number = (float)all.number,
        .stiffness = (float)(all.stiffness / all.value / (d * d)),
        .gradient = (float)(all.gradient / all.value),
        .laplacian = (float)(all.laplacian / all.value),
        .cohesion = (float)cohesion(&s),
        .flat_volume = (float)(cell / layer_at(&s, 0).value),
        .flat_count = deep ? 9 : 3,
        .flat_wet = (float)density_beside(&s, gap),
        .depth = (float)(d * (gap - 0.5)),
        .mirror = o->mirrored ? (float)mirror_weight(&s, gap) : 1,
    };
}
