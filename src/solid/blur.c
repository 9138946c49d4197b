// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells whose centre is farther from a wall than their corners are wholly solid or free; only in the others is each
// point evaluated. The spread goes axis by axis: along each axis a point lies between two centres (halves) and between
// two faces (wholes), so sums over the points of a column of cells for both lattices are all that is kept from one axis
// to the next.
#include "solid/blur.h"

#include <math.h>
#include <string.h>

// Cells -2 .. 8 of the tile hold all points that its cells, its lower faces and the cells below those see; per axis up
// to 4 points each.
enum { BEYOND = 2, WIDE = RH_TILE + BEYOND + 1, MOST = 4, LINE = WIDE * MOST, SIDE = RH_TILE + 1 };
enum { HALF, WHOLE, LATTICES };

// Faces beside a cell with less room than this are closed: particles at rest leave such a cell empty, now and then or
// always, and an empty cell has no pressure: the water at the wall ran out through such faces, at 4 m/s under 1 m of
// water.
static const float LEAST_ROOM = 0.05f;
// Faces open by less carry nothing.
static const float LEAST_PASS = 0.1f;

typedef struct blur {
    const rh_tiles *tiles;
    const rh_obstacles *obstacles;
    const rh_cut_near *near;
    rh_blur_form form;
    int32_t t;
    int per_axis, points;                // points along a line
    float weight[LATTICES][SIDE][LINE];  // of point n of a line for the centre or lower face of cell c - 1
} blur;

// Coordinate of point n of a line from the tile's corner, in cells.
static double place_of(const blur *b, int n)
{
    return ((double)(n - b->per_axis * (BEYOND - 1)) + 0.5) / b->per_axis - 1;
}

// Length, in cells, of the point's part of the line that lies within half a cell of x.
static double overlap(const blur *b, double point, double x)
{
    double half = 0.5 / b->per_axis;
    return fmax(0, fmin(point + half, x + 0.5) - fmax(point - half, x - 0.5));
}

// A particle's weights are linear in its place, so what a cell holds changes by fluxes through its faces that are
// weighed along their own axis by the derivative of the cell's weight: by all or nothing, half a cell to either side.
// (The identity behind charge-conserving particle-in-cell methods: J. Villasenor, O. Buneman, Comput. Phys. Commun. 69,
// 1992.) With the cells' weights along all axes, as in the source, water that slides along an oblique wall seems to
// flow into it here and out of it there.
static void fill_weights(blur *b)
{
    for (int c = 0; c < SIDE; c++)
        for (int n = 0; n < b->points; n++) {
            double x = place_of(b, n), face = c - 1;
            b->weight[HALF][c][n] = (float)(fmax(0, 1 - fabs(x - (face + 0.5))) / b->per_axis);
            double linear = fmax(0, 1 - fabs(x - face)) / b->per_axis;
            b->weight[WHOLE][c][n] = (float)(b->form == RH_BLUR_SMOOTH ? overlap(b, x, face) : linear);
        }
}

static rh_dvec3 position_of(const blur *b, double x, double y, double z)
{
    rh_tile at = b->tiles->at[b->t];
    double h = b->tiles->h;
    bool deep = b->tiles->dimension == 3;
    return rh_d3((at.x * RH_TILE + x) * h, (at.y * RH_TILE + y) * h, deep ? (at.z * RH_TILE + z) * h : 0);
}

static float rounded(double share) { return share < 1e-5 ? 0 : share > 1 - 1e-5 ? 1 : (float)share; }

static bool near_movable(const rh_obstacles *obstacles, const rh_cut_near *near)
{
    if (near->count == RH_CUT_NEAR) return obstacles->any_moving;
    bool any = false;
    for (int i = 0; i < near->count; i++) any = any || !obstacles->items[near->items[i]].rests;
    return any;
}

// Whether the point at distance d (m) from solid `which` is at a wall along the grid with two cells of free space
// before it. In narrower passages room decides how fast what is pressed leaves.
static bool is_at_wide_wall(const blur *b, rh_dvec3 x, int which, double d)
{
    double h = b->tiles->h;
    rh_dvec3 n = rh_obstacles_normal(b->obstacles, which, x);
    if (fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z))) < 1 - 1e-6) return false;
    rh_dvec3 before = rh_d3_add(x, rh_d3_scale(n, h - d));
    if (rh_cut_tile_distance(b->obstacles, b->near, before, &which) > (1 - 1e-6) * h || which < 0) return true;
    return rh_d3_dot(n, rh_obstacles_normal(b->obstacles, which, before)) > -0.5;
}

// Solid share of the small box around a point. In the sampled form a point is solid or free, and one on a wall itself
// is free, whatever rounding says: neighbouring tiles evaluate the same points from different corners and must agree,
// and liquid that was seeded there must not find too little room. But a solid that can move takes and gives room
// gradually: with all or nothing, a floor that sinks gave none for half a cell's way and then half a cell at once, and
// what lay on it hung in the air and fell, in turns. In the smooth form the box is cut by a plane, linear in the
// plane's distance, which is right to the last bit for walls along the grid.
static float solid_share(const blur *b, rh_dvec3 x)
{
    int which;
    double h = b->tiles->h, width = h / b->per_axis, d = rh_cut_tile_distance(b->obstacles, b->near, x, &which);
    if (b->form != RH_BLUR_SMOOTH) {
        if (which >= 0 && !b->obstacles->items[which].rests) return (float)fmin(fmax(0.5 - d / width, 0), 1);
        bool gradual = b->form == RH_BLUR_SHUT && which >= 0 && fabs(d) < 0.5 * width &&
                       !near_movable(b->obstacles, b->near) && is_at_wide_wall(b, x, which, d);
        return gradual ? rounded(0.5 - d / width) : d < -1e-5 * h;
    }
    if (which < 0 || fabs(d) > 0.5 * sqrt((double)b->tiles->dimension) * width) return d < 0;
    rh_dvec3 n = rh_obstacles_normal(b->obstacles, which, x);
    double across = fabs(n.x) + fabs(n.y) + (b->tiles->dimension == 3 ? fabs(n.z) : 0);
    return rounded(0.5 - d / (width * fmax(across, 0.5)));
}

// The solid share of each point of cell (i, j, k), each index -2 .. 8. Returns whether any is solid.
static bool sample_cell(const blur *b, int i, int j, int k, double reach, float *solid)
{
    bool deep = b->tiles->dimension == 3, any = false;
    int n = b->per_axis;
    double center = rh_cut_tile_distance(b->obstacles, b->near, position_of(b, i + 0.5, j + 0.5, k + 0.5), NULL);
    if (center > reach) return false;
    for (int z = 0; z < (deep ? n : 1); z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                int at[3] = {(i + BEYOND) * n + x, (j + BEYOND) * n + y, deep ? (k + BEYOND) * n + z : 0};
                rh_dvec3 place = position_of(b, place_of(b, at[0]), place_of(b, at[1]), deep ? place_of(b, at[2]) : 0);
                float in = center < -reach ? 1 : solid_share(b, place);
                solid[at[0] + LINE * (at[1] + LINE * at[2])] = in;
                any = any || in > 0;
            }
    return any;
}

static bool sample(const blur *b, float *solid)
{
    bool deep = b->tiles->dimension == 3, any = false;
    int low = b->form == RH_BLUR_SAMPLED ? 1 - BEYOND : -BEYOND;
    double slack = 0;
    for (int i = 0; i < b->obstacles->count; i++) slack = fmax(slack, rh_shape_slack(&b->obstacles->items[i].shape));
    double reach = 0.5 * sqrt((double)b->tiles->dimension) * (double)b->tiles->h + 2 * slack;
    for (int k = deep ? low : 0; k < b->tiles->layers + deep; k++)
        for (int j = low; j <= RH_TILE; j++)
            for (int i = low; i <= RH_TILE; i++) any |= sample_cell(b, i, j, k, reach, solid);
    return any;
}

// Free share around the lattice points given by one lattice per axis, of cells -1 .. 7, from all points.
static void spread(const blur *b, const float *solid, const int lattice[3], float *out)
{
    static _Thread_local float along_x[LINE * LINE][SIDE], along_y[LINE][SIDE * SIDE];
    bool deep = b->tiles->dimension == 3;
    int depth = deep ? b->points : 1, n = b->per_axis;
    for (int z = 0; z < depth; z++)
        for (int y = 0; y < b->points; y++)
            for (int i = 0; i < SIDE; i++) {
                const float *row = solid + LINE * (y + LINE * z);
                float sum = 0;
                for (int x = i * n; x < (i + 3) * n; x++) sum += row[x] * b->weight[lattice[0]][i][x];
                along_x[y + LINE * z][i] = sum;
            }
    for (int z = 0; z < depth; z++)
        for (int c = 0; c < SIDE * SIDE; c++) {
            int j = c / SIDE;
            float sum = 0;
            const float *weight = b->weight[lattice[1]][j];
            for (int y = j * n; y < (j + 3) * n; y++) sum += weight[y] * along_x[y + LINE * z][c % SIDE];
            along_y[z][c] = sum;
        }
    for (int c = 0; c < (deep ? SIDE : 1) * SIDE * SIDE; c++) {
        int k = c / (SIDE * SIDE);
        float sum = deep ? 0 : along_y[0][c];
        const float *weight = b->weight[lattice[2]][k];
        for (int z = k * n; deep && z < (k + 3) * n; z++) sum += weight[z] * along_y[z][c % (SIDE * SIDE)];
        // Sums of weights that add up to 1 or 0 are just that.
        out[c] = sum < 1e-5f ? 1 : sum > 1 - 1e-5f ? 0 : 1 - sum;
    }
}

// Index of cell c of the tile among cells -1 .. 7, and the step to the next one along an axis.
static int wide_index(const blur *b, int c)
{
    int layer = b->tiles->dimension == 3 ? (c >> 6) + 1 : 0;
    return (c & 7) + 1 + SIDE * ((c >> 3 & 7) + 1 + SIDE * layer);
}
static int wide_step(int axis) { return axis == 0 ? 1 : axis == 1 ? SIDE : SIDE * SIDE; }

static void keep(const blur *b, const float *wide, float *out)
{
    for (int c = 0; c < b->tiles->cells; c++) out[c] = wide[wide_index(b, c)];
}

static void keep_open(const blur *b, const float *wide, const float *room, int axis, float *out)
{
    for (int c = 0; c < b->tiles->cells; c++) {
        int at = wide_index(b, c);
        bool open = wide[at] >= LEAST_PASS && fminf(room[at], room[at - wide_step(axis)]) >= LEAST_ROOM;
        out[c] = open ? wide[at] : 0;
    }
}

// Whether the wall next to a point lies along the grid, up to rounding: as seen from half a cell before it. (From
// behind the corner of a box that is solid outside, its nearest point is the corner.)
static bool is_along_grid(const blur *b, rh_dvec3 x)
{
    int which;
    double d = rh_cut_tile_distance(b->obstacles, b->near, x, &which);
    if (which < 0) return false;
    rh_dvec3 n = rh_obstacles_normal(b->obstacles, which, x);
    x = rh_d3_add(x, rh_d3_scale(n, 0.5 * (double)b->tiles->h - d));
    n = rh_obstacles_normal(b->obstacles, which, x);
    return fmax(fabs(n.x), fmax(fabs(n.y), fabs(n.z))) > 1 - 1e-6;
}

static void keep_shut(const blur *b, const float *wide, const float *room, int axis, float *out)
{
    for (int c = 0; c < b->tiles->cells; c++) {
        int at = wide_index(b, c);
        double x[3] = {(c & 7) + 0.5, (c >> 3 & 7) + 0.5, (c >> 6) + 0.5};
        x[axis] -= 0.5;
        bool beside_wall = wide[at] > 0 && fminf(room[at], room[at - wide_step(axis)]) == 0;
        out[c] = beside_wall && is_along_grid(b, position_of(b, x[0], x[1], x[2])) ? 0 : wide[at];
    }
}

void rh_blur_tile_make(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, rh_blur_form form,
                       int per_axis, int32_t t, rh_blur_values *out)
{
    RH_ASSERT(t >= 0 && t < tiles->count && per_axis > 0);
    static _Thread_local float solid[LINE * LINE * LINE], room[SIDE * SIDE * SIDE], pass[SIDE * SIDE * SIDE];
    blur b = {.tiles = tiles,
              .obstacles = obstacles,
              .near = near,
              .form = form,
              .t = t,
              .per_axis = per_axis,
              .points = WIDE * per_axis};
    memset(solid, 0, (tiles->dimension == 3 ? LINE : 1) * LINE * LINE * sizeof *solid);
    if (!sample(&b, solid)) {
        for (int c = 0; c < RH_CUT_CELLS; c++) out->room[c] = out->pass[0][c] = out->pass[1][c] = out->pass[2][c] = 1;
        return;
    }
    fill_weights(&b);
    spread(&b, solid, (const int[3]){HALF, HALF, HALF}, room);
    keep(&b, room, out->room);
    for (int a = 0; a < tiles->dimension; a++) {
        const int lattice[3] = {a == 0 ? WHOLE : HALF, a == 1 ? WHOLE : HALF, a == 2 ? WHOLE : HALF};
        spread(&b, solid, lattice, pass);
        if (form == RH_BLUR_SMOOTH) keep_open(&b, pass, room, a, out->pass[a]);
        else if (form == RH_BLUR_SHUT && !near_movable(obstacles, near)) keep_shut(&b, pass, room, a, out->pass[a]);
        else keep(&b, pass, out->pass[a]);
    }
}
