// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Reads tests/lang/golden: what OpenVDB AX makes of the programs of tests/lang/corpus (recorded by compare_ax.py, where
// the format is described).
//
//   golden_file file = golden_open("functions");            all programs of a group
//   golden_rows inputs = golden_input("points");             the points they run over
//   for (int i = 0; i < file.count; i++) { file.programs[i].code, .verdict, .rows ... }
//   const golden_row *row = golden_find(&inputs, "f");       row->type, row->words[k], row->count
//   golden_close(&file); golden_free(&inputs);
//
// Values stay text: golden_real and golden_whole convert one. All components of all points stand one after the other. A
// row of a volume has the name "grid", "voxel" or "tile" and everything that follows in words.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct golden_row {
    char *name, *type;  // type is "" in rows of volumes
    char **words;       // values; strings without their quotes
    int count;
} golden_row;

typedef struct golden_rows {
    golden_row *rows;
    int count;
    int points;  // of the line "points"
    char *text;  // owned where it was read alone (golden_input)
} golden_rows;

typedef struct golden_program {
    char *name, *verdict;  // "accepted", "refused" or "crashed"
    char *code;            // owned
    golden_rows rows;
} golden_program;

typedef struct golden_file {
    golden_program *programs;
    int count;
    char *text;
} golden_file;

static inline double golden_real(const char *word) { return strtod(word, NULL); }
static inline long long golden_whole(const char *word) { return strtoll(word, NULL, 10); }

static inline void *golden_grow(void *list, size_t size)
{
    void *grown = realloc(list, size);
    if (!grown) abort();
    return grown;
}

static inline char *golden_read(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/lang/golden/%s.txt", RHEO_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        abort();
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = golden_grow(NULL, (size_t)size + 1);
    text[fread(text, 1, (size_t)size, file)] = 0;
    fclose(file);
    return text;
}

// The next line, ended by a zero; NULL at the end.
static inline char *golden_line(char **at)
{
    char *line = *at;
    if (*line == 0) return NULL;
    char *end = strchr(line, '\n');
    if (end) *end = 0;
    *at = end ? end + 1 : line + strlen(line);
    return line;
}

static inline char *golden_word(char **at)
{
    while (**at == ' ') ++*at;
    if (**at == 0) return NULL;
    char close = **at == '"' ? '"' : ' ', *word = close == '"' ? ++*at : *at, *end = strchr(word, close);
    while (close == '"' && end && end > word && end[-1] == '\\') end = strchr(end + 1, close);
    *at = end ? end + 1 : word + strlen(word);
    if (end) *end = 0;
    return word;
}

static inline void golden_add(golden_rows *rows, char *line)
{
    golden_row row = {golden_word(&line), "", NULL, 0};
    if (!row.name || row.name[0] == '#') return;
    if (strcmp(row.name, "points") == 0) {
        rows->points = atoi(golden_word(&line));
        return;
    }
    if (strcmp(row.name, "grid") != 0 && strcmp(row.name, "voxel") != 0 && strcmp(row.name, "tile") != 0)
        row.type = golden_word(&line);
    for (char *word; (word = golden_word(&line));) {
        if (row.count % 64 == 0) row.words = golden_grow(row.words, ((size_t)row.count + 64) * sizeof *row.words);
        row.words[row.count++] = word;
    }
    rows->rows = golden_grow(rows->rows, ((size_t)rows->count + 1) * sizeof *rows->rows);
    rows->rows[rows->count++] = row;
}

static inline void golden_free(golden_rows *rows)
{
    for (int i = 0; i < rows->count; i++) free(rows->rows[i].words);
    free(rows->rows);
    free(rows->text);
    *rows = (golden_rows){0};
}

static inline golden_rows golden_input(const char *kind)  // "points" or "volumes"
{
    char name[64];
    snprintf(name, sizeof name, "%s_input", kind);
    golden_rows rows = {.text = golden_read(name)};
    char *at = rows.text;
    for (char *line; (line = golden_line(&at));) golden_add(&rows, line);
    return rows;
}

static inline const golden_row *golden_find(const golden_rows *rows, const char *name)  // NULL when there is none
{
    for (int i = 0; i < rows->count; i++)
        if (strcmp(rows->rows[i].name, name) == 0) return &rows->rows[i];
    return NULL;
}

static inline golden_program golden_next(char **at, char *name)
{
    golden_program program = {.name = name};
    int lines = atoi(golden_line(at) + strlen("code "));
    size_t used = 0;
    char *end = *at;
    for (int i = 0; i < lines; i++) end += strcspn(end, "\n") + 1;
    program.code = golden_grow(NULL, (size_t)(end - *at) + 1);
    for (int i = 0; i < lines; i++) {
        const char *line = golden_line(at);
        memcpy(program.code + used, line, strlen(line));
        used += strlen(line);
        program.code[used++] = '\n';
    }
    program.code[used] = 0;
    program.verdict = golden_line(at);
    for (char *line; (line = golden_line(at)) && strcmp(line, "end") != 0;) golden_add(&program.rows, line);
    return program;
}

static inline golden_file golden_open(const char *group)
{
    golden_file file = {.text = golden_read(group)};
    char *at = file.text;
    for (char *line; (line = golden_line(&at));) {
        if (strncmp(line, "program ", 8) != 0) continue;
        file.programs = golden_grow(file.programs, ((size_t)file.count + 1) * sizeof *file.programs);
        file.programs[file.count++] = golden_next(&at, line + 8);
    }
    return file;
}

static inline const golden_program *golden_program_named(const golden_file *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->programs[i].name, name) == 0) return &file->programs[i];
    return NULL;
}

static inline void golden_close(golden_file *file)
{
    for (int i = 0; i < file->count; i++) free(file->programs[i].code), golden_free(&file->programs[i].rows);
    free(file->programs);
    free(file->text);
    *file = (golden_file){0};
}
