// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A scratch folder for tests that write files: made in the current folder, removed with what is directly inside.
#pragma once
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct scratch {
    char folder[64];
} scratch;

static inline scratch scratch_make(void)
{
    scratch s = {"scratch-XXXXXX"};
    if (!mkdtemp(s.folder)) abort();
    return s;
}

typedef struct scratch_path {
    char text[512];
} scratch_path;

static inline scratch_path scratch_at(const scratch *s, const char *name)
{
    scratch_path path;
    snprintf(path.text, sizeof path.text, "%s/%s", s->folder, name);
    return path;
}

// Number of entries, so that a test can show that no temporary file was left behind.
static inline int scratch_count(const scratch *s)
{
    int count = -2;  // . and ..
    DIR *stream = opendir(s->folder);
    while (stream && readdir(stream)) count++;
    if (stream) closedir(stream);
    return count;
}

static inline void scratch_remove(const scratch *s)
{
    DIR *stream = opendir(s->folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        scratch_path path = scratch_at(s, entry->d_name);
        if (unlink(path.text) != 0) rmdir(path.text);
    }
    if (stream) closedir(stream);
    rmdir(s->folder);
}

// For groups of tests that share one folder: their state.
static inline int scratch_setup(void **state)
{
    static scratch folder;
    folder = scratch_make();
    *state = &folder;
    return 0;
}

// A folder with all that is in it, such as a run.
static inline void scratch_remove_tree(const char *folder)
{
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char path[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) abort();
        if (unlink(path) != 0) scratch_remove_tree(path);
    }
    if (stream) closedir(stream);
    rmdir(folder);
}
