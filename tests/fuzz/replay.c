// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A fuzz target without a fuzzer: runs it over every file of its corpus and over fixed mutations of each (cut short, a
// byte changed, a piece removed, doubled or moved), the same every time. Fails when the corpus is empty; a fault ends
// the program, and what was being run stands in the last line printed.
//   replay_<name> CORPUS_FOLDER [MUTATIONS_PER_FILE]
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t draw(uint64_t file, int mutation, uint32_t lane, uint64_t below)
{
    return below ? rh_random_bits(file, (uint64_t)mutation, 0, lane) % below : 0;
}

// Runs on a block of the exact size, so that a sanitizer sees reads past the end.
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void mutate(const uint8_t *data, size_t size, uint64_t file, int mutation)
{
    uint8_t *other = malloc(2 * size + 1);
    if (!other) abort();
    memcpy(other, data, size);
    size_t at = draw(file, mutation, 1, size), length = draw(file, mutation, 2, size - at),
           from = draw(file, mutation, 3, size - length);
    size_t result = size;
    switch (draw(file, mutation, 0, 6)) {
    case 0: result = at; break;
    case 1: other[at] = (uint8_t)draw(file, mutation, 4, 256); break;
    case 2: other[at] ^= (uint8_t)(1u << draw(file, mutation, 4, 8)); break;
    case 3:
        memmove(other + at, other + at + length, size - at - length);
        result = size - length;
        break;
    case 4:
        memmove(other + at + length, other + at, size - at);
        result = size + length;
        break;
    default: memmove(other + at, other + from, length); break;
    }
    run(other, result);
    free(other);
}

static int replay_file(const char *path, int mutations)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) return perror(path), 1;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    printf("%s: %zu bytes, %d mutations\n", path, size, size ? mutations : 0);
    fflush(stdout);
    run(data, size);
    for (int m = 0; m < mutations && size; m++) mutate(data, size, rh_mix64(size) ^ data[size / 2], m);
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

int main(int argc, char **argv)
{
    struct dirent **entries;
    int count = argc > 1 ? scandir(argv[1], &entries, NULL, by_name) : -1, files = 0, failures = 0;
    if (count < 0) return fprintf(stderr, "usage: replay CORPUS_FOLDER [MUTATIONS_PER_FILE]\n"), 2;
    int mutations = argc > 2 ? atoi(argv[2]) : 400;
    run((const uint8_t *)"", 0);
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
            failures += replay_file(path, mutations);
            files++;
        }
        free(entries[i]);
    }
    free(entries);
    if (files == 0) fprintf(stderr, "no files in %s\n", argv[1]);
    return files == 0 || failures ? 1 : 0;
}
