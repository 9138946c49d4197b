// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Surface meshes as PLY, OBJ and VTP. Records are put together in blocks and written whole. Numbers of an OBJ have the
// digits a float needs to come back as the same bits, 7 to 9, made without the C library: that would cost most of the
// time and speaks the language of the locale.
#include "io/surface_mesh_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "io/file.h"
#include "io/ply_parts.h"

const char *const rh_surface_mesh_endings[] = {".ply", ".obj", ".vtp"};

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the records are copied as they lie in memory: this needs a little-endian machine"
#endif

// --- all formats -----------------------------------------------------------------------------------------------------

typedef struct job {
    FILE *file;
    const rh_surface_mesh *mesh;
    const rh_frame_info *info;
    char *block;  // room for RH_BLOCK records
} job;

static rh_vec3 turned(rh_vec3 p, const job *j) { return j->info->z_up ? rh_v3(p.x, -p.z, p.y) : p; }

static void write_facts(const job *j, const char *mark)
{
    const rh_frame_info *i = j->info;
    fprintf(j->file, "%s rheo_version %s\n%s rheo_scene_hash %016" PRIx64 "\n", mark, RHEO_VERSION, mark,
            i->scene_hash);
    fprintf(j->file, "%s rheo_unit m\n%s rheo_up %s\n", mark, mark, i->z_up ? "z" : "y");
    fprintf(j->file, "%s rheo_frame %" PRId64 "\n%s rheo_time %.17g\n", mark, i->frame, mark, i->time);
    fprintf(j->file, "%s rheo_fps %.17g\n%s rheo_cell %.17g\n", mark, i->fps, mark, i->cell);
}

// Puts one record at `to` and returns its end.
typedef char *put_record(char *to, const job *j, int64_t index);

static bool write_records(const job *j, int64_t count, put_record *put)
{
    bool good = true;
    for (int64_t b = 0; good && b < rh_blocks(count); b++) {
        char *to = j->block;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, count); i++) to = put(to, j, i);
        good = fwrite(j->block, 1, (size_t)(to - j->block), j->file) == (size_t)(to - j->block);
    }
    return good;
}

// Opens, lets `write` fill the file, and makes it appear whole or not at all. `largest` is the size of the largest
// record.
static rh_code write_file(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info, size_t largest,
                          bool (*write)(const job *), rh_status *status)
{
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    job j = {.mesh = mesh, .info = info, .block = rh_alloc(largest * RH_BLOCK, "io.mesh", status)};
    if (!j.block) return RH_MEMORY;
    j.file = fopen(temporary, "wbe");
    if (!j.file) {
        rh_free(j.block);
        return rh_fail(status, RH_IO, "%s: cannot create: %s", path, strerror(errno));
    }
    bool good = write(&j) && !ferror(j.file);
    int reason = errno;
    if (fclose(j.file) != 0 && good) good = false, reason = errno;
    rh_free(j.block);
    if (good) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(reason));
}

// --- PLY -------------------------------------------------------------------------------------------------------------

// Cd is a colour: as in files of points, its bytes come behind its numbers.
static bool is_colour(const rh_band_channel *channel)
{
    return channel->type == RH_POINT_VEC3F && strcmp(channel->name, "Cd") == 0;
}

static void declare(FILE *file, const rh_band_channel *channel)
{
    const char *name = channel->name, *join = "_";
    if (strcmp(name, "vel") == 0) name = "v", join = "";  // what points files say, and readers of either
    switch (channel->type) {
    case RH_POINT_I32: fprintf(file, "property int %s\n", channel->name); break;
    case RH_POINT_I64: fprintf(file, "property double %s\n", channel->name); break;
    case RH_POINT_VEC3F:
        for (const char *axis = "xyz"; *axis; axis++) fprintf(file, "property float %s%s%c\n", name, join, *axis);
        if (is_colour(channel)) fprintf(file, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
        break;
    default: fprintf(file, "property float %s\n", channel->name);
    }
}

static char *put_bytes(char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static char *put_vector(char *to, const job *j, rh_vec3 v)
{
    v = turned(v, j);
    return put_bytes(to, &v, sizeof v);
}

static char *put_ply_vertex(char *to, const job *j, int64_t v)
{
    to = put_vector(to, j, j->mesh->position[v]);
    to = put_vector(to, j, j->mesh->normal[v]);
    for (int c = 0; c < j->mesh->channel_count; c++) {
        const rh_band_channel *channel = &j->mesh->channels[c];
        if (channel->type == RH_POINT_VEC3F) {
            to = put_vector(to, j, ((const rh_vec3 *)channel->data)[v]);
            if (is_colour(channel)) rh_ply_put_colour(to, ((const rh_vec3 *)channel->data)[v]), to += 3;
        } else if (channel->type == RH_POINT_I64) {  // PLY has none of 64 bits: exact up to 2^53
            double value = (double)((const int64_t *)channel->data)[v];
            to = put_bytes(to, &value, sizeof value);
        } else {
            to = put_bytes(to, (const char *)channel->data + 4 * v, 4);
        }
    }
    return to;
}

static char *put_ply_triangle(char *to, const job *j, int64_t t)
{
    *to++ = 3;
    return put_bytes(to, j->mesh->triangle[t], 3 * sizeof(uint32_t));
}

static char *put_ply_quad(char *to, const job *j, int64_t q)
{
    *to++ = 4;
    return put_bytes(to, j->mesh->quad[q], 4 * sizeof(uint32_t));
}

static bool write_ply(const job *j)
{
    const rh_surface_mesh *s = j->mesh;
    fprintf(j->file, "ply\nformat binary_little_endian 1.0\n");
    write_facts(j, "comment");
    fprintf(j->file, "element vertex %" PRId64 "\n", s->vertex_count);
    for (int k = 0; k < 6; k++) fprintf(j->file, "property float %s%c\n", k < 3 ? "" : "n", "xyz"[k % 3]);
    for (int c = 0; c < s->channel_count; c++) declare(j->file, &s->channels[c]);
    fprintf(j->file, "element face %" PRId64 "\nproperty list uchar uint vertex_indices\nend_header\n",
            s->triangle_count + s->quad_count);
    return write_records(j, s->vertex_count, put_ply_vertex) && write_records(j, s->triangle_count, put_ply_triangle) &&
           write_records(j, s->quad_count, put_ply_quad);
}

rh_code rh_surface_mesh_write_ply(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info,
                                  rh_status *status)
{
    size_t vertex = 2 * sizeof(rh_vec3), polygon = 1 + 4 * sizeof(uint32_t);
    for (int c = 0; c < mesh->channel_count; c++) vertex += rh_point_type_size(mesh->channels[c].type) + 3;
    return write_file(path, mesh, info, vertex > polygon ? vertex : polygon, write_ply, status);
}

// --- OBJ -------------------------------------------------------------------------------------------------------------

enum { NUMBER = 24, OBJ_RECORD = 4 * NUMBER + 8 };

static char *put_integer(char *to, uint64_t value)
{
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (n > 0) *to++ = digits[--n];
    return to;
}

// `whole` / 10^places, without zeros at the end.
static char *put_fixed(char *to, uint64_t whole, int places)
{
    char digits[32];
    int n = 0;
    for (; places > 0 && whole % 10 == 0; places--) whole /= 10;
    for (; whole > 0 || n <= places; whole /= 10) digits[n++] = (char)('0' + whole % 10);
    while (n > places) *to++ = digits[--n];
    if (places > 0) *to++ = '.';
    while (n > 0) *to++ = digits[--n];
    return to;
}

static char *put_scientific(char *to, double size)
{
    int exponent = (int)floor(log10(size));
    to = put_fixed(to, (uint64_t)nearbyint(size * pow(10, -exponent) * 1e8), 8);
    *to++ = 'e';
    if (exponent < 0) *to++ = '-';
    return put_integer(to, (uint64_t)abs(exponent));
}

// As few of 7 to 9 significant digits as are nearer to this float than to its neighbours; the arithmetic in double errs
// by far less than their distance. Very small and very large numbers, rare in a scene of metres, have an exponent.
static char *put_float(char *to, float value)
{
    static const double ten[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};
    double size = fabs((double)value);
    if (value < 0) *to++ = '-';
    if (size == 0) return *to++ = '0', to;
    if (!(size >= 1e-4 && size < 1e6)) return isfinite(size) ? put_scientific(to, size) : put_bytes(to, "nan", 3);
    int exponent;
    double mantissa = frexp(size, &exponent),
           near = ldexp(mantissa == 0.5 ? 0.249 : 0.499, exponent - 24);  // a little less than half way
    int before = -4;  // digits before the point, or minus the zeros behind it
    while (size >= (before < 0 ? 1 / ten[-before] : ten[before])) before++;
    for (int digits = 7;; digits++) {
        double scaled = nearbyint(size * ten[digits - before]);
        if (digits == 9 || fabs(scaled / ten[digits - before] - size) < near)
            return put_fixed(to, (uint64_t)scaled, digits - before);
    }
}

static char *put_three(char *to, const char *what, rh_vec3 v)
{
    while (*what) *to++ = *what++;
    for (int k = 0; k < 3; k++) {
        *to++ = ' ';
        to = put_float(to, k == 0 ? v.x : k == 1 ? v.y : v.z);
    }
    *to++ = '\n';
    return to;
}

static char *put_obj_vertex(char *to, const job *j, int64_t v)
{
    return put_three(to, "v", turned(j->mesh->position[v], j));
}
static char *put_obj_normal(char *to, const job *j, int64_t v)
{
    return put_three(to, "vn", turned(j->mesh->normal[v], j));
}

static char *put_polygon(char *to, const uint32_t *corner, int corners)
{
    *to++ = 'f';
    for (int k = 0; k < corners; k++) {
        *to++ = ' ';
        to = put_integer(to, (uint64_t)corner[k] + 1);
        *to++ = '/', *to++ = '/';
        to = put_integer(to, (uint64_t)corner[k] + 1);
    }
    *to++ = '\n';
    return to;
}

static char *put_obj_triangle(char *to, const job *j, int64_t t) { return put_polygon(to, j->mesh->triangle[t], 3); }
static char *put_obj_quad(char *to, const job *j, int64_t q) { return put_polygon(to, j->mesh->quad[q], 4); }

static bool write_obj(const job *j)
{
    write_facts(j, "#");
    return write_records(j, j->mesh->vertex_count, put_obj_vertex) &&
           write_records(j, j->mesh->vertex_count, put_obj_normal) &&
           write_records(j, j->mesh->triangle_count, put_obj_triangle) &&
           write_records(j, j->mesh->quad_count, put_obj_quad);
}

rh_code rh_surface_mesh_write_obj(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info,
                                  rh_status *status)
{
    return write_file(path, mesh, info, OBJ_RECORD, write_obj, status);
}

// --- VTP: VTK's PolyData, XML with raw arrays appended ---------------------------------------------------------------

// One array of the file: written by `put` over `count` records of `size` bytes.
typedef struct vtp_array {
    const char *name, *type;
    int components;
    int64_t count;
    size_t size;
    put_record *put;
    int channel;  // for those of a channel
} vtp_array;

enum { VTP_MOST = 2 + RH_BAND_CHANNELS, VTP_RECORD = 32 };

typedef struct vtp_job {
    job j;  // first: records are put through it
    int channel;
} vtp_job;

static char *put_vtp_position(char *to, const job *j, int64_t v) { return put_vector(to, j, j->mesh->position[v]); }
static char *put_vtp_normal(char *to, const job *j, int64_t v) { return put_vector(to, j, j->mesh->normal[v]); }

static char *put_vtp_channel(char *to, const job *j, int64_t v)
{
    const rh_band_channel *channel = &j->mesh->channels[((const vtp_job *)j)->channel];
    if (channel->type == RH_POINT_VEC3F) return put_vector(to, j, ((const rh_vec3 *)channel->data)[v]);
    size_t size = rh_point_type_size(channel->type);
    return put_bytes(to, (const char *)channel->data + (size_t)v * size, size);
}

// Corners of triangle i, or of a quad behind the last triangle; and where its corners end.
static char *put_vtp_corners(char *to, const job *j, int64_t i)
{
    const rh_surface_mesh *s = j->mesh;
    bool quad = i >= s->triangle_count;
    const uint32_t *corner = quad ? s->quad[i - s->triangle_count] : s->triangle[i];
    for (int k = 0; k < (quad ? 4 : 3); k++) to = put_bytes(to, &(int64_t){corner[k]}, sizeof(int64_t));
    return to;
}

static char *put_vtp_end(char *to, const job *j, int64_t i)
{
    int64_t triangles = j->mesh->triangle_count,
            end = i < triangles ? 3 * (i + 1) : 3 * triangles + 4 * (i + 1 - triangles);
    return put_bytes(to, &end, sizeof end);
}

static const char *vtp_type(rh_point_type type)
{
    return type == RH_POINT_I32 ? "Int32" : type == RH_POINT_I64 ? "Int64" : "Float32";
}

static int64_t declare_array(FILE *file, const vtp_array *a, int64_t offset)
{
    fprintf(file,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%" PRId64
            "\"/>\n",
            a->type, a->name, a->components, offset);
    return offset + (int64_t)sizeof(uint64_t) + a->count * (int64_t)a->size;
}

// VTK counts the bytes of an array in front of it.
static bool append_array(vtp_job *v, const vtp_array *a, int64_t records)
{
    uint64_t bytes = (uint64_t)a->count * a->size;
    v->channel = a->channel;
    return fwrite(&bytes, sizeof bytes, 1, v->j.file) == 1 && write_records(&v->j, records, a->put);
}

static bool write_vtp(const job *plain)
{
    vtp_job v = {.j = *plain};
    const rh_surface_mesh *s = plain->mesh;
    FILE *file = plain->file;
    int64_t polygons = s->triangle_count + s->quad_count, offset = 0;
    vtp_array arrays[VTP_MOST] = {{"Points", "Float32", 3, s->vertex_count, 12, put_vtp_position, 0},
                                  {"Normals", "Float32", 3, s->vertex_count, 12, put_vtp_normal, 0}};
    for (int c = 0; c < s->channel_count; c++) {
        const rh_band_channel *channel = &s->channels[c];
        arrays[2 + c] = (vtp_array){strcmp(channel->name, "vel") == 0 ? "v" : channel->name,
                                    vtp_type(channel->type),
                                    channel->type == RH_POINT_VEC3F ? 3 : 1,
                                    s->vertex_count,
                                    rh_point_type_size(channel->type),
                                    put_vtp_channel,
                                    c};
    }
    vtp_array corners = {"connectivity", "Int64", 1, 3 * s->triangle_count + 4 * s->quad_count, 8, put_vtp_corners, 0};
    vtp_array ends = {"offsets", "Int64", 1, polygons, 8, put_vtp_end, 0};
    fprintf(file, "<?xml version=\"1.0\"?>\n<!--\n");
    write_facts(plain, " ");
    fprintf(file,
            "-->\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n<PolyData>\n"
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%.17g</DataArray></FieldData>\n"
            "<Piece NumberOfPoints=\"%" PRId64
            "\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"%" PRId64
            "\">\n<Points>\n",
            plain->info->time, s->vertex_count, polygons);
    offset = declare_array(file, &arrays[0], offset);
    fprintf(file, "</Points>\n<PointData Normals=\"Normals\">\n");
    for (int a = 1; a < 2 + s->channel_count; a++) offset = declare_array(file, &arrays[a], offset);
    fprintf(file, "</PointData>\n<Polys>\n");
    offset = declare_array(file, &corners, offset);
    declare_array(file, &ends, offset);
    fprintf(file, "</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_");
    bool good = true;
    for (int a = 0; good && a < 2 + s->channel_count; a++) good = append_array(&v, &arrays[a], s->vertex_count);
    good = good && append_array(&v, &corners, polygons) && append_array(&v, &ends, polygons);
    fprintf(file, "\n</AppendedData>\n</VTKFile>\n");
    return good;
}

rh_code rh_surface_mesh_write_vtp(const char *path, const rh_surface_mesh *mesh, const rh_frame_info *info,
                                  rh_status *status)
{
    return write_file(path, mesh, info, VTP_RECORD, write_vtp, status);
}
