// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A stack of blocks: taking moves a pointer, a mark remembers it, restoring moves it back. Blocks that were added in a
// step are replaced by one large enough at the next reset.
#include "base/arena.h"

#include <stdint.h>
#include <string.h>
#include "base/memory.h"

typedef struct rh_arena_block {
    struct rh_arena_block *next;
    size_t size, used;
    char pad[64 - 3 * sizeof(size_t)];  // keeps the payload 64-byte aligned
} block;

enum { FIRST_BLOCK = 1 << 16 };

void rh_arena_init(rh_arena *arena, const char *label) { *arena = (rh_arena){.label = label}; }

static void free_chain(block *b)
{
    while (b) {
        block *next = b->next;
        rh_free(b);
        b = next;
    }
}

void rh_arena_free(rh_arena *arena)
{
    free_chain(arena->blocks);
    arena->blocks = NULL;
    arena->used_total = 0;
}

static block *add_block(rh_arena *arena, size_t payload, rh_status *status)
{
    block *b = rh_alloc(sizeof(block) + payload, arena->label, status);
    if (!b) return NULL;
    *b = (block){.next = arena->blocks, .size = payload};
    arena->blocks = b;
    return b;
}

void rh_arena_reset(rh_arena *arena)
{
    block *b = arena->blocks;
    size_t most = arena->most;
    arena->used_total = arena->most = arena->lent_bytes = arena->lent_used = 0;
    if (b && !b->next && most <= b->size) b->used = 0;
    if ((b && !b->next && most <= b->size) || (!b && most == 0)) return;
    free_chain(arena->blocks);
    arena->blocks = NULL;
    // A little more: liquid that spreads needs a little more in every step.
    add_block(arena, (most + most / 64 + 63) & ~(size_t)63,
              NULL);  // failure is fine: the next take tries again and reports it
}

void rh_arena_expect_growth(rh_arena *arena)
{
    if (arena->blocks && arena->blocks->next) arena->most += arena->most / 8;
}

void *rh_arena_take(rh_arena *arena, size_t bytes, rh_status *status)
{
    RH_ASSERT(arena->lent_used <= arena->lent_bytes);
    if (bytes > SIZE_MAX - 128) return (void)rh_fail(status, RH_MEMORY, "arena request too large"), NULL;
    bytes = (bytes + 63) & ~(size_t)63;
    if (arena->lent_bytes > 0 && bytes <= arena->lent_bytes - arena->lent_used) {
        arena->lent_used += bytes;
        return arena->lent + arena->lent_used - bytes;
    }
    block *b = arena->blocks;
    if (!b || b->size - b->used < bytes) {
        size_t payload = b ? 2 * b->size : FIRST_BLOCK;
        // Doubling is for many small requests; a large one gets just its own size, or big runs would waste a half.
        if (payload > (size_t)16 << 20 || payload < bytes) payload = bytes > FIRST_BLOCK ? bytes : FIRST_BLOCK;
        b = add_block(arena, payload, status);
        if (!b) return NULL;
    }
    char *memory = (char *)(b + 1) + b->used;
    b->used += bytes;
    arena->used_total += bytes;
    if (arena->used_total > arena->most) arena->most = arena->used_total;
    return memory;
}

void *rh_arena_take_zero(rh_arena *arena, size_t bytes, rh_status *status)
{
    void *memory = rh_arena_take(arena, bytes, status);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

rh_arena_mark rh_arena_save(const rh_arena *arena)
{
    return (rh_arena_mark){arena->blocks, arena->blocks ? arena->blocks->used : 0, arena->used_total, arena->lent_used};
}

void rh_arena_restore(rh_arena *arena, rh_arena_mark mark)
{
    // Marks nest: what an older mark gave back cannot be given back to a newer one, nor to a mark of another arena.
    RH_ASSERT(mark.used_total <= arena->used_total && mark.lent_used <= arena->lent_used);
    while (arena->blocks != mark.block) {
        RH_ASSERT(arena->blocks);
        block *next = arena->blocks->next;
        rh_free(arena->blocks);
        arena->blocks = next;
    }
    RH_ASSERT(!mark.block || mark.used <= mark.block->used);
    if (mark.block) mark.block->used = mark.used;
    arena->used_total = mark.used_total;
    arena->lent_used = mark.lent_used;
}

void rh_arena_keep(rh_arena *arena, rh_arena_mark mark, const rh_arena_piece *pieces, int count)
{
    if (arena->blocks != mark.block) return;
    rh_arena_restore(arena, mark);
    for (int i = 0; i < count; i++) {  // in this order no piece lands on one that has yet to move
        void *place = rh_arena_take(arena, pieces[i].bytes, NULL);
        RH_ASSERT(place && (char *)place <= (char *)*pieces[i].pointer);
        *pieces[i].pointer = memmove(place, *pieces[i].pointer, pieces[i].bytes);
    }
}

void rh_arena_lend(rh_arena *arena, void *memory, size_t bytes)
{
    RH_ASSERT(arena->lent_bytes == 0);  // one lender at a time, until the next reset
    size_t skip = -(uintptr_t)memory & 63;
    arena->lent = (char *)memory + skip;
    arena->lent_bytes = bytes > skip ? (bytes - skip) & ~(size_t)63 : 0;
    arena->lent_used = 0;
}
