// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The reference manual, made from the tables: what the reader accepts and what the manual says cannot drift apart.
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/number.h"
#include "scene/scene.h"
#include "scene/text.h"
#include "scene/words.h"

enum { MAX_TOPICS = 128, WIDTH = 96 };

typedef struct topic {
    const rh_param_table *table;
    const char *key;  // name of the row through which it was met first ("bodies" for "body")
    char path[96];    // of that place in a scene: "solids[0].shape.box"
    // The table's, or the path when a table of that name was met before: sand that flows, sand in pictures.
    const char *name;
} topic;

typedef struct topics {
    topic items[MAX_TOPICS];
    int count;
} topics;

typedef struct manual {
    rh_text text;
    bool markdown;
} manual;

// --- topics ----------------------------------------------------------------------------------------------------------

static bool known(const topics *t, const rh_param_table *table)
{
    for (int i = 0; i < t->count; i++)
        if (t->items[i].table == table) return true;
    return false;
}

// Every table below `table`, each once, in the order in which a reader of the scene meets them, but for optional ones:
// most of them are met elsewhere, where they always are, and collect_optional adds the others.
static void collect(topics *t, const rh_param_table *table, const char *key, const char *path)
{
    if (t->count == MAX_TOPICS || known(t, table)) return;
    topic *self = &t->items[t->count++];
    *self = (topic){.table = table, .key = key};
    snprintf(self->path, sizeof self->path, "%s", path);
    self->name = table->name;
    for (topic *other = t->items; other < self; other++)
        if (strcmp(other->table->name, table->name) == 0) self->name = self->path;
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        const char *dot = path[0] ? "." : "";
        char below[160];
        snprintf(below, sizeof below, "%s%s%s%s", path, dot, row->name, row->type == RH_PARAM_LIST ? "[0]" : "");
        if (row->type == RH_PARAM_TABLE || row->type == RH_PARAM_LIST) collect(t, row->table, row->name, below);
        for (int k = 0; row->type == RH_PARAM_VARIANT && row->variants[k]; k++) {
            char deeper[256];
            snprintf(deeper, sizeof deeper, "%s.%s", below, row->variants[k]->name);
            collect(t, row->variants[k], row->variants[k]->name, deeper);
        }
    }
}

static void collect_optional(topics *t)
{
    for (int n = 0; n < t->count; n++)
        for (int i = 0; i < t->items[n].table->count; i++) {
            const rh_param *row = &t->items[n].table->rows[i];
            char path[160];
            snprintf(path, sizeof path, "%s.%s", t->items[n].path, row->name);
            if (row->type == RH_PARAM_OPTIONAL) collect(t, row->table, row->name, path);
        }
}

static const topic *find_topic(const topics *t, const char *name)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].name, name) == 0) return &t->items[i];
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->items[i].key, name) == 0 || strcmp(t->items[i].path, name) == 0) return &t->items[i];
    return NULL;
}

// --- examples --------------------------------------------------------------------------------------------------------

static void sample_value(rh_text *text, const rh_param *row);

// An item's program is not required, for it may be in a file; an example without one would be wrong.
static bool is_sampled(const rh_param *row)
{
    return rh_words_required(row) || row->example || row->type == RH_PARAM_CODE;
}

static void sample_block(rh_text *text, const rh_param_table *table)
{
    bool any = false;
    for (int i = 0; i < table->count; i++) any = any || rh_words_required(&table->rows[i]) || table->rows[i].example;
    rh_text_add(text, "{");
    const char *comma = "";
    for (int i = 0; i < table->count; i++) {
        if (any ? !is_sampled(&table->rows[i]) : i > 0) continue;
        rh_text_add(text, "%s%s: ", comma, table->rows[i].name);
        sample_value(text, &table->rows[i]);
        comma = ", ";
    }
    rh_text_add(text, "}");
}

static double clamp_to_range(const rh_param *row, double value)
{
    if (row->min == 0 && row->max == 0) return value;
    return value < row->min ? row->min : value > row->max ? row->max : value;
}

static void sample_value(rh_text *text, const rh_param *row)
{
    char number[RH_NUMBER_TEXT];
    bool has_default = row->initial && row->initial[0] && row->type <= RH_PARAM_CHOICE;
    if (row->example || has_default) {
        rh_text_add(text, "%s", row->example ? row->example : row->initial);
        return;
    }
    switch (row->type) {
    case RH_PARAM_BOOL: rh_text_add(text, "true"); break;
    case RH_PARAM_INT: rh_text_add(text, "%s", rh_number_print(clamp_to_range(row, 1), number)); break;
    case RH_PARAM_FLOAT: rh_text_add(text, "%s", rh_number_print(clamp_to_range(row, 0.1), number)); break;
    case RH_PARAM_VEC3: rh_text_add(text, "[0, 1, 0]"); break;
    case RH_PARAM_CHOICE: rh_text_add(text, "%s", row->choices[0]); break;
    case RH_PARAM_TEXT: rh_text_add(text, "\"pool\""); break;
    case RH_PARAM_PATH: rh_text_add(text, "\"meshes/boat.obj\""); break;
    case RH_PARAM_CODE: rh_text_add(text, "\"f@speed = length(v@v);\""); break;
    case RH_PARAM_VALUES: rh_text_add(text, "{strength: 2, wind: [1, 0, 0]}"); break;
    case RH_PARAM_TABLE:
    case RH_PARAM_OPTIONAL: sample_block(text, row->table); break;
    case RH_PARAM_LIST:
        rh_text_add(text, "[");
        sample_block(text, row->table);
        rh_text_add(text, "]");
        break;
    case RH_PARAM_VARIANT:
        rh_text_add(text, "{%s: ", row->variants[0]->name);
        sample_block(text, row->variants[0]);
        rh_text_add(text, "}");
        break;
    }
}

// --- a topic ---------------------------------------------------------------------------------------------------------

static const char *default_of(const rh_param *row)
{
    if (row->initial && row->initial[0]) return row->initial;
    if (rh_words_required(row)) return NULL;
    return row->type == RH_PARAM_LIST ? "[]" : row->type == RH_PARAM_VALUES ? "{}" : "";
}

static const char *see(const rh_param *row) { return row->table ? row->table->name : ""; }

static bool is_block(const rh_param *row)
{
    return row->type == RH_PARAM_TABLE || row->type == RH_PARAM_OPTIONAL || row->type == RH_PARAM_LIST;
}

static void add_row(manual *m, const rh_param *row, int indent)
{
    char facts[512], expected[320], range[96];
    const char *initial = default_of(row);
    bool block = is_block(row);
    rh_words_range(row, range, sizeof range);
    snprintf(facts, sizeof facts, "%s%s%s%s%s%s%s%s", rh_words_expected(row, expected, sizeof expected),
             block ? ", see " : "", block ? see(row) : "", initial ? "" : "; required",
             initial && initial[0] ? "; default " : "", initial ? initial : "", range[0] ? "; " : "", range);
    rh_text_add(&m->text, "  %-*s", indent - 2, row->name);
    rh_text_wrap(&m->text, facts, indent, WIDTH);
    rh_text_add(&m->text, "\n%*s", indent, "");
    rh_text_wrap(&m->text, row->help, indent, WIDTH);
    if (row->formerly) rh_text_add(&m->text, "\n%*sformerly '%s'", indent, "", row->formerly);
    rh_text_add(&m->text, "\n%*sexample: %s: ", indent, "", row->name);
    sample_value(&m->text, row);
    rh_text_add(&m->text, "\n");
}

static void add_markdown_row(manual *m, const rh_param *row)
{
    static const char *const types[] = {
        [RH_PARAM_BOOL] = "true or false", [RH_PARAM_INT] = "whole number", [RH_PARAM_FLOAT] = "number",
        [RH_PARAM_VEC3] = "[x, y, z]",     [RH_PARAM_CHOICE] = "choice",    [RH_PARAM_TEXT] = "text",
        [RH_PARAM_PATH] = "file",          [RH_PARAM_CODE] = "program",     [RH_PARAM_TABLE] = "block",
        [RH_PARAM_OPTIONAL] = "block",     [RH_PARAM_LIST] = "list",        [RH_PARAM_VALUES] = "names and values",
        [RH_PARAM_VARIANT] = "alternative"};
    char expected[320], range[96];
    const char *initial = default_of(row);
    bool block = is_block(row);
    bool named = row->type == RH_PARAM_CHOICE || row->type == RH_PARAM_VARIANT;
    rh_text_add(&m->text, "| `%s` | %s%s%s | %s | ", row->name, types[row->type], block ? " of " : "",
                block ? see(row) : "", row->unit);
    if (!initial) rh_text_add(&m->text, "required | ");
    else if (initial[0]) rh_text_add(&m->text, "`%s` | ", initial);
    else rh_text_add(&m->text, "| ");
    rh_text_add(&m->text, "%s | %s%s%s%s | `%s: ",
                named ? rh_words_expected(row, expected, sizeof expected) : rh_words_range(row, range, sizeof range),
                row->help, row->formerly ? "; formerly `" : "", row->formerly ? row->formerly : "",
                row->formerly ? "`" : "", row->name);
    sample_value(&m->text, row);
    rh_text_add(&m->text, "` |\n");
}

// The names that stand for several values, and these values.
static void add_markdown_presets(manual *m, const rh_param_table *table, const rh_param *row)
{
    const rh_presets *all = row->presets;
    rh_text_add(&m->text, "\nValues of `%s`:\n\n| %s |", row->name, row->name);
    for (int k = 0; k < RH_PRESET_VALUES && all->rows[k]; k++)
        rh_text_add(&m->text, " %s (%s) |", all->rows[k], rh_params_find(table, all->rows[k])->unit);
    rh_text_add(&m->text, " |\n|---|");
    for (int k = 0; k < RH_PRESET_VALUES && all->rows[k]; k++) rh_text_add(&m->text, "---|");
    rh_text_add(&m->text, "---|\n");
    for (int i = 0; i < all->count; i++) {
        rh_text_add(&m->text, "| `%s` |", all->items[i].name);
        for (int k = 0; k < RH_PRESET_VALUES && all->rows[k]; k++)
            rh_text_add(&m->text, " %s |", all->items[i].values[k] ? all->items[i].values[k] : "");
        rh_text_add(&m->text, " %s |\n", all->items[i].note);
    }
}

static void add_presets(manual *m, const rh_param *row)
{
    enum { NAME = 15 };
    const rh_presets *all = row->presets;
    int indent = 2 + NAME;
    rh_text_add(&m->text, "\nValues of %s:\n\n  %-*s", row->name, NAME, "");
    for (int k = 0; k < RH_PRESET_VALUES && all->rows[k]; k++) {
        rh_text_add(&m->text, "%s  ", all->rows[k]);
        indent += (int)strlen(all->rows[k]) + 2;
    }
    rh_text_add(&m->text, "\n");
    for (int i = 0; i < all->count; i++) {
        rh_text_add(&m->text, "  %-*s", NAME, all->items[i].name);
        for (int k = 0; k < RH_PRESET_VALUES && all->rows[k]; k++)
            rh_text_add(&m->text, "%-*s", (int)strlen(all->rows[k]) + 2,
                        all->items[i].values[k] ? all->items[i].values[k] : "-");
        rh_text_wrap(&m->text, all->items[i].note, indent, WIDTH);
        rh_text_add(&m->text, "\n");
    }
}

static void add_topic(manual *m, const topic *t)
{
    const rh_param_table *table = t->table;
    int indent = 0;
    for (int i = 0; i < table->count; i++)
        if ((int)strlen(table->rows[i].name) + 4 > indent) indent = (int)strlen(table->rows[i].name) + 4;
    rh_text_add(&m->text, m->markdown ? "## %s\n\n" : "%s\n\n", t->name);
    rh_text_wrap(&m->text, table->help, 0, WIDTH);
    if (t->path[0])
        rh_text_add(&m->text,
                    m->markdown ? "\n\nStands at, for example, `%s`.\n\n" : "\nStands at, for example, %s.\n\n",
                    t->path);
    else rh_text_add(&m->text, "\n\n");
    if (m->markdown)
        rh_text_add(&m->text,
                    "| key | value | unit | default | limits | meaning | example |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < table->count; i++) {
        if (m->markdown) add_markdown_row(m, &table->rows[i]);
        else add_row(m, &table->rows[i], indent);
    }
    for (int i = 0; i < table->count; i++) {
        if (!table->rows[i].presets) continue;
        if (m->markdown) add_markdown_presets(m, table, &table->rows[i]);
        else add_presets(m, &table->rows[i]);
    }
}

// --- overview --------------------------------------------------------------------------------------------------------

static const char *const introduction[] = {
    "A scene is a YAML file: keys and values, blocks by indentation, lists with '-'. Units are SI, y is up.",
    "The smallest scene gives 'rheo' (the version of the format, 1), 'cell', 'physics' and something in 'bodies' or "
    "'emitters'. Everything else has a default.",
    "'include: other.yaml', or a list of names, at the root reads other files first; the file's own keys then "
    "override. "
    "Blocks merge key by key; the lists bodies, solids, emitters, sinks and forces are joined; other lists are "
    "replaced. "
    "Names of files are relative to the file that names them.",
    "'--set path=value' changes one value: --set cell=0.01, --set physics.liquid.flip=0.9, --set "
    "solids[0].wall=no_slip, "
    "--set bodies.pool.velocity=[0,-1,0] (an item by its name).",
};

static void add_overview(manual *m, const topics *t)
{
    rh_text_add(&m->text, m->markdown ? "# Scene reference\n\n" : "Scene reference\n\n");
    for (size_t i = 0; i < sizeof introduction / sizeof *introduction; i++) {
        rh_text_wrap(&m->text, introduction[i], 0, WIDTH);
        rh_text_add(&m->text, "\n\n");
    }
    rh_text_add(&m->text, m->markdown ? "| topic | what it describes |\n|---|---|\n" : "Topics:\n");
    for (int i = 0; i < t->count; i++) {
        const rh_param_table *table = t->items[i].table;
        if (m->markdown) {
            rh_text_add(&m->text, "| [%s](#%s) | %s |\n", t->items[i].name, t->items[i].name, table->help);
            continue;
        }
        rh_text_add(&m->text, "  %-12s", t->items[i].name);
        if (strlen(t->items[i].name) > 11) rh_text_add(&m->text, "\n%14s", "");
        rh_text_wrap(&m->text, table->help, 14, WIDTH);
        rh_text_add(&m->text, "\n");
    }
}

static rh_code unknown_topic(const topics *t, const char *name, rh_status *status)
{
    const char *names[2 * MAX_TOPICS] = {NULL};
    char hint[640];
    int count = 0;
    for (int i = 0; i < t->count; i++) names[count++] = t->items[i].name;
    int tables = count;
    for (int i = 0; i < t->count; i++) names[count++] = t->items[i].key;
    const char *nearest = rh_nearest_name(name, names, count);
    if (nearest) return rh_fail(status, RH_USER, "there is no topic '%.60s'; did you mean '%s'?", name, nearest);
    return rh_fail(status, RH_USER, "there is no topic '%.60s'; %s", name,
                   rh_words_suggest(name, names, tables, hint, sizeof hint));
}

char *rh_scene_manual(const char *topic_name, bool markdown, rh_status *status)
{
    topics *t = rh_alloc_zero(sizeof *t, "scene.manual", status);
    if (!t) return NULL;
    manual m = {.markdown = markdown};
    collect(t, &rh_scene_table, "scene", "");
    collect_optional(t);
    bool all = topic_name && strcmp(topic_name, "all") == 0;
    const topic *one = topic_name && !all ? find_topic(t, topic_name) : NULL;
    char *text = NULL;
    if (topic_name && !all && !one) {
        unknown_topic(t, topic_name, status);
    } else {
        if (!one) add_overview(&m, t);
        if (one) add_topic(&m, one);
        for (int i = 0; i < t->count; i++) {
            // Sand is a method and a material: who asks for it by that name is told of both.
            bool namesake = one && &t->items[i] != one && strcmp(one->table->name, topic_name) == 0 &&
                            strcmp(t->items[i].table->name, topic_name) == 0;
            if (!all && !namesake) continue;
            rh_text_add(&m.text, "\n");
            add_topic(&m, &t->items[i]);
        }
        text = rh_text_take(&m.text, status);
    }
    rh_free(t);
    return text;
}
