// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums over the cubic (square) lattice, in units of its spacing, and the depth at which the samples of a wall must
// stand so that a lattice that begins half a spacing from the wall has the density of rest there.
#include "physics/sph/kernel.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
enum { REACH = RH_SPH_SUPPORT };

// Of a support H in spacings.
static const double H = RH_SPH_SUPPORT;

static double value_at(int dimension, double r)
{
    double scale = dimension == 3 ? 315 / (64 * PI * pow(H, 9)) : 4 / (PI * pow(H, 8));
    return r < H ? scale * pow(H * H - r * r, 3) : 0;
}
static double slope_at(int dimension, double r)  // |grad W|
{
    double scale = dimension == 3 ? 45 / (PI * pow(H, 6)) : 30 / (PI * pow(H, 5));
    return r > 0 && r < H ? scale * (H - r) * (H - r) : 0;
}
static double number_at(double r) { return r > 0 && r < H ? H / r - 1 : 0; }

// What a row of points sums up to: those at `height` along y, all sites along x (and z).
typedef struct layer {
    double value, number, stiffness;
    double gradient, across;  // along the layer, of a linear field; across it, of a constant one
    int count;
} layer;

static layer layer_at(int dimension, double height)
{
    layer l = {0};
    for (int i = -REACH; i <= REACH; i++)
        for (int k = dimension == 3 ? -REACH : 0; k <= (dimension == 3 ? REACH : 0); k++) {
            double square = i * i + height * height + k * k, r = sqrt(square);
            if (r >= H) continue;
            l.value += value_at(dimension, r);
            l.number += number_at(r);
            l.count++;
            if (r == 0) continue;
            l.stiffness += 2 * r * slope_at(dimension, r) / (square + 0.01 * H * H);
            l.gradient += i * i / r * slope_at(dimension, r);
            l.across += height / r * slope_at(dimension, r);
        }
    return l;
}

static layer whole_lattice(int dimension)
{
    layer all = {0};
    for (int j = -REACH; j <= REACH; j++) {
        layer l = layer_at(dimension, j);
        all.value += l.value, all.number += l.number, all.stiffness += l.stiffness, all.gradient += l.gradient;
    }
    return all;
}

float rh_sph_blend(double samples, double blend_from, double blend_to)
{
    if (!(blend_to > blend_from)) return samples > blend_from;
    return (float)fmin(fmax((samples - blend_from) / (blend_to - blend_from), 0), 1);
}

// Density, as density.c has it, of the first layer of a lattice on a flat wall whose samples are `gap` below it.
static double density_on_wall(int dimension, double gap, double blend_from, double blend_to)
{
    layer all = whole_lattice(dimension), wall = layer_at(dimension, gap);
    double sample = 1 / layer_at(dimension, 0).value, density = sample * wall.value,
           number = sample * all.value * wall.number;
    for (int j = 0; j <= REACH; j++) {
        layer l = layer_at(dimension, j);
        density += l.value / all.value;
        number += l.number;
    }
    double share = (double)rh_sph_blend(9.0 * wall.count / (dimension == 3 ? 9 : 3), blend_from, blend_to);
    return (1 - share) * density + share * number / all.number;
}

static double rest_gap(int dimension, double blend_from, double blend_to)
{
    double low = 0.5, high = H - 0.01;
    for (int n = 0; n < 60; n++) {
        double middle = 0.5 * (low + high);
        if (density_on_wall(dimension, middle, blend_from, blend_to) > 1) low = middle;
        else high = middle;
    }
    return low;
}

// Twice the gradient over the layers that a wall takes from the lattice, to that over its samples.
static double mirror_weight(int dimension, double gap)
{
    double missing = 0, sample = 1 / layer_at(dimension, 0).value / (1 / whole_lattice(dimension).value);
    for (int j = 1; j <= REACH; j++) missing += layer_at(dimension, j).across;
    return 2 * missing / (sample * layer_at(dimension, gap).across);
}

void rh_sph_kernel_init(rh_sph_kernel *k, int dimension, double d, double blend_from, double blend_to, bool mirrored)
{
    double h = H * d, cell = pow(d, dimension), gap = rest_gap(dimension, blend_from, blend_to);
    layer all = whole_lattice(dimension);
    *k = (rh_sph_kernel){
        .dimension = dimension,
        .spacing = (float)d,
        .support = (float)h,
        .inverse = (float)(1 / h),
        .value = (float)(dimension == 3 ? 315 / (64 * PI * pow(h, 3)) : 4 / (PI * h * h)),
        .slope = (float)(dimension == 3 ? 45 / (PI * pow(h, 4)) : 30 / (PI * pow(h, 3))),
        .softening = (float)(0.01 * h * h),
        .volume = (float)(cell / all.value),
        .number = (float)all.number,
        .stiffness = (float)(all.stiffness / all.value / (d * d)),
        .gradient = (float)(all.gradient / all.value),
        .flat_volume = (float)(cell / layer_at(dimension, 0).value),
        .flat_count = dimension == 3 ? 9 : 3,
        .depth = (float)(d * (gap - 0.5)),
        .mirror = mirrored ? (float)mirror_weight(dimension, gap) : 1,
    };
}
