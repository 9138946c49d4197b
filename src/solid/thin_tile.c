// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A face is closed where a thin wall lies between the centres of its two cells. Room and pass are counted over points
// in the cells, as in blur.c, each at the place where the grid treats it on its own side of the walls (rh_thin_view).
#include "solid/thin_tile.h"

#include <math.h>
#include <string.h>

// Points of cells -2 .. 8 are looked at, which have weights in cells -1 .. 7 and their lower faces; the centres around
// them are those of cells -3 .. 9.
enum { BEFORE = 3, CENTERS = RH_TILE + 2 * BEFORE - 1, SIDE = RH_TILE + 1, MOST = 8 };
// Faces and cells with less count as closed, as in blur.c.
static const float LEAST_ROOM = 0.05f, LEAST_PASS = 0.1f;
// In units of rh_thin_reach: cells so near to a thin wall get weight from points that rh_thin_view moves.
static const double CHANGED = 2.1;

typedef struct sides {
    const rh_tiles *tiles;
    const rh_obstacles *obstacles;
    const rh_thin_list *list;
    int64_t corner[3];  // first cell of the tile
    int deep;
    double h;
    rh_thin_place centers[CENTERS * CENTERS * CENTERS];
} sides;

void rh_thin_tile_near(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near, int32_t t,
                       rh_thin_list *list)
{
    list->count = 0;
    if (!obstacles->any_thin) return;
    double w = RH_TILE * (double)tiles->h,
           radius = (0.5 * RH_TILE + CHANGED) * rh_thin_reach(tiles->dimension, tiles->h);
    rh_tile at = tiles->at[t];
    rh_dvec3 center = {(at.x + 0.5) * w, (at.y + 0.5) * w, tiles->dimension == 3 ? (at.z + 0.5) * w : 0};
    if (near->count > 0) rh_thin_near(obstacles, center, radius, list);
}

rh_cut_near rh_thin_tile_others(const rh_obstacles *obstacles, const rh_cut_near *near)
{
    if (near->count == RH_CUT_NEAR) return *near;
    rh_cut_near others = {.count = 0};
    for (int i = 0; i < near->count; i++)
        if (!obstacles->items[near->items[i]].thin) others.items[others.count++] = near->items[i];
    return others;
}

static int center_index(const sides *s, int i, int j, int k)
{
    return i + BEFORE + CENTERS * (j + BEFORE + CENTERS * (s->deep ? k + BEFORE : 0));
}

static rh_dvec3 center_of(const sides *s, int i, int j, int k)
{
    return rh_d3(((double)(s->corner[0] + i) + 0.5) * s->h, ((double)(s->corner[1] + j) + 0.5) * s->h,
                 s->deep ? ((double)(s->corner[2] + k) + 0.5) * s->h : 0);
}

// Cells within this (m) of a thin wall are changed by it.
static double changed_within(const sides *s) { return CHANGED * rh_thin_reach(s->tiles->dimension, s->h); }

// Points of cells beyond this (m) add nothing to cells that are changed, nor to those below them.
static double wanted_within(const sides *s)
{
    return changed_within(s) + rh_thin_reach(s->tiles->dimension, s->h) + 1.1 * s->h;
}

// The centres around the tile. Along a row that is far from walls not every cell is evaluated: distances change by no
// more than the length of the way, and far from walls the lower bound is enough.
static void find_centers(sides *s, const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_thin_list *list,
                         int32_t t)
{
    rh_tile at = tiles->at[t];
    s->tiles = tiles, s->obstacles = obstacles, s->list = list, s->h = tiles->h, s->deep = tiles->dimension == 3;
    s->corner[0] = (int64_t)at.x * RH_TILE, s->corner[1] = (int64_t)at.y * RH_TILE;
    s->corner[2] = (int64_t)at.z * RH_TILE;
    int low = -BEFORE, high = RH_TILE + 1;
    for (int k = s->deep ? low : 0; k <= (s->deep ? high : 0); k++)
        for (int j = low; j <= high; j++)
            for (int i = low; i <= high;) {
                rh_thin_place *here = &s->centers[center_index(s, i, j, k)];
                *here = rh_thin_center(obstacles, list, s->h, center_of(s, i, j, k));
                double spare = (here->distance - wanted_within(s)) / s->h;
                for (int n = 1; n < spare && i + n <= high; n++) {
                    here[n].at = rh_d3_add(here->at, rh_d3(n * s->h, 0, 0));
                    here[n].distance = here->distance - n * s->h;
                }
                i += spare > 1 ? (int)ceil(fmin(spare, CENTERS)) : 1;
            }
}

// `pass` may be NULL.
static void close_faces(const sides *s, float open[3][RH_CUT_CELLS], float (*pass)[RH_CUT_CELLS])
{
    for (int c = 0; c < s->tiles->cells; c++)
        for (int a = 0; a < s->tiles->dimension; a++) {
            int i = c & 7, j = c >> 3 & 7, k = c >> 6;
            const rh_thin_place *here = &s->centers[center_index(s, i, j, k)],
                                *below = &s->centers[center_index(s, i - (a == 0), j - (a == 1), k - (a == 2))];
            bool is_open = open[a][c] > 0 || (pass && pass[a][c] > 0);
            if (!is_open || !rh_thin_between(s->obstacles, s->list, s->h, here, below)) continue;
            open[a][c] = 0;
            if (pass) pass[a][c] = 0;
        }
}

// --- room on its own side --------------------------------------------------------------------------------------------
// Sums over points, of cells -1 .. 7.
typedef struct sums {
    float weight[SIDE * SIDE * SIDE];   // linear, around centres
    float volume[SIDE * SIDE * SIDE];   // points in the cell
    float pass[3][SIDE * SIDE * SIDE];  // around lower faces
} sums;

static int sum_index(const sides *s, const int cell[3])
{
    for (int a = 0; a < s->tiles->dimension; a++)
        if (cell[a] < -1 || cell[a] >= RH_TILE) return -1;
    return cell[0] + 1 + SIDE * (cell[1] + 1 + (s->deep ? SIDE * (cell[2] + 1) : 0));
}

// Adds a point at x (cells from the tile's corner) around centres, or around the faces of `axis` when that is not -1;
// those along their own axis all or nothing when it is `smooth` (blur.c says why).
static void add_point(const sides *s, const double x[3], int axis, bool smooth, float amount, float *out)
{
    int low[3] = {0};
    float upper[3] = {0};
    for (int a = 0; a < s->tiles->dimension; a++) {
        double u = x[a] - (a == axis ? 0 : 0.5);
        low[a] = (int)floor(u);
        upper[a] = (float)(u - low[a]);
        if (a == axis && smooth) upper[a] = upper[a] > 0.5f ? 1 : upper[a] < 0.5f ? 0 : 0.5f;
    }
    for (int n = 0; n < 1 << s->tiles->dimension; n++) {
        int cell[3] = {low[0] + (n & 1), low[1] + (n >> 1 & 1), low[2] + (n >> 2)}, at = sum_index(s, cell);
        float w = amount;
        for (int a = 0; a < s->tiles->dimension; a++) w *= n >> a & 1 ? upper[a] : 1 - upper[a];
        if (at >= 0) out[at] += w;
    }
}

// Share of the small box (edge `width`, m) around a place that is outside of solids, cut by a plane at their distance
// and linear in it, as in blur.c; the place becomes the middle of that part. With all or nothing, eight points an axis
// gave a wall at 0.3 or 0.8 of a cell 0.05 cells too much room: water in a thin cup sank into it by 0.7 %, and
// trembled.
static float free_share(const rh_obstacles *obstacles, int which, double distance, double width, rh_dvec3 *x)
{
    int n = obstacles->items[0].shape.flat ? 2 : 3;
    if (which < 0 || fabs(distance) >= 0.5 * sqrt((double)n) * width) return distance > 0;
    rh_dvec3 normal = rh_obstacles_normal(obstacles, which, *x);
    double across = width * fmax(fabs(normal.x) + fabs(normal.y) + (n == 3 ? fabs(normal.z) : 0), 0.5);
    double share = 0.5 + distance / across;
    if (share <= 1e-5) return 0;
    if (share >= 1 - 1e-5) return 1;
    *x = rh_d3_add(*x, rh_d3_scale(normal, 0.25 * across - 0.5 * distance));
    return (float)share;
}

// The place where the grid treats what of the point's box is free (rh_thin_view); returns its share, 0 when it is in a
// thin wall. `width` 0: all or nothing.
static float view(const sides *s, double width, rh_dvec3 x, rh_dvec3 *seen)
{
    int which;
    double distance = rh_obstacles_distance_of(s->obstacles, s->list->items, s->list->count, x, &which);
    float share = width > 0 ? free_share(s->obstacles, which, distance, width, &x) : distance > -1e-5 * s->h;
    *seen = x;
    if (share == 0 || distance > rh_thin_reach(s->tiles->dimension, s->h)) return share;
    if (share < 1) distance = rh_obstacles_distance_of(s->obstacles, s->list->items, s->list->count, x, NULL);
    const rh_thin_place place = {x, distance};
    rh_thin_place around[8];
    int low[3] = {0};
    for (int a = 0; a < s->tiles->dimension; a++) low[a] = (int)(rh_thin_below((&x.x)[a], s->h) - s->corner[a]);
    for (int n = 0; n < 1 << s->tiles->dimension; n++)
        around[n] = s->centers[center_index(s, low[0] + (n & 1), low[1] + (n >> 1 & 1), low[2] + (n >> 2))];
    rh_thin_view_of(s->obstacles, s->list, s->tiles->dimension, s->h, &place, around, seen);
    return share;
}

// How cells are sampled by points. Near thin walls every point is evaluated; farther off, which is most of a tile, a
// cell that no solid reaches adds the sum of all its points at once.
typedef struct sampling {
    rh_cut_near others;  // the solids that are not thin
    bool all;            // too many of them for a list: all are tested
    int per_axis;
    bool blur, smooth;
    double slack;       // m: by how much distances of the others may be too long
    float centered[3];  // what a line of points through a cell gives to the centres of cells -1, 0 and 1 of it
    float faced[3];     // to their lower faces
} sampling;

static void line_weights(sampling *how)
{
    float part = 1 / (float)how->per_axis;
    for (int n = 0; n < how->per_axis; n++) {
        float u = ((float)n + 0.5f) * part, upper = how->smooth ? (u > 0.5f ? 1 : u < 0.5f ? 0 : 0.5f) : u;
        how->centered[0] += part * fmaxf(0.5f - u, 0);
        how->centered[1] += part * (1 - fabsf(u - 0.5f));
        how->centered[2] += part * fmaxf(u - 0.5f, 0);
        how->faced[1] += part * (1 - upper);
        how->faced[2] += part * upper;
    }
}

// Points per cell and axis: more where they are looked at only once.
static int points_per_axis(const rh_obstacles *obstacles, const rh_thin_list *list, bool deep)
{
    bool rests = true;
    for (int i = 0; i < list->count; i++) rests = rests && obstacles->items[list->items[i]].rests;
    return deep ? (rests ? 3 : 2) : rests ? MOST : MOST / 2;
}

static sampling sampling_of(const sides *s, const rh_cut_near *near, bool blur, bool smooth)
{
    sampling how = {.others = rh_thin_tile_others(s->obstacles, near),
                    .all = near->count == RH_CUT_NEAR,
                    .per_axis = points_per_axis(s->obstacles, s->list, s->deep),
                    .blur = blur,
                    .smooth = smooth};
    for (int i = 0; i < near->count; i++)
        how.slack = fmax(how.slack, rh_shape_slack(&s->obstacles->items[near->items[i]].shape));
    line_weights(&how);
    return how;
}

static double distance_of_others(const sides *s, const sampling *how, rh_dvec3 x)
{
    if (how->all) return rh_obstacles_distance(s->obstacles, x, NULL);
    return rh_obstacles_distance_of(s->obstacles, how->others.items, how->others.count, x, NULL);
}

static void add_seen(const sides *s, const sampling *how, rh_dvec3 x, rh_dvec3 seen, float amount, sums *out)
{
    double at[3] = {0}, own[3] = {0};
    int cell[3] = {0};
    for (int a = 0; a < s->tiles->dimension; a++) {
        at[a] = (&seen.x)[a] / s->h - (double)s->corner[a];
        own[a] = (&x.x)[a] / s->h - (double)s->corner[a];
        cell[a] = (int)floor(at[a]);
    }
    add_point(s, at, -1, false, amount, out->weight);
    int index = sum_index(s, cell);
    if (index >= 0) out->volume[index] += amount;
    for (int a = 0; a < s->tiles->dimension && how->blur; a++) {
        double moved = at[a];
        at[a] = own[a];  // along its own axis a face is as wide as it is
        add_point(s, at, a, how->smooth, amount, out->pass[a]);
        at[a] = moved;
    }
}

// All points of a cell, each seen where it is.
static void add_whole(const sides *s, const sampling *how, const int cell[3], sums *out)
{
    int own = sum_index(s, cell);
    if (own >= 0) out->volume[own] += 1;
    for (int z = s->deep ? -1 : 0; z <= (s->deep ? 1 : 0); z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                int at = sum_index(s, (int[3]){cell[0] + x, cell[1] + y, cell[2] + z});
                if (at < 0) continue;
                const float *c = how->centered, *f = how->faced;
                float deep = s->deep ? c[z + 1] : 1;
                out->weight[at] += c[x + 1] * c[y + 1] * deep;
                if (!how->blur) continue;
                out->pass[0][at] += f[x + 1] * c[y + 1] * deep;
                out->pass[1][at] += c[x + 1] * f[y + 1] * deep;
                if (s->deep) out->pass[2][at] += c[x + 1] * c[y + 1] * f[z + 1];
            }
}

// `near_thin`, `near_others`: can a point of the cell be seen elsewhere, or lie in one of the other solids?
static void add_points(const sides *s, const sampling *how, const int cell[3], bool near_thin, bool near_others,
                       sums *out)
{
    int n = how->per_axis;
    bool sharp = how->blur && !how->smooth;  // grains: all or nothing, as in blur.c; else they do not come to rest
    float amount = 1 / (float)(s->deep ? n * n * n : n * n);
    rh_dvec3 low = rh_d3((double)(s->corner[0] + cell[0]), (double)(s->corner[1] + cell[1]),
                         (double)(s->corner[2] + cell[2]));
    for (int p = 0; p < n * n * (s->deep ? n : 1); p++) {
        rh_dvec3 x = rh_d3_scale(rh_d3(low.x + (p % n + 0.5) / n, low.y + (p / n % n + 0.5) / n,
                                       s->deep ? low.z + (p / n / n + 0.5) / n : 0),
                                 s->h),
                 seen = x;
        if (near_others && distance_of_others(s, how, x) <= -1e-5 * s->h) continue;
        float share = near_thin ? view(s, sharp ? 0 : s->h / n, x, &seen) : 1;
        if (share > 0) add_seen(s, how, x, seen, share * amount, out);
    }
}

static bool is_far(const sides *s, int c)
{
    return s->centers[center_index(s, c & 7, c >> 3 & 7, c >> 6)].distance > changed_within(s);
}

static void add_cell(const sides *s, const sampling *how, const int cell[3], sums *out)
{
    double reach = rh_thin_reach(s->tiles->dimension, s->h), half = 0.5 * reach + 0.01 * s->h;
    double thin = s->centers[center_index(s, cell[0], cell[1], cell[2])].distance;
    if (thin > wanted_within(s)) return;
    double others = distance_of_others(s, how, center_of(s, cell[0], cell[1], cell[2]));
    if (others < -half - how->slack) return;
    bool near_thin = thin <= reach + half, near_others = others <= half + how->slack;
    if (near_thin || near_others) add_points(s, how, cell, near_thin, near_others, out);
    else add_whole(s, how, cell, out);
}

static void add_all(sides *s, const sampling *how, sums *out)
{
    memset(out, 0, sizeof *out);
    for (int k = s->deep ? -2 : 0; k <= (s->deep ? RH_TILE : 0); k++)
        for (int j = -2; j <= RH_TILE; j++)
            for (int i = -2; i <= RH_TILE; i++) add_cell(s, how, (int[3]){i, j, k}, out);
}

static float tidy(float sum) { return sum < 1e-4f ? 0 : fabsf(sum - 1) < 1e-4f ? 1 : sum; }

static int own_index(const sides *s, int c, int axis)
{
    int cell[3] = {(c & 7) - (axis == 0), (c >> 3 & 7) - (axis == 1), (c >> 6) - (axis == 2)};
    return sum_index(s, cell);
}

static void keep_blurred(const sides *s, const sums *all, bool smooth, rh_blur_values *out)
{
    for (int c = 0; c < s->tiles->cells; c++) {
        if (is_far(s, c)) continue;
        float room = tidy(all->weight[own_index(s, c, -1)]);
        out->room[c] = room;
        for (int a = 0; a < s->tiles->dimension; a++) {
            float pass = fminf(tidy(all->pass[a][own_index(s, c, -1)]), 1), below = all->weight[own_index(s, c, a)];
            out->pass[a][c] = smooth && (pass < LEAST_PASS || fminf(room, below) < LEAST_ROOM) ? 0 : pass;
        }
    }
}

void rh_thin_tile_cut(const rh_tiles *tiles, const rh_obstacles *obstacles, const rh_cut_near *near,
                      const rh_thin_list *list, rh_blur_form form, int32_t t, rh_cut_values *out,
                      rh_blur_values *blurred)
{
    static _Thread_local sides s;
    static _Thread_local sums all;
    bool smooth = form == RH_BLUR_SMOOTH;
    find_centers(&s, tiles, obstacles, list, t);
    sampling how = sampling_of(&s, near, blurred != NULL, smooth);
    add_all(&s, &how, &all);
    for (int c = 0; c < tiles->cells; c++) {
        if (is_far(&s, c)) continue;
        out->share[c] = tidy(all.weight[own_index(&s, c, -1)]);
        out->volume[c] = tidy(all.volume[own_index(&s, c, -1)]);
    }
    if (blurred) keep_blurred(&s, &all, smooth, blurred);
    close_faces(&s, out->open, blurred ? blurred->pass : NULL);
}
