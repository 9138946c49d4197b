// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Values at a place are those of the straight line (plane) that fits the particles around it best, by weights W: right
// at a wall too, where all of them lie on one side. (Their mean was off by the pressure of 0.7 spacings there.)
#include "physics/sph_values.h"

#include <math.h>

enum { TERMS = 4 };                 // 1, x, y, z
static const double WET = 0.25;     // share of its surroundings that must be liquid for a place to count as inside
static const double SQUEEZE = 1.5;  // supports that a place sees: half of them may be wall

// --- fits ------------------------------------------------------------------------------------------------------------
typedef struct fit {
    double a[TERMS][TERMS], b[TERMS][4];  // normal equations, of pressure and velocity
    double weight;                        // of the usual kernel: share of liquid
} fit;

static void add_particle(fit *f, const rh_sph_values *m, rh_dvec3 place, int64_t i)
{
    const rh_sph_kernel *k = m->kernel;
    const float *x = m->place + 4 * i;
    double h = (double)k->support, term[TERMS] = {1, (x[0] - place.x) / h, (x[1] - place.y) / h, (x[2] - place.z) / h};
    double square = term[1] * term[1] + term[2] * term[2] + term[3] * term[3];
    if (square < 1) f->weight += (double)(k->volume * k->value) * pow(1 - square, 3);
    double left = 1 - square / (SQUEEZE * SQUEEZE);
    if (left <= 0) return;
    const double value[4] = {m->q[i], m->velocities[i].x, m->velocities[i].y, m->velocities[i].z};
    double w = left * left * left;
    for (int r = 0; r < TERMS; r++) {
        for (int c = 0; c < TERMS; c++) f->a[r][c] += w * term[r] * term[c];
        for (int c = 0; c < 4; c++) f->b[r][c] += w * term[r] * value[c];
    }
}

// Values at the place. Directions in which the particles do not spread are left out: a small diagonal does that.
static void solve_fit(fit *f, double out[4])
{
    double scale = f->a[0][0];
    for (int r = 1; r < TERMS; r++) f->a[r][r] += 1e-3 * scale;
    for (int p = TERMS - 1; p > 0; p--)
        for (int r = 0; r < p; r++) {
            double factor = f->a[r][p] / f->a[p][p];
            for (int c = 0; c < p; c++) f->a[r][c] -= factor * f->a[p][c];
            for (int c = 0; c < 4; c++) f->b[r][c] -= factor * f->b[p][c];
        }
    for (int c = 0; c < 4; c++) out[c] = f->b[0][c] / f->a[0][0];
}

static void gather_tile_cell(fit *f, const rh_sph_values *m, rh_dvec3 place, const int cell[3])
{
    int32_t t = rh_tiles_find(m->tiles, (rh_tile){cell[0] >> 3, cell[1] >> 3, cell[2] >> 3});
    if (t < 0) return;
    const uint32_t *first = m->tiles->first + (int64_t)t * m->tiles->cells + (cell[0] & 7) + 8 * (cell[1] & 7) +
                            (m->tiles->dimension == 3 ? 64 * (cell[2] & 7) : 0);
    for (uint32_t i = first[0]; i < first[1]; i++) add_particle(f, m, place, i);
}

// False where there is hardly any liquid.
static bool values_at(const rh_sph_values *m, rh_vec3 point, double out[4])
{
    fit f = {.weight = 0};
    rh_dvec3 place = rh_d3_from(point);
    double h = (double)m->tiles->h;
    int low[3], deep = m->tiles->dimension == 3;
    for (int a = 0; a < 3; a++) {
        double at = (&place.x)[a] / h;
        if (!(fabs(at) < 1e9)) return false;
        low[a] = (int)floor(at);
    }
    if (!deep) low[2] = 0;
    for (int z = -2 * deep; z <= 2 * deep; z++)
        for (int y = -2; y <= 2; y++)
            for (int x = -2; x <= 2; x++)
                gather_tile_cell(&f, m, place, (const int[3]){low[0] + x, low[1] + y, low[2] + z});
    if (!(f.weight > WET)) return false;
    solve_fit(&f, out);
    return true;
}

float rh_sph_q_at(const rh_step_view *view, rh_vec3 point)
{
    double out[4];
    return values_at(view->solver, point, out) ? (float)fmax(out[0], 0) : 0;
}

bool rh_sph_velocity_at(const rh_step_view *view, rh_vec3 point, rh_vec3 *velocity)
{
    double out[4];
    if (!values_at(view->solver, point, out)) return false;
    *velocity = rh_v3((float)out[1], (float)out[2], (float)out[3]);
    return true;
}
