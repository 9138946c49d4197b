// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo info RUN: the ranges of RUN/probes.csv, column by column. A last line without its end (the run is alive, or was
// killed) is passed over, and so is a cell that is no number.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "info.h"

enum { MOST_COLUMNS = 4096 };

typedef struct range {
    const char *title;  // in the text
    int length;
    double min, max, sum, last;
    int64_t count;
} range;

static void add(range *r, double value)
{
    if (r->count == 0 || value < r->min) r->min = value;
    if (r->count == 0 || value > r->max) r->max = value;
    r->sum += value;
    r->last = value;
    r->count++;
}

// Calls for each cell of the line that ends at `end`; returns their number.
static int cells_of(char *line, const char *end, char *cells[MOST_COLUMNS])
{
    int count = 0;
    while (line <= end && count < MOST_COLUMNS) {
        cells[count++] = line;
        char *comma = memchr(line, ',', (size_t)(end - line));
        if (!comma) break;
        line = comma + 1;
    }
    return count;
}

static void print_ranges(const range *ranges, int count)
{
    printf("\n  %-32s %12s %12s %12s %12s\n", "probes", "least", "mean", "most", "last");
    for (int i = 1; i < count; i++)
        if (ranges[i].count)
            printf("  %-32.*s %12.6g %12.6g %12.6g %12.6g\n", ranges[i].length, ranges[i].title, ranges[i].min,
                   ranges[i].sum / (double)ranges[i].count, ranges[i].max, ranges[i].last);
    if (ranges[0].count)
        printf("  %lld rows from %g s to %g s\n", (long long)ranges[0].count, ranges[0].min, ranges[0].last);
}

static void read_rows(char *text, size_t bytes, range *ranges, char **cells)
{
    int count = 0;
    for (char *line = text, *end; (end = memchr(line, '\n', bytes - (size_t)(line - text))); line = end + 1) {
        int found = cells_of(line, end, cells);
        if (line == text) {
            count = found;
            for (int i = 0; i < count; i++) {
                ranges[i].title = cells[i];
                ranges[i].length = (int)((i + 1 < count ? cells[i + 1] - 1 : end) - cells[i]);
            }
            continue;
        }
        for (int i = 0; i < found && i < count; i++) {
            char *after;
            double value = strtod(cells[i], &after);
            if (after > cells[i] && after <= end) add(&ranges[i], value);
        }
    }
    if (count > 1) print_ranges(ranges, count);
}

rh_code app_info_probes(const char *run, const char *material, rh_status *status)
{
    char path[RH_PATH_MAX], name[80], *text;
    size_t bytes;
    snprintf(name, sizeof name, "probes%s%.60s.csv", material ? "." : "", material ? material : "");
    RH_TRY(app_path(path, run, name, status));
    if (!rh_file_exists(path)) return RH_OK;
    RH_TRY(rh_file_read(path, (size_t)4 << 30, &text, &bytes, status));
    range *ranges = rh_alloc_zero(MOST_COLUMNS * sizeof *ranges, "info.probes", status);
    char **cells = rh_alloc(MOST_COLUMNS * sizeof *cells, "info.probes", status);
    if (ranges && cells) read_rows(text, bytes, ranges, cells);
    rh_code code = ranges && cells ? RH_OK : RH_MEMORY;
    rh_free(cells);
    rh_free(ranges);
    rh_free(text);
    return code;
}
