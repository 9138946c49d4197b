// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Lists and ranges written out as people would; what is not known is answered with the nearest name (rh_nearest_name).
#include "scene/words.h"

#include <stdio.h>
#include <string.h>
#include "base/number.h"

enum { MAX_NAMES = 64 };  // rows of a table or alternatives of a variant that a message can list

// Cuts at `room` bytes on the border of a UTF-8 character, and masks control characters: the text goes to a terminal.
static void printable(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; text[n] && n < room - 4; n++) out[n] = (unsigned char)text[n] < 0x20 || text[n] == 0x7f ? '?' : text[n];
    if (text[n]) {
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = 0;
}

char *rh_words_found(const rh_yaml_node *node, char out[RH_WORDS_FOUND])
{
    char text[44];
    const char *kind = node->kind == RH_YAML_SEQUENCE ? "list" : "mapping",
               *noun = node->kind == RH_YAML_SEQUENCE ? "item" : "key";
    printable(node->text, text, sizeof text);
    if (rh_yaml_is_nothing(node)) snprintf(out, RH_WORDS_FOUND, "nothing");
    else if (node->kind == RH_YAML_SCALAR && node->quoted) snprintf(out, RH_WORDS_FOUND, "the text \"%s\"", text);
    else if (node->kind == RH_YAML_SCALAR) snprintf(out, RH_WORDS_FOUND, "'%s'", text);
    else if (node->count == 0) snprintf(out, RH_WORDS_FOUND, "an empty %s", kind);
    else snprintf(out, RH_WORDS_FOUND, "a %s of %d %s%s", kind, node->count, noun, node->count == 1 ? "" : "s");
    return out;
}

char *rh_words_join(const char *const *names, int count, char *out, size_t size)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < count && used < size; i++) {
        const char *before = i == 0 ? "" : i == count - 1 ? " or " : ", ";
        int n = snprintf(out + used, size - used, "%s%s", before, names[i]);
        if (n > 0) used += (size_t)n;
    }
    return out;
}

char *rh_words_suggest(const char *word, const char *const *names, int count, char *out, size_t size)
{
    const char *nearest = rh_nearest_name(word, names, count);
    if (nearest) {
        snprintf(out, size, "did you mean '%s'?", nearest);
        return out;
    }
    int used = snprintf(out, size, "expected ");
    rh_words_join(names, count, out + used, size - (size_t)used);
    return out;
}

char *rh_words_suggest_row(const char *word, const rh_param_table *table, char *out, size_t size)
{
    const char *names[MAX_NAMES] = {NULL};
    int count = table->count < MAX_NAMES ? table->count : MAX_NAMES;
    for (int i = 0; i < count; i++) names[i] = table->rows[i].name;
    return rh_words_suggest(word, names, count, out, size);
}

static int variant_names(const rh_param_table *const *variants, const char *names[MAX_NAMES])
{
    int count = 0;
    for (; variants[count] && count < MAX_NAMES; count++) names[count] = variants[count]->name;
    return count;
}

char *rh_words_suggest_variant(const char *word, const rh_param_table *const *variants, char *out, size_t size)
{
    const char *names[MAX_NAMES] = {NULL};
    return rh_words_suggest(word, names, variant_names(variants, names), out, size);
}

int rh_words_variant(const rh_param_table *const *variants, const char *name)
{
    for (int i = 0; variants[i]; i++)
        if (strcmp(variants[i]->name, name) == 0) return i;
    return -1;
}

bool rh_words_required(const rh_param *row)
{
    return row->required || (!row->initial && row->type <= RH_PARAM_CHOICE);  // BOOL, INT, FLOAT, VEC3, CHOICE
}

char *rh_words_range(const rh_param *row, char *out, size_t size)
{
    const double open = 1e30;  // tables write a missing limit on one side as a huge number
    char low[RH_NUMBER_TEXT], high[RH_NUMBER_TEXT];
    rh_number_print(row->min, low);
    rh_number_print(row->max, high);
    out[0] = 0;
    if (row->min == 0 && row->max == 0) return out;
    if (row->min == row->max) snprintf(out, size, "%s", low);
    else if (row->max >= open) snprintf(out, size, "at least %s", low);
    else if (row->min <= -open) snprintf(out, size, "at most %s", high);
    else snprintf(out, size, "between %s and %s", low, high);
    return out;
}

char *rh_words_expected(const rh_param *row, char *out, size_t size)
{
    const char *names[MAX_NAMES] = {NULL};
    const char *in = row->unit && row->unit[0] ? " in " : "", *unit = row->unit ? row->unit : "";
    int used = 0, count = 0;
    switch (row->type) {
    case RH_PARAM_BOOL: snprintf(out, size, "true or false"); break;
    case RH_PARAM_INT: snprintf(out, size, "a whole number%s%s", in, unit); break;
    case RH_PARAM_FLOAT: snprintf(out, size, "a number%s%s", in, unit); break;
    case RH_PARAM_VEC3: snprintf(out, size, "three numbers [x, y, z]%s%s", in, unit); break;
    case RH_PARAM_TEXT: snprintf(out, size, "a text"); break;
    case RH_PARAM_PATH: snprintf(out, size, "the name of a file"); break;
    case RH_PARAM_CODE: snprintf(out, size, "a program as text"); break;
    case RH_PARAM_VALUES: snprintf(out, size, "a mapping of names to numbers or vectors [x, y, z]"); break;
    case RH_PARAM_TABLE:
    case RH_PARAM_OPTIONAL: snprintf(out, size, "a mapping"); break;
    case RH_PARAM_LIST: snprintf(out, size, "a list of mappings"); break;
    case RH_PARAM_CHOICE:
        while (row->choices[count]) count++;
        rh_words_join(row->choices, count, out, size);
        break;
    case RH_PARAM_VARIANT:
        count = variant_names(row->variants, names);
        used = snprintf(out, size, "a mapping with %s ", count == 1 ? "the key" : "one of the keys");
        rh_words_join(names, count, out + used, size - (size_t)used);
        break;
    }
    return out;
}
