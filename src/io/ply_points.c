// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points as binary little-endian PLY, one record a vertex. PLY has no 64-bit integers: int64 attributes are written as
// double (as large, so records have the size of the attributes), exact up to 2^53.
#include "io/ply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "io/file.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the records are copied as they lie in memory: this needs a little-endian machine"
#endif

static void declare_components(FILE *file, const char *name, int count)
{
    static const char axis[] = "xyz";
    for (int k = 0; k < count; k++) {
        if (strcmp(name, "P") == 0) fprintf(file, "property float %c\n", axis[k]);
        else if (strcmp(name, "v") == 0) fprintf(file, "property float v%c\n", axis[k]);
        else if (count == 3) fprintf(file, "property float %s_%c\n", name, axis[k]);
        else fprintf(file, "property float %s_%d%d\n", name, k / 3, k % 3);
    }
}

static void declare(FILE *file, const rh_attribute *attribute)
{
    switch (attribute->type) {
    case RH_POINT_F32: fprintf(file, "property float %s\n", attribute->name); break;
    case RH_POINT_I32: fprintf(file, "property int %s\n", attribute->name); break;
    case RH_POINT_I64: fprintf(file, "property double %s\n", attribute->name); break;
    case RH_POINT_VEC3F: declare_components(file, attribute->name, 3); break;
    case RH_POINT_MAT3F: declare_components(file, attribute->name, 9); break;
    }
}

static void write_header(FILE *file, const rh_points *points, const rh_frame_info *info, const rh_attribute **order,
                         int count)
{
    fprintf(file, "ply\nformat binary_little_endian 1.0\n");
    fprintf(file, "comment rheo_version %s\ncomment rheo_scene_hash %016" PRIx64 "\n", RHEO_VERSION, info->scene_hash);
    fprintf(file, "comment rheo_unit m\ncomment rheo_up %s\n", info->z_up ? "z" : "y");
    fprintf(file, "comment rheo_frame %" PRId64 "\ncomment rheo_time %.17g\n", info->frame, info->time);
    fprintf(file, "comment rheo_fps %.17g\ncomment rheo_cell %.17g\n", info->fps, info->cell);
    fprintf(file, "element vertex %" PRId64 "\n", points->count);
    for (int i = 0; i < count; i++) declare(file, order[i]);
    fprintf(file, "end_header\n");
}

static void put_value(char *to, const rh_attribute *attribute, int64_t index, bool z_up)
{
    size_t size = rh_point_type_size(attribute->type);
    const char *from = (const char *)attribute->data + (attribute->uniform ? 0 : (size_t)index * size);
    if (attribute->type == RH_POINT_I64) {
        int64_t whole;
        memcpy(&whole, from, sizeof whole);
        double value = (double)whole;
        memcpy(to, &value, sizeof value);
    } else if (attribute->type == RH_POINT_VEC3F && z_up) {
        rh_vec3 p;
        memcpy(&p, from, sizeof p);
        p = rh_v3(p.x, -p.z, p.y);
        memcpy(to, &p, sizeof p);
    } else {
        memcpy(to, from, size);
    }
}

static rh_code write_records(FILE *file, const rh_points *points, bool z_up, const rh_attribute **order, int count,
                             rh_status *status)
{
    size_t stride = 0;
    for (int i = 0; i < count; i++) stride += rh_point_type_size(order[i]->type);
    char *rows = rh_alloc(stride * RH_BLOCK, "io.ply", status);
    if (!rows) return RH_MEMORY;
    bool good = true;
    for (int64_t block = 0; good && block < rh_blocks(points->count); block++) {
        char *to = rows;
        for (int64_t p = block * RH_BLOCK; p < rh_block_end(block, points->count); p++)
            for (int i = 0; i < count; to += rh_point_type_size(order[i]->type), i++) put_value(to, order[i], p, z_up);
        good = fwrite(rows, 1, (size_t)(to - rows), file) == (size_t)(to - rows);
    }
    rh_free(rows);
    return good ? RH_OK : RH_IO;
}

// P first, whatever its place in the set: readers expect x y z at the start.
static int choose(const rh_points *points, const rh_attribute *position, const rh_attribute **order)
{
    int count = 0;
    order[count++] = position;
    for (int i = 0; i < points->attribute_count; i++)
        if (&points->attributes[i] != position && !points->attributes[i].transient) order[count++] = &points->attributes[i];
    return count;
}

rh_code rh_ply_write_points(const char *path, const rh_points *points, const rh_frame_info *info, rh_status *status)
{
    const rh_attribute *order[RH_POINTS_MAX_ATTRIBUTES], *position = rh_points_find(points, "P");
    if (!position || position->type != RH_POINT_VEC3F)
        return rh_fail(status, RH_USER, "%s: the points have no positions (attribute P of type vec3f)", path);
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    FILE *file = fopen(temporary, "wbe");
    if (!file) return rh_fail(status, RH_IO, "%s: cannot create: %s", path, strerror(errno));
    int count = choose(points, position, order);
    write_header(file, points, info, order, count);
    rh_code code = write_records(file, points, info->z_up != 0, order, count, status);
    bool wrong = ferror(file) != 0;
    if ((fclose(file) != 0 || wrong) && code != RH_MEMORY)
        code = rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}
