// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "scene/renamed.h"

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

static rh_code apply_below(rh_yaml *yaml, const rh_param *row, rh_yaml_node *value, rh_status *status)
{
    if (row->type == RH_PARAM_TABLE) return rh_renamed_apply(yaml, row->table, value, status);
    for (int i = 0; row->type == RH_PARAM_LIST && value->kind == RH_YAML_SEQUENCE && i < value->count; i++)
        RH_TRY(rh_renamed_apply(yaml, row->table, value->items[i].value, status));
    for (int i = 0; row->type == RH_PARAM_VARIANT && value->kind == RH_YAML_MAPPING && i < value->count; i++) {
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
