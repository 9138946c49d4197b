// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How secondary particles move in a step: each is what the liquid around it says (spray, foam, bubble), moves by that
// law, ages, and stays out of solids. One pass, eight particles at a time; two particles know nothing of each other but
// through the number of foam particles in cells.
#pragma once
#include "physics/whitewater/emit.h"
#include "physics/whitewater/walls.h"

typedef struct rh_foam_motion {
    const rh_whitewater_params *params;
    const rh_surroundings *around;
    rh_foam_flow *flow;  // at the middle of the step; `gather`, `room` and `open` are filled
    rh_foam_walls *walls;
    double dt;  // s
    rh_arena *arena;
} rh_foam_motion;

// Who is to go, and how fast the others are, by block of RH_BLOCK particles.
typedef struct rh_foam_gone {
    uint32_t *items;  // block b has items[b * RH_BLOCK] on, ascending
    int32_t *counts;  // [blocks]
    float *fastest;   // [blocks] m²/s²: highest speed, squared
    int64_t blocks;
} rh_foam_gone;

// Is somebody with this life (s), age (s) and class to go?
static inline bool rh_foam_is_over(const rh_whitewater_params *p, float life, float age, int32_t kind)
{
    const bool kept[RH_CLASSES] = {p->spray, p->foam, p->bubbles};
    return !(life > 0) || age > (float)p->max_age || !kept[kind];
}

// `tiles`: the tile that each is in afterwards, tiles.count for none; NULL when nobody asks.
rh_code rh_foam_move(const rh_foam_motion *m, rh_points *points, int32_t *tiles, rh_foam_gone *gone, rh_status *status);
