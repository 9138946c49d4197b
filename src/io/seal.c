// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The sum of a chunk is four chains over words of 64 bits, side by side, each word mixed in (rh_mix64) and multiplied;
// they are hashed together at its end. It finds accidents, cut files and flipped bits; it is no signature and does not
// stop anybody who means it.
#include "io/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"

typedef struct seal {
    char letters[8];
    uint64_t sum;
} seal;

static const char letters[8] = "rheosum2", old_letters[8] = "rheoseal";

static int64_t size_of(int file)
{
    struct stat facts;
    return fstat(file, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

static bool read_at(int file, int64_t at, void *to, size_t bytes)
{
    for (size_t got = 0; got < bytes;) {
        ssize_t n = pread(file, (char *)to + got, bytes - got, at + (int64_t)got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        got += (size_t)n;
    }
    return true;
}

// Four chains side by side: a single one waits for its own multiplications.
static uint64_t sum_of(const char *chunk, size_t bytes)
{
    uint64_t lane[4] = {1, 2, 3, 4};
    size_t i = 0;
    for (; i + 32 <= bytes; i += 32)
        for (int k = 0; k < 4; k++) {
            uint64_t word;
            memcpy(&word, chunk + i + 8 * (size_t)k, 8);
            lane[k] = rh_mix64(lane[k] ^ word) * 0x100000001b3ull;
        }
    return rh_hash(chunk + i, bytes - i, rh_hash(lane, sizeof lane, bytes));
}

static size_t chunk_bytes(const rh_seal_sums *sums, int64_t chunk)
{
    int64_t left = sums->bytes - chunk * RH_SEAL_CHUNK;
    return left < RH_SEAL_CHUNK ? (size_t)left : RH_SEAL_CHUNK;
}

static bool sum_chunk(int file, rh_seal_sums *sums, int64_t chunk, char *room)
{
    size_t bytes = chunk_bytes(sums, chunk);
    if (!read_at(file, chunk * RH_SEAL_CHUNK, room, bytes)) return false;
    sums->items[chunk] = sum_of(room, bytes);
    return true;
}

// Sums of the first `bytes` bytes.
static rh_code take_sums(int file, int64_t bytes, rh_seal_sums *out, bool *good, rh_status *status)
{
    int threads = rh_threads();
    *out = (rh_seal_sums){.bytes = bytes, .count = (bytes + RH_SEAL_CHUNK - 1) / RH_SEAL_CHUNK};
    if (out->count < threads) threads = out->count > 0 ? (int)out->count : 1;
    out->items = rh_alloc((size_t)(out->count + 1) * sizeof *out->items, "io.seal", status);
    char *rooms = rh_alloc((size_t)threads * RH_SEAL_CHUNK, "io.seal", status);
    int bad = 0;
    if (out->items && rooms) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) reduction(+ : bad)
        for (int64_t chunk = 0; chunk < out->count; chunk++)
            bad += !sum_chunk(file, out, chunk, rooms + (size_t)rh_thread() * RH_SEAL_CHUNK);
    }
    *good = bad == 0;
    bool memory = out->items && rooms;
    rh_free(rooms);
    if (memory) return RH_OK;
    rh_seal_sums_free(out);
    return RH_MEMORY;
}

void rh_seal_sums_free(rh_seal_sums *sums)
{
    rh_free(sums->items);
    *sums = (rh_seal_sums){0};
}

static uint64_t sum_of_sums(const rh_seal_sums *sums)
{
    return rh_hash(sums->items, (size_t)sums->count * sizeof *sums->items, (uint64_t)sums->bytes);
}

static rh_code cannot(const char *path, const char *what, rh_status *status)
{
    return rh_fail(status, RH_IO, "%s: cannot %s: %s", path, what, strerror(errno ? errno : EIO));
}

rh_code rh_seal_sums_take(const char *path, rh_seal_sums *out, rh_status *status)
{
    bool good = false;
    *out = (rh_seal_sums){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int64_t bytes = file >= 0 ? size_of(file) : -1;
    if (bytes < 0) {
        if (file >= 0) close(file);
        return cannot(path, "read", status);
    }
    rh_code code = take_sums(file, bytes, out, &good, status);
    close(file);
    if (code != RH_OK || good) return code;
    rh_seal_sums_free(out);
    return cannot(path, "read", status);
}

rh_code rh_seal_sums_again(const char *path, rh_seal_sums *sums, int64_t chunk, rh_status *status)
{
    char *room = rh_alloc(RH_SEAL_CHUNK, "io.seal", status);
    if (!room) return RH_MEMORY;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = file >= 0 && sum_chunk(file, sums, chunk, room);
    rh_free(room);
    if (file >= 0) close(file);
    return good ? RH_OK : cannot(path, "read", status);
}

rh_code rh_seal_append(const char *path, const rh_seal_sums *sums, rh_status *status)
{
    seal fresh = {.sum = sum_of_sums(sums)};
    memcpy(fresh.letters, letters, sizeof letters);
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    bool good = file >= 0 && write(file, &fresh, sizeof fresh) == (ssize_t)sizeof fresh;
    if (file >= 0 && close(file) != 0) good = false;
    return good ? RH_OK : cannot(path, "write", status);
}

rh_code rh_seal_write(const char *path, rh_status *status)
{
    rh_seal_sums sums;
    RH_TRY(rh_seal_sums_take(path, &sums, status));
    rh_code code = rh_seal_append(path, &sums, status);
    rh_seal_sums_free(&sums);
    return code;
}

// ---- checking

// The chain of earlier files.
static rh_code matches_chain(int file, int64_t bytes, uint64_t expected, bool *good, rh_status *status)
{
    uint64_t sum = 0;
    char *room = rh_alloc(RH_SEAL_CHUNK, "io.seal", status);
    if (!room) return RH_MEMORY;
    *good = true;
    for (int64_t at = 0; at < bytes && *good; at += RH_SEAL_CHUNK) {
        size_t part = bytes - at < RH_SEAL_CHUNK ? (size_t)(bytes - at) : RH_SEAL_CHUNK;
        *good = read_at(file, at, room, part);
        if (*good) sum = rh_hash(room, part, sum);
    }
    *good = *good && sum == expected;
    rh_free(room);
    return RH_OK;
}

static rh_code matches_sums(int file, int64_t bytes, uint64_t expected, bool *good, rh_status *status)
{
    rh_seal_sums sums;
    RH_TRY(take_sums(file, bytes, &sums, good, status));
    *good = *good && sum_of_sums(&sums) == expected;
    rh_seal_sums_free(&sums);
    return RH_OK;
}

static rh_code compare(int file, const char *path, bool *sealed, rh_status *status)
{
    seal found;
    int64_t bytes = size_of(file) - (int64_t)sizeof found;
    bool good = true;
    if (bytes < 0 || !read_at(file, bytes, &found, sizeof found)) return RH_OK;
    bool old = memcmp(found.letters, old_letters, sizeof letters) == 0;
    *sealed = old || memcmp(found.letters, letters, sizeof letters) == 0;
    if (!*sealed) return RH_OK;
    RH_TRY(old ? matches_chain(file, bytes, found.sum, &good, status)
               : matches_sums(file, bytes, found.sum, &good, status));
    return good ? RH_OK : rh_fail(status, RH_USER, "%s: damaged: its bytes do not match its checksum", path);
}

bool rh_seal_present(const char *path)
{
    seal found;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int64_t bytes = file >= 0 ? size_of(file) : -1;
    bool got = bytes >= (int64_t)sizeof found &&
               read_at(file, bytes - (int64_t)sizeof found, (char *)&found, sizeof found);
    if (file >= 0) close(file);
    return got && (memcmp(found.letters, letters, sizeof letters) == 0 ||
                   memcmp(found.letters, old_letters, sizeof letters) == 0);
}

rh_code rh_seal_check(const char *path, bool *sealed, rh_status *status)
{
    *sealed = false;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, strerror(errno));
    rh_code code = compare(file, path, sealed, status);
    close(file);
    return code;
}
