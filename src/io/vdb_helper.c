// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The result comes through a file in memory (memfd), descriptor 3 of the helper: 8 letters, a code, then
//   a failure:  its message
//   points:     count, frame facts, number of attributes, each { name, type, uniform, values }
//   a text, or the bytes of a .vdb file
// A pipe was tried in mind and dropped: both sides would have to take turns. fork without exec was dropped, too:
// threads of OpenMP and TBB do not come along, and what waits for them waits for ever.
#include "io/vdb_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"
#include "base/memory.h"
#include "io/seal.h"
#include "io/vdb_sets.h"
#include "io/vdb_check.h"
#include "io/vdb_here.h"

extern char **environ;
static const char *chosen_program;

enum { RESULT = 3 };
static const char letters[8] = "rheohlp1";

typedef struct head {
    char letters[8];
    int32_t code, warnings;  // bytes of text behind the head: warnings of the reader, a line each
    int64_t bytes;           // of what follows them
} head;

typedef struct points_head {
    int64_t count;
    rh_frame_info info;
    int32_t attributes, unused;
} points_head;

typedef struct attribute_head {
    char name[RH_POINT_NAME];
    int32_t type, uniform;
} attribute_head;

// --- the caller's side -----------------------------------------------------------------------------------------------

static const char *helper_program(void)
{
    const char *named = getenv("RHEO_PROGRAM");
    return chosen_program ? chosen_program : named && named[0] ? named : NULL;
}

void rh_vdb_helper_use(const char *program) { chosen_program = program; }

// Seconds a file may take: no disk and no decompression is as slow as 1 MB a second.
static double time_limit(const char *path)
{
    struct stat facts;
    return 60 + (stat(path, &facts) == 0 ? (double)facts.st_size * 1e-6 : 0);
}

static rh_code spawn(const char *what, const char *path, int result, pid_t *child, rh_status *status)
{
    const char *program = helper_program();
    char *words[] = {(char *)program, "__vdb", (char *)what, (char *)path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    // Control-C is for us; the helper goes when we do. And it must not inherit signals that a server has blocked.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, result, RESULT);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    // What a dying library says is no message of ours.
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(child, program, &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error ? rh_fail(status, RH_IO, "%s: cannot start %s to read it: %s", path, program, strerror(error)) : RH_OK;
}

// True when it ended by itself and well.
static bool wait_for(pid_t child, double seconds, bool *late)
{
    int how = 0;
    pid_t done;
    double slept = 0, nap = 0.001;
    while ((done = waitpid(child, &how, WNOHANG)) == 0 || (done < 0 && errno == EINTR)) {
        struct timespec time = {0, (long)(nap * 1e9)};
        nanosleep(&time, NULL);
        slept += nap;
        if (nap < 0.02) nap *= 1.5;
        if (slept < seconds || *late) continue;
        *late = true;
        kill(child, SIGKILL);
    }
    return done == child && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

// /proc/self is the helper's own over there.
static rh_code outer_name(const char *path, char out[RH_PATH_MAX], rh_status *status)
{
    int n = strncmp(path, "/proc/self/", 11) == 0
                ? snprintf(out, RH_PATH_MAX, "/proc/%ld/%s", (long)getpid(), path + 11)
                : snprintf(out, RH_PATH_MAX, "%s", path);
    return n > 0 && n < RH_PATH_MAX ? RH_OK : rh_fail(status, RH_USER, "%.200s...: path too long", path);
}

// The helper's result, mapped. *bytes = 0 and NULL on failure.
static void *ask(const char *what, const char *path, int result, size_t *bytes, rh_status *status)
{
    char name[RH_PATH_MAX];
    pid_t child;
    bool late = false;
    struct stat facts;
    if (outer_name(path, name, status) != RH_OK || spawn(what, name, result, &child, status) != RH_OK) return NULL;
    if (!wait_for(child, time_limit(path), &late)) {
        rh_fail(status, RH_USER, "%s: damaged: the process that read it %s", path,
                late ? "did not come to an end" : "failed");
        return NULL;
    }
    void *data = fstat(result, &facts) == 0 && facts.st_size > 0
                     ? mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, result, 0)
                     : MAP_FAILED;
    if (data == MAP_FAILED) rh_fail(status, RH_IO, "%s: the process that read it gave nothing back", path);
    *bytes = data == MAP_FAILED ? 0 : (size_t)facts.st_size;
    return data == MAP_FAILED ? NULL : data;
}

// --- what comes back -------------------------------------------------------------------------------------------------

typedef struct cursor {
    const char *at;
    size_t left;
} cursor;

static bool take(cursor *c, void *to, size_t bytes)
{
    if (bytes > c->left) return false;
    memcpy(to, c->at, bytes);
    c->at += bytes;
    c->left -= bytes;
    return true;
}

static rh_code no_sense(rh_status *status)
{
    return rh_fail(status, RH_USER, "damaged: what came back from reading it makes no sense");
}

// Past the head. Messages of the helper are told here: it has no log.
static rh_code take_head(cursor *c, rh_status *status)
{
    head h;
    if (!take(c, &h, sizeof h) || memcmp(h.letters, letters, sizeof letters) != 0) return no_sense(status);
    if (h.warnings < 0 || (size_t)h.warnings > c->left || h.bytes < 0 ||
        (uint64_t)h.bytes != c->left - (size_t)h.warnings)
        return no_sense(status);
    for (const char *line = c->at, *end = c->at + h.warnings; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        rh_log(RH_LOG_WARNING, "%.*s", (int)(stop - line < 1000 ? stop - line : 1000), line);
        line = stop + 1;
    }
    c->at += h.warnings;
    c->left -= (size_t)h.warnings;
    if (h.code == RH_OK) return RH_OK;
    if (h.code != RH_USER && h.code != RH_IO && h.code != RH_MEMORY) return no_sense(status);
    return rh_fail(status, (rh_code)h.code, "%.*s", (int)(c->left < 2000 ? c->left : 2000), c->at);
}

static bool are_bits(const char *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] & ~1) return false;
    return true;
}

static rh_code take_attribute(cursor *c, rh_points *points, rh_status *status)
{
    attribute_head h;
    if (!take(c, &h, sizeof h) || !memchr(h.name, 0, sizeof h.name) || !h.name[0]) return no_sense(status);
    if (h.type < 0 || h.type >= RH_POINT_TYPES || rh_points_find(points, h.name) ||
        points->attribute_count >= RH_POINTS_MAX_ATTRIBUTES)
        return no_sense(status);
    rh_point_type type = (rh_point_type)h.type;
    size_t size = rh_point_type_size(type), bytes = h.uniform ? size : size * (size_t)points->count;
    if (bytes > c->left || (type == RH_POINT_GROUP && !are_bits(c->at, bytes))) return no_sense(status);
    if (h.uniform) RH_TRY(rh_points_add_uniform(points, h.name, type, c->at, status));
    else RH_TRY(rh_points_add(points, h.name, type, status));
    if (!h.uniform && bytes > 0) memcpy(rh_points_find(points, h.name)->data, c->at, bytes);
    c->at += bytes;
    c->left -= bytes;
    return RH_OK;
}

static rh_code take_points(cursor *c, rh_points *points, rh_frame_info *info, rh_status *status)
{
    points_head h;
    RH_TRY(take_head(c, status));
    // A particle has a position of twelve bytes at least: a count that lies cannot make us ask for more than came.
    if (!take(c, &h, sizeof h) || h.count < 0 || h.count > (int64_t)(c->left / 12)) return no_sense(status);
    RH_TRY(rh_points_resize(points, h.count, status));
    for (int i = 0; i < h.attributes; i++) RH_TRY(take_attribute(c, points, status));
    if (c->left != 0) return no_sense(status);
    if (info) *info = h.info;
    return RH_OK;
}

rh_code rh_vdb_result_points(const void *data, size_t bytes, rh_points *points, rh_frame_info *info, rh_status *status)
{
    cursor c = {data, bytes};
    rh_code code = take_points(&c, points, info, status);
    if (code != RH_OK) rh_points_free(points);
    return code;
}

char *rh_vdb_result_text(const void *data, size_t bytes, rh_status *status)
{
    cursor c = {data, bytes};
    if (take_head(&c, status) != RH_OK) return NULL;
    char *text = rh_alloc(c.left + 1, "io.vdb", status);
    if (!text) return NULL;
    memcpy(text, c.at, c.left);
    text[c.left] = 0;
    return text;
}

// --- reading ---------------------------------------------------------------------------------------------------------

// Is it to be read outside?
static rh_code look(const char *path, bool *outside, rh_status *status)
{
    *outside = !rh_seal_present(path) && helper_program();
    return *outside ? rh_vdb_check(path, status) : RH_OK;  // what reads it here checks it, too
}

static int memory_file(const char *path, rh_status *status)
{
    int file = memfd_create("vdb", MFD_CLOEXEC);
    if (file < 0) rh_fail(status, RH_IO, "%s: cannot make a file in memory: %s", path, strerror(errno));
    return file;
}

// Messages of the helper name the file as it saw it.
static rh_code blame(const char *path, const rh_status *why, rh_status *status)
{
    bool named = strncmp(why->message, path, strlen(path)) == 0;
    return rh_fail(status, why->code, named ? "%s%s" : "%s: %s", named ? "" : path, why->message);
}

rh_code rh_vdb_read_points(const char *path, rh_points *points, rh_frame_info *info, rh_status *status)
{
    return rh_vdb_read_set(path, NULL, points, info, status);
}

rh_code rh_vdb_read_set(const char *path, const char *name, rh_points *points, rh_frame_info *info, rh_status *status)
{
    bool outside;
    char what[160];
    size_t bytes = 0;
    rh_status why = {0};
    RH_TRY(look(path, &outside, status));
    if (!outside) return rh_vdb_read_points_here(path, name, points, info, status);
    int result = memory_file(path, status);
    if (result < 0) return RH_IO;
    snprintf(what, sizeof what, name ? "points %.120s" : "points", name ? name : "");
    void *data = ask(what, path, result, &bytes, &why);
    rh_code code = data ? rh_vdb_result_points(data, bytes, points, info, &why) : why.code;
    if (data) munmap(data, bytes);
    close(result);
    return code == RH_OK ? RH_OK : blame(path, &why, status);
}

char *rh_vdb_describe(const char *path, rh_status *status)
{
    bool outside;
    size_t bytes = 0;
    rh_status why = {0};
    if (look(path, &outside, status) != RH_OK) return NULL;
    if (!outside) return rh_vdb_describe_here(path, status);
    int result = memory_file(path, status);
    if (result < 0) return NULL;
    void *data = ask("describe", path, result, &bytes, &why);
    char *text = data ? rh_vdb_result_text(data, bytes, &why) : NULL;
    if (data) munmap(data, bytes);
    close(result);
    if (!text) blame(path, &why, status);
    return text;
}

rh_code rh_vdb_safe_open(const char *path, rh_vdb_safe *out, rh_status *status)
{
    bool outside;
    size_t bytes = 0;
    rh_status why = {0};
    out->copy = -1;
    if (snprintf(out->path, sizeof out->path, "%s", path) >= RH_PATH_MAX)
        return rh_fail(status, RH_USER, "%.200s...: path too long", path);
    RH_TRY(look(path, &outside, status));
    if (!outside) return rh_vdb_check(path, status);
    int result = memory_file(path, status), copy = result >= 0 ? memory_file(path, status) : -1;
    rh_code code = copy >= 0 ? RH_OK : RH_IO;
    char what[32];
    snprintf(what, sizeof what, "copy %ld %d", (long)getpid(), copy);
    void *data = code == RH_OK ? ask(what, path, result, &bytes, &why) : NULL;
    cursor c = {data, bytes};
    if (code == RH_OK) code = data ? take_head(&c, &why) : why.code;
    if (data) munmap(data, bytes);
    if (result >= 0) close(result);
    if (code != RH_OK && copy >= 0) close(copy);
    if (code != RH_OK) return why.code == RH_OK ? code : blame(path, &why, status);
    out->copy = copy;
    snprintf(out->path, sizeof out->path, "/proc/self/fd/%d", copy);
    return RH_OK;
}

void rh_vdb_safe_close(rh_vdb_safe *safe)
{
    if (safe->copy >= 0) close(safe->copy);
    safe->copy = -1;
}

// --- the helper's side -----------------------------------------------------------------------------------------------

typedef struct warnings {
    char text[8192];
    size_t length;
} warnings;

static void note(rh_log_level level, const char *message, void *user)
{
    warnings *w = user;
    size_t bytes = strlen(message);
    if (level != RH_LOG_WARNING || w->length + bytes + 1 > sizeof w->text) return;
    memcpy(w->text + w->length, message, bytes);
    w->text[w->length + bytes] = '\n';
    w->length += bytes + 1;
}

// A file may unpack to much more than it is, but not without end. What the machine has is the limit where that is less.
static void limit(const char *path)
{
    struct stat facts;
    rlim_t size = stat(path, &facts) == 0 ? (rlim_t)facts.st_size : 0, seconds = 60 + size / 1000000;
    struct rlimit core = {0, 0}, time = {seconds, seconds + 5},
                  memory = {((rlim_t)4 << 30) + 64 * size, ((rlim_t)4 << 30) + 64 * size};
    setrlimit(RLIMIT_CORE, &core);
    setrlimit(RLIMIT_CPU, &time);
#ifndef __SANITIZE_ADDRESS__  // which reserves more than any limit
    setrlimit(RLIMIT_AS, &memory);
#endif
}

static bool put(const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t written = write(RESULT, at, bytes);
        if (written <= 0) return false;
        at += written;
        bytes -= (size_t)written;
    }
    return true;
}

static bool put_head(rh_code code, const warnings *w, size_t bytes)
{
    head h = {.code = (int32_t)code, .warnings = (int32_t)w->length, .bytes = (int64_t)bytes};
    memcpy(h.letters, letters, sizeof letters);
    return put(&h, sizeof h) && put(w->text, w->length);
}

static size_t attribute_bytes(const rh_points *points, const rh_attribute *a)
{
    return rh_point_type_size(a->type) * (a->uniform ? 1 : (size_t)points->count);
}

static bool put_points(const rh_points *points, const rh_frame_info *info, const warnings *w)
{
    points_head h = {.count = points->count, .info = *info, .attributes = points->attribute_count};
    size_t bytes = sizeof h;
    for (int i = 0; i < points->attribute_count; i++)
        bytes += sizeof(attribute_head) + attribute_bytes(points, &points->attributes[i]);
    bool good = put_head(RH_OK, w, bytes) && put(&h, sizeof h);
    for (int i = 0; good && i < points->attribute_count; i++) {
        const rh_attribute *a = &points->attributes[i];
        attribute_head one = {.type = (int32_t)a->type, .uniform = a->uniform};
        snprintf(one.name, sizeof one.name, "%s", a->name);
        good = put(&one, sizeof one) && put(a->data, attribute_bytes(points, a));
    }
    return good;
}

static bool put_text(rh_code code, const char *text, const warnings *w)
{
    return put_head(code, w, strlen(text)) && put(text, strlen(text));
}

static bool help_points(const char *path, const char *name, warnings *w, rh_status *status)
{
    rh_points points;
    rh_frame_info info = {0};
    rh_points_init(&points);
    bool good = rh_vdb_read_points_here(path, name, &points, &info, status) == RH_OK
                    ? put_points(&points, &info, w)
                    : put_text(status->code, status->message, w);
    rh_points_free(&points);
    return good;
}

static bool help_describe(const char *path, warnings *w, rh_status *status)
{
    char *text = rh_vdb_describe_here(path, status);
    bool good = text ? put_text(RH_OK, text, w) : put_text(status->code, status->message, w);
    rh_free(text);
    return good;
}

static bool help_copy(const char *what, const char *path, warnings *w, rh_status *status)
{
    long process;
    int file;
    char to[64];
    if (sscanf(what, "copy %ld %d", &process, &file) != 2) return false;
    snprintf(to, sizeof to, "/proc/%ld/fd/%d", process, file);
    rh_code code = rh_vdb_copy_here(path, to, status);
    return put_text(code, code == RH_OK ? "" : status->message, w);
}

int rh_vdb_helper(int count, char **words)
{
    static warnings kept;  // of this short-lived process alone
    rh_status status = {0};
    if (count != 2) return 2;
    rh_log_set_sink(note, &kept);
    limit(words[1]);
    bool good = false;
    if (strncmp(words[0], "points", 6) == 0)
        good = help_points(words[1], words[0][6] == ' ' ? words[0] + 7 : NULL, &kept, &status);
    else if (strcmp(words[0], "describe") == 0) good = help_describe(words[1], &kept, &status);
    else if (strncmp(words[0], "copy ", 5) == 0) good = help_copy(words[0], words[1], &kept, &status);
    return good ? 0 : 1;
}
