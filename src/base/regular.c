// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A file is opened first and looked at afterwards (fstat), so that nobody can exchange it in between; inside of a
// folder each part of the name is opened beneath the one before it (openat, without following links).
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// O_NONBLOCK: opening a FIFO without a writer returns at once. It means nothing for a regular file.
enum { TO_LOOK = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

static const char *wrong_kind(int file)
{
    struct stat facts;
    if (fstat(file, &facts) != 0) return strerror(errno);
    if (S_ISREG(facts.st_mode)) return NULL;
    return S_ISDIR(facts.st_mode) ? "is a folder, expected a file" : "is a pipe or a device, expected a file";
}

int rh_open_regular(const char *path, const char **why)
{
    int file = open(path, TO_LOOK);
    *why = file < 0 ? strerror(errno) : wrong_kind(file);
    if (!*why) return file;
    if (file >= 0) close(file);
    return -1;
}

// Opens all parts of the name but the last, which goes to *last.
static int open_parents(int folder, const char *name, const char **last)
{
    int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *part = name;
    for (const char *slash; at >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
        char word[NAME_MAX + 1];
        size_t length = (size_t)(slash - part);
        bool plain = length > 0 && length <= NAME_MAX && !(length == 2 && memcmp(part, "..", 2) == 0);
        if (plain) snprintf(word, sizeof word, "%.*s", (int)length, part);
        int next = plain ? openat(at, word, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        close(at);
        at = next;
    }
    *last = part;
    return at;
}

int rh_open_beneath(int folder, const char *name)
{
    const char *last;
    int at = open_parents(folder, name, &last), file = -1;
    if (at < 0) return -1;
    if (strcmp(last, "..") != 0) file = openat(at, last, TO_LOOK | O_NOFOLLOW);
    close(at);
    if (file < 0 || !wrong_kind(file)) return file;
    close(file);
    return -1;
}

int rh_open_folder_beneath(int folder, const char *name)
{
    const char *last;
    int at = open_parents(folder, name, &last), found = -1;
    if (at < 0) return -1;
    if (strcmp(last, "..") != 0) found = openat(at, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    return found;
}

bool rh_path_is_inside(const char *path, const char *folder)
{
    char real[PATH_MAX];
    size_t length = strlen(folder);
    const char *found = realpath(path, real);
    // What is not there cannot be opened either; whether it is there is nobody's business outside.
    if (!found && !strstr(path, "/..")) found = path;
    if (length == 1 && folder[0] == '/') return found != NULL;
    return found && strncmp(found, folder, length) == 0 && found[length] == '/';
}

bool rh_path_has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}
