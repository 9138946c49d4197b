// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo info FILE.ply: the facts of the header, of any PLY file. The body is not read, so size does not matter.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/regular.h"
#include "format.h"
#include "info.h"

enum { HEADER_LINES_MAX = 4096, LINE_BYTES = 1024 };

static bool starts_with(const char *line, const char *word) { return !strncmp(line, word, strlen(word)); }

// Reads a line of a header without its end; false at the end of the file or on a line no header has (too long, or with
// bytes that are not text).
static bool read_line(FILE *file, char line[LINE_BYTES])
{
    int length = 0, symbol;
    while ((symbol = fgetc(file)) != EOF && symbol != '\n') {
        if (length == LINE_BYTES - 1 || symbol == 0) return false;
        line[length++] = (char)symbol;
    }
    if (length && line[length - 1] == '\r') length--;
    line[length] = 0;
    return symbol == '\n';
}

static void print_header_line(const char *line, bool *in_properties)
{
    char name[64];
    long long count;
    app_text text;
    if (starts_with(line, "property ")) {
        const char *word = strrchr(line, ' ') + 1;
        printf("%s%s", *in_properties ? ", " : "    ", word);
        *in_properties = true;
        return;
    }
    if (*in_properties) printf("\n");
    *in_properties = false;
    if (sscanf(line, "element %63s %lld", name, &count) == 2) printf("  %s %s\n", app_format_count(count, &text), name);
    else if (starts_with(line, "format ")) printf("  format %s\n", line + strlen("format "));
    else if (starts_with(line, "comment ")) printf("  %s\n", line + strlen("comment "));
}

static rh_code print_header(FILE *file, const char *path, rh_status *status)
{
    char line[LINE_BYTES];
    bool in_properties = false;
    if (!read_line(file, line) || strcmp(line, "ply"))
        return rh_fail(status, RH_USER, "%s:1:1: found no \"ply\", expected it as the first line of a PLY file", path);
    printf("%s\n", path);
    for (int number = 2; number < HEADER_LINES_MAX; number++) {
        if (!read_line(file, line)) {
            if (in_properties) printf("\n");
            return rh_fail(status, RH_USER, "%s:%d:1: the header ends here, expected \"end_header\"", path, number);
        }
        print_header_line(line, &in_properties);
        if (!strcmp(line, "end_header")) return RH_OK;
    }
    return rh_fail(status, RH_USER, "%s:%d:1: found no \"end_header\" so far, expected a shorter header", path,
                   HEADER_LINES_MAX);
}

rh_code app_info_ply(const char *path, rh_status *status)
{
    const char *why;
    int descriptor = rh_open_regular(path, &why);
    if (descriptor < 0) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, why);
    FILE *file = fdopen(descriptor, "rb");
    if (!file) return close(descriptor), rh_fail(status, RH_IO, "%s: cannot open: %s", path, strerror(errno));
    rh_code code = print_header(file, path, status);
    fclose(file);
    return code;
}
