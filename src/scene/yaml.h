// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// YAML as a tree in which every node knows its place. Only what scenes need: scalars, sequences, mappings with names
// as keys, anchors and aliases (an alias becomes a copy). Refused with a place: duplicate keys, tags, more than one
// document, text with a zero byte, and anything beyond the limits below.
//
// All nodes of all files of one scene live in one rh_yaml and are freed together.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/status.h"

enum {
    RH_YAML_MAX_BYTES = 16 << 20,     // of one file
    RH_YAML_MAX_NODES = 1000 * 1000,  // of one scene, aliases expanded
    RH_YAML_MAX_DEPTH = 64,
    RH_YAML_MAX_ANCHORS = 1000,  // in one file
    RH_YAML_MAX_FILES = 64,      // read for one scene, a file counts each time it is included
    RH_YAML_PLACE = 256,         // room for a place in a message
};

typedef enum rh_yaml_kind { RH_YAML_SCALAR, RH_YAML_SEQUENCE, RH_YAML_MAPPING } rh_yaml_kind;

typedef struct rh_yaml_node {
    rh_yaml_kind kind;
    int file, line, column;      // file: index into rh_yaml.files; line and column from 1
    bool quoted;                 // scalar in quotes or a block of text: never a number, never "nothing"
    const char *text;            // scalar: zero-terminated, without zero bytes inside
    int text_line, text_column;  // scalar: where its text begins, when line k of the text is line text_line + k of the
                                 // file, from that column on; else 0
    struct rh_yaml_item *items;
    int count, capacity;
} rh_yaml_node;

typedef struct rh_yaml_item {
    rh_yaml_node *key;  // a scalar; NULL in a sequence
    rh_yaml_node *value;
} rh_yaml_item;

typedef struct rh_yaml_file {
    const char *name;    // as shown in messages: a path as given, or "--set path=value"
    const char *folder;  // absolute; relative paths inside the file start here
    bool setting;        // a `--set`: its places have no line and column
} rh_yaml_file;

typedef struct rh_yaml {
    rh_arena arena;
    rh_yaml_file *files;
    int file_count, file_capacity;
    int node_count;
} rh_yaml;

void rh_yaml_init(rh_yaml *yaml);
void rh_yaml_free(rh_yaml *yaml);

// Adds a file to the list without reading it. Returns its index, or -1 with a status.
int rh_yaml_add_file(rh_yaml *yaml, const char *name, const char *folder, bool setting, rh_status *status);

// Parses text that belongs to file `file`. *root is NULL when the text holds nothing but blanks and comments.
rh_code rh_yaml_parse(rh_yaml *yaml, int file, const char *text, size_t bytes, rh_yaml_node **root, rh_status *status);

// "file:line:column" (or the `--set`). Long names keep their end. Returns `out`.
char *rh_yaml_place(const rh_yaml *yaml, const rh_yaml_node *node, char out[RH_YAML_PLACE]);

// The value of `key`, or NULL.
rh_yaml_node *rh_yaml_find(const rh_yaml_node *mapping, const char *key);
// An unquoted empty value, `~` or `null`.
bool rh_yaml_is_nothing(const rh_yaml_node *node);

// Building trees: an empty node at the place of another, and an item at the end. `key` may be NULL.
rh_yaml_node *rh_yaml_make(rh_yaml *yaml, rh_yaml_kind kind, const rh_yaml_node *place, rh_status *status);
rh_code rh_yaml_append(rh_yaml *yaml, rh_yaml_node *parent, rh_yaml_node *key, rh_yaml_node *value, rh_status *status);

// The first name that occurred before: *second is its index, *first that of the earlier one; -1 when all differ. NULL
// names never clash.
rh_code rh_yaml_first_duplicate(rh_yaml *yaml, const char *const *names, int count, int *first, int *second,
                                rh_status *status);
