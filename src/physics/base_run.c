// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Sums are taken in the order of the search, which depends on the positions alone.
#include "physics/base_run.h"

#include <math.h>
#include <string.h>

const rh_base_run *rh_base_find(const rh_base_run *const *bases, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(bases[i]->name, name) == 0) return bases[i];
    return NULL;
}

rh_code rh_base_ask(const rh_base_run *base, rh_vec3 place, rh_neighbour_list *scratch, rh_base_answer *answer,
                    rh_status *status)
{
    *answer = (rh_base_answer){.distance = base->reach};
    RH_TRY(rh_neighbours_within(&base->near, place, base->reach, scratch, status));
    const rh_vec3 *v = rh_points_data(&base->points, "v", RH_POINT_VEC3F);
    double sum = 0;
    rh_dvec3 velocity = {0}, offset = {0};
    for (int64_t n = 0; n < scratch->count; n++) {
        double part = (double)scratch->distance[n] / (double)base->reach, rest = 1 - part * part,
               weight = rest * rest * rest;
        if (!(weight > 0)) continue;
        sum += weight;
        offset = rh_d3_add(offset, rh_d3_scale(rh_d3_from(scratch->offset[n]), weight));
        if (v) velocity = rh_d3_add(velocity, rh_d3_scale(rh_d3_from(v[scratch->index[n]]), weight));
    }
    if (!(sum > 0)) return RH_OK;
    answer->near = true;
    answer->velocity = rh_v3_from(rh_d3_scale(velocity, 1 / sum));
    if (base->dimension == 2) offset.z = 0;
    answer->distance = (float)(rh_d3_length(offset) / sum) - base->radius;
    return RH_OK;
}

// --- fields ----------------------------------------------------------------------------------------------------------
static const rh_field *find_field(const rh_fields *fields, const char *name)
{
    for (int i = 0; i < fields->field_count; i++)
        if (strcmp(fields->items[i].name, name) == 0) return &fields->items[i];
    return NULL;
}

bool rh_base_field(const rh_base_run *base, const char *name, rh_vec3 place, rh_vec3 *value)
{
    const rh_field *before = find_field(&base->earlier, name), *after = find_field(&base->later, name);
    *value = rh_v3(0, 0, 0);
    if (!before && !after) return false;
    for (int a = 0; a < rh_field_components(before ? before->kind : after->kind); a++) {
        float first = before ? rh_fields_sample(&base->earlier, before, a, place) : 0,
              second = after && base->share > 0 ? rh_fields_sample(&base->later, after, a, place) : first;
        (&value->x)[a] = first + base->share * (second - first);
    }
    return true;
}
