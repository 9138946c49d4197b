// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How much of a small cube lies inside: the share where a signed distance is negative. It is for amounts that must be
// right to one particle in millions, so a share of a cube is exact where the boundary is flat and of fourth order where
// it is smooth.
#pragma once
#include <stdbool.h>

// Negative inside; changes by no more than the distance between two points (but for `slack`). Only the first
// coordinates are used in fewer dimensions.
typedef double rh_measure_function(const double at[3], const void *user);

typedef struct rh_measure {
    rh_measure_function *distance;
    const void *user;
    int dimension;  // 1, 2 or 3
    double slack;   // m: by how much the distance may be too long
    bool sampled;   // the distance is (also) trilinear between samples: no slope along an axis is above 1
    double bend;    // a cube is cut until the distance bends by less than this share of its edge; 0 = 0.05, which finds
                    // balls of 3 to 50 edges to 0.03 cubes
} rh_measure;

// Share, 0..1, of the cube (square, interval) of that edge (m) around a point; exactly 0 or 1 within 1e-6 of it.
double rh_measure_share(const rh_measure *measure, const double center[3], double edge);
// A border that is at least so far (m) from the middle of a cube of that edge does not reach it.
double rh_measure_reach(const rh_measure *measure, double edge);
// Share of the unit cube around the origin where value + gradient . x < 0.
double rh_measure_plane(double value, const double gradient[3], int dimension);
// Volume (area, length) inside, m^dimension, of a box, looked at in cubes of that edge.
double rh_measure_box(const rh_measure *measure, const double low[3], const double high[3], double edge);
