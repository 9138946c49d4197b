// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With C the second moments of a cell's particles about their mean, particles lie in a line or a plane where det C is
// far below that of the lattice, and are too close in it where the spacing that follows from their number and extent,
// s^2 = 12 tr C / ((d - 1) (m^2 - 1)) with m^(d-1) particles, is less than it should be: one layer of the lattice alone
// in a cell is what a surface looks like, and is left as it is (waves gained 4 % without this test). The particles are
// displaced by (1 - C / |C|) r with a random vector r: not at all along the line, by r across it. The length of r
// follows from how fast the flow deforms, as in the self-diffusion of sheared grains (physics/sand/mix.c): its variance
// is a rate times dt, so the result does not depend on the step, and water at rest is not moved.
//
// Before this was done, a puddle three cells deep was lifted by 43 % of its energy in four seconds and ended with 5 %
// more than it had, 13 % in short steps; with particles that start off the lattice by 9 %, but then still water
// trembles. (With half the length of r: 10 %, and 2 to 9 % too much energy.)
#include "physics/lines.h"

#include <math.h>
#include "base/random.h"
#include "grid/shear.h"

static const float WAY = 1.8f;       // spacings; times sqrt(rate dt) it is the largest step along an axis
static const float FARTHEST = 0.2f;  // spacings in a step: with half a one splashes swelled by 2 %
static const float FLATTEST = 0.1f;  // share of the lattice's det C below which particles lie in a line or a plane
static const float CLOSEST = 0.8f;   // spacings: particles closer than this in it are too close

typedef float matrix[3][3];

static rh_vec3 mean_of(const rh_vec3 *x, uint32_t count)
{
    rh_vec3 sum = {0, 0, 0};  // from the first one: places may be large
    for (uint32_t i = 1; i < count; i++) sum = rh_v3_add(sum, rh_v3_sub(x[i], x[0]));
    return rh_v3_add(x[0], rh_v3_scale(sum, 1 / (float)count));
}

// Second moments about the mean, m^2.
static void moments_of(const rh_vec3 *x, uint32_t count, matrix out)
{
    rh_vec3 mean = mean_of(x, count);
    float xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0, part = 1 / (float)count;
    for (uint32_t i = 0; i < count; i++) {
        rh_vec3 d = rh_v3_sub(x[i], mean);
        xx += d.x * d.x, xy += d.x * d.y, xz += d.x * d.z, yy += d.y * d.y, yz += d.y * d.z, zz += d.z * d.z;
    }
    const matrix sums = {{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) out[a][b] = part * sums[a][b];
}

static float determinant(const matrix m, int dimension)
{
    float flat = m[0][0] * m[1][1] - m[0][1] * m[0][1];
    if (dimension == 2) return flat;
    return m[2][2] * flat + m[0][2] * (m[0][1] * m[1][2] - m[1][1] * m[0][2]) -
           m[1][2] * (m[0][0] * m[1][2] - m[0][1] * m[0][2]);
}

static float norm(const matrix m, int dimension)
{
    float sum = 0;
    for (int a = 0; a < dimension; a++)
        for (int b = 0; b < dimension; b++) sum += m[a][b] * m[a][b];
    return sqrtf(sum);
}

// A random way across the line; `longest` is |C|.
static rh_vec3 wander(const rh_lines_input *of, int dimension, const matrix c, float longest, float way, uint32_t p)
{
    float random[3] = {0, 0, 0}, out[3] = {0, 0, 0};
    for (int a = 0; a < dimension; a++)
        random[a] =
            way * (2 * rh_random(of->seed, (uint64_t)(of->ids[p] - of->first_id), (uint32_t)of->step, (uint32_t)a) - 1);
    for (int a = 0; a < dimension; a++) {
        float along = 0;
        for (int b = 0; b < dimension; b++) along += c[a][b] * random[b];
        out[a] = random[a] - (longest > 0 ? along / longest : 0);
    }
    return rh_v3(out[0], out[1], out[2]);
}

static void break_cell(const rh_tiles *tiles, const rh_lines_input *of, uint32_t begin, uint32_t end, float rate,
                       const matrix c, rh_vec3 *positions)
{
    float way = tiles->h / (float)of->particles_per_axis * fminf(WAY * sqrtf(rate * of->dt), FARTHEST);
    float longest = norm(c, tiles->dimension);
    rh_vec3 sum = {0, 0, 0};
    for (uint32_t p = begin; p < end; p++) {
        rh_vec3 d = wander(of, tiles->dimension, c, longest, way, p);
        positions[p] = rh_v3_add(positions[p], d);
        sum = rh_v3_add(sum, d);
    }
    rh_vec3 back = rh_v3_scale(sum, 1 / (float)(end - begin));
    for (uint32_t p = begin; p < end; p++) positions[p] = rh_v3_sub(positions[p], back);
}

// Particles form a line where det C (m^(2d)) and the square of their distance (m^2) are below these.
typedef struct line_limits {
    float flat, close;
} line_limits;

static bool is_line(const matrix c, int dimension, uint32_t count, line_limits of)
{
    float trace = c[0][0] + c[1][1] + (dimension == 3 ? c[2][2] : 0), n = (float)count;
    float square = dimension == 2 ? 12 * trace / (n * n - 1) : 6 * trace / (n - 1);
    return square < of.close && determinant(c, dimension) < of.flat;
}

static void break_tile(const rh_tiles *tiles, const rh_lines_input *of, line_limits limits, int32_t t,
                       rh_vec3 *positions)
{
    float rate[RH_TILE * RH_TILE * RH_TILE];
    bool known = false;
    for (int c = 0; c < tiles->cells; c++) {
        int64_t cell = (int64_t)t * tiles->cells + c;
        uint32_t begin = tiles->first[cell], end = tiles->first[cell + 1];
        if (end - begin < 3) continue;
        matrix m;
        moments_of(positions + begin, end - begin, m);
        if (!is_line(m, tiles->dimension, end - begin, limits)) continue;
        if (!known) rh_shear_rates(tiles, of->velocity, t, rate);
        known = true;
        break_cell(tiles, of, begin, end, rate[c], m, positions);
    }
}

void rh_lines_break(const rh_tiles *tiles, const rh_lines_input *of, rh_vec3 *positions)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && rh_faces_fit(tiles, of->velocity) && of->particles_per_axis > 0);
    float n = (float)of->particles_per_axis, spacing = tiles->h / n;
    float along = tiles->h * tiles->h * (1 - 1 / (n * n)) / 12;  // variance of n places, a spacing apart, along an axis
    line_limits limits = {.flat = FLATTEST * along * along * (tiles->dimension == 3 ? along : 1),
                          .close = CLOSEST * CLOSEST * spacing * spacing};
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t i = 0; i < tiles->occupied_count; i++) break_tile(tiles, of, limits, tiles->occupied[i], positions);
}
