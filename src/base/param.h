// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One table describes each block of parameters: name, type, unit, default, range and a line of help for every field of
// a C struct. The same rows drive the scene reader, validation, `--set`, the complete scene that is written back, and
// the reference manual (`rheo doc`). A physics method owns its table; src/scene strings tables together and reads them.
//
// Memory: strings and lists that a reader stores in a struct are owned by it and given back by rh_params_free.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

typedef enum rh_param_type {
    RH_PARAM_BOOL,      // bool              true | false
    RH_PARAM_INT,       // int64_t
    RH_PARAM_FLOAT,     // double
    RH_PARAM_VEC3,      // rh_dvec3          [x, y, z]
    RH_PARAM_CHOICE,    // int: index into `choices`; written by name
    RH_PARAM_TEXT,      // char* (owned, NULL = not given)
    RH_PARAM_PATH,      // char* (owned): a file; relative paths are taken from the folder of the file that names them
    RH_PARAM_CODE,      // char* (owned): a program in the expression language
    RH_PARAM_TABLE,     // a nested struct described by `table`
    RH_PARAM_OPTIONAL,  // a pointer to such a struct (owned, NULL = not given). The manual has the table where it is
                        // nested
    RH_PARAM_LIST,      // rh_list of structs described by `table`
    RH_PARAM_VALUES,    // rh_list of rh_named_value: a mapping of names of the user's own to numbers or vectors
    RH_PARAM_VARIANT,   // one of several nested structs, chosen by key; described by `variants`; see rh_variant
} rh_param_type;

typedef struct rh_list {
    void *items;  // count structs of table->size bytes each (owned)
    int count;
} rh_list;

// One item of RH_PARAM_VALUES.
typedef struct rh_named_value {
    char *name;  // owned
    bool is_vector;
    double number;
    rh_dvec3 vector;
} rh_named_value;

// A field of this type starts every RH_PARAM_VARIANT: `kind` is the index of the chosen alternative (-1 = none given)
// and `value` points to a struct of that alternative's table (owned).
typedef struct rh_variant {
    int kind;
    void *value;
} rh_variant;

struct rh_param_table;

// Values that go together by a name (honey: density, viscosity, surface tension). A CHOICE row whose choices are "none"
// and then these, in order, names one. Rows of the table that are given themselves keep what was given.
enum { RH_PRESET_VALUES = 4 };
typedef struct rh_preset {
    const char *name;
    const char *values[RH_PRESET_VALUES];  // in the order of rh_presets.rows, written as in a scene file; NULL = none:
                                           // the row keeps its default
    const char *note;                      // what the manual says of it
} rh_preset;
typedef struct rh_presets {
    const char *rows[RH_PRESET_VALUES];  // that get the values; NULL after the last
    const rh_preset *items;
    int count;
} rh_presets;

typedef struct rh_param {
    const char *name;
    rh_param_type type;
    size_t offset;               // of the field in its struct
    const char *unit;            // "m", "s", "kg/m^3", "" ...
    const char *initial;         // default, written as in a scene file; NULL = must be given (VARIANT, PATH, TEXT: may
                                 // be left out unless `required`)
    double min, max;             // inclusive; for FLOAT, INT and each component of VEC3; both 0 = no limit
    const char *const *choices;  // NULL-terminated, CHOICE only
    const rh_presets *presets;   // CHOICE only; NULL = its choices stand for nothing else
    const struct rh_param_table *table;  // TABLE, OPTIONAL and LIST
    const struct rh_param_table *const
        *variants;  // NULL-terminated; VARIANT: each alternative's table->name is its key
    bool required;
    const char *example;   // what the manual's examples have, also where it is not required; NULL = what fits
    const char *formerly;  // a name that the row once had: still read, with a warning; NULL = none. Scenes are hashed
                           // with it, so that a new name alone does not keep a run from being resumed
    const char *help;      // one line, ends without a full stop
} rh_param;

typedef struct rh_param_table {
    const char *name;  // section name ("liquid"), or the key of a variant ("sphere")
    const char *help;  // one or two sentences for the manual
    const rh_param *rows;
    int count;
    size_t size;  // of the struct
    // Optional: rules between fields (min below max, times in order ...), called when all fields are read. On failure
    // it sets *field to the name of the row to blame and a message without a place; the reader puts file:line:column of
    // that row before it.
    rh_code (*check)(const void *object, const char **field, rh_status *status);
} rh_param_table;

#define RH_PARAM_COUNT(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

// Fills a struct with the table's defaults (lists empty, variants none, texts NULL or the default text).
rh_code rh_params_defaults(const rh_param_table *table, void *object, rh_status *status);
// Sets the rows that the preset of that name has values for; false when `row` has none of that name.
bool rh_params_preset(const rh_param_table *table, const rh_param *row, const char *name, void *object,
                      rh_status *status);
// Gives back everything the struct owns (texts, lists, variants), recursively. The struct itself is the caller's.
void rh_params_free(const rh_param_table *table, void *object);
// Row by name, or NULL; by the name it had before.
const rh_param *rh_params_find(const rh_param_table *table, const char *name);
const rh_param *rh_params_find_former(const rh_param_table *table, const char *name);
// The candidate with the smallest edit distance to `word`, or NULL when none is near (more than a third of the letters
// differ). Transposed neighbours count as one edit.
const char *rh_nearest_name(const char *word, const char *const *candidates, int count);
