// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A unit is a product of powers: "kg/m^3". Each is turned into powers of metre, kilogram, second and degree and a
// factor; two units are of one kind when the powers agree. Where the factor is a power of ten the exponent of the
// number is changed, so that 0.7 cm is the number nearest to 0.007, which neither 0.7 * 0.01 nor 0.7 / 100 is.
#include "scene/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/number.h"

enum { METRE, KILOGRAM, SECOND, DEGREE, BASES, LONGEST = 64 };

typedef struct unit {
    double over, under;  // the factor
    int power[BASES];
} unit;

static const struct {
    const char *name;
    unit unit;
} known[] = {
    {"m", {1, 1, {1}}},
    {"mm", {1, 1000, {1}}},
    {"cm", {1, 100, {1}}},
    {"km", {1000, 1, {1}}},
    {"in", {254, 10000, {1}}},
    {"ft", {3048, 10000, {1}}},
    {"kg", {1, 1, {0, 1}}},
    {"g", {1, 1000, {0, 1}}},
    {"t", {1000, 1, {0, 1}}},
    {"s", {1, 1, {0, 0, 1}}},
    {"ms", {1, 1000, {0, 0, 1}}},
    {"min", {60, 1, {0, 0, 1}}},
    {"h", {3600, 1, {0, 0, 1}}},
    {"Hz", {1, 1, {0, 0, -1}}},
    {"N", {1, 1, {1, 1, -2}}},
    {"Pa", {1, 1, {-1, 1, -2}}},
    {"kPa", {1000, 1, {-1, 1, -2}}},
    {"J", {1, 1, {2, 1, -2}}},
    {"deg", {1, 1, {0, 0, 0, 1}}},
    {"degrees", {1, 1, {0, 0, 0, 1}}},
    {"rad", {180, 3.14159265358979323846, {0, 0, 0, 1}}},
    {"1", {1, 1, {0}}},
};

static bool apply(const char *name, size_t length, int power, unit *out)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != length || memcmp(known[i].name, name, length) != 0) continue;
        for (int p = power < 0 ? -power : power; p > 0; p--) {
            out->over *= power > 0 ? known[i].unit.over : known[i].unit.under;
            out->under *= power > 0 ? known[i].unit.under : known[i].unit.over;
        }
        for (int b = 0; b < BASES; b++) out->power[b] += power * known[i].unit.power[b];
        return true;
    }
    return false;
}

// "m", "kg/m^3", "1/s"; nothing is a number without a unit.
static bool read_unit(const char *text, unit *out)
{
    *out = (unit){1, 1, {0}};
    for (int sign = 1; *text;) {
        size_t length = strcspn(text, "*/^ ");
        const char *name = text;
        int power = 1;
        text += length;
        if (*text == '^') {
            if (text[1] < '1' || text[1] > '9') return false;
            power = text[1] - '0';
            text += 2;
        }
        if (length == 0 || !apply(name, length, sign * power, out)) return false;
        if (!*text) return true;
        if (*text != '*' && *text != '/') return false;
        if (*text == '/') sign = -1;
        if (!*++text) return false;
    }
    return true;
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

// The longest start that is a decimal number; NULL when there is none.
static const char *take_number(const char *text, double *out)
{
    char number[LONGEST];
    const char *p = skip_digits(*text == '+' || *text == '-' ? text + 1 : text);
    if (*p == '.') p = skip_digits(p + 1);
    if ((*p == 'e' || *p == 'E')) {
        const char *digits = p[1] == '+' || p[1] == '-' ? p + 2 : p + 1, *end = skip_digits(digits);
        if (end > digits) p = end;
    }
    if (p - text >= LONGEST) return NULL;
    snprintf(number, sizeof number, "%.*s", (int)(p - text), text);
    return rh_number_parse(number, out) == RH_NUMBER_OK ? p : NULL;
}

// The number at the start of the text times a power of ten, if it has no exponent of its own.
static bool shift(const char *text, int exponent, double *out)
{
    char number[LONGEST + 16];
    size_t length = strspn(text, "+-.0123456789");
    if (length >= LONGEST ||
        ((text[length] == 'e' || text[length] == 'E') && strspn(text + length + 1, "+-0123456789") > 0))
        return false;
    snprintf(number, sizeof number, "%.*se%d", (int)length, text, exponent);
    return rh_number_parse(number, out) == RH_NUMBER_OK;
}

bool rh_units_parse(const char *text, const char *unit_text, double *out)
{
    double value, divisor = 1;
    unit given, wanted;
    const char *at = take_number(text, &value);
    if (at && *at == '/' && at[1] >= '0' && at[1] <= '9') at = take_number(at + 1, &divisor);
    if (!at || divisor == 0) return false;
    while (*at == ' ') at++;
    if (!*at) {
        *out = value / divisor;
        return isfinite(*out);
    }
    if (!read_unit(at, &given) || !read_unit(unit_text, &wanted) ||
        memcmp(given.power, wanted.power, sizeof given.power) != 0)
        return false;
    double over = given.over * wanted.under, under = given.under * wanted.over, tens = log10(over / under);
    int exponent = (int)lround(tens);
    if (divisor == 1 && fabs(tens - exponent) < 1e-12 && shift(text, exponent, out)) return isfinite(*out);
    *out = value * over / (under * divisor);
    return isfinite(*out);
}
