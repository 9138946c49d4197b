// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Reading by table. Functions return RH_OK also after a user's mistake (it is in the list of problems then, and the
// field keeps its default); they return a failure only when memory ran out or enough problems were found.
#include "scene/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "scene/renamed.h"
#include "scene/words.h"
#include "scene/units.h"

typedef struct reader {
    rh_yaml *yaml;
    rh_scene_sources *sources;
    rh_status *status;
    char path[256];  // of the value being read: "solids[0].shape.box"
    size_t path_length;
    char message[sizeof((rh_status *)0)->message];
    size_t message_length;
    int problems;
    struct {
        const rh_yaml_node *node;
        uint64_t text;                          // hash of what was said of it
    } told[RH_READER_PROBLEMS];                 // [problems]
    const rh_param_table *const *alternatives;  // of the variant being read; NULL outside
} reader;

static rh_code read_block(reader *r, const rh_param_table *table, const rh_yaml_node *node, void *object);

// --- problems and paths ----------------------------------------------------------------------------------------------

static size_t push(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static size_t push(reader *r, const char *format, ...)
{
    size_t old = r->path_length, room = sizeof r->path - old;
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(r->path + old, room, format, arguments);
    va_end(arguments);
    if (used > 0) r->path_length += (size_t)used < room ? (size_t)used : room - 1;
    return old;
}

static size_t push_name(reader *r, const char *name) { return push(r, "%s%s", r->path_length ? "." : "", name); }

static void pop(reader *r, size_t old) { r->path[r->path_length = old] = 0; }

// What stands in one place may be read in several: a material's `surface` takes values over from the scene's. A mistake
// in it is told once.
static bool is_told(reader *r, const rh_yaml_node *node, const char *text)
{
    uint64_t hash = rh_hash(text, strlen(text), 0);
    for (int i = 0; i < r->problems && i < RH_READER_PROBLEMS; i++)
        if (r->told[i].node == node && r->told[i].text == hash) return true;
    if (r->problems < RH_READER_PROBLEMS) r->told[r->problems].node = node, r->told[r->problems].text = hash;
    return false;
}

// Adds one line. Returns a failure when the list is full, which ends the reading.
static rh_code problem(reader *r, const rh_yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static rh_code problem(reader *r, const rh_yaml_node *node, const char *format, ...)
{
    char place[RH_YAML_PLACE], text[512], line[sizeof r->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (is_told(r, node, text)) return RH_OK;
    snprintf(line, sizeof line, "%s%s: %s%s%s", r->problems ? "\n" : "", rh_yaml_place(r->yaml, node, place), r->path,
             r->path[0] ? ": " : "", text);
    static const char more[] = "\n(there may be more)";
    size_t length = strlen(line), room = sizeof r->message - sizeof more - r->message_length;
    bool full = ++r->problems > RH_READER_PROBLEMS || (r->message_length && length > room);
    const char *add = full ? more : line;
    length = strlen(add);
    if (length >= sizeof r->message - r->message_length) length = sizeof r->message - 1 - r->message_length;
    memcpy(r->message + r->message_length, add, length);
    r->message_length += length;
    r->message[r->message_length] = 0;
    return full ? RH_USER : RH_OK;
}

static bool all_optional(const rh_param_table *table)
{
    for (int i = 0; i < table->count; i++)
        if (rh_words_required(&table->rows[i])) return false;
    return true;
}

static bool is_number(const rh_yaml_node *node)
{
    double value;
    return node->kind == RH_YAML_SCALAR && !node->quoted && rh_number_parse(node->text, &value) == RH_NUMBER_OK;
}

// A number with a decimal comma: writes it with a point.
static bool mend_comma(const char *text, char *out, size_t size)
{
    double value;
    const char *comma = strchr(text, ',');
    if (!comma || strchr(comma + 1, ',')) return false;
    snprintf(out, size, "%s", text);
    out[strcspn(out, ",")] = '.';
    return rh_number_parse(out, &value) == RH_NUMBER_OK;
}

// The keys of a block that is small enough to name them all.
static void name_keys(const rh_param_table *table, char *out, size_t size)
{
    enum { MOST = 6 };
    const char *names[MOST];
    if (table->count > MOST) return;
    for (int i = 0; i < table->count; i++) names[i] = table->rows[i].name;
    int used = snprintf(out, size, " (with the keys ");
    rh_words_join(names, table->count, out + used, size - (size_t)used);
    size_t length = strlen(out);
    snprintf(out + length, size - length, ")");
}

// What to write instead, where the slip is a common one.
static const char *remedy(const rh_param *row, const rh_yaml_node *node, char *out, size_t size)
{
    char number[64];
    out[0] = 0;
    if (row->type == RH_PARAM_VEC3 && node->kind == RH_YAML_SEQUENCE && node->count == 2 &&
        is_number(node->items[0].value) && is_number(node->items[1].value))
        snprintf(out, size, " (in two dimensions, too: write [%s, %s, 0])", node->items[0].value->text,
                 node->items[1].value->text);
    if (node->kind != RH_YAML_SCALAR) return out;
    bool block = row->type == RH_PARAM_TABLE || row->type == RH_PARAM_OPTIONAL;
    if (block && rh_yaml_is_nothing(node) && all_optional(row->table))
        snprintf(out, size, " (write {} for all defaults)");
    else if (block) name_keys(row->table, out, size);
    else if (row->type == RH_PARAM_VARIANT && rh_words_variant(row->variants, node->text) >= 0)
        snprintf(out, size, " (write {%s: {...}})", node->text);
    else if (node->quoted && row->type <= RH_PARAM_FLOAT) snprintf(out, size, " (remove the quotes)");
    else if (row->type == RH_PARAM_FLOAT && mend_comma(node->text, number, sizeof number))
        snprintf(out, size, " (write %s, with a point)", number);
    return out;
}

static rh_code wrong_type(reader *r, const rh_param *row, const rh_yaml_node *node)
{
    char expected[320], found[RH_WORDS_FOUND], hint[192];
    return problem(r, node, "expected %s, found %s%s", rh_words_expected(row, expected, sizeof expected),
                   rh_words_found(node, found), remedy(row, node, hint, sizeof hint));
}

// --- values ----------------------------------------------------------------------------------------------------------

static bool plain_scalar(const rh_yaml_node *node) { return node->kind == RH_YAML_SCALAR && !node->quoted; }

static rh_code check_range(reader *r, const rh_param *row, const rh_yaml_node *node, double value)
{
    char range[96];
    if ((row->min == 0 && row->max == 0) || (value >= row->min && value <= row->max)) return RH_OK;
    return problem(r, node, "must be %s, found %s", rh_words_range(row, range, sizeof range), node->text);
}

static rh_code bad_number(reader *r, const rh_param *row, const rh_yaml_node *node, rh_number_result result)
{
    char found[RH_WORDS_FOUND];
    rh_words_found(node, found);
    if (result == RH_NUMBER_NOT_FINITE) return problem(r, node, "expected a finite number, found %s", found);
    if (result == RH_NUMBER_TOO_LARGE) return problem(r, node, "%s is too large to be stored", found);
    return wrong_type(r, row, node);
}

static rh_code read_float(reader *r, const rh_param *row, const rh_yaml_node *node, double *out)
{
    double value;
    if (!plain_scalar(node)) return wrong_type(r, row, node);
    rh_number_result result = rh_number_parse(node->text, &value);
    if (result != RH_NUMBER_OK &&
        !(result == RH_NUMBER_BAD && rh_units_parse(node->text, row->unit ? row->unit : "", &value)))
        return bad_number(r, row, node, result);
    *out = value;
    return check_range(r, row, node, value);
}

static rh_code read_int(reader *r, const rh_param *row, const rh_yaml_node *node, int64_t *out)
{
    int64_t value;
    if (!plain_scalar(node)) return wrong_type(r, row, node);
    rh_number_result result = rh_integer_parse(node->text, &value);
    if (result != RH_NUMBER_OK) return bad_number(r, row, node, result);
    *out = value;
    return check_range(r, row, node, (double)value);
}

static rh_code read_vector(reader *r, const rh_param *row, const rh_yaml_node *node, rh_dvec3 *out)
{
    if (node->kind != RH_YAML_SEQUENCE || node->count != 3) return wrong_type(r, row, node);
    rh_param part = *row;
    part.type = RH_PARAM_FLOAT;  // so that a wrong part is described as a number
    double *parts[3] = {&out->x, &out->y, &out->z};
    for (int i = 0; i < 3; i++) {
        size_t old = push(r, "[%d]", i);
        RH_TRY(read_float(r, &part, node->items[i].value, parts[i]));
        pop(r, old);
    }
    return RH_OK;
}

static rh_code read_bool(reader *r, const rh_param *row, const rh_yaml_node *node, bool *out)
{
    bool yes = plain_scalar(node) && strcmp(node->text, "true") == 0;
    if (!yes && !(plain_scalar(node) && strcmp(node->text, "false") == 0)) return wrong_type(r, row, node);
    *out = yes;
    return RH_OK;
}

static rh_code read_choice(reader *r, const rh_param *row, const rh_yaml_node *node, int *out)
{
    char hint[320], found[RH_WORDS_FOUND];
    if (node->kind != RH_YAML_SCALAR || rh_yaml_is_nothing(node)) return wrong_type(r, row, node);
    int count = 0;
    for (; row->choices[count]; count++)
        if (strcmp(node->text, row->choices[count]) == 0) return *out = count, RH_OK;
    return problem(r, node, "unknown choice %s; %s", rh_words_found(node, found),
                   rh_words_suggest(node->text, row->choices, count, hint, sizeof hint));
}

static rh_code add_source(reader *r, const rh_yaml_node *node, const char *value, bool path)
{
    rh_scene_sources *list = r->sources;
    char place[RH_YAML_PLACE];
    if (!list) return RH_OK;
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 8;
        void *items = rh_realloc(list->items, (size_t)capacity * sizeof *list->items, "scene.sources", r->status);
        if (!items) return RH_MEMORY;
        list->items = items;
        list->capacity = capacity;
    }
    char *copy = rh_strdup(rh_yaml_place(r->yaml, node, place), "scene.sources", r->status);
    if (!copy) return RH_MEMORY;
    list->items[list->count++] = (rh_scene_source){value, copy, path, node->text_line, node->text_column};
    return RH_OK;
}

static rh_code read_text(reader *r, const rh_param *row, const rh_yaml_node *node, char **out)
{
    bool path = row->type == RH_PARAM_PATH;
    if (node->kind != RH_YAML_SCALAR || rh_yaml_is_nothing(node) || (path && !node->text[0]))
        return wrong_type(r, row, node);
    const char *folder = path && node->text[0] != '/' ? r->yaml->files[node->file].folder : "";
    size_t bytes = strlen(folder) + strlen(node->text) + 2;
    char *text = rh_alloc(bytes, "params.text", r->status);
    if (!text) return RH_MEMORY;
    snprintf(text, bytes, "%s%s%s", folder, folder[0] ? "/" : "", node->text);
    rh_free(*out);
    *out = text;
    return row->type != RH_PARAM_TEXT ? add_source(r, node, text, path) : RH_OK;
}

// --- blocks ----------------------------------------------------------------------------------------------------------

// Names of list items must differ, because `--set` finds items by them.
static rh_code check_names(reader *r, const rh_param_table *table, const rh_yaml_node *node)
{
    const rh_param *row = rh_params_find(table, "name");
    if (!row || row->type != RH_PARAM_TEXT || node->count < 2) return RH_OK;
    rh_arena_mark mark = rh_arena_save(&r->yaml->arena);
    const char **names = rh_arena_take_zero(&r->yaml->arena, (size_t)node->count * sizeof *names, r->status);
    if (!names) return RH_MEMORY;
    for (int i = 0; i < node->count; i++) {
        const rh_yaml_node *name = rh_yaml_find(node->items[i].value, "name");
        if (name && name->kind == RH_YAML_SCALAR && !rh_yaml_is_nothing(name)) names[i] = name->text;
    }
    int first, second;
    RH_TRY(rh_yaml_first_duplicate(r->yaml, names, node->count, &first, &second, r->status));
    rh_arena_restore(&r->yaml->arena, mark);
    if (second < 0) return RH_OK;
    char found[RH_WORDS_FOUND];
    const rh_yaml_node *name = rh_yaml_find(node->items[second].value, "name");
    return problem(r, name, "the name %s is taken by item %d of the list", rh_words_found(name, found), first);
}

// Items that are a name and a file may be written as a mapping: `{water: ../dam_break}` is `[{name: water, run:
// ../dam_break}]`.
static bool has_short_form(const rh_param_table *table)
{
    return table->count == 2 && table->rows[0].type == RH_PARAM_TEXT && table->rows[1].type == RH_PARAM_PATH;
}

static rh_code spread_pairs(reader *r, const rh_param_table *table, const rh_yaml_node *node, const rh_yaml_node **out)
{
    rh_yaml_node *list = rh_yaml_make(r->yaml, RH_YAML_SEQUENCE, node, r->status);
    for (int i = 0; list && i < node->count; i++) {
        rh_yaml_node *item = rh_yaml_make(r->yaml, RH_YAML_MAPPING, node->items[i].key, r->status);
        for (int k = 0; k < 2; k++) {
            rh_yaml_node *key = rh_yaml_make(r->yaml, RH_YAML_SCALAR, node->items[i].key, r->status);
            if (!item || !key) return RH_MEMORY;
            key->text = table->rows[k].name;
            RH_TRY(rh_yaml_append(r->yaml, item, key, k ? node->items[i].value : node->items[i].key, r->status));
        }
        RH_TRY(rh_yaml_append(r->yaml, list, NULL, item, r->status));
    }
    *out = list;
    return list ? RH_OK : RH_MEMORY;
}

static rh_code read_list(reader *r, const rh_param *row, const rh_yaml_node *node, rh_list *list)
{
    if (node->kind == RH_YAML_MAPPING && has_short_form(row->table)) RH_TRY(spread_pairs(r, row->table, node, &node));
    if (node->kind != RH_YAML_SEQUENCE) return wrong_type(r, row, node);
    if (node->count == 0) return RH_OK;
    list->items = rh_alloc_zero((size_t)node->count * row->table->size, "params.list", r->status);
    if (!list->items) return RH_MEMORY;
    for (int i = 0; i < node->count; i++) {
        const rh_yaml_node *item = node->items[i].value;
        void *object = (char *)list->items + (size_t)i * row->table->size;
        RH_TRY(rh_params_defaults(row->table, object, r->status));
        list->count = i + 1;
        if (rh_params_find(row->table, "name"))
            RH_TRY(add_source(r, item, object, false));  // for what shows only when the run begins
        size_t old = push(r, "[%d]", i);
        RH_TRY(read_block(r, row->table, item, object));
        pop(r, old);
    }
    return check_names(r, row->table, node);
}

static bool is_identifier(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && !name[length] && !(name[0] >= '0' && name[0] <= '9');
}

static rh_code read_named_value(reader *r, const rh_yaml_item *item, rh_named_value *out)
{
    char found[RH_WORDS_FOUND];
    const rh_param number = {.type = RH_PARAM_FLOAT}, vector = {.type = RH_PARAM_VEC3};
    if (!is_identifier(item->key->text))
        return problem(r, item->key, "expected a name of letters, digits and _, found %s",
                       rh_words_found(item->key, found));
    size_t old = push_name(r, item->key->text);
    out->is_vector = item->value->kind == RH_YAML_SEQUENCE;
    if (item->value->kind == RH_YAML_MAPPING)
        RH_TRY(problem(r, item->value, "expected a number or three numbers [x, y, z], found %s",
                       rh_words_found(item->value, found)));
    else if (out->is_vector) RH_TRY(read_vector(r, &vector, item->value, &out->vector));
    else RH_TRY(read_float(r, &number, item->value, &out->number));
    pop(r, old);
    return RH_OK;
}

static rh_code read_values(reader *r, const rh_param *row, const rh_yaml_node *node, rh_list *list)
{
    if (node->kind != RH_YAML_MAPPING) return wrong_type(r, row, node);
    if (node->count == 0) return RH_OK;
    rh_named_value *values = rh_alloc_zero((size_t)node->count * sizeof *values, "params.list", r->status);
    if (!values) return RH_MEMORY;
    list->items = values;
    for (int i = 0; i < node->count; i++) {
        values[i].name = rh_strdup(node->items[i].key->text, "params.text", r->status);
        if (!values[i].name) return RH_MEMORY;
        list->count = i + 1;
        RH_TRY(read_named_value(r, &node->items[i], &values[i]));
    }
    return RH_OK;
}

static rh_code read_variant(reader *r, const rh_param *row, const rh_yaml_node *node, rh_variant *variant)
{
    char hint[320], found[RH_WORDS_FOUND];
    if (node->kind != RH_YAML_MAPPING || node->count == 0) return wrong_type(r, row, node);
    const rh_yaml_node *key = node->items[0].key;
    if (node->count > 1)
        return problem(r, node->items[1].key, "expected exactly one of its alternatives, found %s beside '%.60s'",
                       rh_words_found(node->items[1].key, found), key->text);
    int kind = rh_words_variant(row->variants, key->text);
    if (kind < 0)
        return problem(r, key, "unknown alternative %s; %s", rh_words_found(key, found),
                       rh_words_suggest_variant(key->text, row->variants, hint, sizeof hint));
    const rh_param_table *table = row->variants[kind];
    variant->value = rh_alloc_zero(table->size, "params.variant", r->status);
    if (!variant->value) return RH_MEMORY;
    variant->kind = kind;
    size_t old = push_name(r, table->name);
    const rh_param_table *const *outer = r->alternatives;
    r->alternatives = row->variants;
    RH_TRY(rh_params_defaults(table, variant->value, r->status));
    RH_TRY(read_block(r, table, node->items[0].value, variant->value));
    r->alternatives = outer;
    pop(r, old);
    return RH_OK;
}

static rh_code read_optional(reader *r, const rh_param *row, const rh_yaml_node *node, void **object)
{
    if (node->kind != RH_YAML_MAPPING) return wrong_type(r, row, node);
    *object = rh_alloc_zero(row->table->size, "params.optional", r->status);
    if (!*object) return RH_MEMORY;
    RH_TRY(rh_params_defaults(row->table, *object, r->status));
    return read_block(r, row->table, node, *object);
}

static rh_code read_value(reader *r, const rh_param *row, const rh_yaml_node *node, void *field)
{
    switch (row->type) {
    case RH_PARAM_BOOL: return read_bool(r, row, node, field);
    case RH_PARAM_INT: return read_int(r, row, node, field);
    case RH_PARAM_FLOAT: return read_float(r, row, node, field);
    case RH_PARAM_VEC3: return read_vector(r, row, node, field);
    case RH_PARAM_CHOICE: return read_choice(r, row, node, field);
    case RH_PARAM_TEXT:
    case RH_PARAM_CODE:
    case RH_PARAM_PATH: return read_text(r, row, node, field);
    case RH_PARAM_TABLE: return read_block(r, row->table, node, field);
    case RH_PARAM_OPTIONAL: return read_optional(r, row, node, field);
    case RH_PARAM_LIST: return read_list(r, row, node, field);
    case RH_PARAM_VALUES: return read_values(r, row, node, field);
    case RH_PARAM_VARIANT: return read_variant(r, row, node, field);
    }
    return RH_OK;
}

static bool near_row(const rh_param_table *table, const char *name)
{
    const char *names[64];
    int count = table->count < 64 ? table->count : 64;
    for (int i = 0; i < count; i++) names[i] = table->rows[i].name;
    return rh_nearest_name(name, names, count) != NULL;
}

// "it is one of splash; " when another alternative has a key of this name; or that no method has it, which nobody asks
// of shapes.
static const char *whose_key(const reader *r, const rh_param_table *table, const char *name, char *out, size_t size)
{
    enum { MOST = 32 };
    const char *owners[MOST], *all[MOST];
    int count = 0, number = 0;
    bool among = false;
    out[0] = 0;
    for (int i = 0; r->alternatives && r->alternatives[i] && i < MOST; i++) {
        among |= r->alternatives[i] == table;
        all[number++] = r->alternatives[i]->name;
        if (rh_params_find(r->alternatives[i], name)) owners[count++] = r->alternatives[i]->name;
    }
    char names[320];
    if (!among || number < 2) return out;
    const char *split = rh_renamed_split(table->name, name);
    if (split) return snprintf(out, size, "'%s' is a method of its own now; ", split), out;
    if (count > 0) snprintf(out, size, "it is one of %s; ", rh_words_join(owners, count, names, sizeof names));
    else if (!near_row(table, name) && strncmp(r->path, "physics", 7) == 0)
        snprintf(out, size, "none of %s has it; ", rh_words_join(all, number, names, sizeof names));
    return out;
}

static rh_code read_items(reader *r, const rh_param_table *table, const rh_yaml_node *node, void *object)
{
    for (int i = 0; i < node->count; i++) {
        const rh_yaml_node *key = node->items[i].key;
        const rh_param *row = rh_params_find(table, key->text);
        if (!row) {
            char hint[400], found[RH_WORDS_FOUND], owner[200];
            RH_TRY(problem(r, key, "unknown key %s; %s%s", rh_words_found(key, found),
                           whose_key(r, table, key->text, owner, sizeof owner),
                           rh_words_suggest_row(key->text, table, hint, sizeof hint)));
            continue;
        }
        size_t old = push_name(r, row->name);
        RH_TRY(read_value(r, row, node->items[i].value, (char *)object + row->offset));
        pop(r, old);
    }
    return RH_OK;
}

static rh_code check_missing(reader *r, const rh_param_table *table, const rh_yaml_node *node,
                             const rh_yaml_node *place)
{
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        if (node && rh_yaml_find(node, row->name)) continue;
        if (rh_words_required(row)) {
            char expected[320];
            RH_TRY(problem(r, place, "'%s' is missing: expected %s (%s)", row->name,
                           rh_words_expected(row, expected, sizeof expected), row->help));
        } else if (row->type == RH_PARAM_TABLE) {  // left out as a whole: its own required rows are missing too
            size_t old = push_name(r, row->name);
            RH_TRY(check_missing(r, row->table, NULL, place));
            pop(r, old);
        }
    }
    return RH_OK;
}

static rh_code run_check(reader *r, const rh_param_table *table, const rh_yaml_node *node, const void *object)
{
    const char *field = NULL;
    rh_status local = {0};
    if (!table->check || table->check(object, &field, &local) == RH_OK) return RH_OK;
    if (local.code == RH_MEMORY) return rh_fail(r->status, RH_MEMORY, "%s", local.message);
    const rh_yaml_node *blamed = field ? rh_yaml_find(node, field) : NULL;
    size_t old = field ? push_name(r, field) : r->path_length;
    RH_TRY(problem(r, blamed ? blamed : node, "%s", local.message));
    pop(r, old);
    return RH_OK;
}

// Values of the preset that the block names; what the block says itself is read after them. An unknown name is told
// where the row is read.
static void take_preset(reader *r, const rh_param_table *table, const rh_yaml_node *node, void *object)
{
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        const rh_yaml_node *name = row->presets ? rh_yaml_find(node, row->name) : NULL;
        if (name && name->kind == RH_YAML_SCALAR) rh_params_preset(table, row, name->text, object, r->status);
    }
}

// The struct holds its defaults already.
static rh_code read_block(reader *r, const rh_param_table *table, const rh_yaml_node *node, void *object)
{
    if (node->kind != RH_YAML_MAPPING) {
        const rh_param row = {.type = RH_PARAM_TABLE, .table = table};
        return wrong_type(r, &row, node);
    }
    int before = r->problems;
    take_preset(r, table, node, object);
    RH_TRY(read_items(r, table, node, object));
    RH_TRY(check_missing(r, table, node, node));
    // Rules between fields make sense only when every field is what it should be.
    return r->problems == before ? run_check(r, table, node, object) : RH_OK;
}

rh_code rh_reader_read(rh_yaml *yaml, const rh_yaml_node *root, const rh_param_table *table, void *object,
                       rh_scene_sources *sources, rh_status *status)
{
    rh_status local = {0};
    reader r = {.yaml = yaml, .sources = sources, .status = &local};
    rh_code code = rh_params_defaults(table, object, &local);
    if (code == RH_OK) code = read_block(&r, table, root, object);
    if (code == RH_OK && r.problems == 0) return RH_OK;
    rh_params_free(table, object);
    if (local.code != RH_OK) return rh_fail(status, local.code, "%s", local.message);
    return rh_fail(status, RH_USER, "%s", r.message);
}
