// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Words from left to right: --name VALUE, --name=VALUE, a dash and a letter for a few, everything else an operand. An
// unknown option is answered with the nearest name of the command's table (rh_nearest_name).
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/param.h"

enum { MOST_OPTIONS = 32, LARGEST_SIDE = 16384 };

static const app_option help_option = {"help", APP_FLAG, offsetof(app_arguments, help), NULL, "print this text"};

// Short forms, of whatever command has the option.
static const struct {
    char letter;
    const char *name;
} letters[] = {{'f', "file"}, {'h', "help"}, {'o', "out"}, {'v', "verbose"}};
enum { LETTERS = sizeof letters / sizeof letters[0] };

static const app_option *find_option(const app_command *command, const char *name, size_t length)
{
    for (int i = 0; i < command->option_count; i++) {
        const char *candidate = command->options[i].name;
        if (strlen(candidate) == length && !memcmp(candidate, name, length)) return &command->options[i];
    }
    if (length == 4 && !memcmp(name, "help", 4)) return &help_option;
    return NULL;
}

static const app_option *find_letter(const app_command *command, char letter)
{
    for (int i = 0; i < LETTERS; i++)
        if (letters[i].letter == letter) return find_option(command, letters[i].name, strlen(letters[i].name));
    return NULL;
}

static rh_code unknown_option(const app_command *command, const char *name, size_t length, rh_status *status)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), name);
    const char *names[MOST_OPTIONS + 1];
    int count = 0;
    while (count < command->option_count && count < MOST_OPTIONS) {
        names[count] = command->options[count].name;
        count++;
    }
    names[count++] = "help";
    const char *near = rh_nearest_name(word, names, count);
    if (near) return rh_fail(status, RH_USER, "unknown option --%s; did you mean --%s?", word, near);
    return rh_fail(status, RH_USER, "unknown option --%s; this command has no option of a similar name", word);
}

// A whole number in decimal digits and nothing else.
static bool read_whole(const char *text, const char **end, int64_t *out)
{
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    char *stop;
    long long value = strtoll(text, &stop, 10);
    if (errno) return false;
    *end = stop;
    *out = value;
    return true;
}

static rh_code read_count(const app_option *option, const char *text, int64_t *out, rh_status *status)
{
    const char *end;
    if (read_whole(text, &end, out) && !*end && *out >= 1 && *out <= INT32_MAX) return RH_OK;
    return rh_fail(status, RH_USER, "--%s: found \"%.80s\", expected a whole number from 1 to %d", option->name, text,
                   INT32_MAX);
}

// A or A-B; *end is behind it.
static bool read_part(const char *text, const char **end, int64_t part[2])
{
    if (!read_whole(text, end, &part[0])) return false;
    part[1] = part[0];
    return **end != '-' || read_whole(*end + 1, end, &part[1]);
}

static rh_code read_range(const app_option *option, const char *text, app_range *out, rh_status *status)
{
    const char *at = text;
    *out = (app_range){.given = true, .first = INT64_MAX};
    for (;; at++) {
        int64_t part[2];
        if (!read_part(at, &at, part) || (*at && *at != ','))
            return rh_fail(status, RH_USER,
                           "--%s: found \"%.80s\", expected A-B or A, such as 1-48, or several: 1,10,20-30",
                           option->name, text);
        if (part[1] < part[0])
            return rh_fail(status, RH_USER, "--%s: found \"%.80s\", expected the first frame not after the last",
                           option->name, text);
        if (out->count == APP_MOST_PARTS)
            return rh_fail(status, RH_USER, "--%s: found \"%.80s\"..., expected at most %d parts", option->name, text,
                           APP_MOST_PARTS);
        memcpy(out->parts[out->count++], part, sizeof part);
        out->first = part[0] < out->first ? part[0] : out->first;
        out->last = part[1] > out->last ? part[1] : out->last;
        if (!*at) return RH_OK;
    }
}

bool app_range_holds(const app_range *range, int64_t frame)
{
    bool holds = !range->given;
    for (int i = 0; i < range->count; i++) holds |= frame >= range->parts[i][0] && frame <= range->parts[i][1];
    return holds;
}

static rh_code read_size(const app_option *option, const char *text, app_size *out, rh_status *status)
{
    const char *end;
    int64_t width, height;
    bool good = read_whole(text, &end, &width) && (*end == 'x' || *end == 'X') && read_whole(end + 1, &end, &height) &&
                !*end;
    if (!good || width < 1 || height < 1 || width > LARGEST_SIDE || height > LARGEST_SIDE)
        return rh_fail(status, RH_USER, "--%s: found \"%.80s\", expected WxH in pixels up to %d, such as 1280x720",
                       option->name, text, LARGEST_SIDE);
    out->width = (int)width;
    out->height = (int)height;
    return RH_OK;
}

// 8G and 8GiB are powers of 1024, as batch systems count; 8GB is 8e9, as this program prints.
static rh_code read_bytes(const app_option *option, const char *text, int64_t *out, rh_status *status)
{
    static const char letters_of_size[] = "KMGT";
    char *end;
    double value = strtod(text, &end), unit = 1;
    const char *letter = *end ? strchr(letters_of_size, *end & ~32) : NULL;
    if (letter) {
        bool decimal = (end[1] & ~32) == 'B' && !end[2];
        for (const char *l = letters_of_size; l <= letter; l++) unit *= decimal ? 1000 : 1024;
        end += decimal ? 2 : 1;
        if ((*end == 'i' || *end == 'I') && (end[1] & ~32) == 'B') end += 2;
    }
    if (letter && !*end && *text >= '0' && *text <= '9' && value * unit >= 1 && value * unit < 9e18) {
        *out = (int64_t)(value * unit);
        return RH_OK;
    }
    return rh_fail(status, RH_USER, "--%s: found \"%.80s\", expected a size with its unit, such as 500M, 8G or 8GB",
                   option->name, text);
}

// H:MM:SS or MM:SS
static bool read_clock(const char *text, double *out)
{
    const char *at = text;
    int64_t part;
    int parts = 0;
    *out = 0;
    do {
        if (!read_whole(at, &at, &part) || (parts > 0 && part > 59)) return false;
        *out = 60 * *out + (double)part;
        parts++;
    } while (*at++ == ':');
    return at[-1] == 0 && parts > 1 && parts <= 3;
}

static rh_code read_time(const app_option *option, const char *text, double *out, rh_status *status)
{
    char *end;
    double value = strtod(text, &end), unit = *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
    bool good = *text >= '0' && *text <= '9' && unit > 0 && !end[1];
    if (good) *out = value * unit;
    else good = read_clock(text, out);
    if (good && *out > 0 && *out < 1e9) return RH_OK;
    return rh_fail(status, RH_USER,
                   "--%s: found \"%.80s\", expected a time with its unit, such as 90s, 45m, 1.5h or 2:30:00",
                   option->name, text);
}

static rh_code store(const app_option *option, const char *text, app_arguments *out, rh_status *status)
{
    void *field = (char *)out + option->offset;
    switch (option->kind) {
    case APP_FLAG: *(bool *)field = true; return RH_OK;
    case APP_TEXT:
        if (!*text) return rh_fail(status, RH_USER, "--%s: found nothing, expected %s", option->name, option->value);
        *(const char **)field = text;
        return RH_OK;
    case APP_TEXTS: {
        app_texts *texts = field;
        texts->items[texts->count++] = text;
        return RH_OK;
    }
    case APP_COUNT: return read_count(option, text, field, status);
    case APP_RANGE: return read_range(option, text, field, status);
    case APP_SIZE: return read_size(option, text, field, status);
    case APP_BYTES: return read_bytes(option, text, field, status);
    case APP_TIME: return read_time(option, text, field, status);
    }
    return RH_OK;
}

// The value is the next word.
static rh_code read_next(const app_option *option, int count, char **words, int *at, app_arguments *out,
                         rh_status *status)
{
    if (*at + 1 >= count)
        return rh_fail(status, RH_USER, "--%s: found the end of the line, expected %s", option->name, option->value);
    return store(option, words[++*at], out, status);
}

// words[*at] starts with "--"; moves *at past a value taken from the next word.
static rh_code read_option(const app_command *command, int count, char **words, int *at, app_arguments *out,
                           rh_status *status)
{
    const char *name = words[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const app_option *option = find_option(command, name, length);
    if (!option) return unknown_option(command, name, length, status);
    if (option->kind == APP_FLAG) {
        if (equals) return rh_fail(status, RH_USER, "--%s takes no value, found \"%.80s\"", option->name, equals + 1);
        return store(option, NULL, out, status);
    }
    if (equals) return store(option, equals + 1, out, status);
    return read_next(option, count, words, at, out, status);
}

// words[*at] is a dash and one letter.
static rh_code read_letter(const app_command *command, int count, char **words, int *at, app_arguments *out,
                           rh_status *status)
{
    const char *word = words[*at];
    const app_option *option = word[2] ? NULL : find_letter(command, word[1]);
    if (!option) return rh_fail(status, RH_USER, "unknown option %.80s; long options start with two dashes", word);
    if (option->kind == APP_FLAG) return store(option, NULL, out, status);
    return read_next(option, count, words, at, out, status);
}

static rh_code read_operand(const app_command *command, const char *word, app_arguments *out, rh_status *status)
{
    if (!command->operand) return rh_fail(status, RH_USER, "found \"%.200s\", expected options only", word);
    if (out->operand && !command->operand_many)
        return rh_fail(status, RH_USER, "found \"%.200s\" after \"%.200s\", expected only one %s", word, out->operand,
                       command->operand);
    if (!*word) return rh_fail(status, RH_USER, "found an empty name, expected %s", command->operand);
    if (!out->operand) out->operand = word;
    out->operands.items[out->operands.count++] = word;
    return RH_OK;
}

static rh_code read_words(const app_command *command, int count, char **words, app_arguments *out, rh_status *status)
{
    bool options_end = false;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (options_end || word[0] != '-' || !word[1]) RH_TRY(read_operand(command, word, out, status));
        else if (!strcmp(word, "--")) options_end = true;
        else if (word[1] == '-') RH_TRY(read_option(command, count, words, &i, out, status));
        else RH_TRY(read_letter(command, count, words, &i, out, status));
    }
    if (!out->help && command->operand_required && !out->operand)
        return rh_fail(status, RH_USER, "found no %s, expected one", command->operand);
    return RH_OK;
}

rh_code app_arguments_parse(const app_command *command, int count, char **words, app_arguments *out, rh_status *status)
{
    memset(out, 0, sizeof *out);
    // Every word could be a --set, or an operand; room for that many keeps the parser free of growth.
    out->sets.items = rh_alloc(sizeof *out->sets.items * (size_t)(count + 1), "app.words", status);
    out->operands.items = rh_alloc(sizeof *out->operands.items * (size_t)(count + 1), "app.words", status);
    out->binds.items = rh_alloc(sizeof *out->binds.items * (size_t)(count + 1), "app.words", status);
    out->layers.items = rh_alloc(sizeof *out->layers.items * (size_t)(count + 1), "app.words", status);
    if (!out->sets.items || !out->operands.items || !out->binds.items || !out->layers.items) return RH_MEMORY;
    return read_words(command, count, words, out, status);
}

void app_arguments_free(app_arguments *arguments)
{
    rh_free(arguments->sets.items);
    rh_free(arguments->layers.items);
    rh_free(arguments->binds.items);
    rh_free(arguments->operands.items);
    memset(arguments, 0, sizeof *arguments);
}

static void option_help(FILE *to, const app_option *option, bool markdown)
{
    char left[64], letter[8] = "";
    for (int i = 0; i < LETTERS; i++)
        if (!strcmp(letters[i].name, option->name)) snprintf(letter, sizeof letter, "-%c, ", letters[i].letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->value ? " " : "",
             option->value ? option->value : "");
    if (markdown) fprintf(to, "| `%s` | %s |\n", left, option->help);
    else fprintf(to, "  %-22s %s\n", left, option->help);
}

void app_command_help(FILE *to, const app_command *command, bool markdown)
{
    const char *open = command->operand_required ? "" : "[", *close = command->operand_required ? "" : "]";
    const char *tick = markdown ? "`" : "";
    if (markdown) fprintf(to, "## rheo %s\n\n", command->name);
    fprintf(to, "%srheo %s", tick, command->name);
    if (command->operand) fprintf(to, " %s%s%s", open, command->operand, close);
    fprintf(to, " [options]%s\n\n%s\n", tick, command->details);
    fputs(markdown ? "\n| option | meaning |\n|---|---|\n" : "\nOptions:\n", to);
    for (int i = 0; i < command->option_count; i++) option_help(to, &command->options[i], markdown);
    option_help(to, &help_option, markdown);
}
