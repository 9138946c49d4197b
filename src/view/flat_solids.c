// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Nothing is cut into triangles: a picture in the plane needs a distance at each pixel, which also says how much of the
// pixel is covered.
#include "view/flat_solids.h"

#include <math.h>
#include "base/log.h"
#include "base/memory.h"

rh_code rh_flat_solids_create(const rh_scene *scene, const char *folder, rh_flat_solids *out, rh_status *status)
{
    rh_status trouble = {0};
    *out = (rh_flat_solids){0};
    if (scene->solids.count == 0) return RH_OK;
    rh_code code = rh_geometry_build(scene, &out->geometry, &trouble);
    if (code == RH_OK) code = rh_solid_file_read(folder, &out->frames, &out->frame_count, &trouble);
    if (code == RH_OK) return RH_OK;
    rh_flat_solids_free(out);
    if (code == RH_MEMORY) return rh_fail(status, code, "%s", trouble.message);
    rh_log(RH_LOG_WARNING, "solids are not drawn: %s", trouble.message);
    return RH_OK;
}

void rh_flat_solids_free(rh_flat_solids *solids)
{
    rh_geometry_free(&solids->geometry);
    rh_free(solids->frames);
    *solids = (rh_flat_solids){0};
}

const rh_obstacles *rh_flat_solids_at(rh_flat_solids *solids, int64_t frame, double time)
{
    rh_obstacles *all = &solids->geometry.obstacles;
    if (all->count == 0 || rh_obstacles_at(all, time, 0, all, NULL) != RH_OK) return NULL;
    for (int64_t n = 0; n < solids->frame_count; n++) {
        const rh_solid_frame *at = &solids->frames[n];
        if (at->frame == frame && at->solid >= 0 && at->solid < all->count)
            all->items[at->solid].pose = rh_solid_frame_pose(at);
    }
    rh_obstacles_moved(all);
    return all;
}

static void grow(rh_dbox *box, rh_dbox by)
{
    for (int a = 0; a < 3; a++) {
        (&box->min.x)[a] = fmin((&box->min.x)[a], (&by.min.x)[a]);
        (&box->max.x)[a] = fmax((&box->max.x)[a], (&by.max.x)[a]);
    }
}

void rh_flat_solids_grow(rh_flat_solids *solids, int64_t frame, double time, rh_dbox *box)
{
    const rh_obstacles *all = rh_flat_solids_at(solids, frame, time);
    double far = 2 * fmax(box->max.x - box->min.x, box->max.y - box->min.y);  // m: longer ones are floors and walls
    for (int i = 0; all && i < all->count; i++) {
        const rh_obstacle *o = &all->items[i];
        if (o->inside_out) continue;
        rh_dbox own = rh_placed_bounds(&o->shape, &o->pose);
        own.min.z = box->min.z, own.max.z = box->max.z;
        if (own.max.x - own.min.x < far && own.max.y - own.min.y < far) grow(box, own);
    }
}
