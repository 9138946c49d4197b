// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Takes the texts of the options apart: levels of a tree as `vdb_ax` counts them, names bound to grids as NAME:GRID.
// What is left of them are copies, which ax_options_free gives back.
#include "ax_options.h"
#include <string.h>
#include "base/memory.h"

enum { LEVELS = 4 };

static rh_code read_choice(const char *option, const char *text, const char *const *names, int count, int *out,
                           rh_status *status)
{
    for (int i = 0; i < count && text; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = i;
        return RH_OK;
    }
    if (!text) return RH_OK;
    return rh_fail(status, RH_USER, "--%s: found \"%.80s\", expected %s%s%s%s%s", option, text, names[0],
                   count > 2 ? ", " : " or ", names[1], count > 2 ? " or " : "", count > 2 ? names[2] : "");
}

static bool is_level(char c) { return c >= '0' && c < '0' + LEVELS; }

// "2" is that level and all above it, as --tree-level of vdb_ax means it; "0-1" (or 0:1, as there): what is outside is
// left out.
static rh_code read_levels(const char *text, unsigned *skipped, rh_status *status)
{
    if (!text) return RH_OK;
    bool one = is_level(text[0]) && text[1] == 0;
    bool range = is_level(text[0]) && (text[1] == '-' || text[1] == ':') && is_level(text[2]) && text[3] == 0;
    int first = text[0] - '0', last = range ? text[2] - '0' : LEVELS - 1;
    if (!(one || range) || last < first)
        return rh_fail(status, RH_USER,
                       "--levels: found \"%.80s\", expected a level from 0 (voxels of leaves) to 3 (the largest "
                       "tiles), which means it and those "
                       "above, or a range such as 0-1",
                       text);
    for (int level = 0; level < LEVELS; level++)
        if (level < first || level > last) *skipped |= 1u << level;
    return RH_OK;
}

static char *copy_part(ax_options *o, const char *text, size_t length, rh_status *status)
{
    char *copy = rh_alloc(length + 1, "app.bindings", status);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return o->texts[o->text_count++] = copy;
}

static rh_code read_bindings(ax_options *o, const app_texts *given, rh_status *status)
{
    o->bindings = rh_alloc_zero((size_t)(given->count + 1) * sizeof *o->bindings, "app.bindings", status);
    o->texts = rh_alloc_zero((size_t)(2 * given->count + 1) * sizeof *o->texts, "app.bindings", status);
    if (!o->bindings || !o->texts) return RH_MEMORY;
    for (int i = 0; i < given->count; i++) {
        const char *text = given->items[i], *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            return rh_fail(status, RH_USER, "--bind: found \"%.80s\", expected NAME=DATA such as Cd=colour", text);
        o->bindings[i].name = copy_part(o, text, (size_t)(equals - text), status);
        o->bindings[i].data = copy_part(o, equals + 1, strlen(equals + 1), status);
        if (!o->bindings[i].name || !o->bindings[i].data) return RH_MEMORY;
    }
    o->host.bindings = o->bindings;
    o->host.binding_count = given->count;
    return RH_OK;
}

rh_code ax_options_read(ax_options *options, const app_arguments *a, rh_status *status)
{
    static const char *const states[] = {"on", "off", "all"}, *const streams[] = {"auto", "on", "off"};
    int create = 0, iterate = RH_VDB_ON, stream = RH_STREAM_AUTO;
    RH_TRY(read_choice("create-missing", a->create_missing, states, 2, &create, status));
    RH_TRY(read_choice("iterate", a->iterate, states, 3, &iterate, status));
    RH_TRY(read_choice("tiles", a->tiles, streams, 3, &stream, status));
    options->host = (rh_expression_options){.group = a->group,
                                            .strict = create == 1,
                                            .states = (rh_vdb_states)iterate,
                                            .stream = (rh_expression_stream)stream,
                                            .steps = a->budget};
    RH_TRY(read_levels(a->levels, &options->host.skipped, status));
    return read_bindings(options, &a->binds, status);
}

void ax_options_free(ax_options *options)
{
    for (int i = 0; i < options->text_count; i++) rh_free(options->texts[i]);
    rh_free(options->texts);
    rh_free(options->bindings);
    *options = (ax_options){0};
}
