// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Coulomb friction of sand at walls (Zhu 2005, eq. 2.8; see docs/sources.md).
//
// Where a wall borders a cell, pressure has taken from the sand the velocity q (physics/pressure.h), times the area of
// the wall in the cell in units of a face. That is the source's |u . n|, what the projection takes out of the normal
// velocity, and it includes the load of all sand above. The wall may take mu times as much along itself. Memory is the
// arena's.
#pragma once
#include "physics/sand/groups.h"

// Impulses are in cells of sand times m/s.
typedef struct rh_sand_contact {
    int32_t tile, cell;
    rh_dvec3 normal;              // out of the wall
    rh_dvec3 wall;                // m/s: its velocity
    double friction;              // Coulomb's coefficient
    double normal_impulse;        // impulse of the wall along the normal
    rh_dvec3 tangential_impulse;  // and along the wall
} rh_sand_contact;

typedef struct rh_sand_contacts {
    rh_sand_contact *items;
    int64_t count;
} rh_sand_contacts;  // in order of tiles and cells

// Cells of sand that are pressed against solids.
rh_code rh_sand_contacts_find(rh_sand_contacts *contacts, const rh_sand_cells *cells,
                              const rh_incompressible_view *view, rh_status *status);
// Friction on cells that yield: it stops them, and never reverses them.
void rh_sand_contacts_slide(rh_sand_contacts *contacts, const rh_sand_cells *cells, const rh_incompressible_view *view);
// Friction on groups, and how the normal impulses of the walls change by it: a block that a wall brakes at its foot
// leans forward on the wall.
rh_code rh_sand_contacts_hold(rh_sand_contacts *contacts, rh_sand_groups *groups, const rh_incompressible_view *view,
                              rh_status *status);
