// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Those that go are sorted behind those that stay, copied to the end of the other set, and cut off.
#include "world/exchange.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "world/parts.h"

static void carry(const rh_attribute *from, rh_attribute *to, const uint32_t *leaving, int64_t count, int64_t first)
{
    size_t size = rh_point_type_size(to->type);
    char *out = (char *)to->data + (size_t)first * size;
    for (int64_t i = 0; i < count; i++)
        memcpy(out + (size_t)i * size, (const char *)from->data + (from->uniform ? 0 : leaving[i] * size), size);
}

rh_code rh_exchange_points(rh_points *from, rh_points *to, const uint8_t *moves, int64_t *moved, rh_status *status)
{
    int64_t count = 0, kept = 0, first = to->count;
    *moved = 0;
    for (int64_t i = 0; i < from->count; i++) count += moves[i] != 0;
    if (count == 0) return RH_OK;
    uint32_t *order = rh_alloc((size_t)from->count * sizeof *order, "world.exchange", status);
    if (!order) return RH_MEMORY;
    uint32_t *leaving = order + from->count - count;  // those that stay come first
    for (int64_t i = 0, n = 0; i < from->count; i++) {
        if (moves[i]) leaving[n++] = (uint32_t)i;
        else order[kept++] = (uint32_t)i;
    }
    rh_code code = rh_points_resize(to, first + count, status);
    for (int a = 0; a < to->attribute_count && code == RH_OK; a++) {
        const rh_attribute *same = rh_points_find(from, to->attributes[a].name);
        if (!to->attributes[a].uniform && same && same->type == to->attributes[a].type)
            carry(same, &to->attributes[a], leaving, count, first);
    }
    if (code == RH_OK) code = rh_points_permute(from, order, kept, status);
    if (code != RH_OK) to->count = first;
    else *moved = count;
    rh_free(order);
    return code;
}

rh_code rh_exchange_join(rh_points *from, rh_points *to, rh_status *status)
{
    int64_t moved;
    if (to->count == 0) {  // a set without points may come from a file without attributes
        rh_points kept = *to;
        *to = *from;
        *from = kept;
        return RH_OK;
    }
    uint8_t *all = rh_alloc((size_t)from->count + 1, "world.exchange", status);
    if (!all) return RH_MEMORY;
    memset(all, 1, (size_t)from->count);
    rh_code code = rh_exchange_points(from, to, all, &moved, status);
    rh_free(all);
    return code;
}

static rh_scene_words name_of(const rh_world *w, int index)
{
    const rh_exchange_params *e = (const rh_exchange_params *)w->scene->exchanges.items + index;
    return rh_scene_item(w->scene, "exchange", index, e, e->name);
}

static rh_code check_group(const rh_world *w, int index, const rh_material *from, const char *group, rh_status *status)
{
    const rh_attribute *found = rh_points_find(from->points, group);
    if (found && found->type == RH_POINT_GROUP && !found->uniform) return RH_OK;
    char groups[200] = "";
    for (int i = 0; i < from->points->attribute_count; i++) {
        const rh_attribute *a = &from->points->attributes[i];
        size_t used = strlen(groups);
        if (a->type == RH_POINT_GROUP) snprintf(groups + used, sizeof groups - used, "%s%s", used ? ", " : "", a->name);
    }
    return rh_fail(status, RH_USER, "%s: nobody makes the group '%.60s' in '%s', which has %s%s; a program may: %s",
                   name_of(w, index).text, group, from->name, groups[0] ? "the groups " : "no groups", groups,
                   "expressions: [{at: step, code: 'if (...) addtogroup(\"...\");'}]");
}

rh_code rh_exchange_check(const rh_world *w, rh_status *status)
{
    const rh_exchange_params *all = w->scene->exchanges.items;
    for (int i = 0; i < w->scene->exchanges.count; i++) {
        const rh_material *from = &w->materials[all[i].from_index], *to = &w->materials[all[i].to_index];
        double a = rh_material_particle_mass(from), b = rh_material_particle_mass(to);
        RH_TRY(check_group(w, i, from, all[i].group, status));
        if (fabs(a - b) <= 1e-9 * a) continue;
        return rh_fail(
            status, RH_USER,
            "%s: a particle of '%s' weighs %.6g kg, one of '%s' %.6g kg: expected the same, or mass would not "
            "be kept\n  give both the same density and particles_per_axis",
            name_of(w, i).text, from->name, a, to->name, b);
    }
    return RH_OK;
}

// What leaves a material, or has come to it, in its balance.
static void note(rh_material *m, const rh_points *points, int64_t first, int64_t count, double *energy,
                 rh_dvec3 *momentum)
{
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    for (int64_t i = first; i < first + count; i++) {
        *energy += rh_balance_energy(m->around.gravity, m->seeder.lag, p[i], v[i]);
        *momentum = rh_d3_add(*momentum, rh_d3_from(v[i]));
    }
}

static rh_code exchange(rh_material *from, rh_material *to, const char *group, rh_status *status)
{
    rh_attribute *sent = rh_points_find(from->points, group);
    int64_t moved, first = to->points->count;
    RH_TRY(rh_exchange_points(from->points, to->points, sent->data, &moved, status));
    if (moved == 0) return RH_OK;
    rh_attribute *arrived = rh_points_find(to->points, group);
    if (arrived && arrived->type == RH_POINT_GROUP && !arrived->uniform)
        memset((uint8_t *)arrived->data + first, 0, (size_t)moved);
    note(from, to->points, first, moved, &from->seeder.balance.energy_out, &from->seeder.balance.momentum_out);
    note(to, to->points, first, moved, &to->seeder.balance.energy_in, &to->seeder.balance.momentum_in);
    from->seeder.given += moved;
    to->seeder.received += moved;
    return RH_OK;
}

rh_code rh_exchange_run(rh_world *w, rh_status *status)
{
    const rh_exchange_params *all = w->scene->exchanges.items;
    for (int i = 0; i < w->scene->exchanges.count; i++)
        RH_TRY(exchange(&w->materials[all[i].from_index], &w->materials[all[i].to_index], all[i].group, status));
    return RH_OK;
}
