// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Times are counted in parts of a frame (ticks), so that the end of a step and the start of the next, which differ by
// the rounding of the step's length, are the same tick and share a snapshot.
#include "solid/mesh_sequence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"

enum { PARTS = 1 << 20, FRAMES = 4, SPARE = 2 };  // parts of a frame; files kept; snapshots kept that nobody holds

typedef struct frame {
    int64_t index;      // from 0; -1 = none
    rh_vec3 *vertices;  // owned
    int64_t used;
} frame;

struct rh_mesh_sequence {
    rh_mesh_sequence_options options;
    rh_mesh mesh;  // the first file's triangles, with vertices to work on
    rh_mesh_sides sides;
    frame frames[FRAMES];
    rh_mesh_snapshot **snapshots;  // owned
    int snapshot_count, snapshot_room;
    int64_t clock;  // counts uses
};

bool rh_mesh_sequence_file(const char *pattern, int64_t number, char *file, size_t room)
{
    const char *end = strrchr(pattern, '#');
    if (!end) return false;
    const char *start = end;
    while (start > pattern && start[-1] == '#') start--;
    int width = (int)(end + 1 - start);
    int length = snprintf(file, room, "%.*s%0*" PRId64 "%s", (int)(start - pattern), pattern, width, number, end + 1);
    return length >= 0 && (size_t)length < room;
}

// --- files -----------------------------------------------------------------------------------------------------------
static rh_code compare(const rh_mesh_sequence *s, const rh_mesh *mesh, const char *file, rh_status *status)
{
    const rh_mesh *first = &s->mesh;
    if (mesh->vertex_count != first->vertex_count || mesh->triangle_count != first->triangle_count)
        return rh_fail(status, RH_USER,
                       "%s: found %lld vertices and %lld triangles, expected %lld and %lld as in the first file of the "
                       "sequence",
                       file, (long long)mesh->vertex_count, (long long)mesh->triangle_count,
                       (long long)first->vertex_count, (long long)first->triangle_count);
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        if (memcmp(mesh->triangles[t], first->triangles[t], sizeof mesh->triangles[t]) != 0)
            return rh_fail(status, RH_USER,
                           "%s: triangle %lld joins other vertices than in the first file of the sequence; expected "
                           "the same ones in all",
                           file, (long long)t + 1);
    return RH_OK;
}

static rh_code read_file(rh_mesh_sequence *s, int64_t index, rh_mesh *mesh, rh_status *status)
{
    char file[4096];
    const rh_mesh_sequence_params *p = s->options.params;
    if (!rh_mesh_sequence_file(p->files, p->first + index, file, sizeof file))
        return rh_fail(status, RH_USER, "found '%s', expected a name with # where the number goes: dancer.####.obj",
                       p->files);
    RH_TRY(s->options.read(file, p, s->options.user, mesh, status));
    rh_code code = s->mesh.triangles ? compare(s, mesh, file, status) : rh_mesh_check(mesh, status);
    if (code == RH_OK) return RH_OK;
    if (!s->mesh.triangles) rh_status_prefix(status, "%s", file);
    rh_mesh_free(mesh);
    return code;
}

static rh_code get_frame(rh_mesh_sequence *s, int64_t index, const rh_vec3 **vertices, rh_status *status)
{
    frame *oldest = &s->frames[0];
    s->clock++;
    for (int i = 0; i < FRAMES; i++) {
        frame *f = &s->frames[i];
        if (f->vertices && f->index == index) {
            f->used = s->clock;
            *vertices = f->vertices;
            return RH_OK;
        }
        if (f->used < oldest->used) oldest = f;
    }
    rh_mesh mesh = {0};
    RH_TRY(read_file(s, index, &mesh, status));
    rh_free(oldest->vertices);
    *oldest = (frame){index, mesh.vertices, s->clock};
    mesh.vertices = NULL;
    rh_mesh_free(&mesh);
    *vertices = oldest->vertices;
    return RH_OK;
}

rh_code rh_mesh_sequence_check(rh_mesh_sequence *s, rh_status *status)
{
    for (int64_t i = 1; i < s->options.count; i++) {
        rh_mesh mesh = {0};
        RH_TRY(read_file(s, i, &mesh, status));
        rh_mesh_free(&mesh);
    }
    return RH_OK;
}

// --- time ------------------------------------------------------------------------------------------------------------
int64_t rh_mesh_sequence_tick(const rh_mesh_sequence *s, double time)
{
    const rh_mesh_sequence_params *p = s->options.params;
    double u = (time - p->start) * p->fps;
    int64_t count = s->options.count, last = (count - 1) * PARTS, all = count * PARTS;
    u = fmin(fmax(u, -1e9), 1e9);
    int64_t tick = llround(u * PARTS);
    if (tick >= 0 && tick <= last) return tick;
    if (tick < 0 ? p->before == RH_SEQUENCE_HOLD : p->after == RH_SEQUENCE_HOLD) return tick < 0 ? 0 : last;
    tick %= all;
    return tick < 0 ? tick + all : tick;
}

// The two files around a tick, and how far it is on the way to the second. After the last comes the first.
static void around(const rh_mesh_sequence *s, int64_t tick, int64_t *a, int64_t *b, float *share)
{
    *a = tick / PARTS;
    *b = (*a + 1) % s->options.count;
    *share = (float)(tick % PARTS) / (float)PARTS;
}

static rh_code place(rh_mesh_sequence *s, int64_t tick, rh_vec3 *out, rh_status *status)
{
    int64_t first, second;
    float share;
    const rh_vec3 *a, *b;
    around(s, tick, &first, &second, &share);
    RH_TRY(get_frame(s, first, &a, status));
    b = a;
    if (share > 0) RH_TRY(get_frame(s, second, &b, status));
    for (int64_t i = 0; i < s->mesh.vertex_count; i++)
        out[i] = rh_v3_add(rh_v3_scale(a[i], 1 - share), rh_v3_scale(b[i], share));
    return RH_OK;
}

rh_code rh_mesh_sequence_place(rh_mesh_sequence *s, double time, rh_vec3 *out, rh_status *status)
{
    return place(s, rh_mesh_sequence_tick(s, time), out, status);
}

// At an instant: the line to the next file, and nothing where the mesh is held.
static rh_code slopes(rh_mesh_sequence *s, double time, rh_vec3 *out, rh_status *status)
{
    int64_t tick = rh_mesh_sequence_tick(s, time), first, second;
    float share, fps = (float)s->options.params->fps;
    const rh_vec3 *a, *b;
    around(s, tick, &first, &second, &share);
    if (rh_mesh_sequence_tick(s, time + 1e-3 / (double)fps) == tick) second = first;
    RH_TRY(get_frame(s, first, &a, status));
    RH_TRY(get_frame(s, second, &b, status));
    for (int64_t i = 0; i < s->mesh.vertex_count; i++) out[i] = rh_v3_scale(rh_v3_sub(b[i], a[i]), fps);
    return RH_OK;
}

rh_code rh_mesh_sequence_velocities(rh_mesh_sequence *s, double time, double dt, rh_vec3 *out, rh_status *status)
{
    if (!(dt > 0)) return slopes(s, time, out, status);
    RH_TRY(rh_mesh_sequence_place(s, time + dt, out, status));
    RH_TRY(rh_mesh_sequence_place(s, time, s->mesh.vertices, status));
    for (int64_t i = 0; i < s->mesh.vertex_count; i++)
        out[i] = rh_v3_scale(rh_v3_sub(out[i], s->mesh.vertices[i]), (float)(1 / dt));
    return RH_OK;
}

// --- snapshots -------------------------------------------------------------------------------------------------------
static rh_code make(rh_mesh_sequence *s, int64_t tick, rh_mesh_snapshot *out, rh_status *status)
{
    const rh_mesh_sequence_options *o = &s->options;
    out->tick = -1;
    RH_TRY(place(s, tick, s->mesh.vertices, status));
    RH_TRY(rh_mesh_sdf_move(&s->mesh, &s->sides, o->spacing, o->params->place.thickness, o->thin, &out->sdf, status));
    out->tick = tick;
    return RH_OK;
}

static rh_code add_snapshot(rh_mesh_sequence *s, rh_mesh_snapshot **out, rh_status *status)
{
    if (s->snapshot_count == s->snapshot_room) {
        int room = s->snapshot_room + 8;
        void *larger = rh_realloc(s->snapshots, (size_t)room * sizeof(rh_mesh_snapshot *), "mesh.sequence", status);
        if (!larger) return RH_MEMORY;
        s->snapshots = larger;
        s->snapshot_room = room;
    }
    *out = rh_alloc_zero(sizeof **out, "mesh.sequence", status);
    if (!*out) return RH_MEMORY;
    s->snapshots[s->snapshot_count++] = *out;
    return RH_OK;
}

rh_code rh_mesh_sequence_hold(rh_mesh_sequence *s, double time, rh_mesh_snapshot **out, rh_status *status)
{
    int64_t tick = rh_mesh_sequence_tick(s, time);
    rh_mesh_snapshot *idle = NULL;
    int idle_count = 0;
    *out = NULL;
    for (int i = 0; i < s->snapshot_count; i++) {
        rh_mesh_snapshot *one = s->snapshots[i];
        if (one->sdf && one->tick == tick) *out = one;
        if (one->holders) continue;
        idle_count++;
        if (!idle || one->used < idle->used) idle = one;
    }
    if (!*out) {
        if (idle_count <= SPARE) RH_TRY(add_snapshot(s, &idle, status));
        RH_TRY(make(s, tick, idle, status));
        *out = idle;
    }
    (*out)->used = ++s->clock;
    (*out)->holders++;
    return RH_OK;
}

void rh_mesh_sequence_release(rh_mesh_snapshot *snapshot)
{
    if (!snapshot) return;
    RH_ASSERT(snapshot->holders > 0);
    snapshot->holders--;
}

rh_dvec3 rh_mesh_sequence_velocity(const rh_mesh_sequence *s, const rh_mesh_snapshot *at, const rh_vec3 *velocities,
                                   rh_dvec3 point)
{
    double weight[3];
    const uint32_t *corner = s->mesh.triangles[rh_mesh_sdf_nearest(at->sdf, point, weight)];
    rh_dvec3 sum = {0, 0, 0};
    for (int k = 0; k < 3; k++) sum = rh_d3_add(sum, rh_d3_scale(rh_d3_from(velocities[corner[k]]), weight[k]));
    return sum;
}

// --- the object ------------------------------------------------------------------------------------------------------
rh_code rh_mesh_sequence_create(const rh_mesh_sequence_options *options, rh_mesh_sequence **out, rh_status *status)
{
    RH_ASSERT(options->count > 0);
    *out = NULL;
    rh_mesh_sequence *s = rh_alloc_zero(sizeof *s, "mesh.sequence", status);
    if (!s) return RH_MEMORY;
    s->options = *options;
    rh_mesh first = {0};
    rh_code code = read_file(s, 0, &first, status);
    if (code != RH_OK) {
        rh_free(s);
        return code;
    }
    s->mesh = first;
    code = rh_mesh_sides_find(&s->mesh, &s->sides, status);
    if (code == RH_OK) *out = s;
    else rh_mesh_sequence_free(s);
    return code;
}

void rh_mesh_sequence_free(rh_mesh_sequence *s)
{
    if (!s) return;
    for (int i = 0; i < s->snapshot_count; i++) {
        RH_ASSERT(s->snapshots[i]->holders == 0);
        rh_mesh_sdf_free(s->snapshots[i]->sdf);
        rh_free(s->snapshots[i]);
    }
    rh_free(s->snapshots);
    for (int i = 0; i < FRAMES; i++) rh_free(s->frames[i].vertices);
    rh_mesh_free(&s->mesh);
    rh_mesh_sides_free(&s->sides);
    rh_free(s);
}

int64_t rh_mesh_sequence_vertices(const rh_mesh_sequence *s) { return s->mesh.vertex_count; }
bool rh_mesh_sequence_is_still(const rh_mesh_sequence *s) { return s->options.count == 1; }
