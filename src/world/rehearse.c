// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a run would find before its first step, for `rheo check`: the world is made as a run makes it, emitters pour
// what they pour at the start, sinks take what they take. What a run would refuse fails here with its message; what
// would leave frames empty is told as a warning.
#include <inttypes.h>
#include <math.h>
#include "base/log.h"
#include "base/random.h"
#include "world/parts.h"

enum { POINTS = 4096, MOMENTS = 9 };
static const double MOST =
    2e7;  // particles; making more takes longer than a check should, and says nothing that fewer would not

// Does any point of the emitter's shape lie outside of all solids at some moment of its time? Points are spread at
// random; one in four thousand is enough.
static bool has_way_out(const rh_world *w, int n)
{
    const rh_emitter_params *p = (const rh_emitter_params *)w->scene->emitters.items + n;
    const rh_placed_shape *placed = &w->geometry.emitters[n];
    rh_dbox box = rh_shape_bounds(&placed->shape);
    double from = p->start, to = fmin(p->stop, rh_world_frame_time(w->scene, w->scene->frames.last));
    bool any = false;
    for (int moment = 0; moment < MOMENTS && to >= from; moment++) {
        rh_pose pose = rh_placed_pose(placed, from + (to - from) * moment / (MOMENTS - 1));
        for (int i = 0; i < POINTS; i++) {
            rh_dvec3 x = box.min;
            for (int a = 0; a < (int)w->scene->dimension; a++)
                (&x.x)[a] += (double)rh_random(0, (uint64_t)i, (uint32_t)moment, (uint32_t)a) *
                             ((&box.max.x)[a] - (&box.min.x)[a]);
            if (rh_shape_distance(&placed->shape, x) >= 0) continue;
            any = true;
            if (rh_obstacles_distance(&w->geometry.obstacles, rh_pose_to_world(&pose, x), NULL) > 0) return true;
        }
    }
    return !any;  // thinner than the points tell
}

static void warn_of_emitters(const rh_world *w)
{
    const rh_emitter_params *e = w->scene->emitters.items;
    double end = rh_world_frame_time(w->scene, w->scene->frames.last);
    for (int n = 0; n < w->scene->emitters.count; n++) {
        rh_scene_words name = rh_scene_item(w->scene, "emitter", n, &e[n], e[n].name);
        if (e[n].start > end)
            rh_log(RH_LOG_WARNING, "%s starts at %g s, after the last frame (%g s): nothing comes out of it", name.text,
                   e[n].start, end);
        else if (!has_way_out(w, n))
            rh_log(RH_LOG_WARNING, "%s lies inside of a solid: nothing comes out of it", name.text);
    }
}

// Walls that the grid does not resolve hold everything back; what they do to the flow beside them is less well known.
static void tell_of_thin_walls(const rh_world *w)
{
    const rh_solid_params *p = w->scene->solids.items;
    double cell = w->scene->cell, root = sqrt((double)w->scene->dimension);
    for (int n = 0; n < w->geometry.obstacles.count; n++) {
        const rh_obstacle *o = &w->geometry.obstacles.items[n];
        if (!o->thin) continue;
        rh_log(RH_LOG_WARNING,
               "%s has walls about %.2g m thick in cells of %.3g m: nothing goes through, but the flow along them is "
               "right to a cell only; for walls as smooth as others: at least %.2g m thick, or cells of at most %.2g m",
               rh_scene_item(w->scene, "solid", n, &p[n], p[n].name).text, o->thickness, cell, root * cell,
               o->thickness / root);
    }
}

// A run reads a file when its time comes, and would end in the middle for one that does not fit.
static rh_code check_sequences(const rh_world *w, rh_status *status)
{
    const rh_solid_params *p = w->scene->solids.items;
    for (int n = 0; n < w->geometry.obstacles.count; n++) {
        const rh_obstacle *o = &w->geometry.obstacles.items[n];
        if (!o->sequence || rh_mesh_sequence_check(o->sequence, status) == RH_OK) continue;
        return rh_status_prefix(status, "%s", rh_scene_item(w->scene, "solid", n, &p[n], p[n].name).text);
    }
    return RH_OK;
}

static rh_code begin(rh_world *w, rh_status *status)
{
    RH_TRY(check_sequences(w, status));
    RH_TRY(rh_world_begin(w, status));
    int64_t before = 0, left = 0;
    for (int i = 0; i < w->material_count; i++) {
        rh_material *m = &w->materials[i];
        before += m->points->count;
        RH_TRY(rh_drain(&m->seeder, m->time, m->points, status));
        left += m->points->count;
    }
    if (before > 0 && left == 0)
        rh_log(RH_LOG_WARNING,
               "%s: the sinks take all %" PRId64 " particles of the start at once: frames will be empty%s",
               w->scene->file, before, w->scene->emitters.count ? " but for what emitters pour later" : "");
    else if (before == 0 && !w->materials[0].physics->without_particles && w->scene->emitters.count > 0)
        rh_log(RH_LOG_WARNING, "%s: the first frame is empty: there are no bodies, and no emitter pours at the start",
               w->scene->file);
    warn_of_emitters(w);
    for (int i = 0; i < w->material_count; i++)
        if (w->materials[i].probes) rh_probes_warn(w->materials[i].probes, w->geometry.container);
    tell_of_thin_walls(w);
    return RH_OK;
}

// Meshes are what takes time in a check: they are read once, sampled where bodies are, and bodies are filled once. The
// world is given the geometry, so the prediction comes after it.
static rh_code look_ahead(const rh_scene *scene, rh_geometry *geometry, int material, rh_prediction *out,
                          rh_status *status)
{
    rh_world *w = NULL;
    int first = material >= 0 ? material : 0, end = material >= 0 ? material + 1 : rh_scene_material_count(scene);
    double particles;
    RH_TRY(rh_world_expect_start(geometry, MOST, &particles, status));
    if (particles > MOST) return rh_world_predict_from(geometry, NULL, first, end, out, status);
    RH_TRY(rh_world_create_from(scene, geometry, &w, status));
    rh_code code = rh_world_predict_from(&w->geometry, w, first, end, out, status);
    if (code == RH_OK) code = begin(w, status);
    rh_world_free(w);
    return code;
}

rh_code rh_world_rehearse(const rh_scene *scene, int material, rh_prediction *out, rh_status *status)
{
    rh_geometry geometry;
    *out = (rh_prediction){0};
    rh_code code = rh_geometry_build(scene, &geometry, status);
    if (code == RH_OK) code = look_ahead(scene, &geometry, material, out, status);
    rh_geometry_free(&geometry);
    if (code != RH_OK) rh_prediction_free(out);
    return code;
}
