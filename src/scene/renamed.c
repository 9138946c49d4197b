// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The tree of the scene is walked beside the parameter tables, and keys are renamed in place; the places of values
// (line and column) stay, so messages still point at what was written.
#include "scene/renamed.h"

#include <string.h>
#include "base/log.h"
#include "scene/words.h"

static rh_code rename_key(rh_yaml *yaml, const rh_yaml_node *block, rh_yaml_item *item, const rh_param *row,
                          rh_status *status)
{
    char place[RH_YAML_PLACE];
    rh_yaml_place(yaml, item->key, place);
    if (rh_yaml_find(block, row->name))
        return rh_fail(status, RH_USER, "%s: '%s' is the former name of '%s', which is given too: expected one of them",
                       place, row->formerly, row->name);
    rh_log(RH_LOG_WARNING, "%s: '%s' is now called '%s'", place, row->formerly, row->name);
    rh_yaml_node *key = rh_yaml_make(yaml, RH_YAML_SCALAR, item->key, status);  // copies of an alias share their keys
    if (!key) return RH_MEMORY;
    key->text = row->name;
    item->key = key;
    return RH_OK;
}

// --- models that became methods --------------------------------------------------------------------------------------
// Sand had a key that chose between two models; now the other one is a method with keys of its own.
static const struct {
    const char *method, *key, *value, *now;
} split[] = {{"sand", "model", "unilateral", "sand"}, {"sand", "model", "incompressible", "sand_incompressible"}};

const char *rh_renamed_split(const char *method, const char *key)
{
    for (size_t i = 0; i < sizeof split / sizeof *split; i++)
        if (strcmp(split[i].method, method) == 0 && strcmp(split[i].key, key) == 0 && strcmp(split[i].now, method) != 0)
            return split[i].now;
    return NULL;
}

static void drop_item(rh_yaml_node *block, int index)
{
    for (int i = index + 1; i < block->count; i++) block->items[i - 1] = block->items[i];
    block->count--;
}

// Keys of the old table that the new one has no use for: scenes as runs write them back have all.
static void drop_strangers(rh_yaml_node *block, const rh_param_table *was, const rh_param_table *now)
{
    for (int i = block->count - 1; i >= 0; i--) {
        const char *key = block->items[i].key->text;
        bool old = rh_params_find(was, key) || rh_params_find_former(was, key);
        if (old && !rh_params_find(now, key)) drop_item(block, i);
    }
}

static rh_code move_to(rh_yaml *yaml, const rh_param_table *const *variants, rh_yaml_item *method, const char *now,
                       rh_status *status)
{
    rh_yaml_node *name = rh_yaml_make(yaml, RH_YAML_SCALAR, method->key, status);
    if (!name) return RH_MEMORY;
    name->text = now;
    drop_strangers(method->value, variants[rh_words_variant(variants, method->key->text)],
                   variants[rh_words_variant(variants, now)]);
    method->key = name;
    return RH_OK;
}

// `method`: an alternative of a variant, "sand: {...}".
static rh_code split_models(rh_yaml *yaml, const rh_param_table *const *variants, rh_yaml_item *method,
                            rh_status *status)
{
    char place[RH_YAML_PLACE];
    for (size_t i = 0; i < sizeof split / sizeof *split && method->value->kind == RH_YAML_MAPPING; i++) {
        if (strcmp(method->key->text, split[i].method) != 0 || rh_words_variant(variants, split[i].now) < 0) continue;
        int k = 0;
        rh_yaml_node *block = method->value;
        while (k < block->count && strcmp(block->items[k].key->text, split[i].key) != 0) k++;
        if (k == block->count) continue;
        const rh_yaml_node *value = block->items[k].value;
        if (value->kind != RH_YAML_SCALAR || strcmp(value->text, split[i].value) != 0) continue;
        rh_yaml_place(yaml, block->items[k].key, place);
        rh_log(RH_LOG_WARNING, "%s: '%s: {%s: %s}' is now the method '%s'", place, split[i].method, split[i].key,
               split[i].value, split[i].now);
        drop_item(block, k);
        return strcmp(split[i].now, split[i].method) ? move_to(yaml, variants, method, split[i].now, status) : RH_OK;
    }
    return RH_OK;
}

static rh_code apply_below(rh_yaml *yaml, const rh_param *row, rh_yaml_node *value, rh_status *status)
{
    if (row->type == RH_PARAM_TABLE || row->type == RH_PARAM_OPTIONAL)
        return rh_renamed_apply(yaml, row->table, value, status);
    for (int i = 0; row->type == RH_PARAM_LIST && value->kind == RH_YAML_SEQUENCE && i < value->count; i++)
        RH_TRY(rh_renamed_apply(yaml, row->table, value->items[i].value, status));
    for (int i = 0; row->type == RH_PARAM_VARIANT && value->kind == RH_YAML_MAPPING && i < value->count; i++) {
        RH_TRY(split_models(yaml, row->variants, &value->items[i], status));
        int kind = rh_words_variant(row->variants, value->items[i].key->text);
        if (kind >= 0) RH_TRY(rh_renamed_apply(yaml, row->variants[kind], value->items[i].value, status));
    }
    return RH_OK;
}

rh_code rh_renamed_apply(rh_yaml *yaml, const rh_param_table *table, rh_yaml_node *block, rh_status *status)
{
    if (block->kind != RH_YAML_MAPPING) return RH_OK;  // the reader will say what is wrong with it
    for (int i = 0; i < block->count; i++) {
        rh_yaml_item *item = &block->items[i];
        const rh_param *row = rh_params_find(table, item->key->text);
        const rh_param *former = row ? NULL : rh_params_find_former(table, item->key->text);
        if (former) RH_TRY(rename_key(yaml, block, item, former, status));
        if (row || former) RH_TRY(apply_below(yaml, row ? row : former, item->value, status));
    }
    return RH_OK;
}
