// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "io/seal.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

typedef struct seal {
    char letters[8];
    uint64_t sum;
} seal;

enum { CHUNK = 1 << 20 };
static const char letters[8] = "rheoseal";

static int64_t size_of(FILE *file) { return fseeko(file, 0, SEEK_END) == 0 ? (int64_t)ftello(file) : -1; }

// Checksum of the first `bytes` bytes, by chunks of fixed size.
static bool add_up(FILE *file, int64_t bytes, char *chunk, uint64_t *sum)
{
    *sum = 0;
    if (bytes < 0 || fseeko(file, 0, SEEK_SET) != 0) return false;
    while (bytes > 0) {
        size_t part = bytes < CHUNK ? (size_t)bytes : CHUNK;
        if (fread(chunk, 1, part, file) != part) return false;
        *sum = rh_hash(chunk, part, *sum);
        bytes -= (int64_t)part;
    }
    return true;
}

static rh_code compare(FILE *file, const char *path, bool *sealed, rh_status *status)
{
    seal found;
    uint64_t sum;
    int64_t size = size_of(file);
    if (size < (int64_t)sizeof found || fseeko(file, size - (int64_t)sizeof found, SEEK_SET) != 0 ||
        fread(&found, sizeof found, 1, file) != 1 || memcmp(found.letters, letters, sizeof letters) != 0)
        return RH_OK;
    char *chunk = rh_alloc(CHUNK, "io.seal", status);
    if (!chunk) return RH_MEMORY;
    *sealed = true;
    bool good = add_up(file, size - (int64_t)sizeof found, chunk, &sum) && sum == found.sum;
    rh_free(chunk);
    return good ? RH_OK : rh_fail(status, RH_USER, "%s: damaged: its bytes do not match its checksum", path);
}

rh_code rh_seal_check(const char *path, bool *sealed, rh_status *status)
{
    *sealed = false;
    FILE *file = fopen(path, "rbe");
    if (!file) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, strerror(errno));
    rh_code code = compare(file, path, sealed, status);
    fclose(file);
    return code;
}

rh_code rh_seal_write(const char *path, rh_status *status)
{
    seal fresh;
    char *chunk = rh_alloc(CHUNK, "io.seal", status);
    if (!chunk) return RH_MEMORY;
    FILE *file = fopen(path, "r+be");
    bool good = file && add_up(file, size_of(file), chunk, &fresh.sum) && fseeko(file, 0, SEEK_END) == 0;
    memcpy(fresh.letters, letters, sizeof letters);
    good = good && fwrite(&fresh, sizeof fresh, 1, file) == 1;
    if (file && fclose(file) != 0) good = false;
    rh_free(chunk);
    return good ? RH_OK : rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
}
