// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// noise is K. Perlin, "Improving noise", SIGGRAPH 2002, with a hash of the lattice point in place of the table of 256:
// it does not repeat. (simplexnoise is in simplex.c.) The curls are those of three noises far apart from each other, R.
// Bridson, J. Hourihan, M. Nordenstam, "Curl-noise for procedural fluid flow", SIGGRAPH 2007; by central differences,
// which commute, so the field has no divergence in the same differences. OpenVDB AX takes the same differences of
// coordinates in float, where a step of 1e-4 near 512 is 6e-5 or 1.2e-4 long: its curls are wrong by up to 40 percent,
// at random from place to place. Ours are in double.
#include <math.h>
#include <stdint.h>
#include "base/random.h"
#include "lang/library/library.h"

// Beyond this the lattice is coarser than a double can tell: no noise, and no cast that is not defined.
static bool in_reach(double x, double y, double z) { return fabs(x) < 0x1p52 && fabs(y) < 0x1p52 && fabs(z) < 0x1p52; }

static double fade(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }

static double edge(uint64_t key, double x, double y,
                   double z)  // one of the twelve edges of a cube, times the way from its corner
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
        uint64_t key = rh_mix64((uint64_t)((int64_t)xb + i) ^
                                rh_mix64((uint64_t)((int64_t)yb + j) ^ rh_mix64((uint64_t)((int64_t)zb + k))));
        value += (i ? u : 1 - u) * (j ? v : 1 - v) * (k ? w : 1 - w) * edge(key, dx - i, dy - j, dz - k);
    }
    return value / 1.0363538112118038;  // the largest height twelve edges can make
}

// --- curl ------------------------------------------------------------------------------------------------------------

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

// --- functions -------------------------------------------------------------------------------------------------------

double rh_lang_noise_3(double x, double y, double z) { return 0.5 * (perlin(x, y, z) + 1); }
double rh_lang_noise_2(double x, double y) { return rh_lang_noise_3(x, y, 0); }
double rh_lang_noise_1(double x) { return rh_lang_noise_3(x, 0, 0); }
double rh_lang_noise_v(const double *p) { return rh_lang_noise_3(p[0], p[1], p[2]); }
void rh_lang_curlnoise_v(double *out, const double *p) { curl(rh_lang_noise_3, out, p); }
void rh_lang_curlnoise_3(double *out, double x, double y, double z)
{
    curl(rh_lang_noise_3, out, (double[3]){x, y, z});
}
