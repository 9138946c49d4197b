// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Linear theory of a body that floats in a closed tank and has one way to move, q: potential flow below a surface that
// hardly leaves its place (J. V. Wehausen, "The motion of floating bodies", Annu. Rev. Fluid Mech. 3, 1971). In two
// dimensions, or around the axis x = 0. For tests: finite volumes on a grid as fine as one likes, in double.
//
//      laplace phi = 0;  phi = Phi at the surface;  d phi / d n = q' n on the body, 0 on walls
//      eta' = d phi / d y;  Phi' = -g eta;  (m q' - rho (sum of b phi))' = -c q,  b: flux of the body into cells for q'
//      = 1
#pragma once
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct linear_body {
    double width, depth, h;  // m: of the tank, from x = 0 and up to y = 0; of its cells
    bool around;             // the axis x = 0
    bool (*inside)(double x, double y);
    double (*velocity)(double x, double y, int axis);  // of the body at a point, for q' = 1
    double mass, stiffness, start;                     // of the motion; q at the start, where all is at rest
} linear_body;

typedef struct linear_waves {
    const linear_body *of;
    int nx, ny;
    double *share[2];                    // of faces: open area over distance of cells
    double *diagonal, *flux, *phi;       // of cells; flux: b
    double *edge, *surface, *level;      // of columns: share of the surface's face; Phi, eta
    double *r, *p, *ap, *b;              // of the solver
    double q, momentum, inertia, *unit;  // unit: potential for q' = 1
} linear_waves;

static double linear_share(const linear_body *o, double x, double y, int axis)
{
    enum { PARTS = 16 };
    int open = 0;
    for (int k = 0; k < PARTS; k++) {
        double along = (k + 0.5) / PARTS * o->h;
        open += axis == 0 ? !o->inside(x, y + along) : !o->inside(x + along, y);
    }
    return (double)open / PARTS;
}

static void linear_apply(const linear_waves *w, const double *x, double *out)
{
    for (int j = 0; j < w->ny; j++)
        for (int i = 0; i < w->nx; i++) {
            int c = i + j * w->nx;
            double sum = w->diagonal[c] * x[c];
            if (i > 0) sum -= w->share[0][c] * x[c - 1];
            if (i + 1 < w->nx) sum -= w->share[0][c + 1] * x[c + 1];
            if (j > 0) sum -= w->share[1][c] * x[c - w->nx];
            if (j + 1 < w->ny) sum -= w->share[1][c + w->nx] * x[c + w->nx];
            out[c] = w->diagonal[c] > 0 ? sum : 0;
        }
}

// Conjugate gradients with the diagonal, from x as it is.
static void linear_solve(linear_waves *w, double *x)
{
    int n = w->nx * w->ny;
    double rho = 0, first = 0;
    linear_apply(w, x, w->ap);
    for (int c = 0; c < n; c++) {
        w->r[c] = w->diagonal[c] > 0 ? w->b[c] - w->ap[c] : 0;
        w->p[c] = w->diagonal[c] > 0 ? w->r[c] / w->diagonal[c] : 0;
        rho += w->r[c] * w->p[c];
        first += w->diagonal[c] > 0 ? w->b[c] * w->b[c] / w->diagonal[c] : 0;
    }
    for (int step = 0; step < 5000 && rho > 1e-18 * first; step++) {
        double pap = 0, next = 0;
        linear_apply(w, w->p, w->ap);
        for (int c = 0; c < n; c++) pap += w->p[c] * w->ap[c];
        for (int c = 0; c < n; c++) {
            x[c] += rho / pap * w->p[c];
            w->r[c] -= rho / pap * w->ap[c];
            if (w->diagonal[c] > 0) next += w->r[c] * w->r[c] / w->diagonal[c];
        }
        for (int c = 0; c < n; c++)
            w->p[c] = (w->diagonal[c] > 0 ? w->r[c] / w->diagonal[c] : 0) + next / rho * w->p[c];
        rho = next;
    }
}

// Faces of the body's own part push cells as the body moves.
static void linear_faces(linear_waves *w)
{
    const linear_body *o = w->of;
    double h = o->h;
    for (int a = 0; a < 2; a++)
        for (int j = 0; j < w->ny + a; j++)
            for (int i = 0; i < w->nx + 1 - a; i++) {
                double x = i * h, y = j * h - o->depth, mx = x + (a ? 0.5 * h : 0), my = y + (a ? 0 : 0.5 * h);
                double area = o->around ? 2 * acos(-1) * mx : 1, open = linear_share(o, x, y, a);
                int c = i + j * w->nx;
                bool low = a == 0 ? i > 0 : j > 0, high = a == 0 ? i < w->nx : j < w->ny;
                double push = area * h * (1 - open) * o->velocity(mx, my, a);
                if (high) w->flux[c] += push;
                if (low) w->flux[c - (a ? w->nx : 1)] -= push;
                if (a == 1 && j == w->ny) {
                    w->edge[i] = 2 * area * open;
                    w->diagonal[c - w->nx] += w->edge[i];
                } else if (low && high) {
                    w->share[a][c] = area * open;
                    w->diagonal[c] += area * open;
                    w->diagonal[c - (a ? w->nx : 1)] += area * open;
                }
            }
}

static double linear_rate(linear_waves *w)
{
    int n = w->nx * w->ny;
    double sum = 0;
    memset(w->b, 0, (size_t)n * sizeof *w->b);
    for (int i = 0; i < w->nx; i++) w->b[i + (w->ny - 1) * w->nx] = w->edge[i] * w->surface[i];
    linear_solve(w, w->phi);
    for (int c = 0; c < n; c++) sum += w->flux[c] * w->phi[c];
    return (w->momentum + 1000 * sum) / w->inertia;
}

static void linear_start(linear_waves *w, const linear_body *of)
{
    *w = (linear_waves){.of = of, .q = of->start};
    w->nx = (int)lround(of->width / of->h), w->ny = (int)lround(of->depth / of->h);
    size_t n = (size_t)w->nx * (size_t)w->ny;
    double **all[] = {&w->share[0], &w->share[1], &w->diagonal, &w->flux, &w->phi, &w->edge, &w->surface,
                      &w->level,    &w->r,        &w->p,        &w->ap,   &w->b,   &w->unit};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) *all[k] = calloc(n + (size_t)w->nx + 1, sizeof **all[k]);
    linear_faces(w);
    for (size_t c = 0; c < n; c++) w->b[c] = -w->flux[c];
    linear_solve(w, w->unit);
    w->inertia = of->mass;
    for (size_t c = 0; c < n; c++) w->inertia -= 1000 * w->flux[c] * w->unit[c];
}

// A step of dt: surface and momentum in its middle, levels and q at its ends.
static void linear_step(linear_waves *w, double dt, bool first)
{
    double half = first ? 0.5 * dt : dt;
    for (int i = 0; i < w->nx; i++) w->surface[i] -= half * 9.81 * w->level[i];
    w->momentum -= half * w->of->stiffness * w->q;
    double rate = linear_rate(w);
    for (int i = 0; i < w->nx; i++) {
        int c = i + (w->ny - 1) * w->nx;
        double area = w->of->around ? 2 * acos(-1) * (i + 0.5) * w->of->h : 1;
        if (w->edge[i] > 0)
            w->level[i] += dt * w->edge[i] * (w->surface[i] - w->phi[c] - rate * w->unit[c]) / (area * w->of->h);
    }
    w->q += dt * rate;
}

static void linear_end(linear_waves *w)
{
    double *all[] = {w->share[0], w->share[1], w->diagonal, w->flux, w->phi, w->edge, w->surface,
                     w->level,    w->r,        w->p,        w->ap,   w->b,   w->unit};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}
