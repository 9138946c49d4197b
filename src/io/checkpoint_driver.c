// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A virtual file driver of HDF5 1.10 with plain positioned reads and writes.
#define H5_USE_110_API
#include "io/checkpoint_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

typedef struct settings {
    int *error;
} settings;

typedef struct disk_file {
    H5FD_t base;  // HDF5's part; must come first
    int descriptor;
    haddr_t allocated, written;  // bytes HDF5 has given out, bytes up to the farthest write
    int *error;
} disk_file;

static void note(int *error, int why)
{
    if (*error == 0) *error = why ? why : EIO;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t most)
{
    (void)most;
    const settings *s = H5Pget_driver_info(access);
    if (!s || !(flags & H5F_ACC_RDWR)) return NULL;
    disk_file *file = rh_alloc_zero(sizeof *file, "io.checkpoint", NULL);
    if (!file) return note(s->error, ENOMEM), NULL;
    file->error = s->error;
    file->descriptor = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->descriptor >= 0) return &file->base;
    note(s->error, errno);
    rh_free(file);
    return NULL;
}

static herr_t close_file(H5FD_t *base)
{
    disk_file *file = (disk_file *)base;
    if (close(file->descriptor) != 0) note(file->error, errno);
    rh_free(file);
    return 0;
}

static herr_t query(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    // Collect small metadata into larger blocks, as the plain driver does.
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const disk_file *)base)->allocated;
}

static herr_t set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t to)
{
    (void)type;
    ((disk_file *)base)->allocated = to;
    return 0;
}

static haddr_t get_written(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return ((const disk_file *)base)->written;
}

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, void *to)
{
    (void)type;
    (void)transfer;
    disk_file *file = (disk_file *)base;
    for (char *out = to; bytes > 0;) {
        ssize_t got = pread(file->descriptor, out, bytes, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) note(file->error, errno);
        if (got <= 0) {
            memset(out, 0, bytes);  // beyond the end, or lost
            return 0;
        }
        out += got, at += (haddr_t)got, bytes -= (size_t)got;
    }
    return 0;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t bytes, const void *from)
{
    (void)type;
    (void)transfer;
    disk_file *file = (disk_file *)base;
    haddr_t end = at + bytes;
    for (const char *in = from; bytes > 0 && *file->error == 0;) {
        ssize_t put = pwrite(file->descriptor, in, bytes, (off_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) note(file->error, errno);
        else in += put, at += (haddr_t)put, bytes -= (size_t)put;
    }
    if (end > file->written) file->written = end;
    return 0;
}

static herr_t truncate_file(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer;
    (void)closing;
    disk_file *file = (disk_file *)base;
    if (file->allocated == file->written) return 0;
    if (ftruncate(file->descriptor, (off_t)file->allocated) != 0) note(file->error, errno);
    file->written = file->allocated;
    return 0;
}

hid_t rh_checkpoint_driver(hid_t access, int *error)
{
    static const H5FD_class_t driver = {
        .name = "rheo checkpoint",
        .maxaddr = INT64_MAX,
        .fc_degree = H5F_CLOSE_WEAK,
        .fapl_size = sizeof(settings),
        .open = open_file,
        .close = close_file,
        .query = query,
        .get_eoa = get_allocated,
        .set_eoa = set_allocated,
        .get_eof = get_written,
        .read = read_bytes,
        .write = write_bytes,
        .truncate = truncate_file,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    settings s = {error};
    hid_t id = H5FDregister(&driver);
    if (id < 0) return -1;
    if (H5Pset_driver(access, id, &s) >= 0) return id;
    H5FDunregister(id);
    return -1;
}
