// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// simplexnoise and its curl. The noise is K. Spencer's OpenSimplex (2014, public domain) in three dimensions: a sum
// over the points of a stretched cubic lattice of (2 - d^2)^4 times the height of a plane through the point, d the
// distance to it. Only points with d^2 < 2 count, up to eight of them; the author takes the corners of the cell and two
// more. Summing all instead differs by up to 6e-5 near the corners of cells; we do as the author does, because programs
// written for OpenVDB AX expect his numbers.
//
// Twice: for one place, with branches, and for eight places at once, without (four to a register with AVX2). Both take
// the same sums in the same order, so a place has the same bits whether it is alone or one of eight: compiled programs
// use both, eight for most elements, one for the last. The curl is that of three noises far apart from each other
// (noise.c); of one place it is twelve noises, eight at a time.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "lang/library/library.h"

// The author's shuffle of 0 .. 255 for the seed 0; the test of noise makes it again.
static const uint8_t shuffled[256] = {
    254, 50,  92,  24,  36,  10,  190, 16,  142, 26,  34,  14,  152, 9,   156, 66,  56,  106, 20,  45,  13,  162,
    81,  125, 18,  234, 76,  118, 8,   206, 52,  164, 131, 60,  64,  186, 6,   213, 226, 114, 37,  100, 104, 108,
    4,   65,  97,  62,  38,  63,  1,   130, 48,  112, 159, 137, 40,  166, 22,  101, 77,  80,  49,  191, 58,  243,
    242, 70,  238, 89,  23,  134, 0,   181, 187, 233, 96,  150, 109, 84,  176, 17,  182, 116, 91,  135, 5,   88,
    111, 221, 32,  103, 128, 229, 201, 175, 170, 241, 30,  149, 54,  155, 28,  35,  160, 136, 21,  178, 225, 205,
    253, 123, 252, 240, 41,  122, 94,  85,  46,  212, 154, 165, 148, 204, 174, 121, 82,  83,  2,   188, 113, 7,
    192, 133, 248, 209, 93,  11,  250, 222, 246, 146, 102, 144, 193, 236, 153, 127, 237, 251, 57,  231, 218, 99,
    138, 177, 210, 202, 53,  195, 180, 15,  90,  55,  105, 208, 68,  203, 110, 219, 12,  220, 207, 39,  74,  200,
    184, 183, 120, 232, 78,  145, 42,  224, 230, 228, 214, 239, 140, 249, 72,  245, 216, 171, 198, 227, 189, 117,
    33,  217, 196, 79,  157, 139, 119, 75,  25,  215, 194, 141, 185, 143, 132, 61,  69,  163, 151, 107, 86,  95,
    115, 179, 172, 19,  27,  73,  126, 147, 59,  169, 124, 244, 47,  31,  98,  51,  197, 129, 168, 67,  255, 161,
    29,  71,  3,   223, 173, 43,  247, 235, 87,  199, 158, 167, 44,  211,
};

// The same, as one of 24 directions: % 24.
static const uint8_t directions[256] = {
    14, 2,  20, 0,  12, 10, 22, 16, 22, 2,  10, 14, 8,  9,  12, 18, 8,  10, 20, 21, 13, 18, 9,  5,  18, 18, 4,  22, 8,
    14, 4,  20, 11, 12, 16, 18, 6,  21, 10, 18, 13, 4,  8,  12, 4,  17, 1,  14, 14, 15, 1,  10, 0,  16, 15, 17, 16, 22,
    22, 5,  5,  8,  1,  23, 10, 3,  2,  22, 22, 17, 23, 14, 0,  13, 19, 17, 0,  6,  13, 12, 8,  17, 14, 20, 19, 15, 5,
    16, 15, 5,  8,  7,  8,  13, 9,  7,  2,  1,  6,  5,  6,  11, 4,  11, 16, 16, 21, 10, 9,  13, 13, 3,  12, 0,  17, 2,
    22, 13, 22, 20, 10, 21, 4,  12, 6,  1,  10, 11, 2,  20, 17, 7,  0,  13, 8,  17, 21, 11, 10, 6,  6,  2,  6,  0,  1,
    20, 9,  7,  21, 11, 9,  15, 2,  3,  18, 9,  18, 10, 5,  3,  12, 15, 18, 7,  9,  16, 20, 11, 14, 3,  12, 4,  15, 15,
    2,  8,  16, 15, 0,  16, 6,  1,  18, 8,  14, 12, 22, 23, 20, 9,  0,  5,  0,  3,  6,  11, 21, 21, 9,  1,  4,  7,  13,
    19, 23, 3,  1,  23, 2,  21, 17, 23, 12, 13, 21, 19, 7,  11, 14, 23, 19, 11, 4,  19, 3,  1,  6,  3,  11, 1,  4,  4,
    23, 7,  2,  3,  5,  9,  0,  19, 15, 17, 5,  23, 3,  7,  5,  19, 7,  19, 15, 7,  14, 23, 20, 19,
};

typedef struct offset {
    int x, y, z;
} offset;

// A set of axes, as bits, as the lattice point with ones there.
static offset point(int axes) { return (offset){axes & 1, axes >> 1 & 1, axes >> 2 & 1}; }
static offset plus(offset a, int axes, int factor)
{
    offset b = point(axes);
    return (offset){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

// The extra points near the corner 000: r are the coordinates in the stretched cell, which sum to 1 at most. Of the
// four corners of this tetrahedron the nearest two decide: an axis and 000, or two axes.
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

// One of 24 directions, by the last look into the shuffle: 11 along one axis, 4 along the others, all signs.
#define SIGNS(x, y, z) \
    {x 11, y 4, z 4}, {x 4, y 11, z 4}, { x 4, y 4, z 11 }
static const double slopes[24][4] = {SIGNS(-, +, +), SIGNS(+, +, +), SIGNS(-, -, +), SIGNS(+, -, +),
                                     SIGNS(-, +, -), SIGNS(+, +, -), SIGNS(-, -, -), SIGNS(+, -, -)};

static const double *slope_at(int64_t x, int64_t y, int64_t z)
{
    return slopes[shuffled[(shuffled[(shuffled[x & 255] + y) & 255] + z) & 255] % 24];
}

// Beyond this the lattice is coarser than a double can tell: no noise.
static const double FARTHEST = 0x1p50;

// The cell a place is in: its corner on the lattice, and the way from there.
typedef struct cell {
    int64_t x, y, z;
    double dx, dy, dz;
} cell;

static double share_of(const cell *c, offset o)
{
    double shift = (o.x + o.y + o.z) * (1.0 / 3), dx = c->dx - (o.x + shift), dy = c->dy - (o.y + shift),
           dz = c->dz - (o.z + shift);
    double weight = 2 - dx * dx - dy * dy - dz * dz;
    if (weight <= 0) return 0;
    const double *slope = slope_at(c->x + o.x, c->y + o.y, c->z + o.z);
    weight *= weight;
    return weight * weight * (slope[0] * dx + slope[1] * dy + slope[2] * dz);
}

double rh_lang_simplexnoise_3(double x, double y, double z)
{
    if (!(fabs(x) < FARTHEST && fabs(y) < FARTHEST && fabs(z) < FARTHEST)) return 0.5;
    double stretch = (x + y + z) * (-1.0 / 6), xs = x + stretch, ys = y + stretch, zs = z + stretch;
    double xb = floor(xs), yb = floor(ys), zb = floor(zs), squish = (xb + yb + zb) * (1.0 / 3);
    double r[3] = {xs - xb, ys - yb, zs - zb}, sum = r[0] + r[1] + r[2], value = 0;
    cell c = {(int64_t)xb, (int64_t)yb, (int64_t)zb, x - (xb + squish), y - (yb + squish), z - (zb + squish)};
    static const int singles[3] = {1, 2, 4}, pairs[3] = {3, 5, 6};
    offset extra[2];
    if (sum <= 1) extra_at_corner(r, extra), value += share_of(&c, point(0));
    else if (sum >= 2) extra_at_opposite(r, extra), value += share_of(&c, point(7));
    else extra_between(r, extra);
    for (int i = 0; i < 3; i++) value += share_of(&c, point(sum >= 2 ? pairs[i] : singles[i]));
    for (int i = 0; i < 3 && sum > 1 && sum < 2; i++) value += share_of(&c, point(pairs[i]));
    return 0.5 + 0.5 * ((value + share_of(&c, extra[0]) + share_of(&c, extra[1])) * (1.0 / 103));
}

// --- eight places ----------------------------------------------------------------------------------------------------

typedef double d4 __attribute__((vector_size(32)));
typedef int64_t l4 __attribute__((vector_size(32)));

static d4 all(double x) { return (d4){x, x, x, x}; }
static d4 pick(l4 mask, d4 a, d4 b) { return (d4)((mask & (l4)a) | (~mask & (l4)b)); }
static d4 positive(d4 a) { return (d4)((l4)a & INT64_MAX); }

// The whole part, and what is left in the low bits of the sum: a whole number of up to 2^51 in two's complement.
static d4 whole(d4 x, l4 *bits)
{
    const d4 shift = all(0x1.8p52);
    d4 near = (x + shift) - shift;
    near -= (d4)((near > x) & (l4)all(1));
    *bits = (l4)(near + shift);
    return near;
}

// The two extra points, by what the three functions above ask; four answers, one bit each, and which of the functions.
// clang-format off
#define NEAR_CORNER(P) /* is the third axis nearer than the first, than the second; is 000 among the nearest two; is   \
                          the second the nearest */                                                                    \
    P(1, 1, 0, 1, 1, -1)                                                                                               \
    P(0, 1, 1, -1, 1, 1) P(1, 0, 1, 1, -1, 1) P(0, 0, 1, -1, -1, 1) P(1, -1, 0, 1, 0, -1) P(-1, 0, 1, 0, -1, 1)        \
        P(1, -1, 0, 1, 0, -1) P(-1, 0, 1, 0, -1, 1) P(1, 1, 0, 1, 1, -1) P(0, 1, 1, -1, 1, 1) P(1, 0, 1, 1, -1, 1)     \
            P(0, 0, 1, -1, -1, 1) P(-1, 1, 0, 0, 1, -1) P(-1, 1, 0, 0, 1, -1) P(-1, 0, 1, 0, -1, 1)                    \
                P(-1, 0, 1, 0, -1, 1)
#define BETWEEN(                                                                                                       \
    P) /* is the third sum nearest to one in place of the first, of the second; is the one beyond, is the other */     \
    P(0, 0, 0, -1, 1, 1)                                                                                               \
    P(0, 0, 0, 1, 1, -1) P(0, 0, 0, 1, -1, 1) P(0, 0, 0, 1, -1, -1) P(1, 1, -1, 0, 2, 0) P(-1, 1, 1, 0, 2, 0)          \
        P(1, 1, -1, 2, 0, 0) P(-1, 1, 1, 2, 0, 0) P(1, -1, 1, 0, 0, 2) P(1, -1, 1, 2, 0, 0) P(-1, 1, 1, 0, 0, 2)       \
            P(-1, 1, 1, 2, 0, 0) P(1, 1, 1, 2, 0, 0) P(1, 1, 1, 0, 0, 2) P(1, 1, 1, 0, 2, 0) P(1, 1, 1, 0, 2, 2)
#define NEAR_OPPOSITE(P) /* as near 000, mirrored */ \
    P(0, 0, 1, 0, 0, 2) P(1, 0, 0, 2, 0, 0) P(0, 1, 0, 0, 2, 0) P(1, 1, 0, 2, 2, 0) \
    P(0, 2, 1, 0, 1, 2) P(2, 1, 0, 1, 2, 0) P(0, 2, 1, 0, 1, 2) P(2, 1, 0, 1, 2, 0) \
    P(0, 0, 1, 0, 0, 2) P(1, 0, 0, 2, 0, 0) P(0, 1, 0, 0, 2, 0) P(1, 1, 0, 2, 2, 0) \
    P(2, 0, 1, 1, 0, 2) P(2, 0, 1, 1, 0, 2) P(2, 1, 0, 1, 2, 0) P(2, 1, 0, 1, 2, 0)
// clang-format on
#define POINTS(a, b, c, d, e, f) {{a, b, c}, {d, e, f}},
#define WAY(a, b, c)                                                                             \
    {                                                                                            \
        a + (a + b + c) * (1.0 / 3), b + (a + b + c) * (1.0 / 3), c + (a + b + c) * (1.0 / 3), 0 \
    }
#define WAYS(a, b, c, d, e, f) {WAY(a, b, c), WAY(d, e, f)},
static const int8_t extras[48][2][3] = {NEAR_CORNER(POINTS) BETWEEN(POINTS) NEAR_OPPOSITE(POINTS)};
static const double extra_ways[48][2][4] = {NEAR_CORNER(WAYS) BETWEEN(WAYS)
                                                NEAR_OPPOSITE(WAYS)};  // from the cell's corner

static l4 bit(l4 mask, int64_t value) { return mask & value; }

// Which row of the table.
static l4 extra_row(d4 r0, d4 r1, d4 r2, d4 sum, l4 lower, l4 upper)
{
    l4 first = r0 >= r1, swap_b = first & (r2 > r1), swap_a = ~first & (r2 > r0);
    d4 a = pick(swap_a, r2, r0), b = pick(swap_b, r2, r1), corner = all(1) - sum;
    l4 row_lower = bit(swap_a, 1) | bit(swap_b, 2) | bit((corner > a) | (corner > b), 4) | bit(b > a, 8);
    first = r0 <= r1, swap_b = first & (r2 < r1), swap_a = ~first & (r2 < r0);
    a = pick(swap_a, r2, r0), b = pick(swap_b, r2, r1), corner = all(3) - sum;
    l4 row_upper = bit(swap_a, 1) | bit(swap_b, 2) | bit((corner < a) | (corner < b), 4) | bit(b < a, 8) | 32;
    d4 xy = r0 + r1, xz = r0 + r2, yz = r1 + r2, n0 = positive(xy - all(1)), n1 = positive(xz - all(1)),
       n2 = positive(yz - all(1));
    swap_a = (n0 <= n1) & (n0 < n2), swap_b = (n0 > n1) & (n1 < n2);
    l4 beyond_a = pick(swap_a, yz, xy) > all(1), beyond_b = pick(swap_b, yz, xz) > all(1);
    l4 row = bit(swap_a, 1) | bit(swap_b, 2) | bit(beyond_a, 4) | bit(beyond_b, 8) | 16;
    return (lower & row_lower) | (upper & row_upper) | (~(lower | upper) & row);
}

// Four rows of x, y, z as three columns.
typedef struct triple {
    d4 x, y, z;
} triple;

static triple columns(const double *const row[4])
{
    d4 x = {row[0][0], row[1][0], row[2][0], row[3][0]}, y = {row[0][1], row[1][1], row[2][1], row[3][1]};
    return (triple){x, y, (d4){row[0][2], row[1][2], row[2][2], row[3][2]}};
}

// Shares of four places, each with a lattice point of its own.
static d4 shares(d4 dx, d4 dy, d4 dz, const double *const slope[4])
{
    d4 weight = all(2) - dx * dx - dy * dy - dz * dz;
    weight = (d4)((l4)weight & (weight > all(0)));
    weight *= weight;
    triple s = columns(slope);
    return weight * weight * (s.x * dx + s.y * dy + s.z * dz);
}

// The planes at the corners of four cells: two looks for x, four for y, eight for z.
static void corner_slopes(l4 x, l4 y, l4 z, const double *slope[8][4])
{
    for (int lane = 0; lane < 4; lane++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                int row = shuffled[(uint8_t)(shuffled[(uint8_t)(x[lane] + i)] + y[lane] + j)];
                for (int k = 0; k < 2; k++)
                    slope[i + 2 * j + 4 * k][lane] = slopes[directions[(uint8_t)(row + z[lane] + k)]];
            }
}

static d4 corner_share(d4 dx, d4 dy, d4 dz, int axes, const double *const slope[8][4])
{
    offset o = point(axes);
    double shift = (o.x + o.y + o.z) * (1.0 / 3);
    return shares(dx - all(o.x + shift), dy - all(o.y + shift), dz - all(o.z + shift), slope[axes]);
}

static d4 extra_share(d4 dx, d4 dy, d4 dz, l4 x, l4 y, l4 z, l4 row, int which)
{
    const double *slope[4], *way[4];
    for (int lane = 0; lane < 4; lane++) {
        const int8_t *o = extras[row[lane]][which];
        int at = shuffled[(uint8_t)(shuffled[(uint8_t)(x[lane] + o[0])] + y[lane] + o[1])];
        slope[lane] = slopes[directions[(uint8_t)(at + z[lane] + o[2])]];
        way[lane] = extra_ways[row[lane]][which];
    }
    triple w = columns(way);
    return shares(dx - w.x, dy - w.y, dz - w.z, slope);
}

static d4 simplex_4(d4 x, d4 y, d4 z)
{
    l4 reach = (positive(x) < all(FARTHEST)) & (positive(y) < all(FARTHEST)) & (positive(z) < all(FARTHEST)), xi, yi,
       zi;
    x = (d4)((l4)x & reach), y = (d4)((l4)y & reach), z = (d4)((l4)z & reach);
    d4 stretch = (x + y + z) * all(-1.0 / 6), xs = x + stretch, ys = y + stretch, zs = z + stretch;
    d4 xb = whole(xs, &xi), yb = whole(ys, &yi), zb = whole(zs, &zi), squish = (xb + yb + zb) * all(1.0 / 3);
    d4 r0 = xs - xb, r1 = ys - yb, r2 = zs - zb, sum = r0 + r1 + r2;
    d4 dx = x - (xb + squish), dy = y - (yb + squish), dz = z - (zb + squish);
    l4 lower = sum <= all(1), upper = ~lower & (sum >= all(2)), between = ~(lower | upper),
       row = extra_row(r0, r1, r2, sum, lower, upper);
    const double *slope[8][4];
    corner_slopes(xi, yi, zi, slope);
    const double *const(*at)[4] = (const double *const(*)[4])slope;
    d4 value = pick(lower, corner_share(dx, dy, dz, 0, at), (d4)((l4)corner_share(dx, dy, dz, 7, at) & upper));
    d4 pair[3] = {corner_share(dx, dy, dz, 3, at), corner_share(dx, dy, dz, 5, at), corner_share(dx, dy, dz, 6, at)};
    for (int i = 0; i < 3; i++) value += pick(upper, pair[i], corner_share(dx, dy, dz, 1 << i, at));
    for (int i = 0; i < 3; i++) value += (d4)((l4)pair[i] & between);
    value = (value + extra_share(dx, dy, dz, xi, yi, zi, row, 0) + extra_share(dx, dy, dz, xi, yi, zi, row, 1)) *
            all(1.0 / 103);
    return pick(reach, all(0.5) + all(0.5) * value, all(0.5));
}

void rh_lang_simplexnoise_8(double *out, const double *x, const double *y, const double *z)
{
    for (int half = 0; half < 8; half += 4) {
        d4 px, py, pz, value;
        memcpy(&px, x + half, sizeof px), memcpy(&py, y + half, sizeof py), memcpy(&pz, z + half, sizeof pz);
        value = simplex_4(px, py, pz);
        memcpy(out + half, &value, sizeof value);
    }
}

// --- curl ------------------------------------------------------------------------------------------------------------

// Component a of the curl is the slope of potential c along axis b less that of potential b along axis c, a, b, c in
// cyclic order. Potentials are the noise at three places far apart. Of eight places, or of one, whose four noises then
// go together.
static const double apart[3][3] = {{0, 0, 0}, {256, -256, 256}, {-512, 512, -512}};
static const double STEP = 1e-4;

static void curl_8(int a, double *out, const double *x, const double *y, const double *z)
{
    int axis[2] = {(a + 1) % 3, (a + 2) % 3}, potential[2] = {axis[1], axis[0]};
    double slope[2][8], at[2][3][8], value[2][8];
    const double *p[3] = {x, y, z};
    for (int term = 0; term < 2; term++) {
        for (int end = 0; end < 2; end++)
            for (int d = 0; d < 3; d++)
                for (int i = 0; i < 8; i++)
                    at[end][d][i] = p[d][i] + apart[potential[term]][d] + (d == axis[term] ? (end ? -STEP : STEP) : 0);
        for (int end = 0; end < 2; end++) rh_lang_simplexnoise_8(value[end], at[end][0], at[end][1], at[end][2]);
        for (int i = 0; i < 8; i++) slope[term][i] = (value[0][i] - value[1][i]) / (2 * STEP);
    }
    for (int i = 0; i < 8; i++) out[i] = slope[0][i] - slope[1][i];
}

static double curl_1(int a, double x, double y, double z)
{
    int axis[2] = {(a + 1) % 3, (a + 2) % 3}, potential[2] = {axis[1], axis[0]};
    const double p[3] = {x, y, z};
    d4 at[3], value;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < 4; i++)
            at[d][i] = p[d] + apart[potential[i / 2]][d] + (d == axis[i / 2] ? (i % 2 ? -STEP : STEP) : 0);
    value = simplex_4(at[0], at[1], at[2]);
    return (value[0] - value[1]) / (2 * STEP) - (value[2] - value[3]) / (2 * STEP);
}

double rh_lang_curlsimplex_x(double x, double y, double z) { return curl_1(0, x, y, z); }
double rh_lang_curlsimplex_y(double x, double y, double z) { return curl_1(1, x, y, z); }
double rh_lang_curlsimplex_z(double x, double y, double z) { return curl_1(2, x, y, z); }
void rh_lang_curlsimplex_8x(double *out, const double *x, const double *y, const double *z) { curl_8(0, out, x, y, z); }
void rh_lang_curlsimplex_8y(double *out, const double *x, const double *y, const double *z) { curl_8(1, out, x, y, z); }
void rh_lang_curlsimplex_8z(double *out, const double *x, const double *y, const double *z) { curl_8(2, out, x, y, z); }

// --- functions -------------------------------------------------------------------------------------------------------

double rh_lang_simplexnoise_2(double x, double y) { return rh_lang_simplexnoise_3(x, y, 0); }
double rh_lang_simplexnoise_1(double x) { return rh_lang_simplexnoise_3(x, 0, 0); }
double rh_lang_simplexnoise_v(const double *p) { return rh_lang_simplexnoise_3(p[0], p[1], p[2]); }
void rh_lang_curlsimplexnoise_3(double *out, double x, double y, double z)
{
    for (int a = 0; a < 3; a++) out[a] = curl_1(a, x, y, z);
}
void rh_lang_curlsimplexnoise_v(double *out, const double *p) { rh_lang_curlsimplexnoise_3(out, p[0], p[1], p[2]); }
