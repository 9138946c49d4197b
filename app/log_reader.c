// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A reader of the few forms of JSON that a run's log has, by descending into one line after the other; no tree is made.
// Whatever does not parse ends that line only, so the log of a killed run can be read to its last whole line.
#include "log_reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "io/file.h"

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define FIELD(name)                         \
    {                                       \
#name, offsetof(app_log_step, name) \
    }
    FIELD(step),
    FIELD(frame),
    FIELD(time),
    FIELD(dt),
    FIELD(particles),
    FIELD(cells),
    FIELD(tiles),
    FIELD(iterations),
    FIELD(residual),
    FIELD(volume),
    FIELD(volume_error),
    FIELD(max_speed),
    FIELD(memory),
    FIELD(seconds),
    FIELD(kinetic_energy),
    FIELD(potential_energy),
    FIELD(energy_put_in),
    FIELD(energy_gained),
    FIELD(work_solids),
    FIELD(work_inflows),
    FIELD(work_tension),
    FIELD(work_forces),
    FIELD(work_programs),
    FIELD(momentum_x),
    FIELD(momentum_y),
    FIELD(momentum_z),
    FIELD(pushed_x),
    FIELD(pushed_y),
    FIELD(pushed_z),
    FIELD(peak),
    FIELD(resident),
    FIELD(surface_seconds),
    FIELD(compile_seconds),
#undef FIELD
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

// A position in one line. All readers return false when the text is not what they expect and then the line is bad.
typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r')) c->at++;
}

static bool take(cursor *c, char symbol)
{
    skip_blanks(c);
    if (c->at >= c->end || *c->at != symbol) return false;
    c->at++;
    return true;
}

// The raw text between the quotes, cut to the size of `out`. Escapes are stepped over, not decoded: no name has any.
static bool read_string(cursor *c, char *out, size_t size)
{
    if (!take(c, '"')) return false;
    size_t length = 0;
    for (; c->at < c->end && *c->at != '"'; c->at++) {
        if (*c->at == '\\' && c->at + 1 < c->end) c->at++;
        if (length + 1 < size) out[length++] = *c->at;
    }
    if (size) out[length] = 0;
    return take(c, '"');
}

static bool read_number(cursor *c, double *out)
{
    skip_blanks(c);
    // strtod alone would step over blanks into the next line, and take "nan" and "infinity", which are not JSON.
    if (c->at >= c->end || (*c->at != '-' && (*c->at < '0' || *c->at > '9'))) return false;
    char *stop;
    *out = strtod(c->at, &stop);
    if (stop == c->at || stop > c->end) return false;
    c->at = stop;
    return true;
}

static bool read_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length)) return false;
    c->at += length;
    return true;
}

// A number, or something else that is stepped over (*is_number tells).
static bool read_scalar(cursor *c, double *out, bool *is_number)
{
    skip_blanks(c);
    *is_number = false;
    if (c->at >= c->end) return false;
    if (*c->at == '"') return read_string(c, NULL, 0);
    if (read_word(c, "true") || read_word(c, "false") || read_word(c, "null")) return true;
    *is_number = read_number(c, out);
    return *is_number;
}

static double *stage_slot(app_log *log, app_log_step *step, const char *name)
{
    for (int i = 0; i < log->stage_count; i++)
        if (!strcmp(log->stage_names[i], name)) return &step->stages[i];
    if (log->stage_count == APP_MOST_STAGES) return NULL;
    strcpy(log->stage_names[log->stage_count], name);
    return &step->stages[log->stage_count++];
}

static void raise_label(app_log *log, const char *name, double peak)
{
    int i = 0;
    while (i < log->label_count && strcmp(log->labels[i].name, name)) i++;
    if (i == APP_MOST_LABELS) return;
    if (i == log->label_count) strcpy(log->labels[log->label_count++].name, name);
    if (peak > log->labels[i].peak) log->labels[i].peak = peak;
}

static void set_stage(app_log *log, app_log_step *step, const char *name, double seconds)
{
    double *slot = stage_slot(log, step, name);
    if (slot) *slot = seconds;
}

// An object of numbers: {"name": 1.5, ...}. Each goes to its stage of the step, or to the log's labels when there is no
// step.
static bool read_numbers(cursor *c, app_log *log, app_log_step *step)
{
    if (!take(c, '{')) return false;
    if (take(c, '}')) return true;
    do {
        char name[APP_LABEL_NAME];
        double value;
        if (!read_string(c, name, step ? APP_STAGE_NAME : APP_LABEL_NAME) || !take(c, ':') || !read_number(c, &value))
            return false;
        if (step) set_stage(log, step, name, value);
        else raise_label(log, name, value);
    } while (take(c, ','));
    return take(c, '}');
}

static bool read_member(cursor *c, app_log *log, app_log_step *step)
{
    char name[32];
    double value = 0;
    bool is_number;
    if (!read_string(c, name, sizeof name) || !take(c, ':')) return false;
    skip_blanks(c);
    if (!strcmp(name, "stages")) return read_numbers(c, log, step);
    if (!strcmp(name, "peaks")) return read_numbers(c, log, NULL);
    if (!read_scalar(c, &value, &is_number)) return false;
    for (int i = 0; is_number && i < FIELD_COUNT; i++)
        if (!strcmp(name, fields[i].name)) *(double *)((char *)step + fields[i].offset) = value;
    return true;
}

static bool read_line(cursor c, app_log *log, app_log_step *step)
{
    if (!take(&c, '{')) return false;
    do {
        if (!read_member(&c, log, step)) return false;
    } while (take(&c, ','));
    if (!take(&c, '}')) return false;
    skip_blanks(&c);
    return c.at == c.end;
}

static rh_code add_step(app_log *log, const app_log_step *step, rh_status *status)
{
    // A resumed run does again what came after its checkpoint; the old lines of those steps are void.
    while (log->count && log->steps[log->count - 1].step >= step->step) log->count--;
    if (log->count == log->capacity) {
        int64_t room = log->capacity ? 2 * log->capacity : 256;
        app_log_step *grown = rh_realloc(log->steps, (size_t)room * sizeof *grown, "app.log", status);
        if (!grown) return RH_MEMORY;
        log->steps = grown;
        log->capacity = room;
    }
    log->steps[log->count++] = *step;
    return RH_OK;
}

rh_code app_log_parse(const char *text, size_t bytes, app_log *log, rh_status *status)
{
    memset(log, 0, sizeof *log);
    const char *end = text + bytes, *newline;
    for (const char *line = text; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
        app_log_step step = {0};
        rh_code code = RH_OK;
        if (read_line((cursor){line, newline}, log, &step)) code = add_step(log, &step, status);
        else log->bad_lines++;
        if (code != RH_OK) {
            app_log_free(log);
            return code;
        }
    }
    return RH_OK;
}

rh_code app_log_read(const char *path, app_log *log, rh_status *status)
{
    char *text;
    size_t bytes;
    memset(log, 0, sizeof *log);
    RH_TRY(rh_file_read(path, (size_t)1 << 31, &text, &bytes, status));
    rh_code code = app_log_parse(text, bytes, log, status);
    rh_free(text);
    return code;
}

void app_log_free(app_log *log)
{
    rh_free(log->steps);
    memset(log, 0, sizeof *log);
}
