// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Defaults, clean-up and names of parameter tables. Edit distance: optimal string alignment (F. J. Damerau, "A
// technique for computer detection and correction of spelling errors", CACM 7(3), 1964), letters of either case equal.
#include "base/param.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "base/number.h"

static rh_code bad_default(const rh_param_table *table, const rh_param *row, rh_status *status)
{
    return rh_fail(status, RH_USER, "table '%s': the default '%s' of '%s' is not a value of its type", table->name,
                   row->initial, row->name);
}

// "[x, y, z]" with blanks anywhere between the parts.
static bool parse_vector(const char *text, rh_dvec3 *out)
{
    char parts[3][RH_NUMBER_TEXT], close, more;
    int found = sscanf(text, " [ %31[^], ] , %31[^], ] , %31[^], ] %c %c", parts[0], parts[1], parts[2], &close, &more);
    if (found != 4 || close != ']') return false;
    return rh_number_parse(parts[0], &out->x) == RH_NUMBER_OK && rh_number_parse(parts[1], &out->y) == RH_NUMBER_OK &&
           rh_number_parse(parts[2], &out->z) == RH_NUMBER_OK;
}

static bool parse_bool(const char *text, bool *out)
{
    *out = strcmp(text, "true") == 0;
    return *out || strcmp(text, "false") == 0;
}

static bool parse_choice(const char *text, const char *const *choices, int *out)
{
    for (int i = 0; choices[i]; i++)
        if (strcmp(text, choices[i]) == 0) return *out = i, true;
    return false;
}

static rh_code set_default(const rh_param_table *table, const rh_param *row, void *field, rh_status *status)
{
    if (row->type == RH_PARAM_TABLE) return rh_params_defaults(row->table, field, status);
    if (row->type == RH_PARAM_VARIANT) ((rh_variant *)field)->kind = -1;
    if (!row->initial) return RH_OK;
    bool good = true;
    switch (row->type) {
    case RH_PARAM_BOOL: good = parse_bool(row->initial, field); break;
    case RH_PARAM_INT: good = rh_integer_parse(row->initial, field) == RH_NUMBER_OK; break;
    case RH_PARAM_FLOAT: good = rh_number_parse(row->initial, field) == RH_NUMBER_OK; break;
    case RH_PARAM_VEC3: good = parse_vector(row->initial, field); break;
    case RH_PARAM_CHOICE: good = parse_choice(row->initial, row->choices, field); break;
    case RH_PARAM_TEXT:
    case RH_PARAM_CODE:
    case RH_PARAM_PATH: {
        char *copy = rh_strdup(row->initial, "params.text", status);
        if (!copy) return RH_MEMORY;
        memcpy(field, &copy, sizeof copy);
        break;
    }
    default: break;
    }
    return good ? RH_OK : bad_default(table, row, status);
}

rh_code rh_params_defaults(const rh_param_table *table, void *object, rh_status *status)
{
    memset(object, 0, table->size);
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        rh_code code = set_default(table, row, (char *)object + row->offset, status);
        if (code != RH_OK) {
            rh_params_free(table, object);
            return code;
        }
    }
    return RH_OK;
}

bool rh_params_preset(const rh_param_table *table, const rh_param *naming, const char *name, void *object,
                      rh_status *status)
{
    const rh_presets *all = naming->presets;
    for (int i = 0; all && i < all->count; i++) {
        if (strcmp(all->items[i].name, name) != 0) continue;
        for (int k = 0; k < RH_PRESET_VALUES && all->rows[k]; k++) {
            const rh_param *found = rh_params_find(table, all->rows[k]);
            if (!found || !all->items[i].values[k]) continue;
            rh_param row = *found;
            row.initial = all->items[i].values[k];
            set_default(table, &row, (char *)object + row.offset, status);
        }
        return true;
    }
    return false;
}

static void free_list(const rh_param_table *table, rh_list *list)
{
    for (int i = 0; i < list->count; i++) rh_params_free(table, (char *)list->items + (size_t)i * table->size);
    rh_free(list->items);
    *list = (rh_list){0};
}

static void free_values(rh_list *list)
{
    for (int i = 0; i < list->count; i++) rh_free(((rh_named_value *)list->items)[i].name);
    rh_free(list->items);
    *list = (rh_list){0};
}

static void free_variant(const rh_param *row, rh_variant *variant)
{
    if (variant->value) rh_params_free(row->variants[variant->kind], variant->value);
    rh_free(variant->value);
    *variant = (rh_variant){.kind = -1};
}

static void free_optional(const rh_param_table *table, void **object)
{
    if (*object) rh_params_free(table, *object);
    rh_free(*object);
    *object = NULL;
}

void rh_params_free(const rh_param_table *table, void *object)
{
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        void *field = (char *)object + row->offset;
        switch (row->type) {
        case RH_PARAM_TEXT:
        case RH_PARAM_CODE:
        case RH_PARAM_PATH:
            rh_free(*(char **)field);
            *(char **)field = NULL;
            break;
        case RH_PARAM_TABLE: rh_params_free(row->table, field); break;
        case RH_PARAM_OPTIONAL: free_optional(row->table, field); break;
        case RH_PARAM_LIST: free_list(row->table, field); break;
        case RH_PARAM_VALUES: free_values(field); break;
        case RH_PARAM_VARIANT: free_variant(row, field); break;
        default: break;
        }
    }
}

const rh_param *rh_params_find(const rh_param_table *table, const char *name)
{
    RH_ASSERT(table && name);
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].name, name) == 0) return &table->rows[i];
    return NULL;
}

const rh_param *rh_params_find_former(const rh_param_table *table, const char *name)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].formerly && strcmp(table->rows[i].formerly, name) == 0) return &table->rows[i];
    return NULL;
}

enum { LONGEST_NAME = 64 };  // longer words are not slips of the finger, and cost time

static int least(int a, int b) { return a < b ? a : b; }

static bool same_letter(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int cost[3][LONGEST_NAME + 1];  // three rows of the matrix: this, the one before, and before that (transpositions)
    for (int j = 0; j <= b_length; j++) cost[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *now = cost[i % 3], *before = cost[(i + 2) % 3], *earlier = cost[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int change = before[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            now[j] = least(change, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                now[j] = least(now[j], earlier[j - 2] + 1);
        }
    }
    return cost[a_length % 3][b_length];
}

const char *rh_nearest_name(const char *word, const char *const *candidates, int count)
{
    int length = (int)strnlen(word, LONGEST_NAME + 1), best_distance = LONGEST_NAME;
    const char *best = NULL;
    if (length > LONGEST_NAME) return NULL;
    for (int i = 0; i < count; i++) {
        int other = (int)strnlen(candidates[i], LONGEST_NAME + 1);
        if (other > LONGEST_NAME) continue;
        int distance = edit_distance(word, length, candidates[i], other);
        if (distance * 3 > (length > other ? length : other) || distance >= best_distance) continue;
        best_distance = distance;
        best = candidates[i];
    }
    return best;
}
