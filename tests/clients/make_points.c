// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Writes a small run folder through the library for the client scripts:
//   make_points DIR        points/points.0001.vdb .. 0003.vdb (1000, 2000, 3000 points), empty.vdb, one.vdb,
//                          points.0001.ply
//   make_points --read F   reads points written by another program and prints count and attributes
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "io/file.h"
#include "io/ply.h"
#include "io/vdb.h"

static rh_code fill(rh_points *points, int64_t count, rh_status *status)
{
    float radius = 0.0125f;
    rh_points_init(points);
    RH_TRY(rh_points_add(points, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "v", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "id", RH_POINT_I64, status));
    RH_TRY(rh_points_add(points, "kind", RH_POINT_I32, status));
    RH_TRY(rh_points_add(points, "C", RH_POINT_MAT3F, status));
    RH_TRY(rh_points_add_uniform(points, "radius", RH_POINT_F32, &radius, status));
    RH_TRY(rh_points_add(points, "spray", RH_POINT_GROUP, status));
    RH_TRY(rh_points_add(points, "foam", RH_POINT_GROUP, status));
    RH_TRY(rh_points_resize(points, count, status));
    rh_vec3 *P = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < count; i++) {
        uint64_t u = (uint64_t)i;
        P[i] = rh_v3(rh_random(1, u, 0, 0), 2 + rh_random(1, u, 0, 1), 4 + rh_random(1, u, 0, 2));
        v[i] = rh_v3(1, 2, 3);
        id[i] = 5000000000 + i;
        ((uint8_t *)rh_points_data(points, "spray", RH_POINT_GROUP))[i] = i % 4 == 0;
        ((uint8_t *)rh_points_data(points, "foam", RH_POINT_GROUP))[i] = i % 10 == 0;
    }
    return RH_OK;
}

static rh_code write_frame(const char *folder, const char *name, int64_t count, int frame, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_points points;
    rh_frame_info info = {frame, (frame - 1) / 24.0, 24, 0.05, 0x0123456789abcdefull, 0};
    rh_code code = fill(&points, count, status);
    snprintf(path, sizeof path, "%s/%s.vdb", folder, name);
    if (code == RH_OK) code = rh_vdb_write_points(path, &points, &info, status);
    snprintf(path, sizeof path, "%s/%s.ply", folder, name);
    if (code == RH_OK) code = rh_ply_write_points(path, &points, &info, status);
    rh_points_free(&points);
    return code;
}

static rh_code write_run(const char *folder, rh_status *status)
{
    char below[RH_PATH_MAX];
    snprintf(below, sizeof below, "%s/points", folder);
    RH_TRY(rh_folder_make(below, status));
    for (int frame = 1; frame <= 3; frame++) {
        char name[64];
        snprintf(name, sizeof name, "points.%04d", frame);
        RH_TRY(write_frame(below, name, 1000 * frame, frame, status));
    }
    RH_TRY(write_frame(folder, "empty", 0, 1, status));
    return write_frame(folder, "one", 1, 1, status);
}

static rh_code read_foreign(const char *path, rh_status *status)
{
    rh_points points;
    rh_points_init(&points);
    RH_TRY(rh_vdb_read_points(path, &points, NULL, status));
    printf("%lld points\n", (long long)points.count);
    for (int a = 0; a < points.attribute_count; a++) {
        const rh_attribute *attribute = &points.attributes[a];
        printf("%s %s", attribute->name, rh_point_type_name(attribute->type));
        if (attribute->type == RH_POINT_F32) printf(" %.9g", (double)*(float *)attribute->data);
        if (attribute->type == RH_POINT_VEC3F) {
            rh_vec3 p = *(rh_vec3 *)attribute->data;
            printf(" %.9g %.9g %.9g", (double)p.x, (double)p.y, (double)p.z);
        }
        if (attribute->type == RH_POINT_GROUP) printf(" %lld", (long long)rh_points_group_size(&points, attribute));
        printf("\n");
    }
    rh_points_free(&points);
    return RH_OK;
}

int main(int count, char **words)
{
    rh_status status = {0};
    rh_code code = RH_USER;
    if (count == 3 && strcmp(words[1], "--read") == 0) code = read_foreign(words[2], &status);
    else if (count == 2) code = write_run(words[1], &status);
    if (code != RH_OK) fprintf(stderr, "make_points: %s\n", status.message);
    return code == RH_OK && rh_memory_bytes() == 0 ? 0 : 1;
}
