// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A cube is cut into eight until the distance is nearly linear in it, and then the share below a plane is known in
// closed form. Where the boundary bends the error of the plane falls with the square of the edge, so that of the cube
// and those of its eight parts together (Richardson) leave the fourth power; counting points instead would have been
// off by a layer of points: at a face that lies askew of them, hundreds of particles.
#include "solid/measure.h"

#include <math.h>
#include <stdint.h>

// Cubes are cut at least FIRST times before corners are believed (something thin may lie between them), and at most
// EDGE times, at edges of the boundary where no plane fits: what is left there is a part in 1024 of a cube.
enum { FIRST = 2, EDGE = 4 };

static const double FLAT = 1e-7, GENTLE = 0.05, KINK = 0.002, TOUCH = 1e-9;  // of the edge
static const double SNAP = 1e-6;                                             // of a share

double rh_measure_plane(double value, const double gradient[3], int dimension)
{
    double a[3], largest = 0, sum = 0, product = 1, factorial = 1, share = 0;
    int n = 0;
    for (int i = 0; i < dimension; i++) largest = fabs(gradient[i]) > largest ? fabs(gradient[i]) : largest;
    // A slope so small changes the share by a part in 1e9 and would divide by nearly nothing.
    for (int i = 0; i < dimension; i++)
        if (fabs(gradient[i]) > 1e-4 * largest) a[n++] = fabs(gradient[i]);
    if (n == 0 || largest == 0) return value < 0;
    for (int i = 0; i < n; i++) sum += a[i], product *= a[i], factorial *= i + 1;
    // The volume of a corner cut off by a plane, minus what of it lies beyond the cube.
    for (int corner = 0; corner < 1 << n; corner++) {
        double reach = 0.5 * sum - value, sign = 1;
        for (int i = 0; i < n; i++)
            if (corner >> i & 1) reach -= a[i], sign = -sign;
        if (reach > 0) share += sign * (n == 1 ? reach : n == 2 ? reach * reach : reach * reach * reach);
    }
    share /= product * factorial;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

// Distances at corners, middles of edges and faces, and the centre: point (i, j, k) of 0..2 is at i + 3 j + 9 k.
typedef struct samples {
    double at[27];
} samples;

typedef struct fit {
    double value, gradient[3];  // of the plane, the cube's edge being 1
    double off;                 // the most that the distance differs from it at corners
    double least, most;
} fit;

// The corners, or all but them and the centre.
static void sample(const rh_measure *m, const double center[3], double edge, bool corners, samples *s)
{
    int n = m->dimension, count = n == 3 ? 27 : n == 2 ? 9 : 3;
    for (int p = 0; p < count; p++) {
        const int index[3] = {p % 3, p / 3 % 3, p / 9};
        bool corner = true;
        for (int i = 0; i < n; i++) corner = corner && index[i] != 1;
        if (corner != corners || p == count / 2) continue;
        double at[3] = {center[0], center[1], center[2]};
        for (int i = 0; i < n; i++) at[i] += 0.5 * (index[i] - 1) * edge;
        s->at[p] = m->distance(at, m->user);
    }
}

// fmin and fmax must treat NaN as the standard says, and so become calls, a fifth of what measuring costs; there is
// none here.
static double less(double a, double b) { return a < b ? a : b; }
static double more(double a, double b) { return a > b ? a : b; }

// The plane through the corners of the part that begins at point `first` and is `wide` points wide (2: all of the
// cube).
static fit fit_plane(const samples *s, int n, int first, int wide)
{
    static const int stride[3] = {1, 3, 9};
    int corners = 1 << n;
    double d[8];
    fit f = {.least = INFINITY, .most = -INFINITY};
    for (int c = 0; c < corners; c++) {
        int p = first;
        for (int i = 0; i < n; i++) p += c >> i & 1 ? wide * stride[i] : 0;
        d[c] = s->at[p];
        f.least = less(f.least, d[c]);
        f.most = more(f.most, d[c]);
        f.value += d[c] / corners;
        for (int i = 0; i < n; i++) f.gradient[i] += (c >> i & 1 ? 2 : -2) * d[c] / corners;
    }
    for (int c = 0; c < corners; c++) {
        double plane = f.value;
        for (int i = 0; i < n; i++) plane += (c >> i & 1 ? 0.5 : -0.5) * f.gradient[i];
        f.off = more(f.off, fabs(d[c] - plane));
    }
    return f;
}

// The share by the parts of the cube, each with a plane of its own; *off: the most that the distance differs from these
// planes.
static double share_of_parts(const samples *s, int n, double *off)
{
    static const int stride[3] = {1, 3, 9};
    double sum = 0;
    for (int c = 0; c < 1 << n; c++) {
        int first = 0;
        for (int i = 0; i < n; i++) first += c >> i & 1 ? stride[i] : 0;
        fit f = fit_plane(s, n, first, 1);
        sum += rh_measure_plane(f.value, f.gradient, n);
        *off = more(*off, f.off);
    }
    return sum / (1 << n);
}

static double share_of(const rh_measure *m, const double center[3], double edge, int level);

static double share_of_eight(const rh_measure *m, const double center[3], double edge, int level)
{
    int n = m->dimension, parts = 1 << n;
    double sum = 0;
    for (int c = 0; c < parts; c++) {
        double at[3] = {center[0], center[1], center[2]};
        for (int i = 0; i < n; i++) at[i] += c >> i & 1 ? 0.25 * edge : -0.25 * edge;
        sum += share_of(m, at, 0.5 * edge, level + 1);
    }
    return sum / parts;
}

// The border is this far from the centre of a cube that it does not reach. Between samples the slope along each axis is
// at most that of the samples, so the whole is at most sqrt(n): in small cubes that says more than the slack does.
double rh_measure_reach(const rh_measure *m, double edge)
{
    double root = sqrt((double)m->dimension), half = 0.5 * edge * root;
    return m->sampled ? less(half + m->slack, half * root) : half + m->slack;
}

static double share_of(const rh_measure *m, const double center[3], double edge, int level)
{
    int n = m->dimension, middle = n == 3 ? 13 : n == 2 ? 4 : 1;
    double distance = m->distance(center, m->user), gentle = m->bend > 0 ? m->bend : GENTLE, part = 0;
    if (fabs(distance) >= rh_measure_reach(m, edge)) return distance < 0;
    samples s;
    s.at[middle] = distance;
    sample(m, center, edge, true, &s);
    fit f = fit_plane(&s, n, 0, 2);
    double alone = rh_measure_plane(f.value, f.gradient, n), off = more(f.off, fabs(distance - f.value));
    if (level >= FIRST && more(f.most, distance) <= TOUCH * edge) return 1;
    if (level >= FIRST && less(f.least, distance) >= -TOUCH * edge) return 0;
    if (level < EDGE && off >= gentle * edge) return share_of_eight(m, center, edge, level);
    if (off <= FLAT * edge) return alone;
    sample(m, center, edge, false, &s);
    double finer = share_of_parts(&s, n, &part);
    // Parts of what bends differ a quarter as much from their planes, of what has a kink half as much or more. Kinks
    // do not cancel: the edge of a box is cut at the same place all along. Sampled distances have kinks everywhere,
    // and those do.
    bool bends = part < 0.35 * off || m->slack > 0;
    if (level == EDGE) return finer;
    return more(off, part) < (bends ? gentle : KINK) * edge ? finer + (finer - alone) / 3
                                                            : share_of_eight(m, center, edge, level);
}

double rh_measure_share(const rh_measure *measure, const double center[3], double edge)
{
    double share = share_of(measure, center, edge, 0);
    return share < SNAP ? 0 : share > 1 - SNAP ? 1 : share;
}

// The cubes of one block of CUBES along each axis; those that the border is far from are not looked at singly.
enum { CUBES = 4, GROUPS = 64 };

static double share_of_block(const rh_measure *m, const double low[3], double edge, const int64_t first[3],
                             const int64_t count[3])
{
    int64_t end[3] = {1, 1, 1};
    double center[3] = {0}, sum = 0, all = 1;
    for (int a = 0; a < m->dimension; a++) {
        end[a] = first[a] + CUBES < count[a] ? first[a] + CUBES : count[a];
        center[a] = low[a] + ((double)first[a] + 0.5 * CUBES) * edge;
        all *= (double)(end[a] - first[a]);
    }
    double distance = m->distance(center, m->user);
    if (fabs(distance) >= rh_measure_reach(m, CUBES * edge)) return distance < 0 ? all : 0;
    for (int64_t k = first[2]; k < end[2]; k++)
        for (int64_t j = first[1]; j < end[1]; j++)
            for (int64_t i = first[0]; i < end[0]; i++) {
                const int64_t at[3] = {i, j, k};
                for (int a = 0; a < m->dimension; a++) center[a] = low[a] + ((double)at[a] + 0.5) * edge;
                sum += rh_measure_share(m, center, edge);
            }
    return sum;
}

// Blocks are shared out among GROUPS, whatever the number of threads, and groups summed in their order.
double rh_measure_box(const rh_measure *measure, const double low[3], const double high[3], double edge)
{
    int64_t count[3] = {1, 1, 1}, blocks[3] = {1, 1, 1}, all = 1;
    double sums[GROUPS] = {0}, sum = 0, cube = 1;
    for (int a = 0; a < measure->dimension; a++) {
        count[a] = (int64_t)ceil((high[a] - low[a]) / edge);
        blocks[a] = (count[a] + CUBES - 1) / CUBES;
        all *= blocks[a];
        cube *= edge;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int group = 0; group < GROUPS; group++)
        for (int64_t b = all * group / GROUPS; b < all * (group + 1) / GROUPS; b++) {
            const int64_t first[3] = {b % blocks[0] * CUBES, b / blocks[0] % blocks[1] * CUBES,
                                      b / blocks[0] / blocks[1] * CUBES};
            sums[group] += share_of_block(measure, low, edge, first, count);
        }
    for (int group = 0; group < GROUPS; group++) sum += sums[group];
    return sum * cube;
}
