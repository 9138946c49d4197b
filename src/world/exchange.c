// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Those that go are sorted behind those that stay, copied to the end of the other set, and cut off.
#include "world/exchange.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "world/exchange_rules.h"
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

static bool has_radii(const rh_material *m) { return m->seeder.unit_radius > 0; }

rh_code rh_exchange_check(const rh_world *w, rh_status *status)
{
    const rh_exchange_params *all = w->scene->exchanges.items;
    for (int i = 0; i < w->scene->exchanges.count; i++) {
        const rh_material *from = &w->materials[all[i].from_index], *to = &w->materials[all[i].to_index];
        double a = rh_material_particle_mass(from), b = rh_material_particle_mass(to);
        if (all[i].group) RH_TRY(rh_material_find_group(from, name_of(w, i).text, all[i].group, status));
        if (has_radii(from) || has_radii(to) || fabs(a - b) <= 1e-9 * a) continue;
        return rh_fail(
            status, RH_USER,
            "%s: a particle of '%s' weighs %.6g kg, one of '%s' %.6g kg: expected the same, or mass would not "
            "be kept\n  give both the same density and particles_per_axis",
            name_of(w, i).text, from->name, a, to->name, b);
    }
    return RH_OK;
}

// What leaves a material, or has come to it, in its balance.
static void note(rh_material *m, const rh_points *points, int64_t i, double *energy, rh_dvec3 *momentum)
{
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const rh_weights weights = rh_weights_of(points, m->seeder.unit_radius);
    double weight = rh_weight(&weights, i);
    *energy += weight * rh_balance_energy(m->around.gravity, m->seeder.lag, p[i], v[i]);
    *momentum = rh_d3_add(*momentum, rh_d3_scale(rh_d3_from(v[i]), weight));
}

static void note_leaving(rh_material *from, const uint8_t *moves)
{
    rh_balance *b = &from->seeder.balance;
    for (int64_t i = 0; i < from->points->count; i++)
        if (moves[i]) note(from, from->points, i, &b->energy_out, &b->momentum_out);
}

// The radius of what came is that of its mass in the new liquid.
static void give_radii(const rh_material *from, rh_material *to, int64_t first)
{
    float *radius = rh_points_data(to->points, "radius", RH_POINT_F32);
    double scale = cbrt(from->physics->density(from->params) / to->physics->density(to->params));
    for (int64_t i = first; i < to->points->count; i++) radius[i] = (float)(scale * (double)radius[i]);
}

// --- drops that become particles of one mass -------------------------------------------------------------------------
// How many each becomes, from its mass and the rest; its velocity is that of both together.
static rh_code count_copies(rh_material *from, const rh_material *to, rh_exchange_rest *rest, const uint8_t *moves,
                            int64_t **copies, rh_status *status)
{
    double one = rh_material_particle_mass(to), unit = rh_material_particle_mass(from);
    const rh_weights weights = rh_weights_of(from->points, from->seeder.unit_radius);
    rh_vec3 *v = rh_points_data(from->points, "v", RH_POINT_VEC3F);
    int64_t n = 0;
    *copies = rh_alloc((size_t)(from->points->count + 1) * sizeof **copies, "world.exchange", status);
    if (!*copies) return RH_MEMORY;
    for (int64_t i = 0; i < from->points->count; i++) {
        if (!moves[i]) continue;
        double mass = unit * rh_weight(&weights, i), all = rest->mass + mass, number = floor(all / one + 1e-6);
        rh_dvec3 momentum = rh_d3_add(rest->momentum, rh_d3_scale(rh_d3_from(v[i]), mass));
        v[i] = rh_v3_from(rh_d3_scale(momentum, 1 / all));
        rest->mass = all - number * one;
        rest->momentum = rh_d3_sub(momentum, rh_d3_scale(rh_d3_from(v[i]), number * one));
        (*copies)[n++] = (int64_t)number;
    }
    return RH_OK;
}

// Those without a copy go, the others' further copies are laid around them.
static rh_code lay_out(rh_material *to, int64_t first, const int64_t *copies, rh_status *status)
{
    rh_points *points = to->points;
    int64_t arrived = points->count - first, kept = 0, more = 0;
    uint32_t *order = rh_alloc((size_t)(points->count + 1) * sizeof *order, "world.exchange", status);
    if (!order) return RH_MEMORY;
    for (int64_t i = 0; i < first; i++) order[kept++] = (uint32_t)i;
    for (int64_t i = 0; i < arrived; i++) {
        if (copies[i] > 0) order[kept++] = (uint32_t)(first + i);
        if (copies[i] > 1) more += copies[i] - 1;
    }
    rh_code code = rh_points_permute(points, order, kept, status);
    rh_free(order);
    RH_TRY(code);
    RH_TRY(rh_points_resize(points, kept + more, status));
    int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F);
    for (int64_t i = 0, from = first, at = kept; i < arrived; i++) {
        for (int64_t k = 1; k < copies[i]; k++, at++) {
            rh_points_inherit(points, from, at);
            id[at] = to->seeder.first_id + to->seeder.next_id++;
            for (int a = 0; a < to->seeder.dimension; a++)
                (&p[at].x)[a] += (float)to->seeder.spacing *
                                 (rh_random(to->seeder.seed, (uint64_t)(id[at] - to->seeder.first_id), 0, (uint32_t)a) -
                                  0.5f);
        }
        from += copies[i] > 0;
    }
    return RH_OK;
}

// --- all exchanges ---------------------------------------------------------------------------------------------------
static rh_code move(rh_material *from, rh_material *to, rh_exchange_rest *rest, const uint8_t *moves, int64_t *moved,
                    rh_status *status)
{
    int64_t first = to->points->count, *copies = NULL;
    rh_code code = RH_OK;
    note_leaving(from, moves);
    if (has_radii(from) && !has_radii(to)) code = count_copies(from, to, rest, moves, &copies, status);
    if (code == RH_OK) code = rh_exchange_points(from->points, to->points, moves, moved, status);
    if (code == RH_OK && copies && *moved) code = lay_out(to, first, copies, status);
    rh_free(copies);
    RH_TRY(code);
    if (has_radii(to)) give_radii(from, to, first);
    rh_balance *b = &to->seeder.balance;
    for (int64_t i = first; i < to->points->count; i++) note(to, to->points, i, &b->energy_in, &b->momentum_in);
    return RH_OK;
}

static rh_code exchange(rh_world *w, int index, rh_status *status)
{
    const rh_exchange_params *e = (const rh_exchange_params *)w->scene->exchanges.items + index;
    rh_material *from = &w->materials[e->from_index], *to = &w->materials[e->to_index];
    const rh_attribute *sent = e->group ? rh_points_find(from->points, e->group) : NULL;
    int64_t moved = 0, first = to->points->count;
    uint8_t *picked = NULL;
    if (e->when) RH_TRY(rh_exchange_pick(w, e, sent ? sent->data : NULL, &picked, status));
    rh_code code = move(from, to, &w->rests[index], picked ? picked : sent->data, &moved, status);
    rh_free(picked);
    if (code != RH_OK || moved == 0) return code;
    rh_attribute *arrived = e->group ? rh_points_find(to->points, e->group) : NULL;
    if (arrived && arrived->type == RH_POINT_GROUP && !arrived->uniform)
        memset((uint8_t *)arrived->data + first, 0, (size_t)(to->points->count - first));
    from->seeder.given += moved;
    to->seeder.received += to->points->count - first;
    return RH_OK;
}

rh_code rh_exchange_run(rh_world *w, rh_status *status)
{
    for (int i = 0; i < w->scene->exchanges.count; i++) RH_TRY(exchange(w, i, status));
    return RH_OK;
}
