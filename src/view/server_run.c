// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The listing is made anew for every question: a folder of ten thousand frames takes some milliseconds,
// and nothing can be stale.
#include "view/server_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/regular.h"
#include "io/ply.h"
#include "io/vdb_sets.h"
#include "world/exchange.h"

enum { MOST_DIGITS = 18, LARGEST_SCENE = 8 << 20 };

typedef struct entry {
    int64_t frame;
    uint64_t points, surface;
} entry;

typedef struct listing {
    entry *items;  // owned
    int64_t count, room;
} listing;

// --- files -----------------------------------------------------------------------------------------------------------

// Below 2^53, so that a page can hold it in a number.
static uint64_t version_of(const struct stat *facts)
{
    uint64_t parts[4] = {(uint64_t)facts->st_mtim.tv_sec, (uint64_t)facts->st_mtim.tv_nsec, (uint64_t)facts->st_size,
                         facts->st_ino};
    return (rh_hash(parts, sizeof parts, 0) & (((uint64_t)1 << 52) - 1)) | 1;
}

static uint64_t version_and_close(int file)
{
    struct stat facts;
    uint64_t version = file >= 0 && fstat(file, &facts) == 0 ? version_of(&facts) : 0;
    if (file >= 0) close(file);
    return version;
}

// "<stem>.<frame><ending>" with as many digits as the run wrote; -1 when there is none.
static int open_frame(const rh_served_run *s, const char *stem, int64_t frame, const char *ending)
{
    int file = -1;
    for (int digits = 4; digits <= MOST_DIGITS && file < 0; digits++) {
        char name[96];
        snprintf(name, sizeof name, "%s.%0*" PRId64 "%s", stem, digits, frame, ending);
        file = rh_open_beneath(s->folder, name);
    }
    return file;
}

// A run may have written its particles as OpenVDB, as PLY or as both.
static int open_points(const rh_served_run *s, int64_t frame, bool *ply)
{
    int file = open_frame(s, "points/points", frame, ".vdb");
    *ply = file < 0;
    return *ply ? open_frame(s, "points/points", frame, ".ply") : file;
}

// --- materials -------------------------------------------------------------------------------------------------------

// Names of the materials to show, of a run with several; none: the only one, whose files have no name.
typedef struct material_names {
    char text[RH_MAX_MATERIALS][RH_MATERIAL_NAME + 1];
    int count;
} material_names;

// Call with the lock held.
static void list_materials(const rh_served_run *s, material_names *out)
{
    out->count = 0;
    int count = s->has_scene ? s->scene.materials.count : 0;
    for (int i = 0; count > 1 && i < count; i++) {
        const char *name = rh_scene_material(&s->scene, i)->name;
        if (s->only[0] && strcmp(s->only, name) != 0) continue;
        snprintf(out->text[out->count++], sizeof out->text[0], "%s", name);
    }
}

static material_names materials_of(rh_served_run *s)
{
    material_names names;
    pthread_mutex_lock(&s->lock);
    list_materials(s, &names);
    pthread_mutex_unlock(&s->lock);
    return names;
}

// What files of surfaces begin with: "surface", or "surface.water".
typedef struct surface_stem {
    char text[RH_MATERIAL_NAME + 10];
} surface_stem;

static surface_stem stem_of(const material_names *names, int index)
{
    surface_stem stem = {"surface"};
    if (names->count) snprintf(stem.text, sizeof stem.text, "surface.%.31s", names->text[index]);
    return stem;
}

static int open_surface(const rh_served_run *s, const material_names *names, int index, int64_t frame)
{
    char path[RH_MATERIAL_NAME + 20];
    snprintf(path, sizeof path, "surface/%s", stem_of(names, index).text);
    return open_frame(s, path, frame, ".ply");
}

uint64_t rh_served_points_version(const rh_served_run *s, int64_t frame)
{
    bool ply;
    return version_and_close(open_points(s, frame, &ply));
}

uint64_t rh_served_surface_version(rh_served_run *s, int64_t frame)
{
    material_names names = materials_of(s);
    uint64_t version = version_and_close(open_surface(s, &names, 0, frame));
    for (int i = 1; i < names.count; i++) version ^= version_and_close(open_surface(s, &names, i, frame));
    return version;
}

uint64_t rh_served_scene_version(const rh_served_run *s)
{
    return version_and_close(rh_open_beneath(s->folder, "scene.yaml"));
}

// Readers open files by name. This name leads to the file that is open, whatever its own name leads to by now.
typedef struct open_name {
    char text[40];
} open_name;

static open_name name_of(int file)
{
    open_name name;
    snprintf(name.text, sizeof name.text, "/proc/self/fd/%d", file);
    return name;
}

// Messages of readers begin with that name, which tells nobody anything.
static rh_code blame_frame(rh_code code, const rh_status *why, int64_t frame, rh_status *status)
{
    const char *colon = strncmp(why->message, "/proc/self/fd/", 14) == 0 ? strstr(why->message, ": ") : NULL;
    return rh_fail(status, code, "frame %" PRId64 ": %s", frame, colon ? colon + 2 : why->message);
}

static rh_code read_scene_text(const rh_served_run *s, char **text, size_t *bytes, rh_status *status)
{
    int file = rh_open_beneath(s->folder, "scene.yaml");
    if (file < 0)
        return rh_fail(status, RH_USER, "%s: found no scene.yaml in it, expected the folder of a run", s->run);
    rh_code code = rh_file_read(name_of(file).text, LARGEST_SCENE, text, bytes, status);
    close(file);
    return code;
}

// --- the scene -------------------------------------------------------------------------------------------------------

// Reads the scene again when its file is another one: a run was started anew in the folder. Call with the lock held.
static rh_code refresh_scene(rh_served_run *s, rh_status *status)
{
    char path[RH_PATH_MAX], *text;
    size_t bytes;
    rh_scene fresh;
    uint64_t version = rh_served_scene_version(s);
    if (version && version == s->scene_version && s->has_scene) return RH_OK;
    RH_TRY(read_scene_text(s, &text, &bytes, status));
    snprintf(path, sizeof path, "%.4000s/scene.yaml", s->run);
    const rh_scene_options options = {
        .text = text, .bytes = bytes, .alone = true, .sandbox = s->sandbox[0] ? s->sandbox : NULL};
    rh_code code = rh_scene_load_options(path, NULL, 0, &options, &fresh, status);
    rh_free(text);
    if (code != RH_OK) return code;
    if (s->has_scene) rh_scene_free(&s->scene);
    s->scene = fresh;
    s->has_scene = true;
    s->scene_version = version;
    return RH_OK;
}

// The last scene that could be read stays in use; what is wrong with the new one is told with the state.
static void follow_scene(rh_served_run *s)
{
    rh_status status = {0};
    rh_code code = refresh_scene(s, &status);
    snprintf(s->scene_problem, sizeof s->scene_problem, "%.511s", code == RH_OK ? "" : status.message);
}

// A link is not followed: whoever put it there would decide what is served.
static void warn_of_links(const rh_served_run *s)
{
    static const char *const names[] = {"points", "surface", "log.jsonl", "probes.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct stat facts;
        if (fstatat(s->folder, names[i], &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode))
            rh_log(RH_LOG_WARNING, "%s/%s is a link: the viewer follows none, and shows nothing of it", s->run,
                   names[i]);
    }
}

// Run with one material has no names in its files; its own name is fine all the same.
static rh_code choose_material(rh_served_run *s, const char *material, rh_status *status)
{
    int index;
    if (!material) return RH_OK;
    if (rh_scene_find_material(&s->scene, material, &index, status) != RH_OK)
        return rh_status_prefix(status, "--material"), RH_USER;
    snprintf(s->only, sizeof s->only, "%s", material);
    return RH_OK;
}

rh_code rh_served_open(rh_served_run *s, const char *run, const char *material, const char *sandbox, rh_status *status)
{
    memset(s, 0, sizeof *s);
    s->folder = -1;
    if (strlen(run) >= sizeof s->run - 64) return rh_fail(status, RH_USER, "%.100s...: path too long", run);
    strcpy(s->run, run);
    if (sandbox && snprintf(s->sandbox, sizeof s->sandbox, "%s", sandbox) >= (int)sizeof s->sandbox)
        return rh_fail(status, RH_USER, "--sandbox: path too long");
    for (size_t n = strlen(run); n > 1 && s->run[n - 1] == '/'; n--) s->run[n - 1] = 0;
    struct stat facts;
    if (stat(run, &facts))
        return rh_fail(status, RH_USER, "%s: %s, expected the folder of a run", run, strerror(errno));
    if (!S_ISDIR(facts.st_mode)) return rh_fail(status, RH_USER, "%s: found a file, expected the folder of a run", run);
    s->folder = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->folder < 0) return rh_fail(status, RH_USER, "%s: %s, expected the folder of a run", run, strerror(errno));
    if (refresh_scene(s, status) != RH_OK) return close(s->folder), s->folder = -1, RH_USER;
    if (choose_material(s, material, status) != RH_OK) {
        rh_scene_free(&s->scene);
        s->has_scene = false;
        return close(s->folder), s->folder = -1, RH_USER;
    }
    pthread_mutex_init(&s->lock, NULL);
    warn_of_links(s);
    return RH_OK;
}

void rh_served_close(rh_served_run *s)
{
    if (s->has_scene) {
        rh_scene_free(&s->scene);
        pthread_mutex_destroy(&s->lock);
        close(s->folder);
    }
    memset(s, 0, sizeof *s);
}

// --- the state -------------------------------------------------------------------------------------------------------

static bool is_frame(const char *name, const char *stem, const char *ending, int64_t *frame)
{
    size_t length = strlen(stem);
    if (strncmp(name, stem, length) || name[length] != '.') return false;
    const char *digits = name + length + 1;
    size_t count = strspn(digits, "0123456789");
    if (count < 4 || count > MOST_DIGITS || strcmp(digits + count, ending)) return false;
    *frame = strtoll(digits, NULL, 10);
    return true;
}

static rh_code add_entry(listing *l, int64_t frame, uint64_t points, uint64_t surface, rh_status *status)
{
    if (l->count == l->room) {
        int64_t room = 2 * l->room + 64;
        entry *grown = rh_realloc(l->items, (size_t)room * sizeof *grown, "view.listing", status);
        if (!grown) return RH_MEMORY;
        l->items = grown;
        l->room = room;
    }
    l->items[l->count++] = (entry){frame, points, surface};
    return RH_OK;
}

static rh_code list_folder(const rh_served_run *s, const char *name, const char *stem, const char *ending, listing *l,
                           rh_status *status)
{
    bool surface = strcmp(name, "surface") == 0;
    int handle = rh_open_folder_beneath(s->folder, name);
    DIR *folder = handle >= 0 ? fdopendir(handle) : NULL;
    if (!folder && handle >= 0) close(handle);
    if (!folder) return RH_OK;
    rh_code code = RH_OK;
    for (struct dirent *item; code == RH_OK && (item = readdir(folder));) {
        int64_t frame;
        struct stat facts;
        if (!is_frame(item->d_name, stem, ending, &frame)) continue;
        if (fstatat(dirfd(folder), item->d_name, &facts, AT_SYMLINK_NOFOLLOW) || !S_ISREG(facts.st_mode)) continue;
        uint64_t version = version_of(&facts);
        code = add_entry(l, frame, surface ? 0 : version, surface ? version : 0, status);
    }
    closedir(folder);
    return code;
}

static int by_frame(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static void merge(listing *l)
{
    if (l->count < 2) return;
    qsort(l->items, (size_t)l->count, sizeof *l->items, by_frame);
    int64_t kept = 0;
    for (int64_t i = 1; i < l->count; i++) {
        entry *last = &l->items[kept], *next = &l->items[i];
        if (next->frame != last->frame) {
            l->items[++kept] = *next;
            continue;
        }
        last->points ^= next->points;  // of several files of a frame, none of which changes unseen
        last->surface ^= next->surface;
    }
    l->count = kept + 1;
}

static rh_code write_frames(rh_served_run *s, rh_message *out, rh_status *status)
{
    listing l = {0};
    material_names names = materials_of(s);
    rh_code code = list_folder(s, "points", "points", ".vdb", &l, status);
    if (code == RH_OK && l.count == 0) code = list_folder(s, "points", "points", ".ply", &l, status);
    for (int i = 0; code == RH_OK && (i == 0 || i < names.count); i++)
        code = list_folder(s, "surface", stem_of(&names, i).text, ".ply", &l, status);
    merge(&l);
    if (code == RH_OK) code = rh_message_print(out, status, ",\"frames\":[");
    for (int64_t i = 0; code == RH_OK && i < l.count; i++)
        code = rh_message_print(out, status, "%s[%" PRId64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", l.items[i].frame,
                                l.items[i].points, l.items[i].surface);
    if (code == RH_OK) code = rh_message_append(out, "]", 1, status);
    rh_free(l.items);
    return code;
}

static rh_code write_log_facts(const rh_served_run *s, rh_message *out, rh_status *status)
{
    struct stat facts;
    struct timespec now;
    int file = rh_open_beneath(s->folder, "log.jsonl");
    bool known = file >= 0 && fstat(file, &facts) == 0;
    if (file >= 0) close(file);
    if (!known) return rh_message_print(out, status, ",\"log\":null");
    clock_gettime(CLOCK_REALTIME, &now);
    double age = (double)(now.tv_sec - facts.st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - facts.st_mtim.tv_nsec);
    return rh_message_print(out, status, ",\"log\":{\"bytes\":%lld,\"age\":%.1f}", (long long)facts.st_size,
                            age > 0 ? age : 0);
}

// Of a run that shows several.
static rh_code write_materials(const rh_served_run *s, rh_message *out, rh_status *status)
{
    material_names names;
    list_materials(s, &names);
    for (int i = 0; names.count > 1 && i < names.count; i++) {
        RH_TRY(rh_message_print(out, status, "%s", i ? "," : ",\"materials\":["));
        RH_TRY(rh_message_text(out, names.text[i], status));
    }
    return names.count > 1 ? rh_message_append(out, "]", 1, status) : RH_OK;
}

static rh_code write_scene_facts(rh_served_run *s, rh_message *out, rh_status *status)
{
    const rh_scene *scene = &s->scene;
    const char *slash = strrchr(s->run, '/');
    RH_TRY(rh_message_append(out, "{\"name\":", 8, status));
    RH_TRY(rh_message_text(out, slash && slash[1] ? slash + 1 : s->run, status));
    RH_TRY(rh_message_append(out, ",\"title\":", 9, status));
    RH_TRY(rh_message_text(out, scene->title ? scene->title : "", status));
    RH_TRY(rh_message_print(out, status,
                            ",\"dimension\":%" PRId64 ",\"cell\":%.9g,\"fps\":%.9g,\"first\":%" PRId64
                            ",\"last\":%" PRId64 ",\"hash\":\"%016" PRIx64 "\",\"scene\":%" PRIu64
                            ",\"most_points\":%d",
                            scene->dimension, scene->cell, scene->frames.fps, scene->frames.first, scene->frames.last,
                            scene->hash, s->scene_version, RH_WIRE_POINTS));
    RH_TRY(write_materials(s, out, status));
    if (!s->scene_problem[0]) return RH_OK;
    RH_TRY(rh_message_append(out, ",\"problem\":", 11, status));
    return rh_message_text(out, s->scene_problem, status);
}

rh_code rh_served_state(rh_served_run *s, rh_message *out, rh_status *status)
{
    *out = (rh_message){0};
    pthread_mutex_lock(&s->lock);
    follow_scene(s);
    rh_code code = write_scene_facts(s, out, status);
    pthread_mutex_unlock(&s->lock);
    if (code == RH_OK) code = write_log_facts(s, out, status);
    if (code == RH_OK) code = write_frames(s, out, status);
    if (code == RH_OK) code = rh_message_append(out, "}", 1, status);
    if (code != RH_OK) rh_message_free(out);
    return code;
}

// --- frames ----------------------------------------------------------------------------------------------------------

// Which of the materials shown a particle belongs to, as an attribute to colour by: their number from 0, in the order
// of "materials" in /api/run. An attribute that the run has under this name stays as it is.
static rh_code mark_material(rh_points *points, int number, rh_status *status)
{
    if (points->count == 0 || rh_points_find(points, "material")) return RH_OK;
    RH_TRY(rh_points_add(points, "material", RH_POINT_I32, status));
    int32_t *material = rh_points_data(points, "material", RH_POINT_I32);
    for (int64_t i = 0; i < points->count; i++) material[i] = number;
    return RH_OK;
}

// The particles of all materials of a frame as one set.
static rh_code read_materials(rh_served_run *s, const char *path, rh_points *points, rh_frame_info *info,
                              rh_status *status)
{
    material_names names = materials_of(s);
    if (names.count == 0) return rh_vdb_read_points(path, points, info, status);
    RH_TRY(rh_vdb_read_set(path, names.text[0], points, info, status));
    if (names.count > 1) RH_TRY(mark_material(points, 0, status));
    for (int i = 1; i < names.count; i++) {
        rh_points more;
        rh_points_init(&more);
        rh_code code = rh_vdb_read_set(path, names.text[i], &more, NULL, status);
        if (code == RH_OK) code = mark_material(&more, i, status);
        if (code == RH_OK) code = rh_exchange_join(&more, points, status);
        rh_points_free(&more);
        RH_TRY(code);
    }
    return RH_OK;
}

rh_code rh_served_points(rh_served_run *s, int64_t frame, const rh_wire_view *view, rh_message *out, rh_status *status)
{
    bool ply;
    *out = (rh_message){0};
    int file = open_points(s, frame, &ply);
    if (file < 0) return rh_fail(status, RH_IO, "frame %" PRId64 " has no particles", frame);
    rh_points points;
    rh_frame_info info = {0};
    rh_status why = {0};
    rh_points_init(&points);
    open_name name = name_of(file);
    rh_code code = ply ? rh_ply_read_points(name.text, &points, &info, &why)
                       : read_materials(s, name.text, &points, &info, &why);
    close(file);
    info.frame = frame;
    if (code == RH_OK) code = rh_wire_points(&points, &info, view, out, &why);
    rh_points_free(&points);
    return code == RH_OK ? RH_OK : blame_frame(code, &why, frame, status);
}

static rh_code join_mesh(rh_mesh *to, const rh_mesh *more, rh_status *status)
{
    int64_t vertices = to->vertex_count + more->vertex_count, triangles = to->triangle_count + more->triangle_count;
    rh_vec3 *v = rh_realloc(to->vertices, (size_t)vertices * sizeof *v + 1, "view.mesh", status);
    if (v) to->vertices = v;
    uint32_t(*t)[3] = v ? rh_realloc(to->triangles, (size_t)triangles * sizeof *t + 1, "view.mesh", status) : NULL;
    if (!t) return RH_MEMORY;
    to->triangles = t;
    for (int64_t i = 0; i < more->vertex_count; i++) v[to->vertex_count + i] = more->vertices[i];
    for (int64_t i = 0; i < more->triangle_count; i++)
        for (int k = 0; k < 3; k++) t[to->triangle_count + i][k] = more->triangles[i][k] + (uint32_t)to->vertex_count;
    to->vertex_count = vertices, to->triangle_count = triangles;
    return RH_OK;
}

static void turn(rh_mesh *mesh, bool z_up)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        rh_vec3 p = mesh->vertices[i];
        mesh->vertices[i] = z_up ? rh_v3(p.x, -p.z, p.y) : rh_v3(p.x, p.z, -p.y);
    }
}

// The surfaces of all materials that have one as one mesh, with the axis up that the run has, whatever `rheo surface`
// was told; `files`: how many there were.
static rh_code read_surfaces(const rh_served_run *s, const material_names *names, int64_t frame, bool z_up,
                             rh_mesh *mesh, int *files, rh_status *status)
{
    rh_code code = RH_OK;
    *files = 0;
    for (int i = 0; code == RH_OK && (i == 0 || i < names->count); i++) {
        rh_ply_surface one = {0};
        int file = open_surface(s, names, i, frame);
        if (file < 0) continue;
        code = rh_ply_read_surface(name_of(file).text, &one, status);
        close(file);
        if (code == RH_OK && one.up && (one.up == 'z') != z_up) turn(&one.mesh, z_up);
        if (code == RH_OK) code = join_mesh(mesh, &one.mesh, status);
        rh_ply_surface_free(&one);
        ++*files;
    }
    return code;
}

rh_code rh_served_surface(rh_served_run *s, int64_t frame, rh_message *out, rh_status *status)
{
    *out = (rh_message){0};
    material_names names;
    pthread_mutex_lock(&s->lock);
    bool z_up = s->scene.output.up == RH_UP_Z;
    list_materials(s, &names);
    pthread_mutex_unlock(&s->lock);
    rh_mesh mesh = {0};
    rh_status why = {0};
    int files;
    rh_code code = read_surfaces(s, &names, frame, z_up, &mesh, &files, &why);
    if (code == RH_OK && files == 0) code = rh_fail(&why, RH_IO, "there is no surface");
    if (code == RH_OK) code = rh_wire_surface(&mesh, frame, z_up, out, &why);
    rh_mesh_free(&mesh);
    return code == RH_OK ? RH_OK : blame_frame(code, &why, frame, status);
}

// The lock is held while meshes are read: the scene must not change meanwhile, and the page asks for this once.
rh_code rh_served_solids(rh_served_run *s, rh_message *out, rh_status *status)
{
    pthread_mutex_lock(&s->lock);
    follow_scene(s);
    rh_solid_frame *frames = NULL;
    int64_t count = 0;
    int file = rh_open_beneath(s->folder, "solids.csv");
    if (file >= 0) {
        close(file);
        // Without poses, or with lines that are just being written, solids stand where they began.
        if (rh_solid_file_read(s->run, &frames, &count, NULL) != RH_OK) frames = NULL, count = 0;
    }
    rh_code code = rh_wire_solids(&s->scene, frames, count, out, status);
    rh_free(frames);
    pthread_mutex_unlock(&s->lock);
    return code;
}

rh_code rh_served_vertices(rh_served_run *s, int64_t frame, rh_message *out, rh_status *status)
{
    pthread_mutex_lock(&s->lock);
    rh_code code = rh_wire_vertices(&s->scene, frame, out, status);
    pthread_mutex_unlock(&s->lock);
    return code;
}

rh_code rh_served_scene(rh_served_run *s, rh_message *out, rh_status *status)
{
    char *text;
    size_t bytes;
    *out = (rh_message){0};
    RH_TRY(read_scene_text(s, &text, &bytes, status));
    *out = (rh_message){(uint8_t *)text, bytes, bytes};
    return RH_OK;
}

// --- the log, and probes ---------------------------------------------------------------------------------------------

// The file's own number: a log that is cut back on a resume is written anew, one that grows stays.
static rh_code read_part(int file, const char *name, uint64_t version, int64_t offset, rh_message *out,
                         rh_status *status)
{
    struct stat facts;
    if (fstat(file, &facts) || !S_ISREG(facts.st_mode)) return rh_fail(status, RH_IO, "%s cannot be read", name);
    uint64_t now = ((uint64_t)facts.st_ino & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    if (version != now || offset < 0 || offset > facts.st_size) offset = 0;
    char *part = rh_alloc(RH_SERVED_LOG, "view.log", status);
    if (!part) return RH_MEMORY;
    ssize_t got = pread(file, part, RH_SERVED_LOG, offset);
    while (got > 0 && part[got - 1] != '\n') got--;  // the last line may still be on its way
    rh_code code = got < 0 ? rh_fail(status, RH_IO, "%s cannot be read: %s", name, strerror(errno)) : RH_OK;
    if (code == RH_OK)
        code = rh_message_print(
            out, status, "{\"version\":%" PRIu64 ",\"offset\":%" PRId64 ",\"next\":%" PRId64 ",\"bytes\":%lld}\n", now,
            offset, offset + got, (long long)facts.st_size);
    if (code == RH_OK) code = rh_message_append(out, part, (size_t)got, status);
    rh_free(part);
    return code;
}

static rh_code serve_lines(rh_served_run *s, const char *name, uint64_t version, int64_t offset, rh_message *out,
                           rh_status *status)
{
    *out = (rh_message){0};
    int file = rh_open_beneath(s->folder, name);
    if (file < 0) return rh_message_print(out, status, "{\"version\":0,\"offset\":0,\"next\":0,\"bytes\":0}\n");
    rh_code code = read_part(file, name, version, offset, out, status);
    close(file);
    if (code != RH_OK) rh_message_free(out);
    return code;
}

rh_code rh_served_log(rh_served_run *s, uint64_t version, int64_t offset, rh_message *out, rh_status *status)
{
    return serve_lines(s, "log.jsonl", version, offset, out, status);
}

rh_code rh_served_probes(rh_served_run *s, uint64_t version, int64_t offset, rh_message *out, rh_status *status)
{
    char name[RH_MATERIAL_NAME + 16] = "probes.csv";
    pthread_mutex_lock(&s->lock);
    // Those of the first material have no name in their file's.
    if (s->only[0] && strcmp(s->only, rh_scene_material(&s->scene, 0)->name) != 0)
        snprintf(name, sizeof name, "probes.%s.csv", s->only);
    pthread_mutex_unlock(&s->lock);
    return serve_lines(s, name, version, offset, out, status);
}
