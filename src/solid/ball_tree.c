// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Balls are halved at the median of their centres along the longest side, until few are left. A node has the box of the
// centres and the largest radius, not the box of the balls: inside of several balls that still tells which are too far
// off for the deepest.
#include "solid/ball_tree.h"

#include <math.h>
#include <stdbool.h>
#include "base/assert.h"
#include "base/memory.h"

enum { LEAF = 2 };  // balls

rh_code rh_ball_tree_create(int32_t count, rh_ball_tree *tree, rh_status *status)
{
    *tree = (rh_ball_tree){.count = count};
    tree->nodes = rh_alloc((2 * (size_t)count + 1) * sizeof *tree->nodes, "solids.tree", status);
    tree->order = rh_alloc(((size_t)count + 1) * sizeof *tree->order, "solids.tree", status);
    if (tree->nodes && tree->order) return RH_OK;
    rh_ball_tree_free(tree);
    return RH_MEMORY;
}

void rh_ball_tree_free(rh_ball_tree *tree)
{
    rh_free(tree->nodes);
    rh_free(tree->order);
    *tree = (rh_ball_tree){0};
}

static rh_ball_node around(const rh_ball *balls, const int32_t *order, int32_t first, int32_t count)
{
    rh_ball_node n = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0, first, count, 0};
    for (int32_t i = first; i < first + count; i++) {
        const rh_ball *b = &balls[order[i]];
        for (int a = 0; a < 3; a++) {
            (&n.low.x)[a] = fmin((&n.low.x)[a], (&b->center.x)[a]);
            (&n.high.x)[a] = fmax((&n.high.x)[a], (&b->center.x)[a]);
        }
        n.radius = fmax(n.radius, b->radius);
    }
    return n;
}

// Equal centres by their index, so that there is one order.
static bool is_before(const rh_ball *balls, int axis, int32_t a, int32_t b)
{
    double x = (&balls[a].center.x)[axis], y = (&balls[b].center.x)[axis];
    return x < y || (x == y && a < b);
}

// Brings the lower `half` of the entries to the front (C. A. R. Hoare, "Algorithm 65: find", 1961).
static void halve(const rh_ball *balls, int axis, int32_t *order, int32_t count, int32_t half)
{
    int32_t low = 0, high = count - 1;
    while (low < high) {
        int32_t pivot = order[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (is_before(balls, axis, order[i], pivot)) i++;
            while (is_before(balls, axis, pivot, order[j])) j--;
            if (i > j) break;
            int32_t moved = order[i];
            order[i++] = order[j];
            order[j--] = moved;
        }
        if (half <= j) high = j;
        else if (half >= i) low = i;
        else return;
    }
}

static int32_t add_node(rh_ball_tree *tree, const rh_ball *balls, int32_t first, int32_t count)
{
    int32_t at = tree->node_count++;
    rh_ball_node n = around(balls, tree->order, first, count);
    if (count > LEAF) {
        rh_dvec3 side = rh_d3_sub(n.high, n.low);
        int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
        int32_t half = count / 2;
        halve(balls, axis, tree->order + first, count, half);
        add_node(tree, balls, first, half);
        n.upper = add_node(tree, balls, first + half, count - half);
    }
    tree->nodes[at] = n;
    return at;
}

void rh_ball_tree_build(rh_ball_tree *tree, const rh_ball *balls)
{
    int32_t at = 0;
    RH_ASSERT(tree->nodes);
    for (int32_t i = 0; i < tree->count; i++)
        if (!(balls[i].radius > 0)) tree->order[at++] = i;
    tree->endless = at;
    for (int32_t i = 0; i < tree->count; i++)
        if (balls[i].radius > 0) tree->order[at++] = i;
    tree->node_count = 0;
    if (at > tree->endless) add_node(tree, balls, tree->endless, at - tree->endless);
}

double rh_ball_node_distance(const rh_ball_node *node, rh_dvec3 point)
{
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        double x = (&point.x)[a], low = (&node->low.x)[a] - x, high = x - (&node->high.x)[a];
        double away = low > 0 ? low : high > 0 ? high : 0;
        sum += away * away;
    }
    return sqrt(sum) - node->radius;
}
