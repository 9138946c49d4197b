// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Expressions on .vdb files: every type there and back, codecs kept, points moved, deleted, grouped, neighbours;
// volumes of other types and transforms, states, tiles; the same bytes for any number of threads; wrong data; memory
// that runs out.
#include "check.h"
#include "base/parallel.h"
#include "io/expression.h"
#include "io/file.h"
#include "unit/foreign_vdb.h"
#include "unit/scratch.h"

enum { COUNT = 400 };

static int folder_teardown(void **state)
{
    scratch_remove(*state);
    rh_threads_set(0);
    return nothing_left(state);
}

static rh_vdb_data *load(const char *path)
{
    rh_vdb_data *data;
    rh_status status = {0};
    if (rh_vdb_data_read(&path, 1, NULL, &data, &status) != RH_OK) fail_msg("%s", status.message);
    return data;
}

static rh_lang_program *compiled(const char *code, rh_lang_flags domain)
{
    rh_lang_program *program;
    rh_lang_messages messages = {0};
    rh_status status = {0};
    if (rh_lang_compile(code, strlen(code), &(rh_lang_options){.domain = domain}, &program, &messages, &status) !=
        RH_OK)
        fail_msg("%s", status.message);
    rh_lang_messages_free(&messages);
    return program;
}

static rh_code try_points(rh_vdb_data *data, const char *code, const rh_expression_options *options,
                          rh_expression_report *report, rh_status *status)
{
    rh_lang_program *program = compiled(code, RH_LANG_POINTS);
    rh_lang_messages messages = {0};
    rh_code result = rh_expression_points(data, 0, program, options, report, &messages, status);
    rh_lang_messages_free(&messages);
    rh_lang_program_free(program);
    return result;
}

static rh_expression_report on_points(rh_vdb_data *data, const char *code)
{
    rh_expression_report report = {0};
    rh_status status = {0};
    if (try_points(data, code, &(rh_expression_options){0}, &report, &status) != RH_OK)
        fail_msg("%s: %s", code, status.message);
    return report;
}

static rh_code try_volumes(rh_vdb_data *data, const char *code, const rh_expression_options *options,
                           rh_expression_report *report, rh_status *status)
{
    rh_lang_program *program = compiled(code, RH_LANG_VOLUMES);
    rh_lang_messages messages = {0};
    rh_code result = rh_expression_volumes(data, program, options, report, &messages, status);
    rh_lang_messages_free(&messages);
    rh_lang_program_free(program);
    return result;
}

static rh_expression_report on_volumes(rh_vdb_data *data, const char *code, rh_vdb_states states)
{
    rh_expression_report report = {0};
    rh_status status = {0};
    if (try_volumes(data, code, &(rh_expression_options){.states = states}, &report, &status) != RH_OK)
        fail_msg("%s: %s", code, status.message);
    return report;
}

// Writes and reads again: what a test looks at has been in a file.
static rh_vdb_data *through_file(const scratch *folder, rh_vdb_data *data)
{
    rh_status status = {0};
    scratch_path path = scratch_at(folder, "through.vdb");
    if (rh_vdb_data_write(path.text, data, &status) != RH_OK) fail_msg("%s", status.message);
    rh_vdb_data_free(data);
    return load(path.text);
}

static void *values(rh_vdb_points *points, const char *name, rh_lang_type type)
{
    int at = rh_vdb_points_find(points, name);
    assert_true(at >= 0);
    assert_int_equal(rh_vdb_points_attribute(points, at).type, type);
    void *out = calloc((size_t)rh_vdb_points_count(points) + 1, rh_lang_type_size(type));
    if (strcmp(name, "P") == 0) assert_int_equal(rh_vdb_points_positions(points, out, NULL), RH_OK);
    else assert_int_equal(rh_vdb_points_copy(points, at, out, NULL), RH_OK);
    return out;
}

static rh_vdb_points *view(rh_vdb_data *data)
{
    rh_vdb_points *points;
    assert_int_equal(rh_vdb_points_open(data, 0, &points, NULL), RH_OK);
    return points;
}

static rh_vdb_data *foreign(const scratch *folder)
{
    scratch_path path = scratch_at(folder, "foreign.vdb");
    foreign_points(path.text, COUNT);
    return load(path.text);
}

// ---- points

static void codecs_are_kept(void **state)
{
    rh_vdb_data *data = foreign(*state);
    rh_vdb_points *points = view(data);
    float *size = values(points, "pscale", RH_LANG_FLOAT), *direction = values(points, "N", RH_LANG_VEC3F);
    rh_vdb_points_close(points);
    assert_int_equal(on_points(data, "@pscale *= 2; if (@pscale > 1000) v@N = {0, 1, 0};").points, COUNT);
    data = through_file(*state, data);
    points = view(data);
    float *twice = values(points, "pscale", RH_LANG_FLOAT), *same = values(points, "N", RH_LANG_VEC3F);
    assert_string_equal(rh_vdb_points_attribute(points, rh_vdb_points_find(points, "pscale")).stored, "float trnc");
    assert_string_equal(rh_vdb_points_attribute(points, rh_vdb_points_find(points, "P")).stored, "vec3s fxpt16");
    for (int i = 0; i < COUNT; i++) assert_true(twice[i] == 2 * size[i]);  // twice a half is a half
    assert_memory_equal(same, direction, COUNT * 3 * sizeof(float));       // not encoded again
    rh_vdb_points_close(points);
    rh_vdb_data_free(data);
    free(size), free(direction), free(twice), free(same);
}

static const char make_all[] = "bool@b = true; int16@h = 7; int@i = -8; int64@l = 5000000000l; f@f = 0.5f; double@d = "
                               "0.1; vec3i@vi = {1, 2, 3}; v@vf = {1, 2, 4};"
                               "vec3d@vd = {0.1, 0.2, 0.3}; 3@m3 = 2; mat3d@m3d = 3; 4@m4 = 4; mat4d@m4d = 5; vec2i@ai "
                               "= {1, 2}; vec2f@af = {1, 2}; vec2d@ad = {3, 4};"
                               "vec4i@qi = {1, 2, 3, 4}; vec4f@qf = {1, 2, 3, 4}; vec4d@qd = {4, 3, 2, 1}; s@s = "
                               "\"a\"; if (@pscale > 0.02f) s@s = s@s + \"b\";";
static const char check_all[] = "int@ok = bool@b && int16@h == 7 && int@i == -8 && int64@l == 5000000000l && f@f == "
                                "0.5f && double@d == 0.1 && vec3i@vi == {1, 2, 3} &&"
                                " v@vf == {1, 2, 4} && vec3d@vd == {0.1, 0.2, 0.3} && 3@m3[4] == 2 && mat3d@m3d[8] == "
                                "3 && 4@m4[15] == 4 && mat4d@m4d[0] == 5 &&"
                                " vec2i@ai == {1, 2} && vec2f@af[1] == 2 && vec2d@ad[0] == 3 && vec4i@qi == {1, 2, 3, "
                                "4} && vec4f@qf[3] == 4 && vec4d@qd[0] == 4 &&"
                                " hash(s@s) == (@pscale > 0.02f ? hash(\"ab\") : hash(\"a\"));";

static void every_type_there_and_back(void **state)
{
    rh_vdb_data *data = foreign(*state);
    on_points(data, make_all);
    data = through_file(*state, data);
    on_points(data, "@P.y += 3; if (@pscale > 0.025f) deletepoint();");  // moved and sorted again, with all arrays
    data = through_file(*state, data);
    rh_expression_report report = {0};
    rh_status status = {0};
    if (try_points(data, check_all, &(rh_expression_options){0}, &report, &status) != RH_OK)
        fail_msg("%s", status.message);
    rh_vdb_points *points = view(data);
    int32_t *ok = values(points, "ok", RH_LANG_INT32);
    assert_in_range(rh_vdb_points_count(points), COUNT / 4, COUNT - 10);
    for (int64_t i = 0; i < rh_vdb_points_count(points); i++) assert_int_equal(ok[i], 1);
    rh_vdb_points_close(points);
    rh_vdb_data_free(data);
    free(ok);
}

static void moved_points_have_new_places(void **state)
{
    rh_vdb_data *data = foreign(*state);
    on_points(data, "int@n = pointindex(); vec3f@old = v@P;");
    on_points(data, "if (int@n % 2) @P += {5, 0, -7};");
    data = through_file(*state, data);
    rh_vdb_points *points = view(data);
    rh_vec3 *now = values(points, "P", RH_LANG_VEC3F), *old = values(points, "old", RH_LANG_VEC3F);
    int32_t *n = values(points, "n", RH_LANG_INT32);
    assert_int_equal(rh_vdb_points_count(points), COUNT);
    bool seen[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        assert_true(n[i] >= 0 && n[i] < COUNT && !seen[n[i]]);
        seen[n[i]] = true;
        if (n[i] % 2 == 0) {
            assert_memory_equal(&now[i], &old[i], sizeof(rh_vec3));
            continue;
        }
        const float tolerance = 0.1f / 65535 + 1e-6f;  // what the file's 16 bits of a voxel can hold
        assert_true(fabsf(now[i].x - old[i].x - 5) < tolerance && fabsf(now[i].y - old[i].y) < tolerance &&
                    fabsf(now[i].z - old[i].z + 7) < tolerance);
    }
    rh_vdb_points_close(points);
    rh_vdb_data_free(data);
    free(now), free(old), free(n);
}

static void groups_and_deletion(void **state)
{
    rh_vdb_data *data = foreign(*state);
    int fast = foreign_fast(COUNT);
    on_points(data, "if (ingroup(\"fast\")) { addtogroup(\"quick\"); removefromgroup(\"fast\"); } addtogroup(\"all_\" "
                    "+ \"of_them\"); if (false) addtogroup(\"never\");");
    data = through_file(*state, data);
    rh_vdb_points *points = view(data);
    static const struct {
        const char *name;
        bool there;
    } groups[] = {{"v", true}, {"fast", true}, {"quick", true}, {"all_of_them", true}, {"never", false}};
    for (int g = 0; g < 5; g++) {
        bool there = false;
        for (int i = 0; i < rh_vdb_points_groups(points); i++)
            there |= strcmp(rh_vdb_points_group(points, i), groups[g].name) == 0;
        assert_int_equal(there, groups[g].there);
    }
    uint8_t member[COUNT];
    int quick = 0, left = 0;
    assert_int_equal(rh_vdb_points_group_read(points, "quick", member, NULL), RH_OK);
    for (int i = 0; i < COUNT; i++) quick += member[i];
    assert_int_equal(rh_vdb_points_group_read(points, "fast", member, NULL), RH_OK);
    for (int i = 0; i < COUNT; i++) left += member[i];
    assert_int_equal(quick, fast);
    assert_int_equal(left, 0);
    rh_vdb_points_close(points);
    rh_expression_report report = {0};
    assert_int_equal(try_points(data, "deletepoint();", &(rh_expression_options){.group = "quick"}, &report, NULL),
                     RH_OK);
    assert_int_equal(report.points, fast);
    assert_int_equal(report.deleted, fast);
    points = view(data);
    assert_int_equal(rh_vdb_points_count(points), COUNT - fast);
    rh_vdb_points_close(points);
    on_points(data, "deletepoint();");
    data = through_file(*state, data);
    points = view(data);
    assert_int_equal(rh_vdb_points_count(points), 0);
    rh_vdb_points_close(points);
    assert_int_equal(on_points(data, "@x = 1;").points, 0);
    rh_vdb_data_free(data);
}

static void neighbours_are_those_before(void **state)
{
    rh_vdb_data *data = foreign(*state);
    rh_vdb_points *points = view(data);
    rh_vec3 *p = values(points, "P", RH_LANG_VEC3F);
    float *size = values(points, "pscale", RH_LANG_FLOAT);
    rh_vdb_points_close(points);
    on_points(data, "@sum = 0; int k = neighbours(0.4f); for (int i = 0; i < k; ++i) @sum += "
                    "neighbour_float(\"pscale\", i); int@n = k; @pscale = 0; int@e = pointindex(); @P += 9;");
    points = view(data);
    float *sum = values(points, "sum", RH_LANG_FLOAT);
    int32_t *n = values(points, "n", RH_LANG_INT32), *e = values(points, "e", RH_LANG_INT32);
    for (int i = 0; i < COUNT; i++) {
        int found = 0;
        double expected = 0;
        const rh_vec3 at = p[e[i]];
        for (int k = 0; k < COUNT; k++) {
            float dx = p[k].x - at.x, dy = p[k].y - at.y, dz = p[k].z - at.z;
            if (dx * dx + dy * dy + dz * dz <= 0.4f * 0.4f) found++, expected += size[k];
        }
        assert_int_equal(n[i], found);
        assert_true(fabs(sum[i] - expected) < 1e-5);
    }
    rh_vdb_points_close(points);
    rh_vdb_data_free(data);
    free(p), free(size), free(sum), free(n), free(e);
}

// ---- volumes

typedef struct voxel {
    int32_t at[3];
    float value[3];
} voxel;
typedef struct collection {
    voxel *items;
    int64_t count, capacity, blocks;
    size_t size;
} collection;

static rh_code count_blocks(void *user, int64_t count, rh_status *status)
{
    return (void)status, ((collection *)user)->blocks = count, RH_OK;
}
static rh_code nothing(void *user, rh_status *status) { return (void)user, (void)status, RH_OK; }
static rh_code collect(void *user, int slot, int64_t block, const int32_t origin[3], const rh_lang_elements *elements,
                       int64_t begin, int64_t end)
{
    collection *c = user;
    (void)slot, (void)block;
    for (int64_t i = begin; i < end; i++) {
        int64_t e = elements->selection ? elements->selection[i] : i;
        assert_true(c->count < c->capacity);
        voxel *v = &c->items[c->count++];
        *v = (voxel){.at = {origin[0] + (int)(e >> 6 & 7), origin[1] + (int)(e >> 3 & 7), origin[2] + (int)(e & 7)}};
        memcpy(v->value, (const char *)elements->attributes[0].data + e * elements->attributes[0].stride, c->size);
    }
    return RH_OK;
}

static int grid_named(const rh_vdb_data *data, const char *name)
{
    for (int i = 0; i < rh_vdb_data_count(data); i++)
        if (strcmp(rh_vdb_data_grid(data, i).name, name) == 0) return i;
    fail_msg("there is no grid %s", name);
    return -1;
}

// All active values; a tile is one.
static collection all_values(rh_vdb_data *data, const char *name, rh_vdb_states states)
{
    enum { MOST = 1 << 22 };
    int grid = grid_named(data, name);
    bool yes = true, no = false;
    collection c = {.items = calloc(MOST, sizeof(voxel)),
                    .capacity = MOST,
                    .size = rh_lang_type_size(rh_vdb_data_grid(data, grid).type)};
    rh_vdb_volume_job job = {.grids = &grid, .reads = &yes, .writes = &no, .count = 1, .states = states};
    rh_vdb_visitor visitor = {count_blocks, nothing, collect, &c};
    rh_threads_set(1);
    assert_int_equal(rh_vdb_volume_visit(data, &job, &visitor, NULL), RH_OK);
    rh_threads_set(0);
    return c;
}

static rh_vdb_data *foreign_volumes(const scratch *folder)
{
    scratch_path path = scratch_at(folder, "volumes.vdb");
    foreign_surface(path.text);
    return load(path.text);
}

static void tiles_stay_where_they_can(void **state)
{
    rh_vdb_data *data = foreign_volumes(*state);
    assert_int_equal(on_volumes(data, "v@Cd *= 2;", RH_VDB_ON).voxels, 1);
    collection c = all_values(data, "Cd", RH_VDB_ON);
    assert_int_equal(c.count, 1);
    assert_true(c.items[0].value[0] == 8 && c.items[0].value[2] == 12);
    free(c.items);
    // Every voxel is looked at, all become the same: still one tile.
    assert_int_equal(on_volumes(data, "v@Cd = {getcoordx() >= 0 ? 7 : 0, 0, 0};", RH_VDB_ON).voxels, 128 * 128 * 128);
    data = through_file(*state, data);
    c = all_values(data, "Cd", RH_VDB_ON);
    assert_int_equal(c.count, 1);
    assert_true(c.items[0].value[0] == 7);
    free(c.items);
    // Half of the blocks of 8^3 become 1, some are mixed.
    on_volumes(data, "v@Cd = {getcoordx() >= 60 ? 1 : 2, getcoordy(), 0}; if (getcoordx() >= 64) v@Cd.y = 0;",
               RH_VDB_ON);
    c = all_values(data, "Cd", RH_VDB_ON);
    assert_int_equal(c.count, 8 * 16 * 16 + 64 * 128 * 128);  // 2048 small tiles, and leaves
    for (int64_t i = 0; i < c.count; i++) {
        const voxel *v = &c.items[i];
        assert_true(v->value[0] == (v->at[0] >= 60 ? 1 : 2) && v->value[1] == (v->at[0] >= 64 ? 0 : (float)v->at[1]));
    }
    free(c.items);
    rh_vdb_data_free(data);
}

// Streaming can be forced and forbidden, and levels left out.
static void tiles_and_levels_can_be_chosen(void **state)
{
    rh_vdb_data *data = foreign_volumes(*state);
    rh_expression_report report = {0};
    rh_status status = {0};
    const rh_expression_options always = {.stream = RH_STREAM_ON}, never = {.stream = RH_STREAM_OFF},
                                leaves = {.skipped = 2 | 4 | 8}, tiles = {.skipped = 1};
    assert_int_equal(try_volumes(data, "v@Cd *= 2;", &always, &report, &status), RH_OK);
    assert_int_equal(report.voxels, 128 * 128 * 128);
    report = (rh_expression_report){0};
    assert_int_equal(try_volumes(data, "v@Cd.y = getcoordx();", &never, &report, &status), RH_OK);
    assert_int_equal(report.voxels, 1);
    report = (rh_expression_report){0};
    assert_int_equal(try_volumes(data, "v@Cd = 0;", &leaves, &report, &status), RH_OK);
    assert_int_equal(report.voxels, 0);  // all of Cd is one tile
    collection c = all_values(data, "Cd", RH_VDB_ON);
    assert_true(c.count == 1 && c.items[0].value[0] == 8);
    free(c.items);
    collection before = all_values(data, "liquid", RH_VDB_ON);
    report = (rh_expression_report){0};
    assert_int_equal(try_volumes(data, "@liquid = 9; v@Cd = 1;", &tiles, &report, &status), RH_OK);
    collection after = all_values(data, "liquid", RH_VDB_ON);
    assert_int_equal(report.voxels, 1);
    assert_memory_equal(before.items, after.items, (size_t)before.count * sizeof(voxel));
    free(before.items), free(after.items);
    rh_vdb_data_free(data);
}

static rh_code bind_points(rh_vdb_data *data, const char *code, const rh_expression_binding *bindings, int count,
                           rh_status *status)
{
    rh_expression_report report = {0};
    return try_points(data, code, &(rh_expression_options){.bindings = bindings, .binding_count = count}, &report,
                      status);
}

static void names_can_be_bound(void **state)
{
    rh_vdb_data *data = foreign(*state);
    rh_status status = {0};
    on_points(data, "f@a = 1; f@b = 2;");
    const rh_expression_binding swap[] = {{"a", "b"}, {"b", "a"}}, fresh[] = {{"a", "made"}}, same[] = {{"a", "b"}},
                                twice[] = {{"a", "x"}, {"c", "x"}}, place[] = {{"a", "P"}},
                                two[] = {{"a", "x"}, {"a", "y"}};
    assert_int_equal(bind_points(data, "f@a += 10; f@b += 20;", swap, 2, &status), RH_OK);
    assert_int_equal(bind_points(data, "f@a = 5;", fresh, 1, &status), RH_OK);
    assert_int_equal(bind_points(data, "f@a = f@b;", same, 1, &status), RH_USER);
    assert_non_null(strstr(status.message, "both mean \"b\" of the data"));
    rh_status_clear(&status);
    assert_int_equal(bind_points(data, "f@a = 1;", twice, 2, &status), RH_USER);
    rh_status_clear(&status);
    assert_int_equal(bind_points(data, "f@a = 1;", two, 2, &status), RH_USER);
    rh_status_clear(&status);
    assert_int_equal(bind_points(data, "f@a = 1;", place, 1, &status), RH_USER);
    assert_non_null(strstr(status.message, "P cannot be bound"));
    rh_vdb_points *points = view(data);
    float *a = values(points, "a", RH_LANG_FLOAT), *b = values(points, "b", RH_LANG_FLOAT),
          *made = values(points, "made", RH_LANG_FLOAT);
    for (int i = 0; i < COUNT; i++) assert_true(a[i] == 21 && b[i] == 12 && made[i] == 5);
    free(a), free(b), free(made);
    rh_vdb_points_close(points);
    rh_vdb_data_free(data);
    data = foreign_volumes(*state);
    const rh_expression_binding colour[] = {{"colour", "Cd"}};
    rh_expression_report report = {0};
    assert_int_equal(try_volumes(data, "v@colour = 3;",
                                 &(rh_expression_options){.bindings = colour, .binding_count = 1}, &report, &status),
                     RH_OK);
    collection c = all_values(data, "Cd", RH_VDB_ON);
    assert_true(c.count == 1 && c.items[0].value[0] == 3);
    free(c.items);
    rh_vdb_data_free(data);
}

// ---- somebody watches

typedef struct watcher {
    const char *until;  // stops when this stage has begun
    int seen;
} watcher;

static bool look(void *user, const char *stage, double share)
{
    watcher *w = user;
    __atomic_fetch_add(&w->seen, share >= 0 && share <= 1 ? 1 : 1000000, __ATOMIC_RELAXED);
    return !w->until || strcmp(stage, w->until) != 0;
}

static rh_code watched(const scratch *folder, const char *until, int *seen)
{
    scratch_path path = scratch_at(folder, "foreign.vdb"), out = scratch_at(folder, "watched.vdb");
    const char *name = path.text;
    watcher w = {.until = until};
    const rh_vdb_watch watch = {look, &w};
    rh_vdb_data *data = NULL;
    rh_status status = {0};
    rh_expression_report report = {0};
    foreign_points(name, COUNT);
    rh_code code = rh_vdb_data_read(&name, 1, &watch, &data, &status);
    if (code == RH_OK) code = try_points(data, "v@P += 0.5f;", &(rh_expression_options){0}, &report, &status);
    if (code == RH_OK) code = rh_vdb_data_write(out.text, data, &status);
    assert_true(rh_file_exists(out.text) == (code == RH_OK));
    rh_vdb_data_free(data);
    *seen = w.seen;
    return code;
}

// A stop in any stage ends the work and leaves no file.
static void work_can_be_stopped(void **state)
{
    static const char *const stages[] = {"read", "execute", "move", "write"};
    int seen;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(watched(*state, stages[i], &seen), RH_STOPPED);
        assert_in_range(seen, 1, 999999);
    }
    assert_int_equal(watched(*state, NULL, &seen), RH_OK);
    assert_in_range(seen, 4, 999999);
}

static void states_choose_voxels(void **state)
{
    rh_vdb_data *data = foreign_volumes(*state);
    collection on = all_values(data, "liquid", RH_VDB_ON), off = all_values(data, "liquid", RH_VDB_OFF),
               all = all_values(data, "liquid", RH_VDB_ALL);
    assert_int_equal(on.count + off.count, all.count);
    on_volumes(data, "@liquid = 3;", RH_VDB_OFF);
    collection kept = all_values(data, "liquid", RH_VDB_ON), changed = all_values(data, "liquid", RH_VDB_OFF);
    assert_int_equal(kept.count, on.count);
    assert_memory_equal(kept.items, on.items, (size_t)on.count * sizeof(voxel));
    for (int64_t i = 0; i < changed.count; i++) assert_true(changed.items[i].value[0] == 3);
    on_volumes(data, "@liquid = 4;", RH_VDB_ALL);
    free(kept.items);
    kept = all_values(data, "liquid", RH_VDB_ALL);
    for (int64_t i = 0; i < kept.count; i++) assert_true(kept.items[i].value[0] == 4);
    free(on.items), free(off.items), free(all.items), free(kept.items), free(changed.items);
    rh_vdb_data_free(data);
}

static void other_volumes_are_those_before(void **state)
{
    rh_vdb_data *data = foreign_volumes(*state);
    collection before = all_values(data, "liquid", RH_VDB_ON);
    // The tile of Cd reads the level set as it was, though that is written first.
    on_volumes(data, "@liquid += 100; v@Cd = {@liquid - 100, 0, 0};", RH_VDB_ON);
    collection liquid = all_values(data, "liquid", RH_VDB_ON), colour = all_values(data, "Cd", RH_VDB_ON);
    int met = 0;
    for (int64_t i = 0; i < before.count; i++) {
        assert_true(liquid.items[i].value[0] == before.items[i].value[0] + 100);
        for (int64_t k = 0; k < colour.count && i % 100 == 0; k++) {
            if (memcmp(colour.items[k].at, before.items[i].at, sizeof before.items[i].at) != 0) continue;
            met++;
            assert_true(colour.items[k].value[0] == before.items[i].value[0] + 100 - 100);
        }
    }
    assert_true(met > 3);
    free(before.items), free(liquid.items), free(colour.items);
    rh_vdb_data_free(data);
}

// ---- the same for any number of threads

static void threads_do_not_matter(void **state)
{
    char *bytes[2] = {0};
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        rh_threads_set(i == 0 ? 1 : 3);
        rh_vdb_data *points = foreign(*state), *volumes = foreign_volumes(*state);
        on_points(points, "addtogroup(\"g\" + (rand() < 0.5 ? \"a\" : \"b\")); s@s = rand() < 0.3 ? \"x\" : \"y\"; v@P "
                          "+= 3 * rand(); if (rand() < 0.2) deletepoint();");
        on_volumes(volumes, "v@Cd = getvoxelpws() * rand(); @liquid = @liquid + v@Cd.x;", RH_VDB_ON);
        scratch_path path = scratch_at(*state, "threads.vdb");
        assert_int_equal(rh_vdb_data_write(path.text, points, NULL), RH_OK);
        assert_int_equal(rh_file_read(path.text, (size_t)1 << 30, &bytes[i], &length[i], NULL), RH_OK);
        char *more;
        size_t extra;
        assert_int_equal(rh_vdb_data_write(path.text, volumes, NULL), RH_OK);
        assert_int_equal(rh_file_read(path.text, (size_t)1 << 30, &more, &extra, NULL), RH_OK);
        bytes[i] = rh_realloc(bytes[i], length[i] + extra, "test", NULL);
        memcpy(bytes[i] + length[i], more, extra);
        length[i] += extra;
        rh_free(more);
        rh_vdb_data_free(points);
        rh_vdb_data_free(volumes);
    }
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], length[0]);
    rh_free(bytes[0]);
    rh_free(bytes[1]);
    rh_threads_set(0);
}

// ---- what is wrong

static void wrong_data(void **state)
{
    static const struct {
        const char *code, *message;
        rh_expression_options options;
    } cases[] = {
        {"int@pscale = 3;", "is of type float, the program takes it for int32", {0}},
        {"@r = @pscal;", "did you mean @pscale?", {.strict = true}},
        {"@r = 1;", "no group \"quick\"", {.group = "quick"}},
        {"@r = 1;", "did you mean \"fast\"?", {.group = "fat"}},
        {"while (true) @r += 1;", "took more than 1000 steps", {.steps = 1000}},
        {"v@P = {1e30f, 0, 0};", "where it cannot be stored", {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rh_vdb_data *data = foreign(*state);
        rh_expression_report report = {0};
        rh_status status = {0};
        assert_int_not_equal(try_points(data, cases[i].code, &cases[i].options, &report, &status), RH_OK);
        if (!strstr(status.message, cases[i].message))
            fail_msg("%s: found \"%s\", expected \"%s\"", cases[i].code, status.message, cases[i].message);
        rh_vdb_data_free(data);
    }
}

static void memory_runs_out(void **state)
{
    rh_lang_program *program = compiled("addtogroup(\"g\"); s@s = \"x\" + s@s; @P.x += 1; int k = neighbours(0.1f); if "
                                        "(k > 9) deletepoint(); print(k);",
                                        RH_LANG_POINTS);
    bool ended = false;
    for (int64_t n = 0; n < 400 && !ended; n++) {
        rh_vdb_data *data = foreign(*state);
        rh_expression_report report = {0};
        rh_lang_messages messages = {0};
        rh_threads_set(1);
        rh_memory_fail_after(n);
        rh_code code = rh_expression_points(data, 0, program, &(rh_expression_options){0}, &report, &messages, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || code == RH_MEMORY);
        ended = code == RH_OK;
        rh_free(report.printed);
        rh_lang_messages_free(&messages);
        rh_vdb_data_free(data);
    }
    assert_true(ended);
    rh_lang_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codecs_are_kept),
        cmocka_unit_test(every_type_there_and_back),
        cmocka_unit_test(moved_points_have_new_places),
        cmocka_unit_test(groups_and_deletion),
        cmocka_unit_test(neighbours_are_those_before),
        cmocka_unit_test(tiles_stay_where_they_can),
        cmocka_unit_test(tiles_and_levels_can_be_chosen),
        cmocka_unit_test(names_can_be_bound),
        cmocka_unit_test(work_can_be_stopped),
        cmocka_unit_test(states_choose_voxels),
        cmocka_unit_test(other_volumes_are_those_before),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(wrong_data),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, scratch_setup, folder_teardown);
}
