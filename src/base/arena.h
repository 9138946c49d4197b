// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Scratch memory of a step: allocate by moving a pointer, forget everything at once. When one step needs more than the
// arena holds, extra blocks are chained; the next reset replaces them by one of the size the step had in use at most
// (and a little more), so a steady step never allocates. Not thread-safe: take memory before the parallel part.
#pragma once
#include <stddef.h>
#include "base/status.h"

typedef struct rh_arena {
    struct rh_arena_block *blocks;  // newest first
    const char *label;
    size_t used_total;  // bytes in use
    size_t most;        // highest used_total since the last reset
    char *lent;         // somebody else's memory to be used first; see rh_arena_lend
    size_t lent_bytes, lent_used;
} rh_arena;

typedef struct rh_arena_mark {
    struct rh_arena_block *block;
    size_t used, used_total, lent_used;
} rh_arena_mark;

void rh_arena_init(rh_arena *arena, const char *label);
void rh_arena_free(rh_arena *arena);
void rh_arena_reset(rh_arena *arena);
// Before a reset, for scratch of what grows in every step: one that was too small this time becomes an eighth larger
// than it need be. (New memory costs more than what is done in it.)
void rh_arena_expect_growth(rh_arena *arena);
// 64-byte aligned, not cleared. NULL with a status when memory runs out.
void *rh_arena_take(rh_arena *arena, size_t bytes, rh_status *status);
void *rh_arena_take_zero(rh_arena *arena, size_t bytes, rh_status *status);
// Frees must nest: everything taken after the mark is given back.
rh_arena_mark rh_arena_save(const rh_arena *arena);
void rh_arena_restore(rh_arena *arena, rh_arena_mark mark);
// Gives back everything taken since the mark except `count` pieces (in the order they were taken), which move down to
// the mark; their pointers are corrected. Does nothing while blocks are chained since the mark.
typedef struct rh_arena_piece {
    void **pointer;
    size_t bytes;
} rh_arena_piece;
void rh_arena_keep(rh_arena *arena, rh_arena_mark mark, const rh_arena_piece *pieces, int count);
// Lets the arena use memory that its owner does not need until the next reset. It is not counted in used_total.
void rh_arena_lend(rh_arena *arena, void *memory, size_t bytes);
