// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Distances are sampled at the corners and centres of cells; shares follow by linear interpolation along edges, so a
// plane gives exact shares.
#include "solid/cut_tile.h"

#include <math.h>
#include <string.h>
#include "solid/thin_tile.h"

enum { NODES = RH_TILE + 1, WIDE = RH_TILE + 2 };
static const float SLIVER = 1e-3f;  // smaller shares are closed: they carry nothing and condition badly

// A corner on the wall itself counts as open when another corner is in free space: in the corner of a tank three of a
// face's corners lie on walls, and all of the face is free. A face with no corner in free space is closed.
float rh_open_edge(float a, float b)
{
    if (a <= 0 && b <= 0) return 0;
    if (a >= 0 && b >= 0) return 1;
    return a >= 0 ? a / (a - b) : b / (b - a);
}

float rh_open_square(const float corner[4])
{
    if (corner[0] <= 0 && corner[1] <= 0 && corner[2] <= 0 && corner[3] <= 0) return 0;
    if (corner[0] >= 0 && corner[1] >= 0 && corner[2] >= 0 && corner[3] >= 0) return 1;
    // Walk the ring and collect the polygon where the value is positive; shoelace formula.
    static const float ring[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    float x[8], y[8], area = 0;
    int n = 0;
    for (int c = 0; c < 4; c++) {
        int d = (c + 1) & 3;
        if (corner[c] >= 0) x[n] = ring[c][0], y[n++] = ring[c][1];
        if ((corner[c] >= 0) != (corner[d] >= 0)) {
            float s = corner[c] / (corner[c] - corner[d]);
            x[n] = ring[c][0] + s * (ring[d][0] - ring[c][0]);
            y[n++] = ring[c][1] + s * (ring[d][1] - ring[c][1]);
        }
    }
    for (int i = 0; i < n; i++) area += x[i] * y[(i + 1) % n] - x[(i + 1) % n] * y[i];
    return rh_clamp(0.5f * area, 0, 1);
}

static float tidy(float share) { return share < SLIVER ? 0 : share > 1 - SLIVER ? 1 : share; }

// --- which solids ----------------------------------------------------------------------------------------------------

// Is a solid within reach of one of the eight (four) parts of the tile? The ball around a whole tile reaches three
// cells beyond its sides, those around its parts half as far.
static bool reaches_a_part(const rh_tiles *tiles, const rh_obstacles *obstacles, int which, rh_dvec3 center)
{
    double quarter = 0.25 * RH_TILE * (double)tiles->h;
    double radius = quarter * sqrt((double)tiles->dimension) + RH_CUT_REACH * (double)tiles->h +
                    rh_shape_slack(&obstacles->items[which].shape);
    for (int n = 0; n < 1 << tiles->dimension; n++) {
        rh_dvec3 x = {center.x + (n & 1 ? quarter : -quarter), center.y + (n & 2 ? quarter : -quarter), center.z};
        if (tiles->dimension == 3) x.z += n & 4 ? quarter : -quarter;
        if (rh_obstacle_within(obstacles, which, x, radius)) return true;
    }
    return false;
}

void rh_cut_tile_near(const rh_tiles *tiles, const rh_obstacles *obstacles, int32_t t, rh_cut_near *near)
{
    RH_ASSERT(t >= 0 && t < tiles->count);
    // From the tile's centre every point whose distance matters is within half its diagonal plus the clamp.
    double radius = tiles->h * (0.5 * RH_TILE * sqrt((double)tiles->dimension) + RH_CUT_REACH),
           w = RH_TILE * (double)tiles->h;
    rh_tile at = tiles->at[t];
    rh_dvec3 center = {(at.x + 0.5) * w, (at.y + 0.5) * w, tiles->dimension == 3 ? (at.z + 0.5) * w : 0};
    near->count = rh_obstacles_near(obstacles, center, radius, near->items, RH_CUT_NEAR);
    if (near->count == RH_CUT_NEAR) return;
    int kept = 0;
    for (int i = 0; i < near->count; i++)
        if (reaches_a_part(tiles, obstacles, near->items[i], center)) near->items[kept++] = near->items[i];
    near->count = kept;
}

// When more solids are near than the list holds, all are tested.
static double distance_near(const rh_obstacles *obstacles, const rh_cut_near *near, rh_dvec3 x, int *which)
{
    if (near->count == RH_CUT_NEAR) return rh_obstacles_distance(obstacles, x, which);
    return rh_obstacles_distance_of(obstacles, near->items, near->count, x, which);
}

double rh_cut_tile_distance(const rh_obstacles *obstacles, const rh_cut_near *near, rh_dvec3 x, int *which)
{
    return distance_near(obstacles, near, x, which);
}

// --- samples of one tile ---------------------------------------------------------------------------------------------
typedef struct sampler {
    const rh_tiles *tiles;
    const rh_obstacles *obstacles;
    const rh_cut_near *near;
    int32_t t;
    float limit;                         // m: clamp of distances
    float nodes[NODES * NODES * NODES];  // m, at corners
    float centers[WIDE * WIDE * WIDE];   // m, clamped: cell centres with one cell around the tile
} sampler;

static float node(const sampler *s, int i, int j, int k) { return s->nodes[i + NODES * (j + NODES * k)]; }

static int center_index(const sampler *s, int i, int j, int k)
{
    return (i + 1) + WIDE * ((j + 1) + WIDE * (s->tiles->dimension == 3 ? k + 1 : 0));
}

static rh_dvec3 face_place(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[axis] -= 0.5f * tiles->h;
    return rh_d3_from(x);
}

static void sample_nodes(sampler *s)
{
    const rh_tiles *tiles = s->tiles;
    double h = tiles->h;
    rh_tile at = tiles->at[s->t];
    for (int k = 0; k < (tiles->dimension == 3 ? NODES : 1); k++)
        for (int j = 0; j < NODES; j++)
            for (int i = 0; i < NODES; i++) {
                rh_dvec3 x = {(at.x * RH_TILE + i) * h, (at.y * RH_TILE + j) * h,
                              tiles->dimension == 3 ? (at.z * RH_TILE + k) * h : 0};
                double d = distance_near(s->obstacles, s->near, x, NULL);
                // Rounding must not close a face that lies on a wall along the grid.
                s->nodes[i + NODES * (j + NODES * k)] = fabs(d) < 1e-5 * h ? 0 : (float)d;
            }
}

static float sample_center(sampler *s, int i, int j, int k, int *which)
{
    float d = (float)distance_near(s->obstacles, s->near, rh_d3_from(rh_cell_center(s->tiles, s->t, i, j, k)), which);
    s->centers[center_index(s, i, j, k)] = rh_clamp(d, -s->limit, s->limit);
    return d;
}

static void sample_rim(sampler *s)
{
    int deep = s->tiles->dimension == 3;
    for (int k = -deep; k < s->tiles->layers + deep; k++)
        for (int j = -1; j <= RH_TILE; j++)
            for (int i = -1; i <= RH_TILE; i++) {
                bool inner = i >= 0 && i < RH_TILE && j >= 0 && j < RH_TILE && k >= 0 && k < s->tiles->layers;
                if (!inner) sample_center(s, i, j, k, NULL);
            }
}

// --- shares ----------------------------------------------------------------------------------------------------------

// Open share of a square whose corner distances are all shifted a little.
static float square_share(const float corner[4], float shift)
{
    return rh_open_square((float[4]){corner[0] + shift, corner[1] + shift, corner[2] + shift, corner[3] + shift});
}

// Shares of the lower faces and of the cell from its corner distances. The cell's share is the mean of its faces',
// where a face on a wall belongs to the side of the cell's centre: exact for walls along the grid. It only weighs
// volumes and has no part in the pressure solve.
static void cell_shares(const sampler *s, int i, int j, int k, int c, rh_cut_values *out)
{
#define AT(x, y, z) node(s, i + (x), j + (y), k + (z))
    float shift = 1e-4f * (out->distance[c] > 0 ? s->tiles->h : -s->tiles->h);
    if (s->tiles->dimension == 2) {
        out->open[0][c] = tidy(rh_open_edge(AT(0, 0, 0), AT(0, 1, 0)));
        out->open[1][c] = tidy(rh_open_edge(AT(0, 0, 0), AT(1, 0, 0)));
        out->volume[c] = tidy(square_share((float[4]){AT(0, 0, 0), AT(1, 0, 0), AT(1, 1, 0), AT(0, 1, 0)}, shift));
        return;
    }
    float sum = 0;
    for (int side = 0; side < 2; side++) {
        const float x[4] = {AT(side, 0, 0), AT(side, 1, 0), AT(side, 1, 1), AT(side, 0, 1)};
        const float y[4] = {AT(0, side, 0), AT(1, side, 0), AT(1, side, 1), AT(0, side, 1)};
        const float z[4] = {AT(0, 0, side), AT(1, 0, side), AT(1, 1, side), AT(0, 1, side)};
        sum += square_share(x, shift) + square_share(y, shift) + square_share(z, shift);
        if (side) break;
        out->open[0][c] = tidy(rh_open_square(x));
        out->open[1][c] = tidy(rh_open_square(y));
        out->open[2][c] = tidy(rh_open_square(z));
    }
    out->volume[c] = tidy(sum / 6);
#undef AT
}

// Share of a cell's linear weight function that lies in free space. Cells are cut in halves along each axis; the weight
// of the function over the four halves it reaches along an axis is 1/8, 3/8, 3/8, 1/8. The distance in the middle of
// such a part lies half way between those at the cell's centre and at its corner, which gives the part's free volume.
// Exact for walls along the grid that end at halves of cells, their edges and corners; off by 1/32 at most for others.
// (Whole cells were not enough: a floor a quarter of a cell above a face looked crowded, and resting water rose by 0.16
// cells.)
static float weight_share(const sampler *s, int c)
{
    static const float weight[4] = {0.125f, 0.375f, 0.375f, 0.125f};
    bool deep = s->tiles->dimension == 3;
    int cell[3] = {c & 7, c >> 3 & 7, c >> 6};
    float sum = 0;
    for (int n = 0; n < (deep ? 64 : 16); n++) {
        int part[3] = {n & 3, n >> 2 & 3, n >> 4}, at[3], edge[3];
        for (int a = 0; a < 3; a++) {
            at[a] = cell[a] + (part[a] + 1) / 2 - 1;  // the cell the part belongs to
            edge[a] = cell[a] + part[a] / 2;          // and its corner nearest to the part
        }
        if (!deep) at[2] = edge[2] = 0;
        float corner = rh_clamp(node(s, edge[0], edge[1], edge[2]), -s->limit, s->limit);
        float d = 0.5f * (s->centers[center_index(s, at[0], at[1], at[2])] + corner);
        float w = weight[part[0]] * weight[part[1]] * (deep ? weight[part[2]] : 1);
        sum += w * rh_clamp(0.5f + 2 * d * s->tiles->inverse_h, 0, 1);
    }
    return sum;
}

static void weight_shares(sampler *s, rh_cut_values *out)
{
    const rh_tiles *tiles = s->tiles;
    bool sampled = false;
    for (int c = 0; c < tiles->cells; c++) {
        float d = out->distance[c] * tiles->inverse_h;
        bool far = d > 2 || d < -2;
        if (!far && !sampled) {
            sample_rim(s);
            sampled = true;
        }
        out->share[c] = far ? (d > 2 ? 1 : 0) : weight_share(s, c);
    }
}

// --- walls -----------------------------------------------------------------------------------------------------------

void rh_cut_tile_velocities(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                            const float *const open[3], float *const wall[3], float (*owner)[RH_CUT_CELLS])
{
    for (int a = 0; a < tiles->dimension; a++) {
        memset(wall[a], 0, (size_t)tiles->cells * sizeof(float));
        if (owner) memset(owner[a], 0, sizeof owner[a]);
        for (int c = 0; c < tiles->cells && obstacles->any_moving; c++) {
            if (open[a][c] >= 1) continue;
            rh_dvec3 x = face_place(tiles, t, c, a);
            int which;
            distance_near(obstacles, near, x, &which);
            rh_dvec3 v = rh_obstacles_velocity(obstacles, which, x);
            wall[a][c] = (float)(&v.x)[a];
            if (owner) owner[a][c] = (float)(which + 1);
        }
    }
}

// Thin walls have liquid on both sides, so that one normal for all faces would be wrong.
static void add_face(rh_cut_faces *f, int axis, int c, int which, bool thin, rh_dvec3 n)
{
    bool aligned = !thin && fabs((&n.x)[axis]) == 1 && (&n.x)[(axis + 1) % 3] == 0 && (&n.x)[(axis + 2) % 3] == 0;
    if (f->count == 0) {
        f->which = which;
        f->normal = n;
        f->aligned = aligned;
    }
    if (which != f->which) f->which = -1;
    if (n.x != f->normal.x || n.y != f->normal.y || n.z != f->normal.z || f->which < 0) f->aligned = false;
    f->bits[c >> 6] |= (uint64_t)1 << (c & 63);
    f->count++;
}

// A closed face that far from a solid was closed by an inflow, or lies between two cells that a thin wall parts.
static bool closed_by_thin(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_thin_list *thin, rh_dvec3 x,
                           int axis, int *which)
{
    if (thin->count == 0) return false;
    double h = tiles->h;
    rh_dvec3 low = x, high = x;
    (&low.x)[axis] -= 0.5 * h;
    (&high.x)[axis] += 0.5 * h;
    rh_thin_place below = rh_thin_center(obstacles, thin, h, low), above = rh_thin_center(obstacles, thin, h, high);
    if (!rh_thin_between(obstacles, thin, h, &below, &above)) return false;
    rh_obstacles_distance_of(obstacles, thin->items, thin->count, x, which);
    return true;
}

void rh_cut_tile_faces(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                       const float *const open[3], const float *distance, rh_cut_faces faces[3])
{
    RH_ASSERT(t >= 0 && t < tiles->count);
    float h = tiles->h;
    rh_thin_list thin;
    rh_thin_tile_near(tiles, obstacles, near, t, &thin);
    for (int a = 0; a < tiles->dimension; a++) {
        faces[a] = (rh_cut_faces){.which = -1};
        for (int c = 0; c < tiles->cells; c++) {
            if (open[a][c] > 0 || distance[c] < -3 * h || distance[c] > 2 * h) continue;
            rh_dvec3 x = face_place(tiles, t, c, a);
            int which;
            double d = distance_near(obstacles, near, x, &which);
            if (which < 0) continue;
            if (d > 0.25 * (double)h && !closed_by_thin(tiles, obstacles, &thin, x, a, &which)) continue;
            rh_dvec3 n = rh_obstacles_normal(obstacles, which, x);
            if (obstacles->items[which].wall == RH_WALL_NO_SLIP || (&n.x)[a] != 0)
                add_face(&faces[a], a, c, which, obstacles->items[which].thin, n);
        }
    }
}

// Distances change by no more than the way walked, here from a cell's centre to its corner; those of meshes are off by
// their slack at either end.
static rh_cut_box touch_box(const sampler *s, const float *distance)
{
    const rh_tiles *tiles = s->tiles;
    double slack = 0;
    for (int i = 0; i < s->obstacles->count; i++) slack = fmax(slack, rh_shape_slack(&s->obstacles->items[i].shape));
    float below = (float)((0.5 * sqrt((double)tiles->dimension) + RH_CUT_TOUCH) * (double)tiles->h + 2 * slack);
    rh_cut_box box = {{RH_TILE, RH_TILE, RH_TILE}, {-1, -1, -1}};
    for (int c = 0; c < tiles->cells; c++) {
        if (distance[c] > below) continue;
        const int8_t cell[3] = {(int8_t)(c & 7), (int8_t)(c >> 3 & 7), (int8_t)(c >> 6)};
        for (int a = 0; a < 3; a++) {
            if (cell[a] < box.low[a]) box.low[a] = cell[a];
            if (cell[a] > box.high[a]) box.high[a] = cell[a];
        }
    }
    return box;
}

void rh_cut_tile_make(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                      rh_cut_values *out)
{
    RH_ASSERT(t >= 0 && t < tiles->count);
    sampler s;
    s.tiles = tiles, s.obstacles = obstacles, s.near = near, s.t = t, s.limit = RH_CUT_REACH * tiles->h;
    sample_nodes(&s);
    memset(out->releases, 0, sizeof out->releases);
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                int c = i + RH_TILE * (j + RH_TILE * k), which;
                float d = sample_center(&s, i, j, k, &which);
                out->distance[c] = s.centers[center_index(&s, i, j, k)];
                cell_shares(&s, i, j, k, c, out);
                if (which >= 0 && obstacles->items[which].wall == RH_WALL_SEPARATE && fabsf(d) < 1.5f * tiles->h)
                    out->releases[k] |= (uint64_t)1 << (c & 63);
            }
    out->touch = touch_box(&s, out->distance);
    weight_shares(&s, out);
}
