// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The skeleton of a .vdb file (format versions 222 to 224, little endian), read from OpenVDB's io/Archive.cc:
//   int64 magic, uint32 version, uint32 library major, minor, byte "has offsets", 36 bytes of identity,
//   metadata: uint32 count, each { text name, text type, uint32 bytes, bytes },
//   uint32 grids, each { text name, text type, text instance parent, int64 position, block position, end } then data
// where a text is a uint32 length and its bytes, and each grid's description follows the end of the one before.
#include "io/vdb_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/regular.h"
#include "io/seal.h"

enum { OLDEST = 222, IDENTITY_AT = 8 + 4 + 4 + 4 + 1, IDENTITY = 36, HEADER_REST = 4 + 4 + 1 + IDENTITY };

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
    struct {
        int64_t magic;
        uint32_t version;
    } start = {0};
    unsigned char rest[HEADER_REST];
    if (!get(r, &start.magic, 8) || start.magic != 0x56444220)
        return rh_fail(status, RH_USER, "%s: not an OpenVDB file", path);
    if (get(r, &start.version, 4) && start.version < OLDEST)
        return rh_fail(status, RH_USER, "%s: format version %u of OpenVDB is older than %d, the oldest Rheo reads",
                       path, start.version, OLDEST);
    if (!get(r, rest, sizeof rest)) return rh_fail(status, RH_USER, "%s: damaged: the file ends in its header", path);
    if (rest[8] == 0) return RH_OK;  // written to a stream: no offsets to check
    if (skip_metadata(r) && skip_grids(r)) return RH_OK;
    return rh_fail(status, RH_USER, "%s: damaged: cut short or overwritten near byte %" PRId64, path, r->at);
}

static bool open_reader(reader *r, const char *path, const char **why)
{
    *r = (reader){0};
    int descriptor = rh_open_regular(path, why);
    if (descriptor < 0) return false;
    r->file = fdopen(descriptor, "rb");
    if (!r->file) close(descriptor);
    else if (fseeko(r->file, 0, SEEK_END) == 0) r->size = ftello(r->file);
    if (r->file && r->size >= 0 && seek(r, 0)) return true;
    *why = strerror(errno);
    if (r->file) fclose(r->file);
    return false;
}

rh_code rh_vdb_check(const char *path, rh_status *status)
{
    reader r;
    const char *why;
    if (!open_reader(&r, path, &why)) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, why);
    rh_code code = check_skeleton(&r, path, status);
    fclose(r.file);
    bool sealed;  // other programs' files are not
    return code == RH_OK ? rh_seal_check(path, &sealed, status) : code;
}

// A version 8 identity: the field for those that are made in a way of one's own (RFC 9562).
static void identity_of(const rh_seal_sums *sums, char text[IDENTITY + 1])
{
    size_t bytes = (size_t)sums->count * sizeof *sums->items;
    uint64_t high = rh_hash(sums->items, bytes, 1), low = rh_hash(sums->items, bytes, 2);
    snprintf(text, IDENTITY + 1, "%08x-%04x-8%03x-%04x-%012" PRIx64, (unsigned)(high >> 32),
             (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff), (unsigned)(low >> 48 & 0x3fff) | 0x8000,
             low & 0xffffffffffff);
}

static rh_code put_identity(const char *path, const char *text, rh_status *status)
{
    FILE *file = fopen(path, "r+be");
    bool good = file && fseeko(file, IDENTITY_AT, SEEK_SET) == 0 && fwrite(text, 1, IDENTITY, file) == IDENTITY;
    if (file && fclose(file) != 0) good = false;
    return good ? RH_OK : rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
}

rh_code rh_vdb_seal(const char *path, rh_status *status)
{
    char text[IDENTITY + 1];
    rh_seal_sums sums;
    memset(text, '0', sizeof text);
    RH_TRY(put_identity(path, text, status));
    RH_TRY(rh_seal_sums_take(path, &sums, status));
    identity_of(&sums, text);
    rh_code code = put_identity(path, text, status);
    if (code == RH_OK) code = rh_seal_sums_again(path, &sums, 0, status);  // the identity is in the first chunk
    if (code == RH_OK) code = rh_seal_append(path, &sums, status);
    rh_seal_sums_free(&sums);
    return code;
}
