// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a running kernel knows. Two structures:
//   rh_lang_scope     one for a pass over the elements, read by all threads: externals, groups, the marks
//                     of deletion, the snapshot
//   rh_lang_context   one for a block of elements, written by the thread that runs the block
//
// The order of calls in a host:
//   rh_lang_context_init(&context, &scope, &status)        once per thread; then for each block, in any order:
//     rh_lang_context_begin(&context, first)               forgets groups, text and numbers of the block before
//     ... the kernel: before each element it sets context.element, steps_left = steps and text_used = 0 ...
//     rh_lang_context_end(&context, &results[block])       what the block asked for
//   rh_lang_context_free(&context)
// and after the pass rh_lang_results_merge puts the blocks' requests together in the order of elements. Blocks have a
// size that does not depend on the number of threads (RH_BLOCK), so neither does the result.
//
// A function that cannot go on calls rh_lang_stop: the first reason is kept, the loops of the program run out of steps,
// and the host finds `status` set. Nothing here prints: print() collects text, which the host writes where it likes.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"
#include "lang/functions.h"
#include "lang/neighbours.h"

enum {
    RH_LANG_TEXT_ROOM = 1 << 28,   // bytes all strings of one element may take together; taken as they are needed, and
                                   // kept for the next element
    RH_LANG_TEXT_BLOCK = 1 << 16,  // the first that are taken; then always twice as many
    RH_LANG_TEXT_BLOCKS = 16,
    RH_LANG_PRINT_ROOM = 1 << 20,  // bytes of printed text kept of one block; what is more is counted, not kept
    RH_LANG_GROUP_MAX =
        1024,  // groups one block may make; a program that makes names up runs into it, not into the end of memory
    RH_LANG_GROUP_NAME = 256,  // bytes of a group's name with its zero
};
#define RH_LANG_STEPS_DEFAULT ((int64_t)1 << 24)  // loop steps of one element

// A value the host gives by name: $name, external("name"). Read through the pointer at every use, so it may change
// between passes.
typedef struct rh_lang_external {
    const char *name, *type;  // type as in the language: "float", "vec3f", ...
    const void *value;
} rh_lang_external;

// A group that exists before the pass. Each element reads and writes its own byte only.
typedef struct rh_lang_group {
    const char *name;
    uint8_t *member;  // 0 or 1 for each element; not owned
} rh_lang_group;

typedef struct rh_lang_scope {
    const rh_lang_external *externals;
    int external_count;
    const rh_lang_group *groups;
    int group_count;
    uint8_t *dead;  // one byte per element, set by deletepoint; NULL where elements cannot be deleted
    const rh_lang_snapshot *snapshot;  // what neighbour functions see; NULL: they stop the program with a message
    const rh_vec3 *positions;          // of the elements at the start of the pass (m); for neighbours(radius)
    uint64_t seed;                     // of rand() where the element gave none
    int64_t first_id;                  // taken off them
    const int64_t *ids;  // of the elements, for rand(): who is drawn for, wherever it stands. NULL: their numbers
    int64_t steps;       // loop steps an element may take; 0: RH_LANG_STEPS_DEFAULT
    int64_t text_room;   // bytes; 0: RH_LANG_TEXT_ROOM
    // Volumes: index coordinate of element e is origin + (e>>6 & 7, e>>3 & 7, e & 7), as in a leaf of 8^3, unless
    // `coords` lists them.
    const int32_t (*coords)[3];
    double to_world[4][3];  // world = i row0 + j row1 + k row2 + row3
} rh_lang_scope;

// A Mersenne twister whose words are made when they are asked for: a draw after seeding needs half of the seeding and
// no whole twist.
typedef struct rh_lang_twister64 {
    uint64_t word[312];
    int ready, next;  // words filled from the seed so far; the next to draw
} rh_lang_twister64;
typedef struct rh_lang_twister32 {
    uint32_t word[624];
    int ready, next;
} rh_lang_twister32;

// A group that the block itself made, or removed itself from: elements are visited in order, so a list in order is
// enough.
typedef struct rh_lang_new_group {
    char *name;
    int64_t *elements;  // ascending
    int64_t count, capacity;
} rh_lang_new_group;

typedef struct rh_lang_context {
    // Written by compiled code.
    int64_t element;     // the point or voxel at hand: index into its arrays
    int64_t steps_left;  // set to `steps` before each element, counted down by loops; below zero:
                         // rh_lang_out_of_steps(context), then leave
    int64_t text_used;   // set to zero before each element that uses strings
    int32_t origin[3];   // of a leaf, for volumes
    // Read by compiled code.
    int64_t steps;   // loop steps an element may take
    int32_t failed;  // not zero: leave the kernel; why is in `status`
    const rh_lang_scope *scope;
    // Only for the library.
    rh_status status;
    char *text[RH_LANG_TEXT_BLOCKS];  // strings do not move, so their memory grows by blocks
    int64_t text_size[RH_LANG_TEXT_BLOCKS];
    int text_block;      // the one at hand
    int64_t text_begin;  // text_used where it began
    int64_t text_room;
    rh_lang_twister64 twister64;
    rh_lang_twister32 twister32;
    int64_t twister64_element, twister32_element;  // for whom they were seeded
    rh_lang_new_group *new_groups;
    int new_group_count, new_group_capacity;
    rh_neighbour_list found;    // by the last neighbours() or nearest()
    int64_t found_element;      // for whom
    int last_field;             // of the snapshot: names are mostly asked for again and again
    struct rh_lang_kept *kept;  // strings that outlive their element, all blocks of this context
    char *printed;
    int64_t printed_length, printed_capacity, printed_lost;
} rh_lang_context;

// What one block asked for; owned by whoever holds it.
typedef struct rh_lang_result {
    rh_lang_new_group *groups;
    int group_count;
    char *printed;
    int64_t printed_length, printed_lost;
} rh_lang_result;

rh_code rh_lang_context_init(rh_lang_context *context, const rh_lang_scope *scope, rh_status *status);
void rh_lang_context_free(rh_lang_context *context);
void rh_lang_context_begin(rh_lang_context *context, int64_t first);
// Moves requests and printed text to `result`. Fails with what stopped the block.
rh_code rh_lang_context_end(rh_lang_context *context, rh_lang_result *result, rh_status *status);
void rh_lang_result_free(rh_lang_result *result);
// The results of all blocks as one: groups by name, their elements ascending, printed text in the order of blocks.
// Takes the blocks' contents.
rh_code rh_lang_results_merge(rh_lang_result *blocks, int64_t count, rh_lang_result *merged, rh_status *status);

// --- called by compiled code and by the library ----------------------------------------------------------------------

void rh_lang_stop(rh_lang_context *context, rh_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rh_lang_out_of_steps(rh_lang_context *context);
// New text in the element's memory: the two texts one after the other (the operator + on strings). Empty with a stop
// when there is no room.
void rh_lang_text_join(rh_lang_context *context, rh_lang_text *out, const rh_lang_text *a, const rh_lang_text *b);
// The same text in memory that lives as long as the context (what a string attribute points to); equal texts have equal
// pointers.
void rh_lang_text_keep(rh_lang_context *context, rh_lang_text *out, const rh_lang_text *text);
// In the element's memory; NULL with a stop when there is none.
char *rh_lang_text_room(rh_lang_context *context, int64_t bytes);
void rh_lang_coordinate(const rh_lang_context *context, int32_t out[3]);
