// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The grammar is checked here by hand, because strtod accepts hexadecimal, "nan(...)" and leading blanks. Conversion is
// left to the C library under the "C" locale (glibc keeps that one built in, so asking for it costs nothing).
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/assert.h"

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

static const char *skip_sign(const char *p) { return *p == '+' || *p == '-' ? p + 1 : p; }

static bool is_decimal(const char *text)
{
    const char *start = skip_sign(text), *p = skip_digits(start);
    size_t digits = (size_t)(p - start);
    if (*p == '.') {
        const char *end = skip_digits(p + 1);
        digits += (size_t)(end - p - 1);
        p = end;
    }
    if (digits == 0) return false;
    if (*p == 'e' || *p == 'E') {
        const char *exponent = skip_sign(p + 1);
        p = skip_digits(exponent);
        if (p == exponent) return false;
    }
    return *p == 0;
}

static bool is_not_finite(const char *text)
{
    static const char *const spellings[] = {"inf", ".inf", "infinity", "nan", ".nan"};
    const char *p = skip_sign(text);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcasecmp(p, spellings[i]) == 0) return true;
    return false;
}

rh_number_result rh_number_parse(const char *text, double *out)
{
    RH_ASSERT(text && out);
    if (!is_decimal(text)) return is_not_finite(text) ? RH_NUMBER_NOT_FINITE : RH_NUMBER_BAD;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(value)) return RH_NUMBER_TOO_LARGE;
    *out = value;
    return RH_NUMBER_OK;
}

rh_number_result rh_integer_parse(const char *text, int64_t *out)
{
    RH_ASSERT(text && out);
    const char *digits = skip_sign(text), *end = skip_digits(digits);
    if (end == digits || *end) {
        double value;
        rh_number_result result = rh_number_parse(text, &value);
        return result == RH_NUMBER_OK ? RH_NUMBER_FRACTION : result;
    }
    int saved = errno;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    bool overflow = errno == ERANGE;
    errno = saved;
    if (overflow) return RH_NUMBER_TOO_LARGE;
    *out = value;
    return RH_NUMBER_OK;
}

char *rh_number_print(double value, char out[RH_NUMBER_TEXT])
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t old = uselocale(plain);
    for (int digits = 9; digits <= 17; digits++) {
        snprintf(out, RH_NUMBER_TEXT, "%.*g", digits, value);
        double back = strtod_l(out, NULL, plain);
        if (memcmp(&back, &value, sizeof value) == 0) break;
    }
    uselocale(old);
    freelocale(plain);
    return out;
}
