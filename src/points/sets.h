// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The particle sets of one material, by name: the main one first, then those that its method adds (samples of walls,
// foam ...). Sets do not move in memory, so a pointer to one stays good as long as the material.
#pragma once
#include "points/points.h"

enum { RH_MAX_SETS = 8 };

typedef struct rh_set {
    char name[RH_POINT_NAME];  // "" is the main one
    rh_points points;
} rh_set;

typedef struct rh_sets {
    rh_set items[RH_MAX_SETS];  // owned
    int count;
} rh_sets;

void rh_sets_init(rh_sets *sets);  // the main one is there, empty
void rh_sets_free(rh_sets *sets);

// Another set, empty and without attributes; the one there is when there is one of that name. Names are letters, digits
// and '_': they end up in files.
rh_code rh_sets_add(rh_sets *sets, const char *name, rh_points **out, rh_status *status);
rh_points *rh_sets_find(rh_sets *sets, const char *name);  // NULL when missing
