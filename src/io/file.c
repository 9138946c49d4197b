// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Whole files or none. rename() replaces the old file in one step; the data is flushed before it and the folder entry
// after it, so that a power cut leaves either the old file or the new one.
#include "io/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/regular.h"
#include "io/provenance.h"

#define MARK ".tmp-"

rh_code rh_file_temporary(const char *path, char out[RH_PATH_MAX], rh_status *status)
{
    int length = snprintf(out, RH_PATH_MAX, "%s" MARK "%ld", path, (long)getpid());
    if (path[0] == 0) return rh_fail(status, RH_USER, "the name of a file to write is empty");
    if (length < 0 || length >= RH_PATH_MAX)
        return rh_fail(status, RH_USER, "%.200s...: the path is longer than %d letters", path, RH_PATH_MAX - 32);
    return RH_OK;
}

// Errors other than the two that mean "this file system has nothing to flush" are real.
static bool flushed(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP; }

static void folder_of(const char *path, char out[RH_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (!slash) strcpy(out, ".");
    else if (length == 0) strcpy(out, "/");
    else snprintf(out, RH_PATH_MAX, "%.*s", (int)(length < RH_PATH_MAX ? length : RH_PATH_MAX - 1), path);
}

static rh_code flush_path(const char *path, int flags, rh_status *status)
{
    int descriptor = open(path, flags | O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, strerror(errno));
    bool good = flushed(descriptor);
    int why = errno;
    close(descriptor);
    return good ? RH_OK : rh_fail(status, RH_IO, "%s: cannot flush to disk: %s", path, strerror(why));
}

rh_code rh_file_commit(const char *temporary, const char *path, rh_status *status)
{
    RH_ASSERT(strcmp(temporary, path) != 0);
    rh_code code = flush_path(temporary, 0, status);
    if (code == RH_OK && rename(temporary, path) != 0)
        code = rh_fail(status, RH_IO, "%s: cannot put the finished file in place: %s", path, strerror(errno));
    if (code != RH_OK) {
        rh_file_discard(temporary);
        return code;
    }
    char folder[RH_PATH_MAX];
    folder_of(path, folder);
    return flush_path(folder, O_DIRECTORY, status);
}

void rh_file_discard(const char *temporary) { unlink(temporary); }

static rh_code write_all(int descriptor, const char *path, const char *data, size_t bytes, rh_status *status)
{
    while (bytes > 0) {
        ssize_t written = write(descriptor, data, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
        data += written;
        bytes -= (size_t)written;
    }
    return RH_OK;
}

rh_code rh_file_write(const char *path, const void *data, size_t bytes, rh_status *status)
{
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) return rh_fail(status, RH_IO, "%s: cannot create: %s", path, strerror(errno));
    rh_code code = write_all(descriptor, path, data, bytes, status);
    if (close(descriptor) != 0 && code == RH_OK)
        code = rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

// Reads to the end, growing the block: the size that stat gave is only a hint (files may grow, those of /proc have
// none).
static rh_code read_all(int descriptor, const char *path, size_t hint, size_t limit, char **data, size_t *bytes,
                        rh_status *status)
{
    size_t room = hint + 2;  // the zero at the end, and one to meet the end of the file without growing
    *bytes = 0;
    *data = rh_alloc(room, "io.file", status);
    while (*data) {
        ssize_t got = read(descriptor, *data + *bytes, room - 1 - *bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return rh_fail(status, RH_IO, "%s: cannot read: %s", path, strerror(errno));
        *bytes += (size_t)got;
        if (*bytes > limit)
            return rh_fail(status, RH_USER, "%s: the file is larger than %zu bytes, too large for its kind", path,
                           limit);
        if (got == 0) {
            (*data)[*bytes] = 0;
            return RH_OK;
        }
        if (*bytes < room - 1) continue;
        room *= 2;
        char *larger = rh_realloc(*data, room, "io.file", status);
        if (!larger) return RH_MEMORY;
        *data = larger;
    }
    return RH_MEMORY;
}

static rh_code open_to_read(const char *path, size_t limit, int *descriptor, size_t *hint, rh_status *status)
{
    const char *why;
    errno = 0;
    *descriptor = rh_open_regular(path, &why);
    if (*descriptor < 0) {
        bool kind = strstr(why, "expected a file") != NULL;
        return rh_fail(status, kind ? RH_USER : RH_IO, kind ? "%s: %s" : "%s: cannot open: %s", path, why);
    }
    struct stat facts;
    rh_code code = RH_OK;
    if (fstat(*descriptor, &facts) != 0) code = rh_fail(status, RH_IO, "%s: cannot open: %s", path, strerror(errno));
    else if ((uintmax_t)facts.st_size > limit)
        code = rh_fail(status, RH_USER, "%s: the file has %jd bytes, more than the %zu that make sense for its kind",
                       path, (intmax_t)facts.st_size, limit);
    if (code != RH_OK) close(*descriptor);
    else *hint = (size_t)facts.st_size;
    return code;
}

rh_code rh_file_read(const char *path, size_t limit, char **data, size_t *bytes, rh_status *status)
{
    int descriptor;
    size_t hint = 0;
    *data = NULL;
    *bytes = 0;
    RH_TRY(open_to_read(path, limit, &descriptor, &hint, status));
    rh_code code = read_all(descriptor, path, hint, limit, data, bytes, status);
    close(descriptor);
    if (code == RH_OK) return RH_OK;
    rh_free(*data);
    *data = NULL;
    *bytes = 0;
    return code;
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static rh_code make_one(const char *path, rh_status *status)
{
    if (mkdir(path, 0777) == 0) return RH_OK;
    int why = errno;  // asking what is there sets it anew
    if (is_folder(path)) return RH_OK;
    if (why == EEXIST) return rh_fail(status, RH_IO, "%s: cannot make the folder: a file of that name is there", path);
    return rh_fail(status, RH_IO, "%s: cannot make the folder: %s", path, strerror(why));
}

rh_code rh_folder_make(const char *path, rh_status *status)
{
    char part[RH_PATH_MAX];
    size_t length = strlen(path);
    if (length == 0) return rh_fail(status, RH_USER, "the name of a folder to make is empty");
    if (length >= sizeof part) return rh_fail(status, RH_USER, "%.200s...: the path is too long", path);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i < length; i++) {
        if (part[i] != '/') continue;
        part[i] = 0;
        RH_TRY(make_one(part, status));
        part[i] = '/';
    }
    return make_one(part, status);
}

bool rh_file_exists(const char *path) { return access(path, F_OK) == 0; }

int64_t rh_folder_free_bytes(const char *folder)
{
    struct statvfs facts;
    if (statvfs(folder, &facts) != 0) return -1;
    double bytes = (double)facts.f_bavail * (double)facts.f_frsize;
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

// True for "<a name of ours>.tmp-<digits>" whose process is gone. A number no process can have counts as gone. Others
// name their files like this, too.
static bool is_leftover(const char *name)
{
    const char *mark = NULL;
    for (const char *at = strstr(name, MARK); at; at = strstr(at + 1, MARK)) mark = at;
    char of[256];
    if (!mark || (size_t)(mark - name) >= sizeof of) return false;
    snprintf(of, sizeof of, "%.*s", (int)(mark - name), name);
    if (!rh_provenance_name(of)) return false;
    const char *digits = mark + strlen(MARK);
    if (!*digits) return false;
    for (const char *c = digits; *c; c++)
        if (!isdigit((unsigned char)*c)) return false;
    errno = 0;
    long pid = strtol(digits, NULL, 10);
    if (errno == ERANGE || pid <= 0 || pid > INT_MAX) return true;
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void rh_folder_sweep(const char *folder)
{
    DIR *stream = opendir(folder);
    if (!stream) return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct stat facts;
        if (!is_leftover(entry->d_name)) continue;
        if (fstatat(dirfd(stream), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
            continue;
        unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
}
