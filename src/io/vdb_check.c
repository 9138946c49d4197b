// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The skeleton of a .vdb file (format versions 222 to 224, little endian), read from OpenVDB's io/Archive.cc:
//   int64 magic, uint32 version, uint32 library major, minor, byte "has offsets", 36 bytes of identity,
//   metadata: uint32 count, each { text name, text type, uint32 bytes, bytes },
//   uint32 grids, each { text name, text type, text instance parent, int64 position, block position, end } then data
// where a text is a uint32 length and its bytes, and each grid's description follows the end of the one before.
//
// The seal: 8 letters "rheoseal", then the 64-bit checksum of everything before the seal.
#include "io/vdb_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { SEAL = 16, CHUNK = 1 << 20, OLDEST = 222, HEADER_REST = 4 + 4 + 1 + 36 };
static const char seal_letters[8] = "rheoseal";

typedef struct reader {
    FILE *file;
    int64_t size, at;
} reader;

static bool get(reader *r, void *to, int64_t bytes)
{
    if (bytes > r->size - r->at || fread(to, 1, (size_t)bytes, r->file) != (size_t)bytes) return false;
    r->at += bytes;
    return true;
}

static bool seek(reader *r, int64_t to)
{
    if (to < 0 || to > r->size || fseeko(r->file, to, SEEK_SET) != 0) return false;
    r->at = to;
    return true;
}

static bool skip_text(reader *r)
{
    uint32_t length;
    return get(r, &length, 4) && seek(r, r->at + length);
}

static bool skip_metadata(reader *r)
{
    uint32_t count;
    if (!get(r, &count, 4)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!skip_text(r) || !skip_text(r) || !skip_text(r)) return false;
    return true;
}

static bool skip_grids(reader *r)
{
    uint32_t count;
    if (!get(r, &count, 4)) return false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t place[3];
        if (!skip_text(r) || !skip_text(r) || !skip_text(r) || !get(r, place, sizeof place)) return false;
        if (place[0] < r->at || place[1] < place[0] || place[2] < place[1] || !seek(r, place[2])) return false;
    }
    return true;
}

static rh_code check_skeleton(reader *r, const char *path, rh_status *status)
{
    struct { int64_t magic; uint32_t version; } start = {0};
    unsigned char rest[HEADER_REST];
    if (!get(r, &start.magic, 8) || start.magic != 0x56444220) return rh_fail(status, RH_USER, "%s: not an OpenVDB file", path);
    if (get(r, &start.version, 4) && start.version < OLDEST)
        return rh_fail(status, RH_USER, "%s: format version %u of OpenVDB is older than %d, the oldest Rheo reads", path,
                       start.version, OLDEST);
    if (!get(r, rest, sizeof rest)) return rh_fail(status, RH_USER, "%s: damaged: the file ends in its header", path);
    if (rest[8] == 0) return RH_OK;  // written to a stream: no offsets to check
    if (skip_metadata(r) && skip_grids(r)) return RH_OK;
    return rh_fail(status, RH_USER, "%s: damaged: cut short or overwritten near byte %" PRId64, path, r->at);
}

// Checksum of the first `bytes` bytes, by chunks of fixed size.
static bool checksum(reader *r, int64_t bytes, char *chunk, uint64_t *sum)
{
    if (!seek(r, 0)) return false;
    for (*sum = 0; bytes > 0;) {
        int64_t part = bytes < CHUNK ? bytes : CHUNK;
        if (!get(r, chunk, part)) return false;
        *sum = rh_hash(chunk, (size_t)part, *sum);
        bytes -= part;
    }
    return true;
}

static bool open_reader(reader *r, const char *path, const char *mode)
{
    *r = (reader){.file = fopen(path, mode)};
    if (!r->file) return false;
    if (fseeko(r->file, 0, SEEK_END) == 0) r->size = ftello(r->file);
    if (r->size >= 0 && seek(r, 0)) return true;
    fclose(r->file);
    return false;
}

static rh_code check_seal(reader *r, const char *path, rh_status *status)
{
    struct { char letters[8]; uint64_t sum; } seal;
    uint64_t sum;
    if (r->size < SEAL || !seek(r, r->size - SEAL) || !get(r, &seal, SEAL)) return RH_OK;
    if (memcmp(seal.letters, seal_letters, sizeof seal_letters) != 0) return RH_OK;  // another program's file
    char *chunk = rh_alloc(CHUNK, "io.vdb", status);
    if (!chunk) return RH_MEMORY;
    bool good = checksum(r, r->size - SEAL, chunk, &sum) && sum == seal.sum;
    rh_free(chunk);
    return good ? RH_OK : rh_fail(status, RH_USER, "%s: damaged: its bytes do not match its checksum", path);
}

rh_code rh_vdb_check(const char *path, rh_status *status)
{
    reader r;
    if (!open_reader(&r, path, "rbe")) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, strerror(errno));
    rh_code code = check_skeleton(&r, path, status);
    if (code == RH_OK) code = check_seal(&r, path, status);
    fclose(r.file);
    return code;
}

rh_code rh_vdb_seal(const char *path, rh_status *status)
{
    reader r;
    struct { char letters[8]; uint64_t sum; } seal;
    char *chunk = rh_alloc(CHUNK, "io.vdb", status);
    if (!chunk) return RH_MEMORY;
    bool good = open_reader(&r, path, "r+be");
    if (good) {
        memcpy(seal.letters, seal_letters, sizeof seal_letters);
        good = checksum(&r, r.size, chunk, &seal.sum) && fseeko(r.file, 0, SEEK_END) == 0 &&
               fwrite(&seal, SEAL, 1, r.file) == 1;
        if (fclose(r.file) != 0) good = false;
    }
    rh_free(chunk);
    return good ? RH_OK : rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
}
