// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Balls around solids, in a tree: which of hundreds can be near a point. Lengths in metres. Memory is taken once for a
// number of balls; building and asking take none.
#pragma once
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

typedef struct rh_ball {
    rh_dvec3 center;
    double radius;  // 0 or less: what it stands for has no end
} rh_ball;

// A node of a tree, the lower half of whose balls is the node after it.
typedef struct rh_ball_node {
    rh_dvec3 low, high;    // of the centres
    double radius;         // the largest
    int32_t first, count;  // balls of it: entries of `order`
    int32_t upper;         // node of the upper half; 0 = a leaf
} rh_ball_node;

enum { RH_BALL_TREE_DEPTH = 32 };  // most nodes that wait while a tree is walked

typedef struct rh_ball_tree {
    rh_ball_node *nodes;  // owned, as all arrays; NULL: no memory was taken
    int32_t *order;       // indices of balls: first those without an end, in order, then leaf by leaf
    int32_t node_count, endless, count;
} rh_ball_tree;

rh_code rh_ball_tree_create(int32_t count, rh_ball_tree *tree, rh_status *status);
void rh_ball_tree_free(rh_ball_tree *tree);
// Of as many balls as there is memory for.
void rh_ball_tree_build(rh_ball_tree *tree, const rh_ball *balls);
// Distance between a point and the nearest ball that a node may have, at least; negative inside.
double rh_ball_node_distance(const rh_ball_node *node, rh_dvec3 point);
