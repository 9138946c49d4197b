// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Checkpoints in HDF5. Data is chunked with the Fletcher-32 filter and not compressed: state is noise to a compressor,
// and a checkpoint must not hold up the run. The newest file format is asked for because only it checksums all
// metadata too (object headers, chunk indices, superblock); texts are of fixed length because the heap of
// variable-length ones is not checksummed. Together: a file that opens and reads without an error is right to the bit.
// The seal at the end keeps damaged files away from the library, which does not survive them all (io/seal.h).
//
// Layout: root attributes format, rheo_version, scene_hash, every put_int and put_float, and complete (written last);
// points/<attribute> with attributes order, type, uniform, transient; state/<blob> as bytes.
#include "io/checkpoint.h"

#include "base/assert.h"
#include <errno.h>
#define H5_USE_110_API  // newer releases keep the 1.10 interface under this name
#include <hdf5.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/regular.h"
#include "io/checkpoint_driver.h"
#include "io/file.h"
#include "io/seal.h"

enum { FORMAT = 1, CHUNK_BYTES = 4 << 20, TEXT = 64, WHY = 600 };

struct rh_checkpoint_writer {
    hid_t driver, file, state;
    int error;  // errno of the first write that failed
    char path[RH_PATH_MAX], temporary[RH_PATH_MAX];
};

struct rh_checkpoint_reader {
    hid_t file;
    char path[RH_PATH_MAX];
};

// HDF5 prints its errors unless told not to. The setting belongs to the process: put it back on the way out.
typedef struct message_handler {
    H5E_auto2_t function;
    void *data;
} message_handler;

static message_handler silence_messages(void)
{
    message_handler old = {0};
    H5Eget_auto2(H5E_DEFAULT, &old.function, &old.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return old;
}

static void restore_messages(message_handler old) { H5Eset_auto2(H5E_DEFAULT, old.function, old.data); }

// Every call clears the record of errors, closing ones too: set it aside while tidying up after a failure.
static hid_t keep_errors(bool good) { return good ? -1 : H5Eget_current_stack(); }
static void restore_errors(hid_t kept)
{
    if (kept >= 0) H5Eset_current_stack(kept);
}

static herr_t keep_first(unsigned n, const H5E_error2_t *error, void *text)
{
    if (n == 0 && error->desc) snprintf(text, WHY, "%s", error->desc);
    return 0;
}

static rh_code fail_hdf5(const char *path, const char *what, const char *name, rh_status *status)
{
    char why[WHY] = "no reason given";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, why);
    return rh_fail(status, RH_IO, "%s: cannot write %s%s%s: %s", path, what, name[0] ? " " : "", name, why);
}

// --- attributes of nodes ---------------------------------------------------------------------------------------------

static bool put_value(hid_t node, const char *name, hid_t stored, hid_t given, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(node, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, given, value) >= 0;
    hid_t errors = keep_errors(good);
    if (attribute >= 0 && H5Aclose(attribute) < 0) good = false;
    H5Sclose(space);
    restore_errors(errors);
    return good;
}

static bool put_int(hid_t node, const char *name, int64_t value)
{
    return put_value(node, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

static bool put_text(hid_t node, const char *name, const char *text)
{
    char fixed[TEXT] = {0};
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = H5Tset_size(type, TEXT) >= 0;
    memcpy(fixed, text, strnlen(text, TEXT - 1));
    good = good && put_value(node, name, type, type, fixed);
    H5Tclose(type);
    return good;
}

// Reads a scalar attribute of the given class and size; anything else under that name is a failure.
static bool get_value(hid_t node, const char *name, H5T_class_t class, size_t size, hid_t wanted, void *value)
{
    hid_t attribute = H5Aopen(node, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool good = H5Tget_class(type) == class && H5Tget_size(type) == size && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Tis_variable_str(type) <= 0;
    good = good && H5Aread(attribute, class == H5T_STRING ? type : wanted, value) >= 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

static bool get_int(hid_t node, const char *name, int64_t *value)
{
    return get_value(node, name, H5T_INTEGER, sizeof *value, H5T_NATIVE_INT64, value);
}

static bool get_text(hid_t node, const char *name, char text[TEXT])
{
    memset(text, 0, TEXT);
    return get_value(node, name, H5T_STRING, TEXT, -1, text) && memchr(text, 0, TEXT);
}

// --- writing ---------------------------------------------------------------------------------------------------------

// The system's word on a failed write, or else HDF5's.
static rh_code outcome(const rh_checkpoint_writer *w, bool good, const char *what, const char *name, rh_status *status)
{
    if (w->error)
        return rh_fail(status, w->error == ENOMEM ? RH_MEMORY : RH_IO, "%s: cannot write %s%s%s: %s", w->path, what,
                       name[0] ? " " : "", name, strerror(w->error));
    return good ? RH_OK : fail_hdf5(w->path, what, name, status);
}

static bool open_nodes(rh_checkpoint_writer *w, uint64_t scene_hash)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    w->driver = rh_checkpoint_driver(access, &w->error);
    if (w->driver >= 0) w->file = H5Fcreate(w->temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t errors = keep_errors(w->file >= 0);
    H5Pclose(access);
    restore_errors(errors);
    if (w->file < 0) return false;
    w->state = H5Gcreate2(w->file, "state", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return w->state >= 0 && put_int(w->file, "format", FORMAT) && put_text(w->file, "rheo_version", RHEO_VERSION) &&
           put_value(w->file, "scene_hash", H5T_STD_U64LE, H5T_NATIVE_UINT64, &scene_hash);
}

// Once closed, closing again does nothing.
static bool close_nodes(rh_checkpoint_writer *w)
{
    bool good = true;
    if (w->state >= 0 && H5Gclose(w->state) < 0) good = false;
    if (w->file >= 0 && H5Fclose(w->file) < 0) good = false;
    if (w->driver >= 0) H5FDunregister(w->driver);
    w->driver = w->state = w->file = -1;
    return good;
}

rh_code rh_checkpoint_create(const char *path, uint64_t scene_hash, rh_checkpoint_writer **out, rh_status *status)
{
    *out = NULL;
    rh_checkpoint_writer *w = rh_alloc_zero(sizeof *w, "io.checkpoint", status);
    if (!w) return RH_MEMORY;
    w->driver = w->file = w->state = -1;
    rh_code code = rh_file_temporary(path, w->temporary, status);
    if (code == RH_OK) {
        message_handler old = silence_messages();
        snprintf(w->path, sizeof w->path, "%s", path);
        code = outcome(w, open_nodes(w, scene_hash), "the checkpoint", "", status);
        restore_messages(old);
    }
    if (code == RH_OK) *out = w;
    else rh_checkpoint_abandon(w);
    return code;
}

static hid_t chunked(const hsize_t *dims, int rank, size_t element)
{
    hid_t plan = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[2] = {dims[0], rank == 2 ? dims[1] : 1};
    hsize_t most = CHUNK_BYTES / (element * chunk[1]);
    if (chunk[0] > most) chunk[0] = most;
    if (chunk[0] == 0) chunk[0] = 1;
    H5Pset_chunk(plan, rank, chunk);
    H5Pset_fletcher32(plan);
    H5Pset_fill_time(plan, H5D_FILL_TIME_NEVER);
    return plan;
}

// A dataset of `rows` x `columns` elements; *kept stays open for attributes when asked for.
static bool put_array(hid_t node, const char *name, hid_t stored, hid_t given, uint64_t rows, int columns,
                      const void *data, hid_t *kept)
{
    hsize_t dims[2] = {rows, (hsize_t)columns};
    int rank = columns > 1 ? 2 : 1;
    hid_t space = H5Screate_simple(rank, dims, NULL), plan = chunked(dims, rank, H5Tget_size(stored));
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(node, name, stored, space, links, plan, H5P_DEFAULT);
    bool good = set >= 0 && (rows == 0 || H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    hid_t errors = keep_errors(good);
    if (kept) *kept = set;
    else if (set >= 0 && H5Dclose(set) < 0) good = false;
    H5Pclose(links);
    H5Pclose(plan);
    H5Sclose(space);
    restore_errors(errors);
    return good;
}

typedef struct layout {
    hid_t stored, given;
    int columns;
} layout;

static layout layout_of(rh_point_type type)
{
    switch (type) {
    case RH_POINT_I32: return (layout){H5T_STD_I32LE, H5T_NATIVE_INT32, 1};
    case RH_POINT_I64: return (layout){H5T_STD_I64LE, H5T_NATIVE_INT64, 1};
    case RH_POINT_VEC3F: return (layout){H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 3};
    case RH_POINT_MAT3F: return (layout){H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 9};
    case RH_POINT_GROUP: return (layout){H5T_STD_U8LE, H5T_NATIVE_UINT8, 1};
    case RH_POINT_F32: break;
    }
    return (layout){H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, 1};
}

static bool put_attribute(hid_t node, const rh_attribute *attribute, int order, int64_t count)
{
    layout shape = layout_of(attribute->type);
    hid_t set = -1;
    bool good = put_array(node, attribute->name, shape.stored, shape.given, attribute->uniform ? 1 : (uint64_t)count,
                          shape.columns, attribute->data, &set);
    if (set < 0) return false;
    good = good && put_int(set, "order", order) && put_text(set, "type", rh_point_type_name(attribute->type)) &&
           put_int(set, "uniform", attribute->uniform) && put_int(set, "transient", attribute->transient);
    hid_t errors = keep_errors(good);
    if (H5Dclose(set) < 0) good = false;
    restore_errors(errors);
    return good;
}

static rh_code put_set(rh_checkpoint_writer *w, hid_t group, const rh_points *points, rh_status *status)
{
    bool good = group >= 0 && put_int(group, "count", points->count) &&
                put_int(group, "attributes", points->attribute_count);
    rh_code code = outcome(w, good, "the points", "", status);
    for (int i = 0; i < points->attribute_count && code == RH_OK; i++) {
        const rh_attribute *attribute = &points->attributes[i];
        if (strchr(attribute->name, '/') || strcmp(attribute->name, ".") == 0)
            code = rh_fail(status, RH_USER, "%s: point attribute '%s': a name with '/' cannot be saved", w->path,
                           attribute->name);
        else
            code = outcome(w, put_attribute(group, attribute, i, points->count), "point attribute", attribute->name,
                           status);
    }
    return code;
}

rh_code rh_checkpoint_put_points(rh_checkpoint_writer *w, const rh_points *points, rh_status *status)
{
    return rh_checkpoint_put_set(w, "points", points, status);
}

rh_code rh_checkpoint_put_set(rh_checkpoint_writer *w, const char *name, const rh_points *points, rh_status *status)
{
    RH_ASSERT(rh_points_is_valid(points));
    message_handler old = silence_messages();
    hid_t group = H5Gcreate2(w->file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    rh_code code = put_set(w, group, points, status);
    if (group >= 0) H5Gclose(group);
    restore_messages(old);
    return code;
}

rh_code rh_checkpoint_put_int(rh_checkpoint_writer *w, const char *name, int64_t value, rh_status *status)
{
    message_handler old = silence_messages();
    rh_code code = outcome(w, put_int(w->file, name, value), "value", name, status);
    restore_messages(old);
    return code;
}

rh_code rh_checkpoint_put_float(rh_checkpoint_writer *w, const char *name, double value, rh_status *status)
{
    message_handler old = silence_messages();
    bool good = put_value(w->file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
    rh_code code = outcome(w, good, "value", name, status);
    restore_messages(old);
    return code;
}

rh_code rh_checkpoint_put_blob(rh_checkpoint_writer *w, const char *name, const void *data, size_t bytes,
                               rh_status *status)
{
    message_handler old = silence_messages();
    bool good = put_array(w->state, name, H5T_STD_U8LE, H5T_NATIVE_UINT8, bytes, 1, data, NULL);
    rh_code code = outcome(w, good, "state", name, status);
    restore_messages(old);
    return code;
}

rh_code rh_checkpoint_commit(rh_checkpoint_writer *w, rh_status *status)
{
    message_handler old = silence_messages();
    // Flushed before the mark: what says "complete" was complete.
    bool good = H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0 && !w->error && put_int(w->file, "complete", 1);
    good = close_nodes(w) && good;
    rh_code code = outcome(w, good, "the checkpoint", "", status);
    restore_messages(old);
    if (code == RH_OK) code = rh_seal_write(w->temporary, status);
    if (code == RH_OK) code = rh_file_commit(w->temporary, w->path, status);
    else rh_file_discard(w->temporary);
    rh_free(w);
    return code;
}

void rh_checkpoint_abandon(rh_checkpoint_writer *w)
{
    if (!w) return;
    message_handler old = silence_messages();
    close_nodes(w);
    restore_messages(old);
    if (w->temporary[0]) rh_file_discard(w->temporary);
    rh_free(w);
}

// --- reading ---------------------------------------------------------------------------------------------------------

// In our words, before HDF5 speaks: a missing file, a foreign file.
static rh_code check_outside(const char *path, rh_status *status)
{
    char start[8] = {0};
    const char *why;
    int file = rh_open_regular(path, &why);
    if (file < 0) return rh_fail(status, RH_IO, "%s: cannot open: %s", path, why);
    ssize_t got = read(file, start, sizeof start);
    close(file);
    if (got < (ssize_t)sizeof start || memcmp(start, "\211HDF\r\n\032\n", sizeof start) != 0)
        return rh_fail(status, RH_USER, "%s: not a Rheo checkpoint (not an HDF5 file)", path);
    bool sealed;
    RH_TRY(rh_seal_check(path, &sealed, status));
    if (sealed) return RH_OK;
    return rh_fail(status, RH_USER, "%s: not a Rheo checkpoint, or cut short (it has no seal)", path);
}

static rh_code check_root(hid_t file, const char *path, uint64_t *scene_hash, rh_status *status)
{
    int64_t format, complete;
    char version[TEXT];
    if (!get_int(file, "format", &format) || !get_text(file, "rheo_version", version) ||
        !get_value(file, "scene_hash", H5T_INTEGER, sizeof *scene_hash, H5T_NATIVE_UINT64, scene_hash))
        return rh_fail(status, RH_USER, "%s: not a Rheo checkpoint (or its header is damaged)", path);
    if (format != FORMAT)
        return rh_fail(status, RH_USER,
                       "%s: checkpoint format %" PRId64 " of Rheo %s; this is Rheo %s, which reads format %d", path,
                       format, version, RHEO_VERSION, FORMAT);
    if (!get_int(file, "complete", &complete) || complete != 1)
        return rh_fail(status, RH_USER, "%s: damaged: the checkpoint was not written to its end", path);
    return RH_OK;
}

static rh_code fail_damaged(rh_checkpoint_reader *r, const char *name, rh_status *status)
{
    char why[WHY] = "it is not what its description says";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, why);
    if (strstr(why, "Fletcher32"))
        return rh_fail(status, RH_USER, "%s: damaged: dataset %s fails its checksum", r->path, name);
    return rh_fail(status, RH_USER, "%s: damaged: dataset %s cannot be read: %s", r->path, name, why);
}

rh_code rh_checkpoint_open(const char *path, rh_checkpoint_reader **out, uint64_t *scene_hash, rh_status *status)
{
    *out = NULL;
    RH_TRY(check_outside(path, status));
    rh_checkpoint_reader *r = rh_alloc_zero(sizeof *r, "io.checkpoint", status);
    if (!r) return RH_MEMORY;
    snprintf(r->path, sizeof r->path, "%s", path);
    message_handler old = silence_messages();
    r->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    rh_code code = r->file < 0 ? fail_damaged(r, "/", status) : check_root(r->file, path, scene_hash, status);
    restore_messages(old);
    if (code == RH_OK) *out = r;
    else rh_checkpoint_close(r);
    return code;
}

void rh_checkpoint_close(rh_checkpoint_reader *r)
{
    if (!r) return;
    message_handler old = silence_messages();
    if (r->file >= 0) H5Fclose(r->file);
    restore_messages(old);
    rh_free(r);
}

// Shape as it must be, and the bytes really in the file: a description alone must not make us allocate.
static bool has_shape(hid_t set, layout shape, uint64_t rows)
{
    hsize_t dims[2] = {0, 1};
    hid_t space = H5Dget_space(set), type = H5Dget_type(set);
    int rank = H5Sget_simple_extent_ndims(space);
    bool good = rank == (shape.columns > 1 ? 2 : 1) && H5Sget_simple_extent_dims(space, dims, NULL) == rank &&
                dims[0] == rows && dims[1] == (hsize_t)shape.columns && H5Tequal(type, shape.stored) > 0;
    good = good && H5Dget_storage_size(set) / H5Tget_size(type) / (hsize_t)shape.columns >= rows;
    H5Tclose(type);
    H5Sclose(space);
    return good;
}

typedef struct column {
    char name[RH_POINT_NAME];
    rh_point_type type;
    bool uniform, transient;
} column;

typedef struct listing {
    hid_t group;
    int count;
    column columns[RH_POINTS_MAX_ATTRIBUTES];
} listing;

static int type_by_name(const char *name)
{
    for (int t = 0; t < RH_POINT_TYPES; t++)
        if (strcmp(rh_point_type_name((rh_point_type)t), name) == 0) return t;
    return -1;
}

static herr_t note_column(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)info;
    listing *list = user;
    char type[TEXT];
    int64_t order = -1, uniform = 0, transient = 0;
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    if (set < 0) return -1;
    bool good = get_int(set, "order", &order) && get_int(set, "uniform", &uniform) &&
                get_int(set, "transient", &transient) && get_text(set, "type", type);
    H5Dclose(set);
    if (!good || order < 0 || order >= list->count || type_by_name(type) < 0 || strlen(name) >= RH_POINT_NAME)
        return -1;
    column *at = &list->columns[order];
    if (at->name[0]) return -1;
    *at = (column){.type = (rh_point_type)type_by_name(type), .uniform = uniform != 0, .transient = transient != 0};
    memcpy(at->name, name, strlen(name));
    return 0;
}

static rh_code list_columns(rh_checkpoint_reader *r, const char *name, listing *list, int64_t *count, rh_status *status)
{
    int64_t attributes;
    list->group = H5Gopen2(r->file, name, H5P_DEFAULT);
    if (list->group < 0) return fail_damaged(r, name, status);
    bool good = get_int(list->group, "count", count) && get_int(list->group, "attributes", &attributes) &&
                *count >= 0 && attributes >= 0 && attributes <= RH_POINTS_MAX_ATTRIBUTES;
    if (good) {
        list->count = (int)attributes;
        good = H5Literate(list->group, H5_INDEX_NAME, H5_ITER_INC, NULL, note_column, list) >= 0;
    }
    for (int i = 0; good && i < list->count; i++) good = list->columns[i].name[0] != 0;
    return good ? RH_OK : fail_damaged(r, name, status);
}

static bool is_group(const uint8_t *member, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (member[i] > 1) return false;
    return true;
}

static rh_code read_column(rh_checkpoint_reader *r, hid_t set, const column *c, int64_t count, rh_points *points,
                           rh_status *status)
{
    layout shape = layout_of(c->type);
    if (!has_shape(set, shape, c->uniform ? 1 : (uint64_t)count)) return fail_damaged(r, c->name, status);
    float zero[9] = {0};
    RH_TRY(rh_points_resize(points, count, status));
    if (c->uniform) RH_TRY(rh_points_add_uniform(points, c->name, c->type, zero, status));
    else RH_TRY(rh_points_add(points, c->name, c->type, status));
    rh_attribute *attribute = rh_points_find(points, c->name);
    attribute->transient = c->transient;
    if (!c->uniform && count == 0) return RH_OK;
    bool good = H5Dread(set, shape.given, H5S_ALL, H5S_ALL, H5P_DEFAULT, attribute->data) >= 0;
    if (good && c->type == RH_POINT_GROUP) good = is_group(attribute->data, c->uniform ? 1 : count);
    return good ? RH_OK : fail_damaged(r, c->name, status);
}

static rh_code read_columns(rh_checkpoint_reader *r, const listing *list, int64_t count, rh_points *points,
                            rh_status *status)
{
    for (int i = 0; i < list->count; i++) {
        hid_t set = H5Dopen2(list->group, list->columns[i].name, H5P_DEFAULT);
        if (set < 0) return fail_damaged(r, list->columns[i].name, status);
        rh_code code = read_column(r, set, &list->columns[i], count, points, status);
        H5Dclose(set);
        if (code != RH_OK) return code;
    }
    return list->count > 0 ? RH_OK : rh_points_resize(points, count, status);
}

rh_code rh_checkpoint_get_points(rh_checkpoint_reader *r, rh_points *points, rh_status *status)
{
    return rh_checkpoint_get_set(r, "points", points, status);
}

rh_code rh_checkpoint_get_set(rh_checkpoint_reader *r, const char *name, rh_points *points, rh_status *status)
{
    listing list = {.group = -1};
    int64_t count = 0;
    message_handler old = silence_messages();
    rh_code code = list_columns(r, name, &list, &count, status);
    if (code == RH_OK) code = read_columns(r, &list, count, points, status);
    if (list.group >= 0) H5Gclose(list.group);
    restore_messages(old);
    if (code != RH_OK) rh_points_free(points);
    return code;
}

rh_code rh_checkpoint_get_int(rh_checkpoint_reader *r, const char *name, int64_t *value, rh_status *status)
{
    message_handler old = silence_messages();
    bool good = get_int(r->file, name, value);
    restore_messages(old);
    return good ? RH_OK : rh_fail(status, RH_IO, "%s: the checkpoint has no whole number '%s'", r->path, name);
}

rh_code rh_checkpoint_get_float(rh_checkpoint_reader *r, const char *name, double *value, rh_status *status)
{
    message_handler old = silence_messages();
    bool good = get_value(r->file, name, H5T_FLOAT, sizeof *value, H5T_NATIVE_DOUBLE, value);
    restore_messages(old);
    return good ? RH_OK : rh_fail(status, RH_IO, "%s: the checkpoint has no number '%s'", r->path, name);
}

static rh_code read_blob(rh_checkpoint_reader *r, hid_t set, const char *name, void **data, size_t *bytes,
                         rh_status *status)
{
    hid_t space = H5Dget_space(set);
    hssize_t size = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    layout shape = {H5T_STD_U8LE, H5T_NATIVE_UINT8, 1};
    if (size < 0 || !has_shape(set, shape, (uint64_t)size)) return fail_damaged(r, name, status);
    *data = rh_alloc((size_t)size, "io.checkpoint", status);
    if (!*data) return RH_MEMORY;
    *bytes = (size_t)size;
    if (size == 0 || H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, *data) >= 0) return RH_OK;
    rh_free(*data);
    *data = NULL;
    return fail_damaged(r, name, status);
}

rh_code rh_checkpoint_get_blob(rh_checkpoint_reader *r, const char *name, void **data, size_t *bytes, rh_status *status)
{
    *data = NULL;
    *bytes = 0;
    message_handler old = silence_messages();
    hid_t group = H5Gopen2(r->file, "state", H5P_DEFAULT), set = group < 0 ? -1 : H5Dopen2(group, name, H5P_DEFAULT);
    rh_code code;
    if (set < 0) code = rh_fail(status, RH_IO, "%s: the checkpoint has no state '%s'", r->path, name);
    else code = read_blob(r, set, name, data, bytes, status);
    if (set >= 0) H5Dclose(set);
    if (group >= 0) H5Gclose(group);
    restore_messages(old);
    return code;
}

// --- description -----------------------------------------------------------------------------------------------------

typedef struct text {
    char *at;
    size_t room;
    int64_t points;
} text;

static void __attribute__((format(printf, 2, 3))) say(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->at, t->room, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < t->room ? (size_t)length : t->room - 1;
    t->at += used;
    t->room -= used;
}

static herr_t say_value(hid_t node, const char *name, const H5A_info_t *info, void *user)
{
    (void)info;
    int64_t whole;
    double real;
    char words[TEXT];
    uint64_t hash;
    if (strcmp(name, "scene_hash") == 0 && get_value(node, name, H5T_INTEGER, 8, H5T_NATIVE_UINT64, &hash))
        say(user, "%s: %016" PRIx64 "\n", name, hash);
    else if (get_int(node, name, &whole)) say(user, "%s: %" PRId64 "\n", name, whole);
    else if (get_value(node, name, H5T_FLOAT, sizeof real, H5T_NATIVE_DOUBLE, &real))
        say(user, "%s: %.17g\n", name, real);
    else if (get_text(node, name, words)) say(user, "%s: %s\n", name, words);
    return 0;
}

// How many points are in a group; -1 when the bytes cannot be had.
static int64_t group_size(hid_t set, bool uniform, int64_t points)
{
    int64_t rows = uniform ? 1 : points, size = 0;
    if (!has_shape(set, layout_of(RH_POINT_GROUP), (uint64_t)rows)) return -1;
    uint8_t *member = rh_alloc((size_t)rows + 1, "io.checkpoint", NULL);
    bool good = member && (rows == 0 || H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, member) >= 0);
    for (int64_t i = 0; good && i < rows; i++) size += member[i] != 0;
    rh_free(member);
    return good ? size * (uniform ? points : 1) : -1;
}

// How many points a set has; what follows it in the visit are its attributes.
static void say_count(hid_t root, const char *name, text *t)
{
    hid_t group = H5Gopen2(root, name, H5P_DEFAULT);
    int64_t count;
    if (group >= 0 && get_int(group, "count", &count)) {
        t->points = count;
        if (strcmp(name, "points") != 0) say(t, "%s: %" PRId64 " points\n", name, count);
    }
    if (group >= 0) H5Gclose(group);
}

static herr_t say_object(hid_t root, const char *name, const H5O_info_t *info, void *user)
{
    if (info->type == H5O_TYPE_GROUP) say_count(root, name, user);
    if (info->type != H5O_TYPE_DATASET) return 0;
    hid_t set = H5Dopen2(root, name, H5P_DEFAULT);
    if (set < 0) return 0;
    char type[TEXT] = "bytes";
    int64_t uniform = 0, size = -1;
    hid_t space = H5Dget_space(set);
    if (get_text(set, "type", type)) get_int(set, "uniform", &uniform);
    else snprintf(type, sizeof type, "%lld bytes", (long long)H5Sget_simple_extent_npoints(space));
    if (strcmp(type, rh_point_type_name(RH_POINT_GROUP)) == 0)
        size = group_size(set, uniform != 0, ((text *)user)->points);
    say(user, "%s: %s", name, type);
    if (size >= 0) say(user, " of %" PRId64 " points", size);
    say(user, "%s\n", uniform ? ", the same for all" : "");
    H5Sclose(space);
    H5Dclose(set);
    return 0;
}

char *rh_checkpoint_describe(const char *path, rh_status *status)
{
    enum { ROOM = 16384 };
    rh_checkpoint_reader *r;
    uint64_t scene_hash;
    if (rh_checkpoint_open(path, &r, &scene_hash, status) != RH_OK) return NULL;
    char *words = rh_alloc_zero(ROOM, "io.checkpoint", status);
    if (words) {
        text t = {words, ROOM, 0};
        message_handler old = silence_messages();
        H5Aiterate2(r->file, H5_INDEX_NAME, H5_ITER_INC, NULL, say_value, &t);
        hid_t group = H5Gopen2(r->file, "points", H5P_DEFAULT);
        if (group >= 0 && get_int(group, "count", &t.points)) say(&t, "points: %" PRId64 "\n", t.points);
        if (group >= 0) H5Gclose(group);
        H5Ovisit2(r->file, H5_INDEX_NAME, H5_ITER_INC, say_object, &t, H5O_INFO_BASIC);
        restore_messages(old);
    }
    rh_checkpoint_close(r);
    return words;
}

// --- as a store ------------------------------------------------------------------------------------------------------
static rh_code store_put_int(void *self, const char *name, int64_t value, rh_status *status)
{
    return rh_checkpoint_put_int(self, name, value, status);
}

static rh_code store_put_float(void *self, const char *name, double value, rh_status *status)
{
    return rh_checkpoint_put_float(self, name, value, status);
}

static rh_code store_put_bytes(void *self, const char *name, const void *data, size_t bytes, rh_status *status)
{
    return rh_checkpoint_put_blob(self, name, data, bytes, status);
}

static rh_code store_put_points(void *self, const char *name, const rh_points *points, rh_status *status)
{
    return rh_checkpoint_put_set(self, name, points, status);
}

static rh_code store_get_int(void *self, const char *name, int64_t *value, rh_status *status)
{
    return rh_checkpoint_get_int(self, name, value, status);
}

static rh_code store_get_float(void *self, const char *name, double *value, rh_status *status)
{
    return rh_checkpoint_get_float(self, name, value, status);
}

static rh_code store_get_bytes(void *self, const char *name, void **data, size_t *bytes, rh_status *status)
{
    return rh_checkpoint_get_blob(self, name, data, bytes, status);
}

static rh_code store_get_points(void *self, const char *name, rh_points *points, rh_status *status)
{
    rh_points_free(points);
    return rh_checkpoint_get_set(self, name, points, status);
}

rh_store rh_checkpoint_writer_store(rh_checkpoint_writer *w)
{
    static const rh_store_backend backend = {.put_int = store_put_int,
                                             .put_float = store_put_float,
                                             .put_bytes = store_put_bytes,
                                             .put_points = store_put_points};
    return (rh_store){.backend = &backend, .self = w};
}

rh_store rh_checkpoint_reader_store(rh_checkpoint_reader *r)
{
    static const rh_store_backend backend = {.get_int = store_get_int,
                                             .get_float = store_get_float,
                                             .get_bytes = store_get_bytes,
                                             .get_points = store_get_points};
    return (rh_store){.backend = &backend, .self = r};
}
