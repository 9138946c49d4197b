// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sheets and threads of thick liquid that fall onto a plate, for the tests of what they do: where the moving part is at
// any time, and how often it folds or coils.
#pragma once
#include <math.h>
#include "lab.h"

static const double PI = 3.14159265358979323846;

enum { MOST = 8192 };

// A thread (in two dimensions a sheet) and what is seen of it.
typedef struct thread {
    int dimension;
    double width, fall, speed;  // m, m, m/s: thickness or diameter at the nozzle, height of the nozzle
    double viscosity, density;  // Pa s, kg/m^3
    bool particles;             // the method: smoothed particles, two a cell, instead of the grid's liquid
    double cells;               // in its width
    double cfl, gravity;
    int turns;     // of viscosity and pressure in a step
    double floor;  // m/s: the plate sinks as fast, to make room for the heap
    double near;   // m: of the thread what is so far above the heap is looked at; 0 = all
    double from;   // s: what is seen from then on counts
    // seen
    int count;
    double time[MOST], x[MOST], z[MOST];  // s, m: the way of the moving part, seen from above
    double heap[MOST];                    // m: top of the heap
    double top, fastest;                  // m: of the heap; m/s: of the thread above it; means
} thread;

// Top of the heap, and the speed of the thread just above it.
static inline double measure(const lab *l, thread *t)
{
    enum { BINS = 128 };  // from as far below the plate's first place as the nozzle is above it
    double sum[BINS] = {0}, count[BINS] = {0};
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    for (int64_t i = 0; i < lab_count(l); i++) {
        int bin = (int)floor((1 + (double)x[i].y / t->fall) * (0.5 * BINS));
        if (bin < 0 || bin >= BINS) continue;
        sum[bin] -= (double)v[i].y;
        count[bin]++;
    }
    double fastest = 0;
    int best = 0;
    for (int b = 0; b < BINS; b++)
        if (count[b] > 0 && sum[b] / count[b] > fastest) fastest = sum[b] / count[b], best = b;
    int bin = best;
    while (bin > 0 && sum[bin] - t->floor * count[bin] > 0.5 * (fastest - t->floor) * count[bin]) bin--;
    double top = t->fall * (bin / (0.5 * BINS) - 1);
    t->top += (top - t->top) / t->count;
    t->fastest += (fastest - t->fastest) / t->count;
    return top;
}

// Where the moving part of the liquid is, seen from above, up to `high`: the thread, as the heap moves with the plate
// or slower.
static inline rh_dvec3 place_of(const lab *l, const thread *t, double high)
{
    const rh_vec3 *x = lab_positions(l), *v = lab_velocities(l);
    rh_dvec3 sum = {0, 0, 0};
    double weight = 1e-30;
    for (int64_t i = 0; i < lab_count(l); i++) {
        double w = (double)x[i].y > high ? 0 : fmax(-(double)v[i].y - t->floor, 0);
        sum = rh_d3_add(sum, rh_d3_scale(rh_d3_from(x[i]), w));
        weight += w;
    }
    return rh_d3_scale(sum, 1 / weight);
}

static inline void watch(lab *l, void *user)
{
    thread *t = user;
    if (lab_time(l) < t->from || t->count == MOST) return;
    int n = t->count++;
    double top = measure(l, t);
    rh_dvec3 at = place_of(l, t, t->near > 0 ? top + t->near : 1e30);
    t->time[n] = lab_time(l);
    t->heap[n] = top;
    t->x[n] = at.x;
    t->z[n] = at.z;
}

static inline void pour(thread *t, double until)
{
    lab l;
    double h = t->width / t->cells, r = 0.5 * t->width, above = t->fall + 4 * h;
    char shape[256];
    if (t->dimension == 2)
        snprintf(shape, sizeof shape, "{box: {min: [%.9g, %.9g, -1], max: [%.9g, %.9g, 1]}}", -r, t->fall, r, above);
    else
        snprintf(shape, sizeof shape, "{cylinder: {from: [0, %.9g, 0], to: [0, %.9g, 0], radius: %.9g}}", t->fall,
                 above, r);
    char method[128];
    if (t->particles) snprintf(method, sizeof method, "sph: {viscosity: %g, density: %g}", t->viscosity, t->density);
    else
        snprintf(method, sizeof method, "liquid: {viscosity: %g, density: %g, cfl: %g, viscosity_turns: %d}",
                 t->viscosity, t->density, t->cfl, t->turns);
    lab_open(&l,
             "dimension: %d\ncell: %.9g\nframes: {last: 9999}\ngravity: [0, %g, 0]\nphysics: {%s}\n"
             "emitters: [{velocity: [0, %g, 0], shape: %s}]\n"
             "solids: [{shape: {plane: {normal: [0, 1, 0]}}, wall: no_slip, "
             "motion: {keys: [{time: 0}, {time: %.9g, translate: [0, %.9g, 0]}]}}]\n",
             t->dimension, h, -t->gravity, method, -t->speed, shape, until, -t->floor * until);
    lab_run(&l, until, watch, t);
    lab_close(&l);
}

// What the way says: how far it goes to and fro, how often it crosses its middle, how far it turns about it.
typedef struct way {
    double swing;      // m: half the distance between its ends along x
    int crossings;     // of the middle, along x
    double turns;      // about the middle
    double frequency;  // Hz: there and back, or around
} way;

static inline way way_of(const thread *t)
{
    way w = {0};
    double x = 0, z = 0, low = 1e30, high = -1e30, side = 0, first = 0, last = 0,
           length = t->time[t->count - 1] - t->time[0];
    for (int i = 0; i < t->count; i++) {
        x += t->x[i] / t->count, z += t->z[i] / t->count;
        low = fmin(low, t->x[i]), high = fmax(high, t->x[i]);
    }
    w.swing = 0.5 * (high - low);
    for (int i = 0; i < t->count; i++) {
        // Of crossings only those count that go on by a tenth of the swing.
        double off = t->x[i] - x, now = fabs(off) > 0.1 * w.swing ? copysign(1, off) : side;
        if (now * side < 0) {
            last = t->time[i];
            if (!w.crossings++) first = last;
        }
        side = now;
        if (i)
            w.turns += remainder(atan2(t->z[i] - z, off) - atan2(t->z[i - 1] - z, t->x[i - 1] - x), 2 * PI) / (2 * PI);
    }
    if (t->dimension == 3) w.frequency = fabs(w.turns) / length;
    else if (w.crossings > 1) w.frequency = 0.5 * (w.crossings - 1) / (last - first);
    return w;
}

// Hz, of a sheet that folds about a place that wanders: from its turning points, each a quarter of the way's whole
// width away from the one before.
static inline double fold_frequency(const thread *t)
{
    double low = 1e30, high = -1e30, first = 0, last = 0, best = t->x[0], when = 0;
    int count = 0, side = 0;
    for (int i = 0; i < t->count; i++) low = fmin(low, t->x[i]), high = fmax(high, t->x[i]);
    for (int i = 0; i < t->count; i++) {
        double off = t->x[i] - best, far = 0.25 * (high - low);
        bool turned = side ? -side * off > far : fabs(off) > far;
        if (turned && side) {
            last = when;
            if (!count++) first = last;
        }
        if (turned) side = off > 0 ? 1 : -1;
        if (turned || side * off > 0) best = t->x[i], when = t->time[i];
    }
    return count > 1 ? 0.5 * (count - 1) / (last - first) : 0;
}

// Of a thread that coils: Hz, from the time that its last `turns` took, all in the same sense, and the mean height of
// the heap meanwhile, m; 0 if there were fewer. Turns of the way's heading, as the place that it turns about may
// wander.
static inline double coil_frequency(const thread *t, double turns, double *heap)
{
    double wide = t->width / t->speed, turned = 0, before = 0, sum = 0;
    int last = t->count - 1;
    for (int a = last, b = last; a >= 0; a--) {
        while (b >= 0 && t->time[b] > t->time[a] - wide) b--;
        if (b < 0) break;
        double heading = atan2(t->z[a] - t->z[b], t->x[a] - t->x[b]);
        if (a < last) turned += remainder(heading - before, 2 * PI) / (2 * PI);
        before = heading;
        sum += t->heap[a];
        *heap = sum / (last - a + 1);
        if (fabs(turned) >= turns) return turns / (t->time[last] - t->time[a]);
    }
    return 0;
}

// The frequency at which bending and weight balance, Hz.
static inline double gravitational(const thread *t)
{
    double nu = t->viscosity / t->density;
    if (t->dimension == 2) {
        double q = t->speed * t->width, d = q / t->fastest;
        return t->fastest / pow(nu * q * d / t->gravity, 0.25) / (2 * PI);
    }
    double q = t->speed * PI / 4 * t->width * t->width, a = sqrt(q / (PI * t->fastest));
    return pow(t->gravity * q * q * q / (nu * pow(a, 8)), 0.25) / (2 * PI);
}

static inline way tell(const char *what, const thread *t)
{
    way w = way_of(t);
    print_message(
        "%s, %g Pa s, H/D %.3g, %g cells: swings by %.3f widths, %d crossings, %.2f turns, %.3f Hz; heap %.2f "
        "of the fall, thread %.3f m/s: %.3f of the gravitational frequency, %.3f of speed over height\n",
        what, t->viscosity, t->fall / t->width, t->cells, w.swing / t->width, w.crossings, w.turns, w.frequency,
        t->top / t->fall, t->fastest, w.frequency / gravitational(t),
        2 * PI * w.frequency * (t->fall - t->top) / t->fastest);
    return w;
}
