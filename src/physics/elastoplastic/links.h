// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Who is linked with whom: the neighbours that fits and forces go over (matter.h). Links are made between particles
// that are near each other, and kept, with the places they were made at (`origin`), until they are renewed. Every
// particle that has links has a `slot`, its number (from 1) when they were made; 0: it has none.
#pragma once
#include "base/arena.h"
#include "physics/elastoplastic/matter.h"

#define RH_EP_TOUCH 1.1f  // spacings: who is nearer now is linked, or links are missing

typedef struct rh_ep_links {
    rh_sph_list kept;  // of slots less 1, ascending
    int64_t count;     // slots
    int64_t first_room;
    bool valid;  // agree with the particles' slots; else they are found again
} rh_ep_links;

void rh_ep_links_free(rh_ep_links *links);
// Links of particles that stand at their origins, from the lists of all that are near; the slot of particle i is i + 1.
rh_code rh_ep_links_make(rh_ep_links *links, const rh_ep_matter *matter, rh_status *status);
// The same links again, from origins: after a resume, or a step that failed.
rh_code rh_ep_links_find(rh_ep_links *links, const rh_ep_matter *matter, const int32_t *slot, int64_t slots,
                         rh_arena *arena, rh_status *status);
// `out`: links by the particles' present numbers, the arena's. Those that are gone are left out.
rh_code rh_ep_links_map(const rh_ep_links *links, const rh_ep_matter *matter, const int32_t *slot, rh_arena *arena,
                        rh_sph_list *out, rh_status *status);
// Are there particles nearer than a spacing or so that are not linked, and of one piece?
bool rh_ep_links_missing(const rh_ep_matter *matter);

// Pattern: the elastic strain of the lattice when links were made. `metric` (matter.h) of a pattern, less 1.
void rh_ep_metric_of(const float pattern[9], float metric[8]);
// m: how far away neighbours of such a particle are at most.
float rh_ep_reach_of(const rh_ep_matter *matter, const float pattern[9]);
// Stretches of a pattern lie between `least` and `most` afterwards.
void rh_ep_limit(float pattern[9], float least, float most);
