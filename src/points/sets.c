// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A short list of fixed length, searched by name from its start: nothing moves when a set is added.
#include "points/sets.h"

#include "base/assert.h"
#include <string.h>

void rh_sets_init(rh_sets *sets)
{
    memset(sets, 0, sizeof *sets);
    rh_points_init(&sets->items[0].points);
    sets->count = 1;
}

void rh_sets_free(rh_sets *sets)
{
    for (int i = 0; i < sets->count; i++) rh_points_free(&sets->items[i].points);
    sets->count = 0;
}

rh_points *rh_sets_find(rh_sets *sets, const char *name)
{
    for (int i = 0; i < sets->count; i++)
        if (strcmp(sets->items[i].name, name) == 0) return &sets->items[i].points;
    return NULL;
}

rh_code rh_sets_add(rh_sets *sets, const char *name, rh_points **out, rh_status *status)
{
    RH_ASSERT(name[0] && strlen(name) < RH_POINT_NAME);
    *out = rh_sets_find(sets, name);
    if (*out) return RH_OK;
    if (sets->count == RH_MAX_SETS)
        return rh_fail(status, RH_USER, "no room for the particle set '%s': a material has at most %d", name,
                       RH_MAX_SETS);
    rh_set *set = &sets->items[sets->count++];
    memset(set->name, 0, sizeof set->name);
    memcpy(set->name, name, strlen(name));
    rh_points_init(&set->points);
    *out = &set->points;
    return RH_OK;
}
