// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Noise. simplexnoise is K. Spencer's OpenSimplex (2014, public domain) in three dimensions: a sum over the points of a stretched cubic lattice
// of (2 - d^2)^4 times the height of a plane through the point, d the distance to it. Only points with d^2 < 2 count, up to eight of them; the author
// takes the corners of the cell and two more. Summing all instead differs by up to 6e-5 near the corners of cells; we do as the author does,
// because programs written for OpenVDB AX expect his numbers.
// noise is K. Perlin, "Improving noise", SIGGRAPH 2002, with a hash of the lattice point in place of the table of 256: it does not repeat.
// The curls are those of three noises far apart from each other, R. Bridson, J. Hourihan, M. Nordenstam, "Curl-noise for procedural fluid
// flow", SIGGRAPH 2007; by central differences, which commute, so the field has no divergence in the same differences. OpenVDB AX takes the same
// differences of coordinates in float, where a step of 1e-4 near 512 is 6e-5 or 1.2e-4 long: its curls are wrong by up to 40 percent,
// at random from place to place. Ours are in double.
#include <math.h>
#include <stdint.h>
#include "base/random.h"
#include "lang/library/library.h"

// --------------------------------------------------------------------------------------------------------------------- OpenSimplex

// The author's shuffle of 0 .. 255 for the seed 0; the test of noise makes it again.
static const uint8_t shuffled[256] = {
    254, 50, 92, 24, 36, 10, 190, 16, 142, 26, 34, 14, 152, 9, 156, 66, 56, 106, 20, 45, 13, 162, 81, 125,
    18, 234, 76, 118, 8, 206, 52, 164, 131, 60, 64, 186, 6, 213, 226, 114, 37, 100, 104, 108, 4, 65, 97, 62,
    38, 63, 1, 130, 48, 112, 159, 137, 40, 166, 22, 101, 77, 80, 49, 191, 58, 243, 242, 70, 238, 89, 23, 134,
    0, 181, 187, 233, 96, 150, 109, 84, 176, 17, 182, 116, 91, 135, 5, 88, 111, 221, 32, 103, 128, 229, 201, 175,
    170, 241, 30, 149, 54, 155, 28, 35, 160, 136, 21, 178, 225, 205, 253, 123, 252, 240, 41, 122, 94, 85, 46, 212,
    154, 165, 148, 204, 174, 121, 82, 83, 2, 188, 113, 7, 192, 133, 248, 209, 93, 11, 250, 222, 246, 146, 102, 144,
    193, 236, 153, 127, 237, 251, 57, 231, 218, 99, 138, 177, 210, 202, 53, 195, 180, 15, 90, 55, 105, 208, 68, 203,
    110, 219, 12, 220, 207, 39, 74, 200, 184, 183, 120, 232, 78, 145, 42, 224, 230, 228, 214, 239, 140, 249, 72, 245,
    216, 171, 198, 227, 189, 117, 33, 217, 196, 79, 157, 139, 119, 75, 25, 215, 194, 141, 185, 143, 132, 61, 69, 163,
    151, 107, 86, 95, 115, 179, 172, 19, 27, 73, 126, 147, 59, 169, 124, 244, 47, 31, 98, 51, 197, 129, 168, 67,
    255, 161, 29, 71, 3, 223, 173, 43, 247, 235, 87, 199, 158, 167, 44, 211,
};

typedef struct offset { int x, y, z; } offset;

// A set of axes, as bits, as the lattice point with ones there.
static offset point(int axes) { return (offset){axes & 1, axes >> 1 & 1, axes >> 2 & 1}; }
static offset plus(offset a, int axes, int factor)
{
    offset b = point(axes);
    return (offset){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

// The extra points near the corner 000: r are the coordinates in the stretched cell, which sum to 1 at most. Of the four corners of this
// tetrahedron the nearest two decide: an axis and 000, or two axes.
static void extra_at_corner(const double r[3], offset extra[2])
{
    int a = 1, b = 2;
    double near_a = r[0], near_b = r[1], near_corner = 1 - (r[0] + r[1] + r[2]);
    if (near_a >= near_b && r[2] > near_b) near_b = r[2], b = 4;
    else if (near_a < near_b && r[2] > near_a) near_a = r[2], a = 4;
    if (near_corner > near_a || near_corner > near_b) {
        int c = near_b > near_a ? b : a, others = 7 & ~c, first = others & -others;
        extra[0] = plus(point(c), first, -1), extra[1] = plus(point(c), others & ~first, -1);
    } else {
        extra[0] = point(a | b), extra[1] = plus(point(a | b), 7 & ~(a | b), -1);
    }
}

// The same near 111, mirrored.
static void extra_at_opposite(const double r[3], offset extra[2])
{
    int a = 6, b = 5;
    double far_a = r[0], far_b = r[1], far_corner = 3 - (r[0] + r[1] + r[2]);
    if (far_a <= far_b && r[2] < far_b) far_b = r[2], b = 3;
    else if (far_a > far_b && r[2] < far_a) far_a = r[2], a = 3;
    if (far_corner < far_a || far_corner < far_b) {
        int c = far_b < far_a ? b : a, first = c & -c;
        extra[0] = plus(point(c), first, 1), extra[1] = plus(point(c), c & ~first, 1);
    } else {
        extra[0] = point(a & b), extra[1] = plus(point(a & b), a & b, 1);
    }
}

// Between, in the octahedron of the six other corners: of its three diagonals the two whose ends are nearest decide.
static void extra_between(const double r[3], offset extra[2])
{
    static const int third[3] = {4, 2, 1};  // the axis that is not in a pair; the pairs are xy, xz, yz
    double sums[3] = {r[0] + r[1], r[0] + r[2], r[1] + r[2]}, near[3];
    int end[3];
    for (int i = 0; i < 3; i++) near[i] = fabs(sums[i] - 1), end[i] = sums[i] > 1 ? 7 & ~third[i] : third[i];
    int a = 0, b = 1;
    if (near[0] <= near[1] && near[0] < near[2]) a = 2;
    else if (near[0] > near[1] && near[1] < near[2]) b = 2;
    bool beyond_a = sums[a] > 1, beyond_b = sums[b] > 1;
    if (beyond_a && beyond_b) {
        extra[0] = point(7), extra[1] = plus(point(end[a] & end[b]), end[a] & end[b], 1);
    } else if (!beyond_a && !beyond_b) {
        extra[0] = point(0), extra[1] = plus(point(end[a] | end[b]), 7 & ~(end[a] | end[b]), -1);
    } else {
        int pair = beyond_a ? end[a] : end[b], axis = beyond_a ? end[b] : end[a];
        extra[0] = plus(point(pair), 7 & ~pair, -1), extra[1] = plus(point(axis), axis, 1);
    }
}

// One of 24 directions: 11 along one axis, 4 along the others, all signs.
static double plane(int64_t x, int64_t y, int64_t z, const double d[3])
{
    int direction = shuffled[(shuffled[(shuffled[x & 255] + y) & 255] + z) & 255] % 24;
    double slope[3] = {4, 4, 4};
    slope[direction % 3] = 11;
    if (direction / 3 % 2 == 0) slope[0] = -slope[0];
    if (direction / 6 % 2 == 1) slope[1] = -slope[1];
    if (direction / 12 == 1) slope[2] = -slope[2];
    return slope[0] * d[0] + slope[1] * d[1] + slope[2] * d[2];
}

// Beyond this the lattice is coarser than a double can tell: no noise, and no cast that is not defined.
static bool in_reach(double x, double y, double z) { return fabs(x) < 0x1p52 && fabs(y) < 0x1p52 && fabs(z) < 0x1p52; }

// The cell a place is in: its corner on the lattice, and the way from there.
typedef struct cell { int64_t x, y, z; double dx, dy, dz; } cell;

static double share_of(const cell *c, offset o)
{
    double shift = (o.x + o.y + o.z) * (1.0 / 3), d[3] = {c->dx - o.x - shift, c->dy - o.y - shift, c->dz - o.z - shift};
    double weight = 2 - d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    if (weight <= 0) return 0;
    weight *= weight;
    return weight * weight * plane(c->x + o.x, c->y + o.y, c->z + o.z, d);
}

static double open_simplex(double x, double y, double z)
{
    if (!in_reach(x, y, z)) return 0;
    double stretch = (x + y + z) * (-1.0 / 6), xs = x + stretch, ys = y + stretch, zs = z + stretch;
    double xb = floor(xs), yb = floor(ys), zb = floor(zs), squish = (xb + yb + zb) * (1.0 / 3);
    double r[3] = {xs - xb, ys - yb, zs - zb}, sum = r[0] + r[1] + r[2], value = 0;
    cell c = {(int64_t)xb, (int64_t)yb, (int64_t)zb, x - (xb + squish), y - (yb + squish), z - (zb + squish)};
    offset extra[2];
    if (sum <= 1) extra_at_corner(r, extra);
    else if (sum >= 2) extra_at_opposite(r, extra);
    else extra_between(r, extra);
    for (int axes = sum <= 1 ? 0 : 1; axes <= (sum >= 2 ? 7 : 6); axes++) {
        int count = (axes & 1) + (axes >> 1 & 1) + (axes >> 2);
        if ((sum <= 1 && count > 1) || (sum >= 2 && count < 2)) continue;
        value += share_of(&c, point(axes));
    }
    return (value + share_of(&c, extra[0]) + share_of(&c, extra[1])) / 103;
}

// -------------------------------------------------------------------------------------------------------------------------- Perlin

static double fade(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }

static double edge(uint64_t key, double x, double y, double z)  // one of the twelve edges of a cube, times the way from its corner
{
    switch (key % 12) {
    case 0: return x + y;
    case 1: return x - y;
    case 2: return -x + y;
    case 3: return -x - y;
    case 4: return x + z;
    case 5: return x - z;
    case 6: return -x + z;
    case 7: return -x - z;
    case 8: return y + z;
    case 9: return y - z;
    case 10: return -y + z;
    default: return -y - z;
    }
}

static double perlin(double x, double y, double z)
{
    if (!in_reach(x, y, z)) return 0;
    double xb = floor(x), yb = floor(y), zb = floor(z), dx = x - xb, dy = y - yb, dz = z - zb;
    double u = fade(dx), v = fade(dy), w = fade(dz), value = 0;
    for (int c = 0; c < 8; c++) {
        int i = c & 1, j = c >> 1 & 1, k = c >> 2;
        uint64_t key = rh_mix64((uint64_t)((int64_t)xb + i) ^ rh_mix64((uint64_t)((int64_t)yb + j) ^ rh_mix64((uint64_t)((int64_t)zb + k))));
        value += (i ? u : 1 - u) * (j ? v : 1 - v) * (k ? w : 1 - w) * edge(key, dx - i, dy - j, dz - k);
    }
    return value / 1.0363538112118038;  // the largest height twelve edges can make
}

// ---------------------------------------------------------------------------------------------------------------------------- curl

typedef double noise_function(double, double, double);

// The three potentials are one noise at three places far apart.
static const double apart[3][3] = {{0, 0, 0}, {256, -256, 256}, {-512, 512, -512}};

static double slope_of(noise_function *noise, int potential, int axis, const double p[3])
{
    const double step = 1e-4, *o = apart[potential];
    double up[3] = {p[0] + o[0], p[1] + o[1], p[2] + o[2]}, down[3] = {up[0], up[1], up[2]};
    up[axis] += step, down[axis] -= step;
    return (noise(up[0], up[1], up[2]) - noise(down[0], down[1], down[2])) / (2 * step);
}

static void curl(noise_function *noise, double *out, const double p[3])
{
    double x = slope_of(noise, 2, 1, p) - slope_of(noise, 1, 2, p);
    double y = slope_of(noise, 0, 2, p) - slope_of(noise, 2, 0, p);
    double z = slope_of(noise, 1, 0, p) - slope_of(noise, 0, 1, p);
    out[0] = x, out[1] = y, out[2] = z;
}

// ----------------------------------------------------------------------------------------------------------------------- functions

double rh_lang_simplexnoise_3(double x, double y, double z) { return 0.5 * (open_simplex(x, y, z) + 1); }
double rh_lang_simplexnoise_2(double x, double y) { return rh_lang_simplexnoise_3(x, y, 0); }
double rh_lang_simplexnoise_1(double x) { return rh_lang_simplexnoise_3(x, 0, 0); }
double rh_lang_simplexnoise_v(const double *p) { return rh_lang_simplexnoise_3(p[0], p[1], p[2]); }
void rh_lang_curlsimplexnoise_v(double *out, const double *p) { curl(rh_lang_simplexnoise_3, out, p); }
void rh_lang_curlsimplexnoise_3(double *out, double x, double y, double z) { curl(rh_lang_simplexnoise_3, out, (double[3]){x, y, z}); }

double rh_lang_noise_3(double x, double y, double z) { return 0.5 * (perlin(x, y, z) + 1); }
double rh_lang_noise_2(double x, double y) { return rh_lang_noise_3(x, y, 0); }
double rh_lang_noise_1(double x) { return rh_lang_noise_3(x, 0, 0); }
double rh_lang_noise_v(const double *p) { return rh_lang_noise_3(p[0], p[1], p[2]); }
void rh_lang_curlnoise_v(double *out, const double *p) { curl(rh_lang_noise_3, out, p); }
void rh_lang_curlnoise_3(double *out, double x, double y, double z) { curl(rh_lang_noise_3, out, (double[3]){x, y, z}); }
