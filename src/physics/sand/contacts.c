// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells that yield are braked one by one: u_T *= max(0, 1 - mu |u . n| / |u_T|), as the source has it.
//
// In a group this would not be friction of the group: no more than its own momentum can be taken from a layer of one
// cell, and when the rest of the group shares its motion with that layer only a part of it is lost: a block n cells
// high would lose one n-th of its motion a step, and creep down any slope at n g sin(slope) dt. So contacts act on a
// group as on a rigid body: impulses one after the other, each stopping its own place as far as Coulomb's law allows
// (projected Gauss-Seidel, as in E. Catto, "Iterative dynamics with temporal coherence", 2005), beginning with the
// normal impulses that pressure has found.
#include "physics/sand/contacts.h"

#include <math.h>

static inline float open_of(const rh_incompressible_view *view, int axis, int64_t face)
{
    return face < 0 ? 0 : view->cut->open[axis][face / view->tiles->cells][face % view->tiles->cells];
}

// The wall's share of the cell's surface, in faces, as a vector out of the wall: what the open shares leave.
static rh_dvec3 wall_area(const rh_incompressible_view *view, int32_t t, int c)
{
    rh_dvec3 n = {0, 0, 0};
    for (int a = 0; a < view->tiles->dimension; a++)
        (&n.x)[a] = (double)open_of(view, a, rh_sand_cell_above(view->tiles, (int64_t)t * view->tiles->cells + c, a)) -
                    (double)view->cut->open[a][t][c];
    return n;
}

// --- finding ---------------------------------------------------------------------------------------------------------
static bool is_pressed(const rh_sand_cells *cells, const rh_incompressible_view *view, int32_t t, int c)
{
    int64_t at = (int64_t)t * view->tiles->cells + c;
    if (cells->mass[at] == 0 || rh_pressure_value(view->pressure, at) <= 0) return false;
    return !(view->cut->inflow && view->cut->inflow[t] && view->cut->inflow[t][c]);
}

// The impulse of pressure on half of the cell's mass along axes where the wall closes one of its faces: the other face
// carries that half (yield.h), and the wall bears it. Without it a block of n cells was short of 1 / 2n of its weight.
static double closed_share(const rh_sand_cells *cells, const rh_incompressible_view *view, int64_t at, rh_dvec3 normal)
{
    const rh_tiles *tiles = view->tiles;
    double sum = 0, q = (double)rh_pressure_value(view->pressure, at);
    for (int a = 0; a < tiles->dimension; a++) {
        int64_t high = rh_sand_cell_above(tiles, at, a), low = rh_sand_cell_below(tiles, at, a);
        bool on_low = view->known[a][at], on_high = high >= 0 && view->known[a][high];
        int64_t beyond = on_high ? high : low;
        if (on_low == on_high || beyond < 0) continue;
        sum += 0.5 * (double)cells->mass[at] * fabs((&normal.x)[a]) *
               fmax(0, q - (double)rh_pressure_value(view->pressure, beyond));
    }
    return sum;
}

static bool make_contact(const rh_sand_cells *cells, const rh_incompressible_view *view, int32_t t, int c,
                         rh_sand_contact *out)
{
    const rh_obstacles *obstacles = view->around->obstacles;
    rh_dvec3 area = wall_area(view, t, c), x = rh_d3_from(rh_cell_center(view->tiles, t, c & 7, c >> 3 & 7, c >> 6));
    double size = rh_d3_length(area);
    int64_t at = (int64_t)t * view->tiles->cells + c;
    int which;
    if (size < 1e-6 || rh_obstacles_distance(obstacles, x, &which) > 2 * (double)view->tiles->h || which < 0)
        return false;
    *out = (rh_sand_contact){.tile = t,
                             .cell = c,
                             .normal = rh_d3_scale(area, 1 / size),
                             .wall = rh_obstacles_velocity(obstacles, which, x),
                             .friction = obstacles->items[which].friction,
                             .normal_impulse = size * (double)rh_pressure_value(view->pressure, at)};
    out->normal_impulse += closed_share(cells, view, at, out->normal);
    return true;
}

// Contacts of one tile; `out` NULL only counts how many there can be.
static int64_t tile_contacts(const rh_sand_cells *cells, const rh_incompressible_view *view, int32_t t,
                             rh_sand_contact *out)
{
    int64_t count = 0;
    if (view->cut->kind[t] == RH_TILE_FREE) return 0;
    for (int c = 0; c < view->tiles->cells; c++) {
        if (!is_pressed(cells, view, t, c)) continue;
        rh_sand_contact found;
        if (!out) count += rh_d3_length(wall_area(view, t, c)) >= 1e-6;
        else if (make_contact(cells, view, t, c, &found)) out[count++] = found;
    }
    return count;
}

rh_code rh_sand_contacts_find(rh_sand_contacts *contacts, const rh_sand_cells *cells,
                              const rh_incompressible_view *view, rh_status *status)
{
    const rh_layout *layout = &view->pressure->layout;
    *contacts = (rh_sand_contacts){0};
    int64_t *first = rh_arena_take(view->arena, ((size_t)layout->count + 1) * sizeof *first, status);
    int64_t *found = rh_arena_take(view->arena, ((size_t)layout->count + 1) * sizeof *found, status);
    if (!first || !found) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < layout->count; n++) found[n] = tile_contacts(cells, view, layout->listed[n], NULL);
    first[0] = 0;
    for (int32_t n = 0; n < layout->count; n++) first[n + 1] = first[n] + found[n];
    contacts->items = rh_arena_take(view->arena, ((size_t)first[layout->count] + 1) * sizeof *contacts->items, status);
    if (!contacts->items) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < layout->count; n++)
        if (found[n]) found[n] = tile_contacts(cells, view, layout->listed[n], contacts->items + first[n]);
    for (int32_t n = 0; n < layout->count; n++)
        for (int64_t i = 0; i < found[n]; i++) contacts->items[contacts->count++] = contacts->items[first[n] + i];
    return RH_OK;
}

// --- cells that yield ------------------------------------------------------------------------------------------------
typedef struct faces {
    int64_t at[2];
    int count;
} faces;

static faces known_faces(const rh_incompressible_view *view, int32_t t, int c, int axis)
{
    faces f = {.count = 0};
    int64_t low = (int64_t)t * view->tiles->cells + c, high = rh_sand_cell_above(view->tiles, low, axis);
    if (view->known[axis][low]) f.at[f.count++] = low;
    if (high >= 0 && view->known[axis][high]) f.at[f.count++] = high;
    return f;
}

// Velocity of a cell against the wall, along the wall.
static rh_dvec3 slip(const rh_sand_contact *contact, rh_dvec3 u)
{
    u = rh_d3_sub(u, contact->wall);
    return rh_d3_sub(u, rh_d3_scale(contact->normal, rh_d3_dot(u, contact->normal)));
}

static rh_dvec3 cell_velocity(const rh_incompressible_view *view, const rh_sand_contact *contact)
{
    rh_dvec3 u = contact->wall;
    for (int a = 0; a < view->tiles->dimension; a++) {
        faces f = known_faces(view, contact->tile, contact->cell, a);
        double sum = 0;
        for (int i = 0; i < f.count; i++) sum += (double)view->velocity.axis[a][f.at[i]];
        if (f.count) (&u.x)[a] = sum / f.count;
    }
    return u;
}

static void apply_tangential_impulse(const rh_sand_contact *contact, const rh_sand_cells *cells,
                                     const rh_incompressible_view *view)
{
    const rh_tiles *tiles = view->tiles;
    for (int a = 0; a < tiles->dimension; a++) {
        faces f = known_faces(view, contact->tile, contact->cell, a);
        for (int i = 0; i < f.count; i++) {
            view->velocity.axis[a][f.at[i]] += (float)((&contact->tangential_impulse.x)[a] / f.count) /
                                               rh_sand_face_mass(cells, view, f.at[i], a);
        }
    }
}

void rh_sand_contacts_slide(rh_sand_contacts *contacts, const rh_sand_cells *cells, const rh_incompressible_view *view)
{
    // All drags from velocities as they are, then applied: neighbours share faces, and half of each is the mean of
    // both.
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < contacts->count; n++) {
        rh_sand_contact *c = &contacts->items[n];
        int64_t at = (int64_t)c->tile * view->tiles->cells + c->cell;
        if (rh_sand_cell_holds(cells, at)) continue;
        rh_dvec3 along = slip(c, cell_velocity(view, c));
        double speed = rh_d3_length(along),
               most = fmin(c->friction * c->normal_impulse, (double)cells->mass[at] * speed);
        if (speed > 0) c->tangential_impulse = rh_d3_scale(along, -most / speed);
    }
    for (int64_t n = 0; n < contacts->count; n++)
        if (!rh_sand_cell_holds(cells, (int64_t)contacts->items[n].tile * view->tiles->cells + contacts->items[n].cell))
            apply_tangential_impulse(&contacts->items[n], cells, view);
}

// --- groups ----------------------------------------------------------------------------------------------------------
enum { SWEEPS = 50 };

// One contact stops its place of the body as far as it may; returns the change of velocity there.
static double resolve(rh_rigid *body, rh_dvec3 place, rh_sand_contact *c)
{
    double inverse_mass = rh_rigid_inverse_mass(body, place, c->normal), change = 0;
    if (inverse_mass > 0) {
        double away = rh_d3_dot(rh_d3_sub(rh_rigid_velocity(body, place), c->wall), c->normal);
        double normal_impulse = fmax(0, c->normal_impulse - away / inverse_mass),
               more = normal_impulse - c->normal_impulse;
        rh_rigid_apply_impulse(body, place, rh_d3_scale(c->normal, more));
        c->normal_impulse = normal_impulse;
        change = fabs(more) * inverse_mass;
    }
    rh_dvec3 along = slip(c, rh_rigid_velocity(body, place));
    double speed = rh_d3_length(along);
    if (speed == 0) return change;
    inverse_mass = rh_rigid_inverse_mass(body, place, rh_d3_scale(along, 1 / speed));
    if (inverse_mass <= 0) return change;
    rh_dvec3 tangential_impulse = rh_d3_sub(c->tangential_impulse, rh_d3_scale(along, 1 / inverse_mass));
    double size = rh_d3_length(tangential_impulse), most = c->friction * c->normal_impulse;
    if (size > most) tangential_impulse = rh_d3_scale(tangential_impulse, most / size);
    rh_dvec3 more = rh_d3_sub(tangential_impulse, c->tangential_impulse);
    rh_rigid_apply_impulse(body, place, more);
    c->tangential_impulse = tangential_impulse;
    return fmax(change, rh_d3_length(more) * inverse_mass);
}

// Contacts of one group, listed; until nothing changes any more by what matters against the velocity that forces bring
// in a step.
static void hold_group(const rh_sand_groups *groups, const rh_tiles *tiles, int32_t group, const int64_t *list,
                       int64_t count, rh_sand_contact *items, double scale)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double change = 0;
        for (int64_t n = 0; n < count; n++) {
            rh_sand_contact *c = &items[list[n]];
            rh_dvec3 place = rh_sand_group_place(groups, tiles, group, c->tile, c->cell);
            change = fmax(change, resolve(&groups->bodies[group], place, c));
        }
        if (change <= 1e-7 * scale) return;
    }
}

rh_code rh_sand_contacts_hold(rh_sand_contacts *contacts, rh_sand_groups *groups, const rh_incompressible_view *view,
                              rh_status *status)
{
    int64_t *first = rh_arena_take_zero(view->arena, ((size_t)groups->groups + 2) * sizeof *first, status);
    int64_t *list = rh_arena_take(view->arena, ((size_t)contacts->count + 1) * sizeof *list, status);
    int32_t *of = rh_arena_take(view->arena, ((size_t)contacts->count + 1) * sizeof *of, status);
    if (!first || !list || !of) return RH_MEMORY;
    for (int64_t n = 0; n < contacts->count; n++) {
        of[n] = rh_sand_group_of(groups, contacts->items[n].tile, contacts->items[n].cell);
        if (of[n] >= 0) first[of[n] + 2]++;
    }
    for (int32_t g = 0; g < groups->groups; g++) first[g + 2] += first[g + 1];
    for (int64_t n = 0; n < contacts->count; n++)
        if (of[n] >= 0) list[first[of[n] + 1]++] = n;
    double scale = (double)view->kick * fmax(rh_d3_length(view->around->gravity), view->around->strongest) + 1e-30;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t g = 0; g < groups->groups; g++)
        hold_group(groups, view->tiles, g, list + first[g], first[g + 1] - first[g], contacts->items, scale);
    return RH_OK;
}
