// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Who changes its material by a rule of the scene (`when` of an exchange): what is fast enough, in thin surroundings of
// its own kind, and at or in the other material. Questions are asked in this order, each of those that passed the ones
// before: most particles are told by their speed.
#pragma once
#include "scene/scene.h"

struct rh_world;

// *moves gets a byte for each particle of e->from (owned by the caller, rh_free). `group`: only those in it; NULL: all.
rh_code rh_exchange_pick(const struct rh_world *w, const rh_exchange_params *e, const uint8_t *group, uint8_t **moves,
                         rh_status *status);
