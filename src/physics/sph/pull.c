// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The pressure of liquid that holds together: it may be below that of the air, and then it pulls. What the other
// solvers do, forces from the sum of two pressures and densities as the constraint, gathers particles in clumps as soon
// as pressure pulls (the tensile instability: a square that turned had the right pressure for three steps, a quarter of
// it after ten). So here
//      forces       -grad q = -sum_j w_ij (q_j - q_i) B_i x_ji, of differences, which even pressures do not feel
//                   (P. N. Sun, A. Colagrossi, S. Marrone, M. Antuono, A. M. Zhang, "Multi-resolution delta-plus-SPH
//                   with tensile instability control", Comput. Phys. Commun. 224, 2018), with
//                   B_i = (sum_j w_ij x_ij x_ij^T)^-1, exact for linear fields
//      constraint   velocities without divergence; of densities only what is above that of rest is undone
//      system       the Laplacian sum_j 2 w_ij (q_i - q_j) / laplacian in place of the divergence of these forces: an
//                   approximate projection, symmetric; what it leaves the next step finds again
//      surface      q = 0 where neighbours are missing on one side: the lowest eigenvalue of B^-1 is low (S. Marrone,
//                   A. Colagrossi, D. Le Touze, G. Graziani, "Fast free-surface detection", J. Comput. Phys. 229, 2010)
//      shift        what keeps particles even is the shift alone (sph.c), at the surface only along it (S. J. Lind, R.
//                   Xu, P. K. Stansby, B. D. Rogers, J. Comput. Phys. 231, 2012, 3.2)
// Forces are not the transpose of the constraint: momentum is kept to a thousandth, not to rounding. There are no walls
// in it. (Tried: walls as liquid mirrored in them, in moments and constraint. Water at rest in a tank stayed, but a dam
// break gained 2 % of energy and burst, and so did a vortex in a full vessel. Unknowns at the surface, too, where it
// will be too dense: two balls that met burst, the sooner the lower LOOSE.)
#include <math.h>
#include <string.h>
#include "base/eigen.h"
#include "base/parallel.h"
#include "physics/sph/pressure.h"
#include "solve/krylov.h"

// Lowest eigenvalues of B^-1, of that in the whole lattice. (Marrone's 0.75 takes rows that the flow has parted for
// surfaces, and a square that turns frays; with 0.5 its energy grows.)
static const float INSIDE = 0.6f;   // above it pressure is unknown
static const float SHIFTED = 0.3f;  // above it particles are shifted
static const float LOOSE = 0.45f;   // below it derivatives are not corrected
// Of the tolerance: what the solve leaves in a step is volume that nothing brings back.
static const double STRICT = 0.1;
static const float STEEP = 0.2f;  // 1 / spacing: evenness of neighbours that tells a surface

enum { SYMMETRIC = 6 };  // xx xy yy xz yz zz

typedef struct pull {
    rh_sph_fluid *f;
    const rh_sph_solve_options *o;
    float *weights;   // [8 lists.fluid.first[count]] w_ij, 1/m^2
    float *gradient;  // [SYMMETRIC count] B
    uint8_t *inside;  // [count] who is an unknown; all others have pressure 0
    float *along;     // [4 count] scratch
    float *inverse;   // [count] 1 / diagonal; 0 where there is no unknown
    float *x, *r;     // [count + 8]
    float scale;      // of the Laplacian
    int64_t unknowns;
    double error;
} pull;

// What a particle sums up over its neighbours.
typedef struct sums {
    float moment[SYMMETRIC];  // of w x x^T
    float flow[9];            // of w x (u_i - u_j)^T
} sums;

static void sum_up(const pull *e, int64_t i, sums *out, float uneven[4])
{
    const rh_sph_fluid *f = e->f;
    const float *flow = f->flow + 4 * i;
    float *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i];
    rh_f8 zero = rh_f8_all(0), c[3] = {zero, zero, zero}, m[SYMMETRIC], t[9], u[4];
    for (int a = 0; a < 9; a++) t[a] = zero, m[a % SYMMETRIC] = zero;
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, f->place + 4 * i, f->place, near);
        rh_f8 w = f->kernel->volume * p.slope, g[3] = {w * p.x, w * p.y, w * p.z};
        rh_f8_store(weights, w);
        weights += 8;
        rh_sph_gather(f->flow, near, u);
        m[0] += g[0] * p.x, m[1] += g[0] * p.y, m[2] += g[1] * p.y;
        m[3] += g[0] * p.z, m[4] += g[1] * p.z, m[5] += g[2] * p.z;
        for (int a = 0; a < 3; a++) {
            c[a] += g[a];
            for (int b = 0; b < 3; b++) t[3 * a + b] += g[a] * (flow[b] - u[b]);
        }
    }
    for (int a = 0; a < SYMMETRIC; a++) out->moment[a] = rh_f8_sum(m[a]);
    for (int a = 0; a < 9; a++) out->flow[a] = rh_f8_sum(t[a]);
    for (int a = 0; a < 3; a++) uneven[a] = rh_f8_sum(c[a]);
}

// Inverse of a symmetric matrix, the same multiple of the unit matrix where it is `loose`.
static void invert(const float m[SYMMETRIC], bool loose, float gradient, float out[SYMMETRIC])
{
    double xx = (double)m[0], xy = (double)m[1], yy = (double)m[2], xz = (double)m[3], yz = (double)m[4],
           zz = (double)m[5];
    double cofactors[SYMMETRIC] = {yy * zz - yz * yz, xz * yz - xy * zz, xx * zz - xz * xz,
                                   xy * yz - xz * yy, xy * xz - xx * yz, xx * yy - xy * xy};
    double determinant = xx * cofactors[0] + xy * cofactors[1] + xz * cofactors[3];
    for (int a = 0; a < SYMMETRIC; a++) out[a] = loose ? 0 : (float)(cofactors[a] / determinant);
    if (loose) out[0] = out[2] = out[5] = 1 / gradient;
}

// The lowest eigenvalues of eight matrices.
static rh_f8 lowest(float m[8][SYMMETRIC])
{
    static const int from[SYMMETRIC] = {0, 2, 5, 1, 3, 4};
    rh_f8 a[SYMMETRIC], values[3], vectors[3][3];
    for (int c = 0; c < SYMMETRIC; c++)
        for (int n = 0; n < 8; n++) a[c][n] = m[n][from[c]];
    rh_eigen3(a, values, vectors);
    return values[2];
}

// B : T
static float contract(const float b[SYMMETRIC], const float t[9])
{
    return b[0] * t[0] + b[2] * t[4] + b[5] * t[8] + b[1] * (t[1] + t[3]) + b[3] * (t[2] + t[6]) + b[4] * (t[5] + t[7]);
}

// Sets what is to be undone, who is inside, and `uneven`, of up to eight particles from `first`.
static void prepare(const pull *e, int64_t first)
{
    rh_sph_fluid *f = e->f;
    float whole = f->kernel->gradient, moment[8][SYMMETRIC] = {{0}};
    int count = f->count - first < 8 ? (int)(f->count - first) : 8;
    sums of[8];
    for (int n = 0; n < count; n++) {
        sum_up(e, first + n, of + n, f->uneven + 4 * (first + n));
        memcpy(moment[n], of[n].moment, sizeof moment[n]);
        if (f->kernel->dimension == 2) moment[n][5] = moment[n][0] + moment[n][2];  // never the lowest
    }
    rh_f8 low = lowest(moment);
    for (int n = 0; n < count; n++) {
        int64_t i = first + n;
        float *b = e->gradient + SYMMETRIC * i, off = rh_max_of(rh_min(f->density[i], e->o->predict->most) - 1, 0);
        invert(moment[n], !(low[n] > LOOSE * whole), whole, b);
        float change = -f->dt * contract(b, of[n].flow);
        f->excess[i] = e->o->predict->undone * off + change;
        f->predicted[i] = f->density[i] - 1 + change;
        e->inside[i] = low[n] > INSIDE * whole;
        f->uneven[4 * i + 3] = low[n] > SHIFTED * whole;
    }
}

// push = -grad x
static void push(const pull *e, const float *x)
{
    rh_sph_fluid *f = e->f;
    for (int64_t i = 0; i < f->count + 8; i++) f->place[4 * i + 3] = i < f->count ? x[i] : 0;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        const float *at = f->place + 4 * i, *b = e->gradient + SYMMETRIC * i,
                    *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i];
        rh_f8 gx = rh_f8_all(0), gy = gx, gz = gx, record[4];
        RH_SPH_EACH(f->lists->fluid, i, near)
        {
            rh_sph_gather(f->place, near, record);
            rh_f8 w = rh_f8_load(weights) * (record[3] - at[3]);
            weights += 8;
            gx += w * (at[0] - record[0]), gy += w * (at[1] - record[1]), gz += w * (at[2] - record[2]);
        }
        float *out = f->push + 4 * i, px = rh_f8_sum(gx), py = rh_f8_sum(gy), pz = rh_f8_sum(gz);
        out[0] = b[0] * px + b[1] * py + b[3] * pz;
        out[1] = b[1] * px + b[2] * py + b[4] * pz;
        out[2] = b[3] * px + b[4] * py + b[5] * pz;
    }
}

static void apply(void *user, const float *x, float *y)
{
    const pull *e = user;
    const rh_sph_list *list = &e->f->lists->fluid;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < e->f->count; i++) {
        const float *weights = e->weights + 8 * (uint64_t)list->first[i];
        rh_f8 sum = rh_f8_all(0);
        y[i] = 0;
        if (e->inverse[i] == 0) continue;
        RH_SPH_EACH(*list, i, near)
        {
            sum += rh_f8_load(weights) * (x[i] - rh_f8_gather(x, near));
            weights += 8;
        }
        y[i] = e->scale * rh_f8_sum(sum);
    }
}

static void by_diagonal(void *user, const float *r, float *z)
{
    const pull *e = user;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < e->f->count; i++) z[i] = e->inverse[i] * r[i];
}

static bool enough(void *user, const float *r)
{
    pull *e = user;
    e->error = rh_sph_mean_error(e->f, r, e->unknowns);
    return e->error < STRICT * e->o->tolerance;
}

// Unknowns, their diagonal, first guess and right-hand side.
static void begin(pull *e)
{
    const rh_sph_fluid *f = e->f;
    int64_t unknowns = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : unknowns)
    for (int64_t i = 0; i < f->count; i++) {
        const float *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i];
        rh_f8 sum = rh_f8_all(0);
        RH_SPH_EACH(f->lists->fluid, i, near) sum += rh_f8_load(weights), weights += 8;
        float diagonal = e->scale * rh_f8_sum(sum);
        bool is = e->inside[i] && diagonal > 0;
        e->inverse[i] = is ? 1 / diagonal : 0;
        e->x[i] = is ? f->q[i] : 0;
        e->r[i] = is ? f->excess[i] / (f->dt * f->dt) : 0;
        unknowns += is;
    }
    e->unknowns = unknowns;
}

// Takes the part across the surface from `uneven`, the way of the shift. Where the surface is follows from the mean of
// neighbours, in which what is uneven inside cancels.
static void keep_to_surface(const pull *e)
{
    rh_sph_fluid *f = e->f;
    float d = f->kernel->spacing;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        const float *own = f->uneven + 4 * i, *weights = e->weights + 8 * (uint64_t)f->lists->fluid.first[i];
        rh_f8 zero = rh_f8_all(0), x = zero, y = zero, z = zero, sum = zero, record[4];
        RH_SPH_EACH(f->lists->fluid, i, near)
        {
            rh_f8 w = rh_f8_load(weights);
            rh_sph_gather(f->uneven, near, record);
            weights += 8;
            sum += w, x += w * record[0], y += w * record[1], z += w * record[2];
        }
        float all = rh_f8_sum(sum), half = 0.5f * all, to = all > 0 ? d / (1.5f * all) : 0;
        rh_vec3 c = rh_v3(own[0], own[1], own[2]),
                n = rh_v3(to * (half * c.x + rh_f8_sum(x)), to * (half * c.y + rh_f8_sum(y)),
                          to * (half * c.z + rh_f8_sum(z)));
        float length = rh_v3_length(n), share = rh_min(length / STEEP, 1);
        if (length > 0) c = rh_v3_sub(c, rh_v3_scale(n, share * rh_v3_dot(n, c) / (length * length)));
        memcpy(e->along + 4 * i, (const float[4]){c.x, c.y, c.z, own[3]}, 4 * sizeof(float));
    }
    memcpy(f->uneven, e->along, 4 * (size_t)f->count * sizeof(float));
}

static rh_code take(pull *e, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = e->f;
    size_t floats = ((size_t)f->count + 8) * sizeof(float), weights = 8 * (size_t)f->lists->fluid.first[f->count];
    e->weights = rh_arena_take(arena, (weights + 8) * sizeof(float), status);
    e->gradient = rh_arena_take(arena, SYMMETRIC * floats, status);
    e->inside = rh_arena_take(arena, (size_t)f->count + 8, status);
    e->along = rh_arena_take(arena, 4 * floats, status);
    e->inverse = rh_arena_take(arena, floats, status);
    e->x = rh_arena_take_zero(arena, floats, status);
    e->r = rh_arena_take_zero(arena, floats, status);
    return e->weights && e->gradient && e->inside && e->along && e->inverse && e->x && e->r ? RH_OK : RH_MEMORY;
}

rh_code rh_sph_solve_pull(rh_sph_fluid *f, const rh_sph_solve_options *o, rh_arena *arena, rh_sph_solved *out,
                          rh_status *status)
{
    pull e = {.f = f, .o = o, .scale = 2 / f->kernel->laplacian};
    *out = (rh_sph_solved){0};
    RH_TRY(take(&e, arena, status));
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t first = 0; first < f->count; first += 8) prepare(&e, first);
    begin(&e);
    rh_krylov system = {.a = {f->count, apply, &e}, .m = {f->count, by_diagonal, &e}, .enough = enough, .user = &e};
    rh_krylov_report report;
    RH_TRY(rh_krylov_cg(&system, e.r, e.x, 0, o->max_iterations, arena, &report, status));
    out->iterations = report.iterations, out->converged = report.converged, out->error = e.error;
    out->unknowns = e.unknowns, out->surface = f->count - e.unknowns;
    push(&e, e.x);
    keep_to_surface(&e);
    memcpy(f->q, e.x, (size_t)f->count * sizeof(float));
    return RH_OK;
}
