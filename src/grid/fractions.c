// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Half-cells that the surface passes through are cut into tetrahedra (triangles), in which a linear function has a
// share in closed form; all others are full or empty.
#include "grid/fractions.h"

#include <stdbool.h>

const char *const rh_fraction_names[] = {"consistent", "independent", "sampled", NULL};

// Half-cells of a tile's control volumes: from the one below the tile to its last; and their corners.
enum { HALVES = 2 * RH_TILE + 1, CORNERS = HALVES + 1, BLOCK = RH_TILE + 2 };

// How far from inside value a to outside value b the surface is.
static double way(double a, double b) { return a / (a - b); }

double rh_fraction_of_tetrahedron(const double corner[4])
{
    double in[4], out[4];
    int inside = 0, outside = 0;
    for (int i = 0; i < 4; i++) {
        if (corner[i] < 0) in[inside++] = corner[i];
        else out[outside++] = corner[i];
    }
    switch (inside) {
    case 0: return 0;
    case 1: return way(in[0], out[0]) * way(in[0], out[1]) * way(in[0], out[2]);
    case 2: {
        double ac = way(in[0], out[0]), ad = way(in[0], out[1]), bc = way(in[1], out[0]), bd = way(in[1], out[1]);
        return ac * ad + bc * ad * (1 - ac) + bc * bd * (1 - ad);
    }
    case 3: return 1 - way(out[0], in[0]) * way(out[0], in[1]) * way(out[0], in[2]);
    default: return 1;
    }
}

double rh_fraction_of_cube(const float corner[8])
{
    // From corner 0 to corner 7, each along the axes in another order.
    static const int ways[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
    double sum = 0;
    for (int n = 0; n < 6; n++) {
        double four[4] = {(double)corner[0], (double)corner[ways[n][0]], (double)corner[ways[n][1]], (double)corner[7]};
        sum += rh_fraction_of_tetrahedron(four);
    }
    return sum / 6;
}

// Two triangles; the share of one, as a tetrahedron's, from its corners.
static double fraction_of_triangle(double a, double b, double c)
{
    int inside = (a < 0) + (b < 0) + (c < 0);
    if (inside == 0 || inside == 3) return inside ? 1 : 0;
    // The corner that is alone on its side.
    bool side = inside == 1;
    double one = (a < 0) == side ? a : (b < 0) == side ? b : c;
    double next = (a < 0) == side ? b : a, last = (c < 0) == side ? b : c;
    double share = way(one, next) * way(one, last);
    return side ? share : 1 - share;
}

static float fraction_of_square(float a, float b, float c, float d)  // corners x + 2 y
{
    return (float)(0.25 * (fraction_of_triangle((double)a, (double)b, (double)d) +
                           fraction_of_triangle((double)a, (double)c, (double)d) +
                           fraction_of_triangle((double)a, (double)b, (double)c) +
                           fraction_of_triangle((double)b, (double)c, (double)d)));
}

// Value at a place of the double grid along an axis: 2 i + 1 is the centre of cell i, 2 i between two.
static void double_line(const float *from, int step, float *to, int to_step)
{
    for (int p = -1; p <= 2 * RH_TILE; p++) {
        int low = (p + 1) / 2;  // of the block: centre (p - 1) / 2, or the one below the middle
        to[(p + 1) * to_step] = p & 1 ? from[low * step] : 0.5f * (from[low * step] + from[(low + 1) * step]);
    }
}

typedef struct corners {
    int layers;
    float at[CORNERS * CORNERS * CORNERS];
} corners;

static void find_corners(bool deep, const float *block, corners *c)
{
    int side = BLOCK, layers = deep ? BLOCK : 1;
    float first[CORNERS * BLOCK * BLOCK], second[CORNERS * CORNERS * BLOCK];
    for (int k = 0; k < layers; k++)
        for (int j = 0; j < side; j++)
            double_line(block + side * (j + side * k), 1, first + CORNERS * (j + side * k), 1);
    for (int k = 0; k < layers; k++)
        for (int i = 0; i < CORNERS; i++)
            double_line(first + i + CORNERS * side * k, CORNERS, (deep ? second : c->at) + i + CORNERS * CORNERS * k,
                        CORNERS);
    c->layers = deep ? CORNERS : 1;
    for (int n = 0; deep && n < CORNERS * CORNERS; n++)
        double_line(second + n, CORNERS * CORNERS, c->at + n, CORNERS * CORNERS);
}

// Share of the cube (square) of half-cells that begins at corner p and is `size` of them wide.
static float share_of(bool deep, const float *p, int size)
{
    static const int up[3] = {1, CORNERS, CORNERS * CORNERS};
    float corner[8];
    int inside = 0, count = deep ? 8 : 4;
    for (int n = 0; n < count; n++) {
        corner[n] = p[size * ((n & 1) * up[0] + (n >> 1 & 1) * up[1] + (n >> 2) * up[2])];
        inside += corner[n] < 0;
    }
    if (inside == 0 || inside == count) return inside ? 1 : 0;
    if (deep) return (float)rh_fraction_of_cube(corner);
    return fraction_of_square(corner[0], corner[1], corner[2], corner[3]);
}

static float sample(bool deep, const float *p)
{
    float sum = 0;
    for (int n = 0; n < (deep ? 8 : 4); n++) sum += p[(n & 1) + CORNERS * (n >> 1 & 1) + CORNERS * CORNERS * (n >> 2)];
    return sum < 0 ? 1 : 0;
}

static void find_halves(bool deep, const corners *c, bool sampled, float *half)
{
    for (int k = 0; k < (deep ? HALVES : 1); k++)
        for (int j = 0; j < HALVES; j++)
            for (int i = 0; i < HALVES; i++, half++) {
                const float *p = c->at + i + CORNERS * (j + CORNERS * k);
                *half = sampled ? sample(deep, p) : share_of(deep, p, 1);
            }
}

// Control volumes that lie half a cell lower along the axes of `lower` (bits), each for itself.
static void find_alone(const rh_tiles *tiles, const corners *c, int lower, float *out)
{
    bool deep = tiles->dimension == 3;
    for (int n = 0; n < tiles->cells; n++) {
        int i = 2 * (n & 7) + 1 - (lower & 1), j = 2 * (n >> 3 & 7) + 1 - (lower >> 1 & 1);
        int k = deep ? 2 * (n >> 6) + 1 - (lower >> 2) : 0;
        out[n] = share_of(deep, c->at + i + CORNERS * (j + CORNERS * k), 2);
    }
}

// Means over the half-cells of control volumes that lie half a cell lower along the axes of `lower` (bits).
static void collect(const rh_tiles *tiles, const float *half, int lower, float *out)
{
    bool deep = tiles->dimension == 3;
    int start = (1 - (lower & 1)) + HALVES * (1 - (lower >> 1 & 1)) + (deep ? HALVES * HALVES * (1 - (lower >> 2)) : 0);
    for (int c = 0; c < tiles->cells; c++) {
        const float *h = half + start + 2 * (c & 7) + HALVES * 2 * (c >> 3 & 7) + HALVES * HALVES * 2 * (c >> 6);
        float sum = h[0] + h[1] + h[HALVES] + h[HALVES + 1];
        if (deep) h += HALVES * HALVES, sum += h[0] + h[1] + h[HALVES] + h[HALVES + 1];
        out[c] = sum * (deep ? 0.125f : 0.25f);
    }
}

void rh_fractions_of_tile(const rh_tiles *tiles, const float *block, rh_fraction_kind how, rh_fractions *out)
{
    static const int edges[3] = {1 | 2, 1 | 4, 2 | 4};
    bool deep = tiles->dimension == 3, alone = how == RH_FRACTION_INDEPENDENT;
    int inside = 0, count = rh_block_values(tiles, 1);
    for (int i = 0; i < count; i++) inside += block[i] < 0;
    if (inside == 0 || inside == count) {
        float *all = (float *)out;
        for (size_t i = 0; i < sizeof *out / sizeof *all; i++) all[i] = inside ? 1 : 0;
        return;
    }
    corners c;
    float half[HALVES * HALVES * HALVES];
    find_corners(deep, block, &c);
    if (!alone) find_halves(deep, &c, how == RH_FRACTION_SAMPLED, half);
    for (int n = 0; n < 1 + tiles->dimension + (deep ? 3 : 1); n++) {
        bool cell = n == 0, face = n <= tiles->dimension;
        int lower = cell ? 0 : face ? 1 << (n - 1) : edges[n - 1 - tiles->dimension];
        float *to = cell ? out->cell : face ? out->face[n - 1] : out->edge[n - 1 - tiles->dimension];
        if (alone) find_alone(tiles, &c, lower, to);
        else collect(tiles, half, lower, to);
    }
}
