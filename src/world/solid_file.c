// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Comma-separated values with nine digits; the JSON file is made of them by reading them again, so both always say the
// same.
#include "world/solid_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "io/file.h"

static const char titles[] =
    "frame,time [s],solid,name,origin_x [m],origin_y [m],origin_z [m],qw,qx,qy,qz,center_x [m],center_y [m],"
    "center_z [m],v_x [m/s],v_y [m/s],v_z [m/s],w_x [rad/s],w_y [rad/s],w_z [rad/s]\n";
static const size_t MOST = (size_t)4 << 30;
enum { SHORTEST = 39 };  // bytes of a line

static rh_code path_of(const char *folder, const char *name, char path[RH_PATH_MAX], rh_status *status)
{
    int n = snprintf(path, RH_PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < RH_PATH_MAX ? RH_OK : rh_fail(status, RH_USER, "the path of the run folder is too long");
}

// A name without what would break a line of values.
static void print_name(FILE *file, const char *name)
{
    for (; name && *name; name++) fputc(*name == ',' || *name == '"' || (unsigned char)*name < 32 ? '_' : *name, file);
}

static void print_vector(FILE *file, rh_dvec3 v) { fprintf(file, ",%.9g,%.9g,%.9g", v.x + 0.0, v.y + 0.0, v.z + 0.0); }

static void print_line(FILE *file, const rh_scene *scene, const rh_dynamic_solid *s, const rh_obstacle *o,
                       int64_t frame, double time)
{
    const rh_solid_params *solids = scene->solids.items;
    double sign = s->turn[0] < 0 ? -1 : 1;  // both are the same turn
    fprintf(file, "%lld,%.9g,%d,", (long long)frame, time, s->obstacle);
    print_name(file, solids[s->obstacle].name);
    print_vector(file, rh_pose_to_world(&o->pose, rh_d3(0, 0, 0)));
    for (int k = 0; k < 4; k++) fprintf(file, ",%.9g", sign * s->turn[k] + 0.0);
    print_vector(file, s->position);
    print_vector(file, s->linear);
    print_vector(file, o->angular);
    fputc('\n', file);
}

// Bytes of whole lines of frames before `frame`; 0 when it is no such file.
static size_t kept_bytes(const char *text, size_t bytes, int64_t frame)
{
    size_t at = sizeof titles - 1;
    if (bytes < at || memcmp(text, titles, at) != 0) return 0;
    while (at < bytes) {
        const char *end = memchr(text + at, '\n', bytes - at);
        if (!end || strtoll(text + at, NULL, 10) >= frame) break;
        at = (size_t)(end - text) + 1;
    }
    return at;
}

static rh_code trim(const char *path, int64_t frame, rh_status *status)
{
    char *text;
    size_t bytes;
    if (!rh_file_exists(path)) return rh_file_write(path, titles, sizeof titles - 1, status);
    RH_TRY(rh_file_read(path, MOST, &text, &bytes, status));
    size_t kept = kept_bytes(text, bytes, frame);
    rh_code code = kept == bytes ? RH_OK
                   : kept == 0   ? rh_file_write(path, titles, sizeof titles - 1, status)
                                 : rh_file_write(path, text, kept, status);
    rh_free(text);
    return code;
}

rh_code rh_solid_file_write(const char *folder, const rh_scene *scene, const rh_dynamics *dynamics,
                            const rh_obstacles *solids, int64_t frame, double time, size_t *length, rh_status *status)
{
    char path[RH_PATH_MAX];
    RH_TRY(path_of(folder, "solids.csv", path, status));
    if (*length == 0) {
        RH_TRY(trim(path, frame, status));
        // A line that cannot be read is told now, not when all frames are done and solids.json is made.
        rh_solid_frame *before;
        int64_t count;
        RH_TRY(rh_solid_file_read(folder, &before, &count, status));
        rh_free(before);
    }
    FILE *file = fopen(path, "a");
    if (!file) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        print_line(file, scene, s, &solids->items[s->obstacle], frame, time);
    }
    long end = ftell(file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    *length = end > 0 ? (size_t)end : 1;
    return RH_OK;
}

// --- reading ---------------------------------------------------------------------------------------------------------
// Whoever wrote the file: numbers that are no numbers, or that no place in a scene has, are refused, for poses and
// pictures are made of them.
static const double FARTHEST = 1e30;

static bool read_numbers(const char **at, double *out, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        if (**at != ',') return false;
        out[i] = strtod(*at + 1, &end);
        if (end == *at + 1 || !(fabs(out[i]) < FARTHEST)) return false;
        *at = end;
    }
    return true;
}

static bool read_line(const char *line, rh_solid_frame *out)
{
    char *end;
    double head[2], values[16];
    out->frame = strtoll(line, &end, 10);
    const char *at = end;
    if (!read_numbers(&at, head, 2) || *at != ',') return false;
    at = strchr(at + 1, ',');  // behind the name
    if (!at || !read_numbers(&at, values, 16) || *at || !(head[1] >= 0) || !(head[1] < 1e9)) return false;
    double turn2 = 0;
    for (int k = 3; k < 7; k++) turn2 += values[k] * values[k];
    if (!(fabs(turn2 - 1) < 1e-3)) return false;
    out->time = head[0];
    out->solid = (int)head[1];
    memcpy(&out->origin, values, sizeof out->origin);
    memcpy(out->turn, values + 3, sizeof out->turn);
    memcpy(&out->center, values + 7, sizeof out->center);
    memcpy(&out->linear, values + 10, sizeof out->linear);
    memcpy(&out->angular, values + 13, sizeof out->angular);
    return true;
}

// Without quoting it: nobody knows what a line of a foreign file does to a terminal.
static rh_code blame_line(const char *path, int64_t number, rh_status *status)
{
    return rh_fail(status, RH_USER,
                   "%s:%lld: expected frame, time, solid, name and sixteen finite numbers, of which those of q are a "
                   "turn; mend the line, or remove the file to go on without poses before this frame",
                   path, (long long)number);
}

rh_code rh_solid_file_parse(char *text, size_t bytes, const char *path, rh_solid_frame **items, int64_t *count,
                            rh_status *status)
{
    int64_t number = 1;
    *items = NULL;
    *count = 0;
    if (bytes < sizeof titles - 1 || memcmp(text, titles, sizeof titles - 1) != 0)
        return rh_fail(status, RH_USER,
                       "%s:1: found other titles than rheo writes; remove the file to go on without poses", path);
    // No line is shorter than its twenty values and what parts them.
    *items = rh_alloc((bytes / SHORTEST + 1) * sizeof **items, "solids.csv", status);
    rh_code code = *items ? RH_OK : RH_MEMORY;
    char *line = text, *end;
    for (; code == RH_OK && (end = memchr(line, '\n', bytes - (size_t)(line - text))); line = end + 1, number++) {
        *end = 0;
        if (number == 1) continue;  // the titles, which were looked at
        if (end - line >= SHORTEST - 1 && read_line(line, &(*items)[*count])) ++*count;
        else code = blame_line(path, number, status);
    }
    if (code == RH_OK) return RH_OK;
    rh_free(*items);
    *items = NULL;
    *count = 0;
    return code;
}

rh_code rh_solid_file_read(const char *folder, rh_solid_frame **items, int64_t *count, rh_status *status)
{
    char path[RH_PATH_MAX], *text;
    size_t bytes;
    *items = NULL;
    *count = 0;
    RH_TRY(path_of(folder, "solids.csv", path, status));
    if (!rh_file_exists(path)) return RH_OK;
    RH_TRY(rh_file_read(path, MOST, &text, &bytes, status));
    rh_code code = rh_solid_file_parse(text, bytes, path, items, count, status);
    rh_free(text);
    return code;
}

rh_pose rh_solid_frame_pose(const rh_solid_frame *frame)
{
    rh_pose pose = {.translation = frame->origin};
    pose.rotation = rh_turn_matrix(frame->turn);
    return pose;
}

// --- for programs ----------------------------------------------------------------------------------------------------
static void print_json(FILE *file, const rh_scene *scene, const rh_solid_frame *items, int64_t count)
{
    const rh_solid_params *solids = scene->solids.items;
    bool first = true;
    fprintf(file, "{\"made_by\": \"made by rheo\", \"fps\": %.9g, \"units\": \"m, s; y is up\",\n \"solids\": [",
            scene->frames.fps);
    for (int i = 0; i < scene->solids.count; i++) {
        if (!solids[i].dynamic) continue;
        fprintf(file, "%s\n  {\"solid\": %d, \"name\": \"", first ? "" : ",", i);
        print_name(file, solids[i].name);
        fprintf(file, "\", \"poses\": [");
        bool begun = false;
        for (int64_t k = 0; k < count; k++) {
            const rh_solid_frame *f = &items[k];
            if (f->solid != i) continue;
            fprintf(file, "%s\n    [%lld, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g]", begun ? "," : "",
                    (long long)f->frame, f->origin.x, f->origin.y, f->origin.z, f->turn[0], f->turn[1], f->turn[2],
                    f->turn[3]);
            begun = true;
        }
        fprintf(file, "]}");
        first = false;
    }
    fprintf(file, "],\n \"columns\": [\"frame\", \"x\", \"y\", \"z\", \"qw\", \"qx\", \"qy\", \"qz\"]}\n");
}

rh_code rh_solid_file_json(const char *folder, const rh_scene *scene, rh_status *status)
{
    char path[RH_PATH_MAX], *text = NULL;
    size_t bytes = 0;
    rh_solid_frame *items;
    int64_t count;
    RH_TRY(path_of(folder, "solids.json", path, status));
    RH_TRY(rh_solid_file_read(folder, &items, &count, status));
    FILE *memory = open_memstream(&text, &bytes);
    if (memory) print_json(memory, scene, items, count);
    rh_free(items);
    if (!memory || fclose(memory) != 0) return rh_fail(status, RH_MEMORY, "no memory for %s", path);
    rh_code code = rh_file_write(path, text, bytes, status);
    free(text);
    return code;
}
