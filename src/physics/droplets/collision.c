// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The source's equations, with these choices where they leave something open: the share of a small drop that a large
// one's path covers as a whole is 1 (the source's formula gives less, even below zero); reflexive separation wins where
// both thresholds are passed; energies are those of the frame of the centre of mass, so that a jet's own speed decides
// nothing; shed drops are a whole number whose size follows from the neck's volume, so mass is exact.
#include "physics/droplets/collision.h"

#include <math.h>
#include "base/random.h"

static const double PI = 3.14159265358979323846;

static double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
static double cube(double x) { return x * x * x; }
static rh_dvec3 mix(double a, rh_dvec3 v, double b, rh_dvec3 w)
{
    return rh_d3_add(rh_d3_scale(v, a), rh_d3_scale(w, b));
}

// --- thresholds ------------------------------------------------------------------------------------------------------
static double cap(double height)
{
    double t = clamp(height, 0, 2);
    return t * t * (3 - t) / 4;
}

void rh_droplet_shares(double delta, double impact, double *phi_i, double *phi_j)
{
    double tau = (1 - impact) * (1 + delta);
    bool inside = tau >= 2 * delta;
    *phi_i = inside ? cap(tau) - cap(tau - 2 * delta) : cap(tau);
    *phi_j = inside ? 1 : cap(tau / delta);
}

// The share of the energy that stretches: 1 + delta^3 less what the overlapping parts lose.
static double stretch_share(double delta, double impact, double phi_i, double phi_j)
{
    double d3 = cube(delta);
    return (1 + d3) - (1 - impact * impact) * (phi_j + d3 * phi_i);
}

double rh_droplet_stretching(double delta, double impact)
{
    double phi_i, phi_j, d3 = cube(delta), tau = (1 - impact) * (1 + delta);
    rh_droplet_shares(delta, impact, &phi_i, &phi_j);
    double share = stretch_share(delta, impact, phi_i, phi_j);
    if (!(share > 1e-12)) return INFINITY;
    return 4 * (1 + d3) * (1 + d3) * sqrt(3 * tau * (phi_i + d3 * phi_j)) / (delta * delta * share);
}

double rh_droplet_reflexive(double delta, double impact)
{
    double d2 = delta * delta, d3 = d2 * delta, xi = 0.5 * impact * (1 + delta);
    double first = 2 * (1 - xi) * (1 - xi) * sqrt(fmax(1 - xi * xi, 0)) - 1;
    double second = xi < delta ? 2 * (delta - xi) * (delta - xi) * sqrt(d2 - xi * xi) - d3 : -d3;
    double counter = d3 * d3 * first + second;
    if (!(counter > 0)) return INFINITY;
    return 3 * (7 * pow(1 + d3, 2.0 / 3) - 4 * (1 + d2)) * delta * (1 + d3) * (1 + d3) / counter;
}

double rh_droplet_bouncing(double delta, double impact)
{
    double phi_i, phi_j, shape = 3.351, across = 1 - impact * impact;
    rh_droplet_shares(delta, impact, &phi_i, &phi_j);
    return phi_i * across > 0 ? delta * (1 + delta * delta) * (4 * shape - 12) / (phi_i * across) : (double)INFINITY;
}

// O'Rourke's fit of what Brazier-Smith and others (1972) found, in g = 1 / delta.
static double orourke_critical(double constant, double delta, double weber)
{
    double g = 1 / delta, f = g * (g * (g - 2.4) + 2.7);
    return sqrt(fmin(1, constant / weber * f));
}

double rh_droplet_critical_impact(const rh_droplet_law *law, double delta, double weber, double impact)
{
    if (law->critical == RH_CRITICAL_OROURKE) return orourke_critical(law->orourke, delta, weber);
    double low = 0, high = impact;
    if (rh_droplet_stretching(delta, 0) <= weber) return 0;
    for (int n = 0; n < 60; n++) {  // the threshold falls as X grows
        double middle = 0.5 * (low + high);
        if (rh_droplet_stretching(delta, middle) > weber) low = middle;
        else high = middle;
    }
    return high;
}

// beta sqrt(We0) y^(7/2) + y^2 = 1: the left side grows with y, so Newton's steps are kept in a bracket.
double rh_droplet_neck(double weber0)
{
    double beta = 3 / (4 * sqrt(2)) * 11.5 * 0.45, a = beta * sqrt(weber0), low = 0, high = 1, y = 0.5;
    for (int n = 0; n < 100; n++) {
        double value = a * y * y * y * sqrt(y) + y * y - 1, slope = 3.5 * a * y * y * sqrt(y) + 2 * y;
        if (value > 0) high = y;
        else low = y;
        double next = y - value / slope;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        if (fabs(next - y) < 1e-15) break;
        y = next;
    }
    return y;
}

// --- outcomes --------------------------------------------------------------------------------------------------------
static void merge(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, rh_droplet_outcome *out)
{
    double vi = cube(i->r), vj = cube(j->r), all = vi + vj, r = cbrt(all);
    out->kind = r > law->max_radius ? RH_DROPLETS_PASS : RH_DROPLETS_MERGE;
    if (out->kind == RH_DROPLETS_PASS) return;
    out->i = (rh_droplet){mix(vi / all, i->x, vj / all, j->x), mix(vi / all, i->u, vj / all, j->u), r};
    out->j.r = 0;
}

// z = 1 leaves velocities as they are, 0 gives both the velocity of their centre of mass, -1 is an elastic bounce.
static void part(const rh_droplet *i, const rh_droplet *j, double z, rh_droplet_outcome *out)
{
    double vi = cube(i->r), vj = cube(j->r), all = vi + vj;
    rh_dvec3 centre = mix(vi / all, i->u, vj / all, j->u), u = rh_d3_sub(j->u, i->u);
    out->i.u = mix(1, centre, -z * vj / all, u);
    out->j.u = mix(1, centre, z * vi / all, u);
}

// The velocity along the line of centres is reversed, that across stays.
static void bounce(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, rh_dvec3 line,
                   rh_droplet_outcome *out)
{
    double vi = cube(i->r), vj = cube(j->r), along = rh_d3_dot(rh_d3_sub(j->u, i->u), line);
    rh_dvec3 change = rh_d3_scale(line, (1 + law->restitution) * along / (vi + vj));
    out->kind = RH_DROPLETS_BOUNCE;
    out->i.u = mix(1, i->u, vj, change);
    out->j.u = mix(1, j->u, -vi, change);
}

// The share of the overlapping parts that becomes the neck; 0.3 of the energy is dissipated.
static double neck_share(const rh_droplet_law *law, const rh_droplet *i, double delta, double impact, double speed2,
                         double phi_i, double phi_j)
{
    double d3 = cube(delta), volume = 4 * PI / 3 * cube(i->r), tau = (1 - impact) * (1 + delta);
    double motion = 0.5 * law->density * volume * speed2 * d3 / (1 + d3);
    double stretch = motion / (1 + d3) * stretch_share(delta, impact, phi_i, phi_j);
    double surface = 2 * law->surface_tension * sqrt(PI * volume * i->r * tau * (phi_i + d3 * phi_j));
    double lost = 0.3 * motion;
    return fmax(0, (stretch - surface - lost) / (stretch + surface + lost));
}

// How many drops a neck of this volume breaks into.
static int fragments_of(const rh_droplet_law *law, double volume, double speed2)
{
    double r0 = cbrt(volume / PI), y = rh_droplet_neck(2 * law->density * r0 * speed2 / law->surface_tension);
    double n = floor(volume / (4 * PI / 3 * cube(1.89 * y * r0)));
    double most = fmin((double)law->max_fragments, RH_DROPLET_FRAGMENTS);
    return (int)fmin(n, most);
}

static double rest_radius(double r, double taken) { return cbrt(fmax(0, cube(r) - 3 * taken / (4 * PI))); }

// Drops shed by the neck between two that stretch and part.
static void shed_by_neck(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, double speed2,
                         rh_droplet_outcome *out)
{
    double phi_i, phi_j, unit = 4 * PI / 3;
    rh_droplet_shares(out->ratio, out->impact, &phi_i, &phi_j);
    double share = neck_share(law, i, out->ratio, out->impact, speed2, phi_i, phi_j);
    double from_i = share * phi_i * unit * cube(i->r), from_j = share * phi_j * unit * cube(j->r);
    if (!(from_i + from_j > 0)) return;
    int n = fragments_of(law, from_i + from_j, speed2);
    if (n < 1) return;
    double radius = cbrt((from_i + from_j) / (unit * n));
    double ri = rest_radius(i->r, from_i), rj = rest_radius(j->r, from_j);
    if (radius < law->min_radius || ri < law->min_radius || rj < law->min_radius) return;
    out->shed = n;
    out->shed_radius = radius;
    out->share_j = from_j / (from_i + from_j);
    out->i.r = ri;
    out->j.r = rj;
}

// After reflexive separation the whole is the neck; the two are the ends of the row of drops that it breaks into.
static void shed_by_all(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, double speed2,
                        rh_droplet_outcome *out)
{
    double sum = cube(i->r) + cube(j->r);
    int n = fragments_of(law, 4 * PI / 3 * sum, speed2);
    double radius = cbrt(sum / fmax(n, 1));
    if (n <= 2 || radius < law->min_radius) return;
    out->all = true;
    out->shed = n - 2;
    out->shed_radius = out->i.r = out->j.r = radius;
    out->share_j = cube(j->r) / sum;
}

void rh_droplet_collide(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, rh_droplet_outcome *out)
{
    rh_dvec3 x = rh_d3_sub(j->x, i->x), u = rh_d3_sub(j->u, i->u);
    double speed2 = rh_d3_dot(u, u), along = rh_d3_dot(x, u), sum = i->r + j->r;
    double across2 = speed2 > 0 ? fmax(0, rh_d3_dot(x, x) - along * along / speed2) : rh_d3_dot(x, x);
    *out = (rh_droplet_outcome){.weber = 2 * law->density * j->r * speed2 / law->surface_tension,
                                .impact = fmin(1, sqrt(across2) / sum),
                                .ratio = j->r / i->r,
                                .i = *i,
                                .j = *j};
    double reflexive = rh_droplet_reflexive(out->ratio, out->impact);
    if (law->bounce && out->weber < rh_droplet_bouncing(out->ratio, out->impact)) {
        // The line of centres as they touch: back along the path from the closest approach.
        double back = speed2 > 0 ? sqrt(fmax(0, sum * sum - across2) / speed2) + along / speed2 : 0;
        bounce(law, i, j, rh_d3_unit(mix(1, x, -back, u)), out);
    } else if (out->weber > reflexive) {
        double z = sqrt(1 - reflexive / out->weber);
        out->kind = RH_DROPLETS_REFLEX;
        part(i, j, law->mirror ? -z : z, out);
        shed_by_all(law, i, j, speed2, out);
    } else if (out->weber > rh_droplet_stretching(out->ratio, out->impact)) {
        double critical = rh_droplet_critical_impact(law, out->ratio, out->weber, out->impact);
        double z = critical < 1 ? clamp((out->impact - critical) / (1 - critical), 0, 1) : 0;
        out->kind = RH_DROPLETS_STRETCH;
        part(i, j, z, out);
        shed_by_neck(law, i, j, speed2, out);
    } else merge(law, i, j, out);
}

// --- shed drops ------------------------------------------------------------------------------------------------------
// Turns a velocity by a random angle below `most` rad, and takes as much of it.
static rh_dvec3 scattered(rh_dvec3 u, double most, uint64_t seed, uint64_t key, uint32_t lane)
{
    double angle = most * (double)rh_random(seed, key, 0, 2 * lane),
           azimuth = 2 * PI * (double)rh_random(seed, key, 0, 2 * lane + 1), left = 1 - fmin(angle, 1);
    rh_dvec3 along = rh_d3_unit(u), other = fabs(along.x) < 0.5 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0);
    rh_dvec3 e1 = rh_d3_unit(rh_d3_cross(along, other)), e2 = rh_d3_cross(along, e1);
    rh_dvec3 axis = mix(cos(azimuth), e1, sin(azimuth), e2);
    return rh_d3_scale(mix(cos(angle), u, sin(angle), rh_d3_cross(axis, u)), left * left);
}

// Seen from the neck's own mean velocity the drops of one size are scattered and then moved so that their mean is what
// it was: momentum stays exact. Seen from the world, as the source has it, a fast jet is slowed.
static void scatter(const rh_droplet_law *law, rh_dvec3 *u, int count, uint64_t seed, uint64_t key)
{
    bool world = law->scatter_frame == RH_SCATTER_WORLD;
    rh_dvec3 before = {0}, after = {0};
    if (!(law->scatter > 0)) return;
    for (int k = 0; k < count && !world; k++) before = mix(1, before, 1.0 / count, u[k]);
    for (int k = 0; k < count; k++) {
        rh_dvec3 seen = rh_d3_sub(u[k], before);
        u[k] = rh_d3_add(before, scattered(seen, law->scatter * count, seed, key, (uint32_t)k));
        after = mix(1, after, 1.0 / count, u[k]);
    }
    for (int k = 0; k < count && !world; k++) u[k] = mix(1, u[k], 1, rh_d3_sub(before, after));
}

void rh_droplet_shed(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, rh_droplet_outcome *out,
                     uint64_t seed, uint64_t key, rh_droplet *shed)
{
    int count = out->shed + (out->all ? 2 : 0), first = out->all ? 1 : 0;
    double wj = out->share_j, wi = 1 - wj;
    rh_dvec3 x = rh_d3_sub(j->x, i->x), u = rh_d3_sub(out->j.u, out->i.u), speeds[RH_DROPLET_FRAGMENTS + 2];
    rh_droplet ends[2] = {out->i, out->j};
    for (int k = 0; k < count; k++) {  // evenly along the neck; places and velocities are linear in s, whose sum is 0
        double s = 2.0 * (k + 1) / (count + 1) - 1;
        speeds[k] = mix(wi, ends[0].u, wj, mix(1, ends[1].u, s, u));
    }
    scatter(law, speeds, count, seed, key);
    for (int k = 0; k < count; k++) {
        double s = 2.0 * (k + 1) / (count + 1) - 1;
        bool end = out->all && (k == 0 || k == count - 1);
        rh_droplet *to = !end ? &shed[k - first] : k == 0 ? &out->i : &out->j;
        *to = (rh_droplet){mix(wi, i->x, wj, mix(1, j->x, s, x)), speeds[k], out->shed_radius};
    }
}
