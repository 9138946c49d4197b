// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs on a particle set: which of its attributes fit, what a program adds to it, and running it, with groups,
// deletion and neighbours.
//
//   rh_lang_points_add_written(program, points, ...)     attributes and groups that the program makes
//   rh_lang_points_match(program, points, ...)           the rest must be there, of the right types
//   rh_lang_points_runner_create(program, ...) -> rh_lang_points_run, as often as wanted -> ..._free
#pragma once
#include <stdatomic.h>
#include "lang/lang.h"
#include "points/points.h"

// The language's type of an attribute; RH_LANG_VOID for a group. And back: false when particles cannot carry the type.
rh_lang_type rh_lang_from_point_type(rh_point_type type);
bool rh_lang_to_point_type(rh_lang_type type, rh_point_type *out);

// A value from outside as the program wants it: a number as any scalar, three numbers as any vec3. What does not fit
// becomes the nearest that does.
void rh_lang_store_number(rh_lang_type type, double value, void *room);
void rh_lang_store_vector(rh_lang_type type, rh_dvec3 value, void *room);

// Adds what the program writes and the set lacks; attributes that are one value for all and get written become one for
// each. Mistakes go to `messages`: types that particles cannot carry, an attribute and a group of one name, and writing
// what `is_kept` (may be NULL) says must stay as it is. RH_MEMORY and RH_USER (no room for more attributes) only for
// what no line of the program is to blame for.
rh_code rh_lang_points_add_written(const rh_lang_program *program, rh_points *points,
                                   bool (*is_kept)(const char *name, const void *user), const void *user,
                                   rh_lang_messages *messages, rh_status *status);
// What the program reads must be there and have its types: messages.
rh_code rh_lang_points_match(const rh_lang_program *program, const rh_points *points, rh_lang_messages *messages,
                             rh_status *status);

typedef struct rh_lang_points_job {
    const rh_lang_external *externals;
    int external_count;
    uint64_t seed;           // of rand(); with the particle's id, where there is one
    int64_t steps;           // that one particle may take in loops; 0: the default
    const atomic_int *stop;  // loops end (RH_STOPPED) when it is not zero; NULL: nobody asks
    int64_t first;           // runs on particles from this one on
    int64_t first_id;        // taken off ids before rand() uses them
} rh_lang_points_job;

typedef struct rh_lang_points_done {
    int64_t deleted;
    char *printed;  // the program's print(), lines in the order of particles (rh_free); NULL when there is nothing
    int64_t printed_length;
} rh_lang_points_done;

typedef struct rh_lang_points_runner rh_lang_points_runner;  // memory that passes share
rh_code rh_lang_points_runner_create(const rh_lang_program *program, rh_lang_points_runner **out, rh_status *status);
void rh_lang_points_runner_free(rh_lang_points_runner *runner);  // NULL is fine
// One pass. Deleted particles are gone afterwards, the others keep their order. On failure the particles are written in
// part. `done` may be NULL.
rh_code rh_lang_points_run(rh_lang_points_runner *runner, const rh_lang_points_job *job, rh_points *points,
                           rh_lang_points_done *done, rh_status *status);
// The first lines of what was printed to the log, as "label: line", and how many there are more; gives the text back.
void rh_lang_points_show(const char *label, rh_lang_points_done *done);
