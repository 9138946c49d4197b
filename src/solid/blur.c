// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells whose centre is farther from a wall than their corners are wholly solid or free; only the others ask for each of their points. The spread goes axis
// by axis: along each axis a point lies between two centres (halves) and between two faces (wholes), so sums over the points of a column of cells
// for both lattices are all that is kept from one axis to the next.
#include "solid/blur.h"

#include <math.h>
#include <string.h>

// Cells -1 .. 8 of the tile hold all points that its cells and lower faces see; per axis up to 4 points each.
enum { WIDE = RH_TILE + 2, MOST = 4, LINE = WIDE * MOST };
enum { HALF, WHOLE, LATTICES };

typedef struct blur {
    const rh_tiles *tiles;
    const rh_obstacles *obstacles;
    const rh_cut_near *near;
    int32_t t;
    int per_axis, points;          // points along a line
    float weight[LATTICES][RH_TILE][LINE];  // of point n of a line for the centre or lower face of cell c
} blur;

// Coordinate of point n of a line from the tile's corner, in cells.
static double place_of(const blur *b, int n) { return ((double)n + 0.5) / b->per_axis - 1; }

static void fill_weights(blur *b)
{
    for (int c = 0; c < RH_TILE; c++)
        for (int n = 0; n < b->points; n++) {
            double x = place_of(b, n);
            b->weight[HALF][c][n] = (float)(fmax(0, 1 - fabs(x - (c + 0.5))) / b->per_axis);
            b->weight[WHOLE][c][n] = (float)(fmax(0, 1 - fabs(x - c)) / b->per_axis);
        }
}

static double distance_at(const blur *b, double x, double y, double z, int *which)
{
    rh_tile at = b->tiles->at[b->t];
    double h = b->tiles->h;
    rh_dvec3 p = {(at.x * RH_TILE + x) * h, (at.y * RH_TILE + y) * h, b->tiles->dimension == 3 ? (at.z * RH_TILE + z) * h : 0};
    return rh_cut_tile_distance(b->obstacles, b->near, p, which);
}

// The solid share of what a point stands for. At rest it is all or nothing: liquid seeded on these points fills what is
// left exactly. Points on a wall itself are free, whatever rounding says: neighbouring tiles ask for the same points
// from different corners and must agree, and liquid that was seeded there must not find too little room. A solid that
// can move takes and gives room bit by bit: all or nothing, a floor that sinks gave none for half a cell's way and then
// half a cell at once. What lay on it hung in the air and fell, in turns.
static float solid_share(const blur *b, double x, double y, double z)
{
    int which;
    double h = b->tiles->h, distance = distance_at(b, x, y, z, &which);
    if (which < 0 || b->obstacles->items[which].rests) return distance < -1e-5 * h;
    return (float)fmin(fmax(0.5 - distance * b->per_axis / h, 0), 1);
}

// Solid shares of the points of cell (i, j, k), each -1 .. 8.
static bool sample_cell(const blur *b, int i, int j, int k, double reach, float *solid)
{
    bool deep = b->tiles->dimension == 3, any = false;
    int n = b->per_axis;
    double center = distance_at(b, i + 0.5, j + 0.5, k + 0.5, NULL);
    if (center > reach) return false;
    for (int z = 0; z < (deep ? n : 1); z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                int at[3] = {(i + 1) * n + x, (j + 1) * n + y, deep ? (k + 1) * n + z : 0};
                float share = center < -reach ? 1 : solid_share(b, place_of(b, at[0]), place_of(b, at[1]), deep ? place_of(b, at[2]) : 0);
                solid[at[0] + LINE * (at[1] + LINE * at[2])] = share;
                any = any || share > 0;
            }
    return any;
}

static bool sample(const blur *b, float *solid)
{
    int deep = b->tiles->dimension == 3;
    double slack = 0;
    for (int i = 0; i < b->obstacles->count; i++) slack = fmax(slack, rh_shape_slack(&b->obstacles->items[i].shape));
    double reach = 0.5 * sqrt((double)b->tiles->dimension) * (double)b->tiles->h + 2 * slack;
    bool any = false;
    for (int k = -deep; k < b->tiles->layers + deep; k++)
        for (int j = -1; j <= RH_TILE; j++)
            for (int i = -1; i <= RH_TILE; i++) any |= sample_cell(b, i, j, k, reach, solid);
    return any;
}

// Solid share around the lattice points given by one lattice per axis, from all points.
static void spread(const blur *b, const float *solid, const int lattice[3], float *out)
{
    static _Thread_local float along_x[LINE * LINE][RH_TILE], along_y[LINE][RH_TILE * RH_TILE];
    bool deep = b->tiles->dimension == 3;
    int depth = deep ? b->points : 1;
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < b->points; y++)
            for (int i = 0; i < RH_TILE; i++) {
                const float *row = solid + LINE * (y + LINE * z);
                float sum = 0;
                for (int x = i * b->per_axis; x < (i + 3) * b->per_axis; x++) sum += row[x] * b->weight[lattice[0]][i][x];
                along_x[y + LINE * z][i] = sum;
            }
    for (int z = 0; z < depth; z++)
        for (int c = 0; c < RH_TILE * RH_TILE; c++) {
            int j = c >> 3;
            float sum = 0;
            for (int y = j * b->per_axis; y < (j + 3) * b->per_axis; y++) sum += b->weight[lattice[1]][j][y] * along_x[y + LINE * z][c & 7];
            along_y[z][c] = sum;
        }
    for (int c = 0; c < b->tiles->cells; c++) {
        int k = c >> 6;
        float sum = deep ? 0 : along_y[0][c];
        for (int z = k * b->per_axis; deep && z < (k + 3) * b->per_axis; z++) sum += b->weight[lattice[2]][k][z] * along_y[z][c & 63];
        // Sums of weights that add up to 1 or 0 are just that.
        out[c] = sum < 1e-5f ? 1 : sum > 1 - 1e-5f ? 0 : 1 - sum;
    }
}

void rh_blur_tile_make(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int per_axis, int32_t t, rh_blur_values *out)
{
    static _Thread_local float solid[LINE * LINE * LINE];
    blur b = {.tiles = tiles, .obstacles = obstacles, .near = near, .t = t, .per_axis = per_axis, .points = WIDE * per_axis};
    memset(solid, 0, tiles->dimension == 3 ? sizeof solid : LINE * LINE * sizeof *solid);
    if (!sample(&b, solid)) {
        for (int c = 0; c < RH_CUT_CELLS; c++) out->room[c] = out->pass[0][c] = out->pass[1][c] = out->pass[2][c] = 1;
        return;
    }
    fill_weights(&b);
    spread(&b, solid, (const int[3]){HALF, HALF, HALF}, out->room);
    for (int a = 0; a < tiles->dimension; a++) {
        const int lattice[3] = {a == 0 ? WHOLE : HALF, a == 1 ? WHOLE : HALF, a == 2 ? WHOLE : HALF};
        spread(&b, solid, lattice, out->pass[a]);
    }
}
