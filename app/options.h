// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Command-line arguments. Each command owns a table of options; the table drives parsing, `--help` and the manual.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/status.h"

enum { APP_MOST_PARTS = 64 };
typedef struct app_range {
    int64_t first, last;  // of all parts
    bool given;
    int64_t parts[APP_MOST_PARTS][2];  // first and last of each, as given
    int count;
} app_range;
typedef struct app_size {
    int width, height;
} app_size;
typedef struct app_texts {
    const char **items;
    int count;
} app_texts;  // items owned, texts borrowed from argv

// What any command may be told. A command reads the fields its table fills.
typedef struct app_arguments {
    const char *operand;  // scene, run folder, file or topic; NULL when not given
    app_texts operands;   // all of them, where a command takes more than one
    const char *out, *mode, *expression, *sandbox, *up;
    app_texts sets, layers;
    int64_t threads;    // 0 = all cores
    int64_t subframes;  // 0 = not given
    int64_t port;       // 0 = a free one
    app_range frames;
    app_size size;                                                   // 0 x 0 = not given
    const char *camera, *what, *attribute, *range, *palette, *look;  // of render
    const char *material;                                            // of all that look at runs and files
    const char *histogram;                                           // of info
    int64_t samples, depth, bands;
    bool film, quick;
    const char *file, *group, *create_missing, *iterate, *levels, *tiles;  // of ax
    app_texts binds;
    int64_t budget, max_errors;
    bool points, volumes, dry, werror, check, print, tree, list, verbose;
    int64_t memory;   // bytes; 0 = what the machine has
    double max_time;  // s; 0 = none
    bool changed;
    bool resume, force, quiet, markdown, hash, mesh, json, help;
} app_arguments;

typedef enum app_option_kind {
    APP_FLAG,   // bool
    APP_TEXT,   // const char*
    APP_TEXTS,  // app_texts; may be given more than once
    APP_COUNT,  // int64_t, from 1
    APP_RANGE,  // app_range: 5, 1-48, or several of them: 1,10,20-30
    APP_SIZE,   // app_size: WxH
    APP_BYTES,  // int64_t: 8G, 500MB
    APP_TIME,   // double, s: 90s, 45m, 1.5h, H:MM:SS
} app_option_kind;

typedef struct app_option {
    const char *name;  // without the dashes
    app_option_kind kind;
    size_t offset;      // of the field in app_arguments
    const char *value;  // what stands for the value in the help; NULL for a flag
    const char *help;
} app_option;

typedef struct app_command {
    const char *name;
    const char *operand;  // how the help names it ("SCENE"); NULL = takes none
    bool operand_required;
    bool operand_many;    // takes more than one
    const char *summary;  // one line
    const char *details;  // paragraphs, already broken into lines
    const app_option *options;
    int option_count;
    int (*run)(const app_arguments *arguments);  // returns the exit code
} app_command;

#define APP_OPTION_COUNT(options) ((int)(sizeof(options) / sizeof((options)[0])))

// Fills `out` from the words after the command's name. RH_USER with a message that names the nearest option.
rh_code app_arguments_parse(const app_command *command, int count, char **words, app_arguments *out, rh_status *status);
void app_arguments_free(app_arguments *arguments);

bool app_range_holds(const app_range *range, int64_t frame);  // always true when none was given

void app_command_help(FILE *to, const app_command *command, bool markdown);
