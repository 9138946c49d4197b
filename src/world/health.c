// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The worst particle is the same in any order of them: by how bad it is, then by its id.
#include "world/health.h"

#include <math.h>
#include <stdio.h>

static const double TOO_FAR = 1e200;  // worse than any speed of floats

enum { CELLS_A_FRAME = 4096, SPARE_PARTICLES = 100000, TIMES_EXPECTED = 4 };

rh_health_limits rh_health_limits_of(const rh_scene *scene, double expected)
{
    rh_health_limits l = {.speed = scene->limits.speed, .particles = scene->limits.particles};
    l.speed_chosen = l.speed > 0;
    l.particles_chosen = l.particles > 0;
    if (!l.speed_chosen) l.speed = CELLS_A_FRAME * scene->cell * scene->frames.fps;
    if (!l.particles_chosen) l.particles = (int64_t)fmin(TIMES_EXPECTED * expected + SPARE_PARTICLES, 9e15);
    return l;
}

// Larger is worse: speeds, then what is too far away, then what is not finite.
static double badness(rh_vec3 p, rh_vec3 v, double reach)
{
    double far = fmax(fabs((double)p.x), fmax(fabs((double)p.y), fabs((double)p.z))),
           sum = (double)p.x + (double)p.y + (double)p.z;
    double speed2 = (double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z;
    if (!isfinite(sum) || !isfinite(speed2)) return INFINITY;
    return far < reach ? speed2 : TOO_FAR;
}

void rh_health_worst(const rh_points *points, double reach, char *out, size_t size)
{
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    int64_t worst = 0;
    double most = -1;
    out[0] = 0;
    for (int64_t i = 0; i < points->count; i++) {
        double bad = badness(p[i], v[i], reach);
        // Equally bad ones: the least id, whatever the order.
        if (!(bad > most) && !(bad == most && id[i] < id[worst])) continue;
        most = bad;
        worst = i;
    }
    if (points->count == 0) return;
    const char *what = isinf(most)       ? "a particle that is not finite"
                       : most == TOO_FAR ? "a particle that is too far away"
                                         : "the fastest particle";
    snprintf(out, size, "%s: id %lld at (%.4g, %.4g, %.4g) m with velocity (%.4g, %.4g, %.4g) m/s\n  %s", what,
             (long long)id[worst], (double)p[worst].x, (double)p[worst].y, (double)p[worst].z, (double)v[worst].x,
             (double)v[worst].y, (double)v[worst].z,
             most == TOO_FAR ? "a sink with inside_out: true takes away what leaves the scene"
                             : "look for a solid, force or program that pushes too hard there; a smaller cfl helps a "
                               "flow that has become unstable");
}

static rh_code too_fast(const rh_health_limits *limits, const rh_points *points, double max_speed, rh_status *status)
{
    char place[RH_HEALTH_WORDS];
    rh_health_worst(points, INFINITY, place, sizeof place);
    return rh_fail(status, RH_NUMERIC,
                   "a particle moves at %.4g m/s, faster than %s (%.4g m/s)\n  %s; limits.speed sets the limit",
                   max_speed, limits->speed_chosen ? "limits.speed" : "4096 cells a frame", limits->speed, place);
}

rh_code rh_health_check(const rh_health_limits *limits, const rh_points *points, double max_speed, rh_status *status)
{
    // Written so that a speed that is not a number fails too.
    if (!(max_speed <= limits->speed)) return too_fast(limits, points, max_speed, status);
    if (points->count <= limits->particles) return RH_OK;
    return rh_fail(status, RH_NUMERIC,
                   "there are %lld particles, more than %s (%lld)\n"
                   "  look for an emitter that is too large or too fast, or moves through much space; limits.particles "
                   "sets the limit",
                   (long long)points->count,
                   limits->particles_chosen ? "limits.particles" : "four times what bodies and emitters should give",
                   (long long)limits->particles);
}

rh_code rh_health_check_set(const rh_health_limits *limits, const rh_set *set, rh_status *status)
{
    const rh_points *points = &set->points;
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const rh_vec3 rest = {0, 0, 0};
    double worst = 0;
    if (points->count > limits->particles)
        return rh_fail(status, RH_NUMERIC,
                       "there are %lld particles of '%s', more than %lld; limits.particles sets the limit",
                       (long long)points->count, set->name, (long long)limits->particles);
        // A maximum is the same in any order.
#pragma omp parallel for schedule(static) reduction(max : worst)
    for (int64_t i = 0; i < (p ? points->count : 0); i++) worst = fmax(worst, badness(p[i], v ? v[i] : rest, INFINITY));
    if (worst <= limits->speed * limits->speed) return RH_OK;
    if (isinf(worst)) return rh_fail(status, RH_NUMERIC, "a particle of '%s' is not finite", set->name);
    return rh_fail(status, RH_NUMERIC,
                   "a particle of '%s' moves at %.4g m/s, faster than %.4g m/s; limits.speed sets the limit", set->name,
                   sqrt(worst), limits->speed);
}

// "'tank', 'piston' (moves)": names, or the solids' numbers where they have none.
static void name_solids(const rh_scene *scene, const rh_squeeze *q, char *out, size_t size)
{
    const rh_solid_params *solids = scene->solids.items;
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < q->solid_count && used < size; i++) {
        const rh_solid_params *solid = &solids[q->solids[i]];
        const char *moves = rh_motion_is_still(&solid->motion) ? "" : " (moves)", *comma = i ? ", " : "";
        bool named = solid->name && solid->name[0];
        int more = named ? snprintf(out + used, size - used, "%s'%.60s'%s", comma, solid->name, moves)
                         : snprintf(out + used, size - used, "%ssolid %d%s", comma, q->solids[i], moves);
        used += more > 0 ? (size_t)more : 0;
    }
}

rh_code rh_health_squeezed(const rh_scene *scene, const rh_squeeze *q, rh_status *status)
{
    char names[RH_HEALTH_WORDS];
    const char *unit = scene->dimension == 2 ? "m^2" : "m^3";
    name_solids(scene, q, names, sizeof names);
    return rh_fail(
        status, RH_NUMERIC,
        "walls without an exit press %.4g %s of material into %.4g %s, %.4g %s (%.2g %%) too little, around "
        "(%.4g, %.4g, %.4g) m\n"
        "  its walls: %s\n"
        "  leave an exit at least a cell wide, let the motion end earlier, or put in less; then start again, "
        "or go on from a checkpoint before it with --resume --changed",
        q->content, unit, q->room, unit, q->content - q->room, unit, 100 * (1 - q->room / q->content), q->place.x,
        q->place.y, q->place.z, names);
}
