// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo info: what is in a file or a run folder.
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "app.h"
#include "base/memory.h"
#include "base/regular.h"
#include "format.h"
#include "io/checkpoint.h"
#include "io/mesh_file.h"
#include "io/vdb_sets.h"

static rh_code read_checkpoint_points(const char *path, const char *material, rh_points *points, rh_status *status)
{
    rh_checkpoint_reader *reader;
    uint64_t scene_hash;
    RH_TRY(rh_checkpoint_open(path, &reader, &scene_hash, status));
    char name[96];
    snprintf(name, sizeof name, "%.60s.points", material ? material : "");
    rh_code code = rh_checkpoint_get_set(reader, material ? name : "points", points, status);
    rh_checkpoint_close(reader);
    return code;
}

// One number for all bits of all particles, independent of their order: equal numbers, equal frames.
static rh_code print_hash(const char *path, const char *material, rh_status *status)
{
    rh_points points;
    rh_points_init(&points);
    rh_code code;
    if (rh_path_has_ending(path, ".vdb")) code = rh_vdb_read_set(path, material, &points, NULL, status);
    else if (rh_path_has_ending(path, ".h5")) code = read_checkpoint_points(path, material, &points, status);
    else code = rh_fail(status, RH_USER, "%s: --hash takes a points file (.vdb) or a checkpoint (.h5)", path);
    if (code == RH_OK) printf("%016" PRIx64 "\n", rh_points_hash(&points));
    rh_points_free(&points);
    return code;
}

static rh_code print_text(char *text, const rh_status *status)
{
    if (!text) return status->code;
    size_t length = strlen(text);
    printf("%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
    rh_free(text);
    return RH_OK;
}

static void print_mesh_report(const rh_mesh_report *report)
{
    if (report->open_edges) printf("  open edges   %lld (holes)\n", (long long)report->open_edges);
    if (report->odd_edges) printf("  odd edges    %lld (more than two triangles)\n", (long long)report->odd_edges);
    if (report->flipped_edges) printf("  flipped      %lld edges\n", (long long)report->flipped_edges);
    if (report->degenerate) printf("  degenerate   %lld triangles without area\n", (long long)report->degenerate);
    if (report->inside_out) printf("  inside out   the faces point inwards\n");
    if (!report->open_edges && !report->odd_edges) printf("  volume       %g m^3\n", report->volume);
}

static rh_code print_mesh(const char *path, rh_status *status)
{
    rh_mesh mesh = {0};
    rh_mesh_report report;
    RH_TRY(rh_mesh_read(path, &mesh, status));
    rh_dbox box = rh_mesh_bounds(&mesh);
    app_text vertices, triangles;
    printf("%s\n  mesh         %s vertices, %s triangles\n", path, app_format_count(mesh.vertex_count, &vertices),
           app_format_count(mesh.triangle_count, &triangles));
    printf("  bounds       [%g, %g, %g] to [%g, %g, %g] m\n", box.min.x, box.min.y, box.min.z, box.max.x, box.max.y,
           box.max.z);
    rh_code code = rh_mesh_inspect(&mesh, &report, status);
    if (code == RH_OK) print_mesh_report(&report);
    rh_mesh_free(&mesh);
    return code;
}

static rh_code print_info(const char *path, const char *material, rh_status *status)
{
    if (app_is_folder(path)) return app_info_run(path, material, status);
    if (!rh_file_exists(path)) return rh_fail(status, RH_IO, "%s: no such file or folder", path);
    if (rh_path_has_ending(path, ".vdb")) return print_text(rh_vdb_describe(path, status), status);
    if (rh_path_has_ending(path, ".h5")) return print_text(rh_checkpoint_describe(path, status), status);
    if (rh_path_has_ending(path, ".ply")) return app_info_ply(path, status);
    if (rh_path_has_ending(path, ".obj") || rh_path_has_ending(path, ".stl")) return print_mesh(path, status);
    return rh_fail(status, RH_USER,
                   "%s: found a file of unknown kind, expected .vdb, .h5, .ply, .obj, .stl or a run folder", path);
}

static int info(const app_arguments *arguments)
{
    rh_status status = {0};
    const char *path = arguments->operand, *material = arguments->material;
    rh_code code = arguments->hash        ? print_hash(path, material, &status)
                   : arguments->histogram ? app_info_histogram(path, material, arguments->histogram, &status)
                                          : print_info(path, material, &status);
    int written = app_finish_output();
    return code == RH_OK ? written : app_report(&status);
}

static const app_option options[] = {
    {"hash", APP_FLAG, offsetof(app_arguments, hash), NULL, "print only a hash of all particles of a .vdb or .h5 file"},
    {"histogram", APP_TEXT, offsetof(app_arguments, histogram), "NAME",
     "how an attribute of a points file (.vdb) is spread: radius, say, with shares of volume; of vectors their length"},
    {"material", APP_TEXT, offsetof(app_arguments, material), "NAME",
     "what concerns this material of a run; with --hash of a file: of it alone, without it the first of a .vdb"},
};

const app_command app_info = {
    "info",
    "PATH",
    true,
    false,
    "what is in a file or a run folder",
    "Tells what is in a run folder (frames, statistics, wall time by stage), a points or surface\n"
    "file (.vdb, .ply), a checkpoint (.h5) or a mesh (.obj, .stl).",
    options,
    APP_OPTION_COUNT(options),
    info};
