// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How often a slender thread of viscous liquid coils, once it does so steadily: the boundary value problem of N. M.
// Ribe, "Coiling of viscous jets", Proc. R. Soc. Lond. A 460, 2004, solved by Newton's method. All regimes are in it.
//
// Along the arc s, seen from a frame that turns with the coil at W about the vertical: r the place, t the tangent, u
// the speed along the thread, w the angular velocity of the liquid, n and m the force and the moment that the lower
// part exerts on the upper one, A = Q/u the section, I = A^2/(4 pi). Stretching, bending and twisting resist with 3 mu
// A, 3 mu I, 2 mu I:
//
//      r' = t                     w' = m_across / (3 mu I) + m_along / (2 mu I)
//      t' = (w - W) x t / u       n' = rho Q (V' + W x V / u) - rho A g,  V = u t + W x r
//      u' = n.t / (3 mu A)        m' = n x t
//
// A nozzle holds place, direction and speed and lets nothing turn; what has been laid down turns no more (w = 0), moves
// with the plate, which may sink, and lies along the coil. Rotational inertia and surface tension are left out.
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct coiling {
    double radius, speed;       // m, m/s: at the nozzle
    double height;              // m: of the nozzle above the place where the thread touches the coil
    double viscosity, gravity;  // m^2/s, m/s^2
    double sinks;               // m/s: the plate
    // found
    double frequency;                    // Hz
    double end_radius, end_speed, coil;  // m, m/s, m: of the thread where it arrives, and radius of the coil
} coiling;

// With lengths in heights, speeds in those at the nozzle, and forces in 3 mu I u / height^3.
typedef struct coil_problem {
    double slim, weight, inertia, sinks;
} coil_problem;

// What is known at each of the nodes, the two unknown numbers among it.
enum { PLACE = 0, TANGENT = 3, SPEED = 6, SPIN = 7, FORCE = 10, MOMENT = 13, TURN = 16, LENGTH = 17, VALUES = 18 };
enum { AT_NOZZLE = 10, AT_COIL = 8, INTERVALS = 150, UNKNOWNS = (INTERVALS + 1) * VALUES };
enum { BELOW = 27, ABOVE = 25, BAND = 2 * BELOW + ABOVE + 1 };  // of the matrix; pivoting widens it

typedef struct coil_solver {
    double y[UNKNOWNS], tried[UNKNOWNS], left[UNKNOWNS], spare[UNKNOWNS];
    double band[UNKNOWNS][BAND];  // row i, column j at j - i + BELOW
} coil_solver;

static inline void coil_cross(const double *a, const double *b, double scale, double *sum)
{
    sum[0] += scale * (a[1] * b[2] - a[2] * b[1]);
    sum[1] += scale * (a[2] * b[0] - a[0] * b[2]);
    sum[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}
static inline double coil_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The right sides, with x = s / length from 0 to 1.
static inline void coil_slopes(const coil_problem *p, const double *y, double *slope)
{
    const double *t = y + TANGENT, *w = y + SPIN, u = y[SPEED], turn[3] = {0, 0, y[TURN]},
                 seen[3] = {w[0], w[1], w[2] - y[TURN]};
    double v[3] = {u * t[0], u * t[1], u * t[2]}, along = coil_dot(y + MOMENT, t);
    memset(slope, 0, VALUES * sizeof *slope);
    coil_cross(turn, y + PLACE, 1, v);
    coil_cross(seen, t, 1 / u, slope + TANGENT);
    slope[SPEED] = p->slim * u * coil_dot(y + FORCE, t);
    for (int i = 0; i < 3; i++) {
        slope[PLACE + i] = t[i];
        slope[SPIN + i] = u * u * (y[MOMENT + i] + 0.5 * along * t[i]);
        slope[FORCE + i] = p->inertia * slope[SPEED] * t[i];
    }
    coil_cross(w, t, p->inertia, slope + FORCE);  // V' = u' t + w x t
    coil_cross(turn, v, p->inertia / u, slope + FORCE);
    slope[FORCE + 2] += p->weight / u;
    coil_cross(y + FORCE, t, 1, slope + MOMENT);
    for (int i = 0; i < VALUES; i++) slope[i] *= y[LENGTH];
}

static inline void coil_nozzle(const double *y, double *left)
{
    memcpy(left, y, AT_NOZZLE * sizeof *left);
    left[PLACE + 2] -= 1;
    left[TANGENT + 2] += 1;
    left[SPEED] -= 1;
}

// The coil's radius is the x of the end, as y is 0 there.
static inline void coil_end(const coil_problem *p, const double *y, double *left)
{
    const double *t = y + TANGENT;
    const double all[AT_COIL] = {
        y[PLACE + 1], y[PLACE + 2], t[0],       y[SPEED] * t[1] + y[TURN] * y[PLACE], y[SPEED] * t[2] + p->sinks,
        y[SPIN],      y[SPIN + 1],  y[SPIN + 2]};
    memcpy(left, all, sizeof all);
}

static inline void coil_interval(const coil_problem *p, const double *y, double *left)
{
    double middle[VALUES], slope[VALUES];
    for (int i = 0; i < VALUES; i++) middle[i] = 0.5 * (y[i] + y[VALUES + i]);
    coil_slopes(p, middle, slope);
    for (int i = 0; i < VALUES; i++) left[i] = y[VALUES + i] - y[i] - slope[i] / INTERVALS;
}

// What the equations of node or interval k lack (-1: the nozzle, INTERVALS: the end). Returns how many they are.
static inline int coil_part(const coil_problem *p, const double *y, int k, double *left)
{
    if (k < 0) return coil_nozzle(y, left), AT_NOZZLE;
    if (k == INTERVALS) return coil_end(p, y + k * VALUES, left), AT_COIL;
    return coil_interval(p, y + k * VALUES, left), VALUES;
}

static inline double coil_lacks(const coil_problem *p, const double *y, double *left)
{
    double sum = 0;
    for (int k = -1, at = 0; k <= INTERVALS; k++) at += coil_part(p, y, k, left + at);
    for (int i = 0; i < UNKNOWNS; i++) sum += left[i] * left[i];
    return sqrt(sum);
}

static inline void coil_derive(const coil_problem *p, coil_solver *c)
{
    memset(c->band, 0, sizeof c->band);
    for (int k = -1, at = 0, rows = 0; k <= INTERVALS; k++, at += rows) {
        int first = (k < 0 ? 0 : k) * VALUES, count = k < 0 || k == INTERVALS ? VALUES : 2 * VALUES;
        for (int j = first; j < first + count; j++) {
            double more[VALUES], less[VALUES], was = c->y[j], step = 1e-6 * fmax(1, fabs(was));
            c->y[j] = was + step, coil_part(p, c->y, k, more);
            c->y[j] = was - step, rows = coil_part(p, c->y, k, less);
            c->y[j] = was;
            for (int i = 0; i < rows; i++) c->band[at + i][j - at - i + BELOW] = (more[i] - less[i]) / (2 * step);
        }
    }
}

// x of band x = left, in `left`.
static inline bool coil_eliminate(coil_solver *c)
{
    for (int k = 0; k < UNKNOWNS; k++) {
        int last = k + BELOW < UNKNOWNS ? k + BELOW : UNKNOWNS - 1, best = k;
        for (int i = k; i <= last; i++)
            if (fabs(c->band[i][k - i + BELOW]) > fabs(c->band[best][k - best + BELOW])) best = i;
        double *pivot = &c->band[k][BELOW], *other = &c->band[best][k - best + BELOW];
        if (*other == 0) return false;
        for (int j = 0; best != k && j <= BELOW + ABOVE; j++) {
            double value = pivot[j];
            pivot[j] = other[j], other[j] = value;
        }
        double value = c->left[k];
        c->left[k] = c->left[best], c->left[best] = value;
        for (int i = k + 1; i <= last; i++) {
            double *row = &c->band[i][k - i + BELOW], share = row[0] / pivot[0];
            for (int j = 0; share != 0 && j <= BELOW + ABOVE; j++) row[j] -= share * pivot[j];
            c->left[i] -= share * c->left[k];
        }
    }
    for (int k = UNKNOWNS - 1; k >= 0; k--) {
        for (int j = 1; j <= BELOW + ABOVE && k + j < UNKNOWNS; j++)
            c->left[k] -= c->band[k][BELOW + j] * c->left[k + j];
        c->left[k] /= c->band[k][BELOW];
    }
    return true;
}

static inline bool coil_newton(const coil_problem *p, coil_solver *c)
{
    for (int n = 0; n < 40; n++) {
        double lacks = coil_lacks(p, c->y, c->left), step = 1;
        if (lacks < 1e-8) return true;
        coil_derive(p, c);
        if (!coil_eliminate(c)) return false;
        for (bool better = false; !better; step /= 2) {
            better = true;
            for (int i = 0; i < UNKNOWNS; i++) {
                c->tried[i] = c->y[i] - step * c->left[i];
                if ((i % VALUES == SPEED || i % VALUES == LENGTH) && c->tried[i] < 0.02) better = false;
            }
            better = better && coil_lacks(p, c->tried, c->spare) < (1 - 0.1 * step) * lacks;
            if (step < 1e-3) return false;
        }
        memcpy(c->y, c->tried, sizeof c->y);
    }
    return false;
}

// A curve that leaves the vertical and bends into a circle of a quarter of the height: near enough without weight.
static inline void coil_guess(coil_solver *c)
{
    memset(c->y, 0, sizeof c->y);
    for (int k = 0; k <= INTERVALS; k++) {
        double *y = c->y + k * VALUES, x = (double)k / INTERVALS, steep = asin(1) * x * x * x, side = asin(1) * x;
        const double of[] = {
            0.25 * x * x, 0.05 * sin(2 * side), 1 - x, sin(steep) * cos(side), -sin(steep) * sin(side), -cos(steep), 1};
        memcpy(y, of, sizeof of);
        y[TURN] = 4, y[LENGTH] = 1.3;
    }
}

// From a thread of no weight and no thickness to the one that is asked for. False if the way ends before.
static inline bool coiling_find(coiling *of)
{
    double a = of->radius, h = of->height, bending = 0.75 * of->viscosity * a * a * of->speed / (h * h * h * h);
    coil_solver *c = malloc(sizeof *c);
    coil_guess(c);
    bool found = coil_newton(&(coil_problem){.slim = 1e-9}, c);
    for (double part = 0, step = 0.01; found && part < 1;) {
        double next = fmin(part + step, 1), forces = next * next * next;
        coil_problem p = {next * a * a / (4 * h * h), forces * of->gravity / bending,
                          forces * of->speed * of->speed / (h * bending), next * of->sinks / of->speed};
        coil_solver *other = malloc(sizeof *other);
        memcpy(other->y, c->y, sizeof c->y);
        bool good = coil_newton(&p, other);
        if (good) memcpy(c->y, other->y, sizeof c->y), part = next;
        step = good ? fmin(1.5 * step, 0.05) : 0.3 * step;  // longer ones may find another mode
        found = step > 1e-6;
        free(other);
    }
    const double *end = c->y + INTERVALS * VALUES;
    of->frequency = end[TURN] * of->speed / h / (4 * asin(1));
    of->end_speed = end[SPEED] * of->speed;
    of->end_radius = a / sqrt(end[SPEED]);
    of->coil = fabs(end[PLACE]) * h;
    free(c);
    return found;
}
