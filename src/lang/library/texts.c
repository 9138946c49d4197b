// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions on strings, and print, which collects what the host will write. Numbers read and look the same in
// every locale.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/number.h"
#include "lang/library/library.h"

int64_t rh_lang_hash(const rh_lang_text *text) { return (int64_t)rh_lang_hash_bytes(text->data, text->length); }

static int64_t skip_blanks(const rh_lang_text *text)
{
    int64_t i = 0;
    while (i < text->length && (text->data[i] == ' ' || (text->data[i] >= '\t' && text->data[i] <= '\r'))) i++;
    return i;
}

// As C's atoi, but a number that is too large becomes the nearest that is not.
int32_t rh_lang_atoi(const rh_lang_text *text)
{
    int64_t i = skip_blanks(text), value = 0;
    bool minus = i < text->length && text->data[i] == '-';
    if (i < text->length && (minus || text->data[i] == '+')) i++;
    for (; i < text->length && text->data[i] >= '0' && text->data[i] <= '9'; i++)
        if (value <= INT32_MAX) value = 10 * value + (text->data[i] - '0');
    if (minus) value = -value;
    return (int32_t)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

// As C's atof in the "C" locale. A number is read from at most so many bytes: more digits do not change it.
double rh_lang_atof(const rh_lang_text *text)
{
    char copy[1024];
    int64_t start = skip_blanks(text), length = text->length - start;
    if (length > (int64_t)sizeof copy - 1) length = sizeof copy - 1;
    if (length > 0) memcpy(copy, text->data + start, (size_t)length);
    copy[length > 0 ? length : 0] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return value;
}

// --- print -----------------------------------------------------------------------------------------------------------

static bool print_room(rh_lang_context *context, int64_t bytes)
{
    if (context->printed_length + bytes <= context->printed_capacity) return true;
    int64_t wanted = 2 * context->printed_capacity + 1024;
    if (wanted > RH_LANG_PRINT_ROOM) wanted = RH_LANG_PRINT_ROOM;
    if (context->printed_length + bytes > wanted) return false;
    char *grown = rh_realloc(context->printed, (size_t)wanted, "lang.print", NULL);
    if (!grown) return false;
    context->printed = grown, context->printed_capacity = wanted;
    return true;
}

// A line is kept whole or not at all.
static void print_line(rh_lang_context *context, const char *data, int64_t length)
{
    if (!print_room(context, length + 1)) {
        context->printed_lost += length + 1;
        return;
    }
    if (length > 0) memcpy(context->printed + context->printed_length, data, (size_t)length);
    context->printed[context->printed_length + length] = '\n';
    context->printed_length += length + 1;
}

// The shortest of 6 to 9 digits that reads back as the same float; doubles the same with up to 17.
static void print_real(char out[RH_NUMBER_TEXT], double value, bool single)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(plain);
    for (int digits = 6; digits <= (single ? 9 : 17); digits++) {
        snprintf(out, RH_NUMBER_TEXT, "%.*g", digits, value);
        if (single ? strtof(out, NULL) == (float)value : strtod(out, NULL) == value) break;
    }
    uselocale(before);
    freelocale(plain);
}

static void print_number(char out[RH_NUMBER_TEXT], char kind, const void *values, int i)
{
    if (kind == 'i') snprintf(out, RH_NUMBER_TEXT, "%d", ((const int32_t *)values)[i]);
    else if (kind == 'f') print_real(out, (double)((const float *)values)[i], true);
    else print_real(out, ((const double *)values)[i], false);
}

// "[1, 2, 3]"; rows of matrices in brackets of their own.
static void print_values(rh_lang_context *context, char kind, const void *values, int rows, int columns)
{
    char line[16 * (RH_NUMBER_TEXT + 4) + 8], number[RH_NUMBER_TEXT];
    size_t used = 0;
    for (int r = 0; r < rows; r++) {
        used += (size_t)snprintf(line + used, sizeof line - used, "%s", r > 0 ? "], [" : rows > 1 ? "[[" : "[");
        for (int c = 0; c < columns; c++) {
            print_number(number, kind, values, r * columns + c);
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", c > 0 ? ", " : "", number);
        }
    }
    used += (size_t)snprintf(line + used, sizeof line - used, "%s", rows > 1 ? "]]" : "]");
    print_line(context, line, (int64_t)used);
}

static void print_one(rh_lang_context *context, char kind, const void *value)
{
    char number[RH_NUMBER_TEXT];
    print_number(number, kind, value, 0);
    print_line(context, number, (int64_t)strlen(number));
}

void rh_lang_print_d(rh_lang_context *context, double value) { print_one(context, 'd', &value); }
void rh_lang_print_f(rh_lang_context *context, float value) { print_one(context, 'f', &value); }
void rh_lang_print_i(rh_lang_context *context, int32_t value) { print_one(context, 'i', &value); }
void rh_lang_print_l(rh_lang_context *context, int64_t value)
{
    char number[RH_NUMBER_TEXT];
    int length = snprintf(number, sizeof number, "%lld", (long long)value);
    print_line(context, number, length);
}
void rh_lang_print_s(rh_lang_context *context, const rh_lang_text *text)
{
    print_line(context, text->data, text->length);
}

#define PRINTS(suffix, type, kind, rows, columns)                        \
    void rh_lang_print_##suffix(rh_lang_context *context, const type *v) \
    {                                                                    \
        print_values(context, kind, v, rows, columns);                   \
    }
PRINTS(2i, int32_t, 'i', 1, 2)
PRINTS(2f, float, 'f', 1, 2)
PRINTS(2d, double, 'd', 1, 2)
PRINTS(3i, int32_t, 'i', 1, 3)
PRINTS(3f, float, 'f', 1, 3)
PRINTS(3d, double, 'd', 1, 3)
PRINTS(4i, int32_t, 'i', 1, 4)
PRINTS(4f, float, 'f', 1, 4)
PRINTS(4d, double, 'd', 1, 4)
PRINTS(m3f, float, 'f', 3, 3)
PRINTS(m3d, double, 'd', 3, 3)
PRINTS(m4f, float, 'f', 4, 4)
PRINTS(m4d, double, 'd', 4, 4)
