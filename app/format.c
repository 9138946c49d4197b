// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Powers of a thousand for counts and bytes, groups of three digits, hours:minutes:seconds. The decimal point is always
// a point: nothing here asks the locale.
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Three significant digits and the letter of the power of a thousand.
static char *scaled(double value, const char *const *letters, int last, app_text *out)
{
    int power = 0;
    // 999.5 and not 1000: three digits would print as "1e+03".
    while (fabs(value) >= 999.5 && power < last) {
        value /= 1000;
        power++;
    }
    if (power == 0) snprintf(out->text, sizeof out->text, "%.0f%s", value, letters[0]);
    else snprintf(out->text, sizeof out->text, "%.3g%s", value, letters[power]);
    return out->text;
}

char *app_format_bytes(int64_t bytes, app_text *out)
{
    static const char *const letters[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    return scaled((double)bytes, letters, 6, out);
}

char *app_format_short(int64_t count, app_text *out)
{
    static const char *const letters[] = {"", " k", " M", " G", " T", " P", " E"};
    return scaled((double)count, letters, 6, out);
}

char *app_format_count(int64_t count, app_text *out)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    char *to = out->text;
    for (int i = 0; i < length; i++) {
        *to++ = digits[i];
        int left = length - 1 - i;
        if (left > 0 && left % 3 == 0 && digits[i] != '-') *to++ = ' ';
    }
    *to = 0;
    return out->text;
}

char *app_format_duration(double seconds, app_text *out)
{
    if (!isfinite(seconds) || seconds < 0) return strcpy(out->text, "?");
    if (seconds < 59.95) {
        snprintf(out->text, sizeof out->text, seconds < 9.995 ? "%.2f s" : "%.1f s", seconds);
        return out->text;
    }
    long long whole = llround(fmin(seconds, 1e15));
    long long days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60;
    if (days) snprintf(out->text, sizeof out->text, "%lld d %02lld:%02lld", days, hours, minutes);
    else if (hours) snprintf(out->text, sizeof out->text, "%lld:%02lld:%02lld", hours, minutes, whole % 60);
    else snprintf(out->text, sizeof out->text, "%lld:%02lld", minutes, whole % 60);
    return out->text;
}

char *app_format_percent(double fraction, app_text *out)
{
    snprintf(out->text, sizeof out->text, "%+.2f%%", 100 * fraction);
    return out->text;
}
