// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The path of a `--set` and the scene's tree are walked together, by the tables of parameters; what is missing on the
// way is made, so that the reader finds the value as if it stood in the file.
#include "scene/setting.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "scene/renamed.h"
#include "scene/words.h"

enum { LONGEST_WORD = 128 };

// Walks the path and the tree together.
typedef struct walker {
    rh_yaml *yaml;
    const char *rest;     // of the path, ends at '='
    rh_yaml_node *value;  // to put at the end of the path
    char place[RH_YAML_PLACE];
    rh_status *status;
} walker;

static rh_code walk_block(walker *w, const rh_param_table *table, rh_yaml_node *mapping);

static bool at_end(const walker *w) { return *w->rest == '='; }

// A word of the path: letters up to '.', '[' or '='.
static rh_code take_word(walker *w, char word[LONGEST_WORD])
{
    size_t length = strcspn(w->rest, ".[=");
    if (length == 0 || length >= LONGEST_WORD)
        return rh_fail(w->status, RH_USER, "%s: expected a name at '%.40s'", w->place, w->rest);
    memcpy(word, w->rest, length);
    word[length] = 0;
    w->rest += length;
    return RH_OK;
}

static rh_code expect_dot(walker *w, const char *name)
{
    if (*w->rest != '.')
        return rh_fail(w->status, RH_USER, "%s: expected '.' or '=' after '%s', found '%c'", w->place, name, *w->rest);
    w->rest++;
    return RH_OK;
}

static rh_code put(walker *w, rh_yaml_node *mapping, const char *name, rh_yaml_node *value)
{
    for (int i = 0; i < mapping->count; i++)
        if (strcmp(mapping->items[i].key->text, name) == 0) return mapping->items[i].value = value, RH_OK;
    rh_yaml_node *key = rh_yaml_make(w->yaml, RH_YAML_SCALAR, w->value, w->status);
    if (!key) return RH_MEMORY;
    key->text = name;
    return rh_yaml_append(w->yaml, mapping, key, value, w->status);
}

// The block under `name`, created when it is not there.
static rh_code descend(walker *w, rh_yaml_node *mapping, const char *name, rh_yaml_node **out)
{
    *out = rh_yaml_find(mapping, name);
    if (*out && (*out)->kind == RH_YAML_MAPPING) return RH_OK;
    if (*out && !rh_yaml_is_nothing(*out)) {
        char place[RH_YAML_PLACE], found[RH_WORDS_FOUND];
        return rh_fail(w->status, RH_USER, "%s: '%s' should be a mapping, but %s says %s", w->place, name,
                       rh_yaml_place(w->yaml, *out, place), rh_words_found(*out, found));
    }
    *out = rh_yaml_make(w->yaml, RH_YAML_MAPPING, w->value, w->status);
    return *out ? put(w, mapping, name, *out) : RH_MEMORY;
}

static rh_code take_index(walker *w, const char *list, int count, int *index)
{
    char *end;
    long value = strtol(w->rest + 1, &end, 10);
    if (end == w->rest + 1 || *end != ']')
        return rh_fail(w->status, RH_USER, "%s: expected a number and ']' after '%s['", w->place, list);
    if (value < 0 || value >= count)
        return rh_fail(w->status, RH_USER, "%s: '%s' has %d item%s, counted from 0; there is no %s[%ld]", w->place,
                       list, count, count == 1 ? "" : "s", list, value);
    w->rest = end + 1;
    *index = (int)value;
    return RH_OK;
}

static rh_code take_item_name(walker *w, const rh_param *row, const rh_yaml_node *sequence, int *index)
{
    enum { LISTED = 32 };
    const char *names[LISTED] = {NULL};
    char word[LONGEST_WORD], hint[320];
    int count = 0;
    RH_TRY(expect_dot(w, row->name));
    RH_TRY(take_word(w, word));
    for (int i = 0; i < sequence->count; i++) {
        const rh_yaml_node *name = rh_yaml_find(sequence->items[i].value, "name");
        if (!name || name->kind != RH_YAML_SCALAR) continue;
        if (strcmp(name->text, word) == 0) return *index = i, RH_OK;
        if (count < LISTED) names[count++] = name->text;
    }
    if (count == 0)
        return rh_fail(w->status, RH_USER, "%s: no item of '%s' has a name; use %s[0] and so on", w->place, row->name,
                       row->name);
    return rh_fail(w->status, RH_USER, "%s: no item of '%s' is called '%.60s'; %s", w->place, row->name, word,
                   rh_words_suggest(word, names, count, hint, sizeof hint));
}

static rh_code walk_list(walker *w, const rh_param *row, rh_yaml_node *mapping)
{
    const rh_yaml_node empty = {.kind = RH_YAML_SEQUENCE};
    const rh_yaml_node *sequence = rh_yaml_find(mapping, row->name);
    if (!sequence || sequence->kind != RH_YAML_SEQUENCE) sequence = &empty;
    int index = 0;
    if (*w->rest == '[') RH_TRY(take_index(w, row->name, sequence->count, &index));
    else RH_TRY(take_item_name(w, row, sequence, &index));
    if (at_end(w)) return sequence->items[index].value = w->value, RH_OK;
    RH_TRY(expect_dot(w, row->name));
    rh_yaml_node *item = sequence->items[index].value;
    if (item->kind != RH_YAML_MAPPING)
        return rh_fail(w->status, RH_USER, "%s: item %d of '%s' is not a mapping", w->place, index, row->name);
    return walk_block(w, row->table, item);
}

static rh_code walk_variant(walker *w, const rh_param *row, rh_yaml_node *mapping)
{
    char word[LONGEST_WORD], hint[320];
    rh_yaml_node *variant, *block;
    RH_TRY(expect_dot(w, row->name));
    RH_TRY(take_word(w, word));
    int kind = rh_words_variant(row->variants, word);
    if (kind < 0)
        return rh_fail(w->status, RH_USER, "%s: '%s' has no alternative '%.60s'; %s", w->place, row->name, word,
                       rh_words_suggest_variant(word, row->variants, hint, sizeof hint));
    const char *name = row->variants[kind]->name;
    RH_TRY(descend(w, mapping, row->name, &variant));
    if (at_end(w)) {  // the whole alternative is given, so it may take the place of another
        variant->count = 0;
        return put(w, variant, name, w->value);
    }
    if (variant->count > 0 && !rh_yaml_find(variant, name))
        return rh_fail(w->status, RH_USER, "%s: '%s' is a '%.60s' here, not a '%s'", w->place, row->name,
                       variant->items[0].key->text, name);
    RH_TRY(expect_dot(w, name));
    RH_TRY(descend(w, variant, name, &block));
    return walk_block(w, row->variants[kind], block);
}

// A name of the user's own: the tree keeps it.
static rh_code walk_values(walker *w, const rh_param *row, rh_yaml_node *mapping)
{
    char word[LONGEST_WORD];
    rh_yaml_node *block;
    RH_TRY(expect_dot(w, row->name));
    RH_TRY(descend(w, mapping, row->name, &block));
    RH_TRY(take_word(w, word));
    if (!at_end(w))
        return rh_fail(w->status, RH_USER, "%s: expected '=' after '%s', found '%c'", w->place, word, *w->rest);
    char *kept = rh_arena_take(&w->yaml->arena, strlen(word) + 1, w->status);
    if (!kept) return RH_MEMORY;
    memcpy(kept, word, strlen(word) + 1);
    return put(w, block, kept, w->value);
}

static rh_code walk_block(walker *w, const rh_param_table *table, rh_yaml_node *mapping)
{
    char word[LONGEST_WORD], hint[400], expected[320];
    rh_yaml_node *block;
    RH_TRY(take_word(w, word));
    const rh_param *row = rh_params_find(table, word), *former = row ? NULL : rh_params_find_former(table, word);
    if (former) {
        rh_log(RH_LOG_WARNING, "%s: '%s' is now called '%s'", w->place, word, former->name);
        row = former;
    }
    const char *split = row ? NULL : rh_renamed_split(table->name, word);
    if (split)
        return rh_fail(w->status, RH_USER,
                       "%s: '%s' has no '%s' any more: '%s' is a method of its own, as in --set "
                       "physics.%s={}",
                       w->place, table->name, word, split, split);
    if (!row)
        return rh_fail(w->status, RH_USER, "%s: unknown name '%.60s'; %s", w->place, word,
                       rh_words_suggest_row(word, table, hint, sizeof hint));
    if (at_end(w)) return put(w, mapping, row->name, w->value);
    switch (row->type) {
    case RH_PARAM_LIST: return walk_list(w, row, mapping);
    case RH_PARAM_VARIANT: return walk_variant(w, row, mapping);
    case RH_PARAM_VALUES: return walk_values(w, row, mapping);
    case RH_PARAM_TABLE:
    case RH_PARAM_OPTIONAL:
        RH_TRY(expect_dot(w, row->name));
        RH_TRY(descend(w, mapping, row->name, &block));
        return walk_block(w, row->table, block);
    default:
        return rh_fail(w->status, RH_USER, "%s: '%s' has no parts, it is set as a whole: expected %s=%s", w->place,
                       row->name, row->name, rh_words_expected(row, expected, sizeof expected));
    }
}

static rh_code parse_value(rh_yaml *yaml, const char *setting, const char *text, rh_yaml_node **value,
                           rh_status *status)
{
    char folder[PATH_MAX], name[RH_YAML_PLACE];
    if (!realpath(".", folder)) snprintf(folder, sizeof folder, ".");
    snprintf(name, sizeof name, "--set %.180s", setting);
    int file = rh_yaml_add_file(yaml, name, folder, true, status);
    if (file < 0) return RH_MEMORY;
    RH_TRY(rh_yaml_parse(yaml, file, text, strlen(text), value, status));
    if (!*value) return rh_fail(status, RH_USER, "%s: expected a value after '='", name);
    return RH_OK;
}

// For an example in a message.
static const char *first_number(const rh_param_table *table)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].type == RH_PARAM_FLOAT) return table->rows[i].name;
    return "name";
}

rh_code rh_setting_apply(rh_yaml *yaml, const rh_param_table *table, rh_yaml_node *root, const char *setting,
                         rh_status *status)
{
    const char *equals = strchr(setting, '=');
    if (!equals)
        return rh_fail(status, RH_USER, "--set %.180s: expected path=value, for example %s=0.01", setting,
                       first_number(table));
    rh_status local = {0};
    walker w = {.yaml = yaml, .rest = setting, .status = &local};
    rh_code code = parse_value(yaml, setting, equals + 1, &w.value, &local);
    if (code == RH_OK) {
        rh_yaml_place(yaml, w.value, w.place);
        code = walk_block(&w, table, root);
        if (code == RH_OK) code = rh_renamed_apply(yaml, table, root, &local);  // what is set may be a whole block
    }
    return code == RH_OK ? RH_OK : rh_fail(status, local.code, "%s", local.message);
}
