// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums over the cubic (square) lattice. Wall: beside a flat wall without slip the lowest layer of a lattice, half a
// spacing above it, moves in shear flow with half a spacing times the rate of shear, and its friction must bear the
// stress of the flow: friction = 2 nu / d^2 per mass of a particle.
#include "physics/sph/viscous_law.h"

#include <math.h>

// Sums over the lattice of one factor of w.
typedef struct sums {
    double along, across;  // r^2 n_x^4, r^2 n_x^2 n_y^2
    double trace, all;     // r^2 n_x^2, 1
} sums;

static sums over_lattice(int dimension, double h, int power)
{
    sums s = {0, 0, 0, 0};
    int reach = (int)ceil(h), deep = dimension == 3 ? reach : 0;
    for (int k = -deep; k <= deep; k++)
        for (int j = -reach; j <= reach; j++)
            for (int i = -reach; i <= reach; i++) {
                double square = i * i + j * j + k * k, left = 1 - sqrt(square) / h;
                if (square == 0 || left <= 0) continue;
                double w = pow(left, power);
                s.along += w * i * i * i * i / square, s.across += w * i * i * j * j / square;
                s.trace += w * i * i, s.all += w;
            }
    return s;
}

// The sum of w over the samples of a flat wall, `gap` from a particle that is above one of them.
static double over_wall(int dimension, double h, double gap, double bend)
{
    double sum = 0;
    int reach = (int)ceil(h), deep = dimension == 3 ? reach : 0;
    for (int k = -deep; k <= deep; k++)
        for (int i = -reach; i <= reach; i++) {
            double left = 1 - sqrt(i * i + k * k + gap * gap) / h;
            if (left > 0) sum += left * (1 + bend * left);
        }
    return sum;
}

void rh_sph_viscous_law_init(rh_sph_viscous_law *law, const rh_sph_kernel *k)
{
    double d = (double)k->spacing, h = (double)k->support / d;
    sums one = over_lattice(k->dimension, h, 1), two = over_lattice(k->dimension, h, 2);
    double bend = (3 * one.across - one.along) / (two.along - 3 * two.across);
    double flat = over_wall(k->dimension, h, 0.5 + (double)k->depth / d, bend) * (double)k->flat_volume;
    *law = (rh_sph_viscous_law){.inverse = k->inverse,
                                .bend = (float)bend,
                                .tensor = (float)((one.across + bend * two.across) * d * d),
                                .trace = (float)((one.trace + bend * two.trace) * d * d),
                                .all = (float)(one.all + bend * two.all),
                                .wall = (float)(2 / (d * d * flat)),
                                .dimension = k->dimension};
}
