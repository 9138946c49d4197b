// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A small reader of numbers, lists of numbers and truth values; no YAML, for a value is one word of the command line.
// The program says which names it knows and of what type (rh_lang_listing), so the type is its, never a guess from the
// text.
#include "ax_values.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/param.h"
#include "lang/on_points.h"

enum { FACTS = 4 };  // that a frame tells

// Numbers of "3", "[1, 2, 3]" or "true"; how many, or -1 when it is something else.
static int read_numbers(const char *text, double out[RH_LANG_MOST_PARTS])
{
    bool list = *text == '[';
    int count = 0;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) return out[0] = text[0] == 't', 1;
    for (const char *at = text + list;;) {
        char *end;
        if (count == RH_LANG_MOST_PARTS) return -1;
        out[count] = strtod(at, &end);
        if (end == at) return -1;
        count++;
        while (*end == ' ') end++;
        if (list && *end == ',') at = end + 1;
        else return strcmp(end, list ? "]" : "") == 0 ? count : -1;
    }
}

// Whole numbers beyond 2^53 would be rounded on the way through a double.
static bool read_whole(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == 0;
}

static bool store_element(rh_lang_element element, double value, void *to, int index)
{
    switch (element) {
    case RH_LANG_E_BOOL: ((uint8_t *)to)[index] = value != 0; return true;
    case RH_LANG_E_INT16: ((int16_t *)to)[index] = (int16_t)value; return value == floor(value) && fabs(value) < 32768;
    case RH_LANG_E_INT32:
        if (!(value == floor(value) && fabs(value) < 2147483648.0)) return false;
        ((int32_t *)to)[index] = (int32_t)value;
        return true;
    case RH_LANG_E_FLOAT: ((float *)to)[index] = (float)value; return true;
    case RH_LANG_E_DOUBLE: ((double *)to)[index] = value; return true;
    default: return false;
    }
}

static rh_code read_value(ax_value *value, const char *text, rh_lang_type type, rh_status *status)
{
    double numbers[RH_LANG_MOST_PARTS];
    if (type == RH_LANG_STRING) {
        value->text = (rh_lang_text){text, (int64_t)strlen(text)};
        return RH_OK;
    }
    int64_t whole;
    if (type == RH_LANG_INT64 && read_whole(text, &whole)) {
        memcpy(value->numbers, &whole, sizeof whole);
        return RH_OK;
    }
    int parts = rh_lang_type_parts(type), count = read_numbers(text, numbers);
    bool good = count == parts && type != RH_LANG_INT64;
    for (int i = 0; good && i < parts; i++)
        good = store_element(rh_lang_type_element(type), numbers[i], value->numbers, i);
    if (good) return RH_OK;
    char expected[64] = "one number";
    if (parts > 1) snprintf(expected, sizeof expected, "%d numbers such as [1, 2, ...]", parts);
    return rh_fail(status, RH_USER, "--set: found \"%.80s\" for $%s, expected %s%s (the program takes it for %s)", text,
                   value->name,
                   rh_lang_is_integer(type) && type != RH_LANG_BOOL && parts == 1 ? "a whole number: " : "", expected,
                   rh_lang_type_name(type));
}

static const rh_lang_external_use *find_use(const rh_lang_listing *listing, const char *name)
{
    for (int i = 0; i < listing->external_count; i++)
        if (strcmp(listing->externals[i].name, name) == 0) return &listing->externals[i];
    return NULL;
}

static rh_code unknown_name(const char *name, const rh_lang_listing *listing, rh_status *status)
{
    enum { MOST = 64 };
    const char *names[MOST];
    int count = 0;
    for (; count < listing->external_count && count < MOST; count++) names[count] = listing->externals[count].name;
    const char *near = rh_nearest_name(name, names, count);
    if (near) return rh_fail(status, RH_USER, "--set: the program has no $%s; did you mean %s?", name, near);
    return rh_fail(status, RH_USER, "--set: the program has no $%s%s", name, count == 0 ? ", and takes no values" : "");
}

static bool contains(const char *source, size_t length, const char *word)
{
    for (size_t i = 0, n = strlen(word); i + n <= length; i++)
        if (memcmp(source + i, word, n) == 0) return true;
    return false;
}

static rh_code read_set(ax_values *values, const char *set, bool by_name, const rh_lang_listing *listing,
                        rh_status *status)
{
    ax_value *value = &values->items[values->count];
    rh_lang_external *external = &values->externals[values->count];
    const char *equals = strchr(set, '=');
    if (!equals || equals == set || equals - set >= (int)sizeof value->name)
        return rh_fail(status, RH_USER, "--set: found \"%.80s\", expected NAME=VALUE such as scale=2 or wind=[1, 0, 0]",
                       set);
    snprintf(value->name, sizeof value->name, "%.*s", (int)(equals - set), set);
    const rh_lang_external_use *use = find_use(listing, value->name);
    if (!use && !by_name) return unknown_name(value->name, listing, status);
    double numbers[RH_LANG_MOST_PARTS];
    rh_lang_type type = use ? use->type : read_numbers(equals + 1, numbers) == 3 ? RH_LANG_VEC3F : RH_LANG_FLOAT;
    RH_TRY(read_value(value, equals + 1, type, status));
    *external = (rh_lang_external){.name = value->name,
                                   .type = rh_lang_type_name(type),
                                   .value = type == RH_LANG_STRING ? (const void *)&value->text : value->numbers};
    values->count++;
    return RH_OK;
}

static bool is_set(const ax_values *values, const char *name)
{
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->items[i].name, name) == 0) return true;
    return false;
}

// What the file says itself, in the type the program wants.
static void add_facts(ax_values *values, const rh_frame_info *frame, const rh_lang_listing *listing)
{
    const struct {
        const char *name;
        double value;
    } facts[FACTS] = {
        {"time", frame->time}, {"frame", (double)frame->frame}, {"fps", frame->fps}, {"cell", frame->cell}};
    for (int i = 0; i < FACTS; i++) {
        if (is_set(values, facts[i].name)) continue;
        const rh_lang_external_use *use = find_use(listing, facts[i].name);
        rh_lang_type type = use ? use->type : RH_LANG_FLOAT;
        if (type == RH_LANG_STRING || rh_lang_type_parts(type) != 1) continue;
        ax_value *value = &values->items[values->count];
        snprintf(value->name, sizeof value->name, "%s", facts[i].name);
        rh_lang_store_number(type, facts[i].value, value->numbers);
        values->externals[values->count++] = (rh_lang_external){
            .name = value->name, .type = rh_lang_type_name(type), .value = value->numbers};
    }
}

rh_code ax_values_read(ax_values *values, const app_texts *sets, const rh_frame_info *frame, const char *source,
                       size_t length, const rh_lang_listing *listing, rh_status *status)
{
    ax_values_free(values);
    values->items = rh_alloc_zero((size_t)(sets->count + FACTS) * sizeof *values->items, "app.values", status);
    values->externals = rh_alloc_zero((size_t)(sets->count + FACTS) * sizeof *values->externals, "app.values", status);
    if (!values->items || !values->externals) return RH_MEMORY;
    bool by_name = contains(source, length, "external");
    for (int i = 0; i < sets->count; i++) RH_TRY(read_set(values, sets->items[i], by_name, listing, status));
    if (frame) add_facts(values, frame, listing);
    return RH_OK;
}

void ax_values_free(ax_values *values)
{
    rh_free(values->items);
    rh_free(values->externals);
    *values = (ax_values){0};
}
