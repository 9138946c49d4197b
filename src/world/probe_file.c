// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Nine digits a value, more than the floats that are measured have. The length of what is kept is found by reading the
// file's own times, so a resumed run needs no record of it.
#include "world/probe_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "io/file.h"
#include "io/provenance.h"

static rh_code path_of(const char *folder, const char *material, char path[RH_PATH_MAX], rh_status *status)
{
    int n = snprintf(path, RH_PATH_MAX, "%s/probes%s%s.csv", folder, material ? "." : "", material ? material : "");
    return n > 0 && n < RH_PATH_MAX ? RH_OK : rh_fail(status, RH_USER, "the path of the run folder is too long");
}

rh_code rh_probe_file_check(const char *folder, const char *material, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(path_of(folder, material, path, status));
    return rh_provenance_may_replace(path, status);
}

static void write_titles(FILE *file, const rh_probes *probes)
{
    fprintf(file, "time [s]");
    for (int i = 0; i < rh_probes_columns(probes); i++) fprintf(file, ",%s", rh_probes_title(probes, i));
    fputc('\n', file);
}

// Does the text begin with the line of titles? Its length, or 0.
static size_t titles_length(const rh_probes *probes, const char *text, size_t bytes)
{
    char *line = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&line, &length);
    if (!memory) return 0;
    write_titles(memory, probes);
    fclose(memory);
    bool same = bytes >= length && memcmp(text, line, length) == 0;
    free(line);
    return same ? length : 0;
}

// Bytes of the rows that stay: `rows` of them, or without a number those up to the time.
static size_t kept_bytes(const char *text, size_t bytes, size_t from, int64_t rows, double time)
{
    size_t at = from;
    for (int64_t n = 0; at < bytes && (rows == 0 || n < rows); n++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        if (!end || (rows == 0 && !(strtod(text + at, NULL) <= time * (1 + 1e-8)))) break;
        at = (size_t)(end - text) + 1;
    }
    return at;
}

static rh_code trim(const char *path, const rh_probes *probes, double time, rh_status *status)
{
    char *text;
    size_t bytes;
    RH_TRY(rh_file_read(path, (size_t)4 << 30, &text, &bytes, status));
    size_t titles = titles_length(probes, text, bytes);
    rh_code code = RH_OK;
    if (titles == 0 && bytes > 0)
        code = rh_fail(status, RH_USER,
                       "%s has other columns than the scene's probes\n  move it away to go on with a new one, or undo "
                       "the change of the probes",
                       path);
    size_t kept = code == RH_OK ? kept_bytes(text, bytes, titles, rh_probes_row_count(probes), time) : bytes;
    if (code == RH_OK && kept < bytes) code = rh_file_write(path, text, kept, status);
    rh_free(text);
    return code;
}

rh_code rh_probe_file_open(const char *folder, const char *material, const rh_probes *probes, double time, bool begun,
                           FILE **out, rh_status *status)
{
    char path[RH_PATH_MAX];
    *out = NULL;
    RH_TRY(path_of(folder, material, path, status));
    if (begun && rh_file_exists(path)) RH_TRY(trim(path, probes, time, status));
    *out = fopen(path, begun ? "a" : "w");
    if (!*out) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    fseek(*out, 0, SEEK_END);
    if (ftell(*out) == 0) write_titles(*out, probes);
    return RH_OK;
}

rh_code rh_probe_file_write(FILE *file, const rh_probes *probes, rh_status *status)
{
    const double *rows;
    int columns = rh_probes_columns(probes);
    int64_t count = rh_probes_rows(probes, &rows);
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c <= columns; c++)
            // a zero has no sign for readers
            fprintf(file, "%.9g%c", rows[i * (columns + 1) + c] + 0.0, c < columns ? ',' : '\n');
    return ferror(file) ? rh_fail(status, RH_IO, "cannot write probes.csv: %s", strerror(errno)) : RH_OK;
}
