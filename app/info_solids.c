// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids of a run: where each began and is now, how fast it is and was (world/solid_file.h).
#include <math.h>
#include <stdio.h>
#include "base/memory.h"
#include "info.h"
#include "world/solid_file.h"

static void print_solid(const rh_scene *scene, int solid, const rh_solid_frame *items, int64_t count)
{
    const rh_solid_params *all = scene->solids.items;
    const rh_solid_frame *first = NULL, *last = NULL;
    double fastest = 0;
    char unnamed[32];
    for (int64_t i = 0; i < count; i++) {
        if (items[i].solid != solid) continue;
        if (!first) first = &items[i];
        last = &items[i];
        fastest = fmax(fastest, rh_d3_length(last->linear));
    }
    if (!last) return;
    snprintf(unnamed, sizeof unnamed, "solid %d", solid);
    printf("  %-16.16s %9.4g %9.4g %9.4g  -> %9.4g %9.4g %9.4g  %9.3g %9.3g\n",
           all[solid].name && all[solid].name[0] ? all[solid].name : unnamed, first->center.x, first->center.y,
           first->center.z, last->center.x, last->center.y, last->center.z, rh_d3_length(last->linear), fastest);
}

rh_code app_info_solids(const char *run, const rh_scene *scene, rh_status *status)
{
    enum { MOST = 24 };
    rh_solid_frame *items;
    int64_t count;
    int shown = 0, all = 0;
    const rh_solid_params *solids = scene ? scene->solids.items : NULL;
    if (!scene) return RH_OK;
    RH_TRY(rh_solid_file_read(run, &items, &count, status));
    if (count > 0)
        printf("\n  dynamic solids   centre of mass at first, m      and in the last frame           m/s   fastest\n");
    for (int i = 0; i < scene->solids.count && count > 0; i++) {
        if (!solids[i].dynamic) continue;
        if (all++ < MOST) print_solid(scene, i, items, count), shown++;
    }
    if (all > shown) printf("  ... and %d more: solids.csv\n", all - shown);
    rh_free(items);
    return RH_OK;
}
