// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a running kernel knows: strings, groups, deletion, externals, printing, voxels, neighbours; that blocks of any
// split give the same, and that memory that runs out stops a program without leaving anything behind.
#include <string.h>
#include "support.h"
#include "base/parallel.h"
#include "lang/library/library.h"

static rh_lang_text text(const char *data) { return (rh_lang_text){data, (int64_t)strlen(data)}; }
static bool is(const rh_lang_text *t, const char *expected)
{
    return t->length == (int64_t)strlen(expected) && memcmp(t->data, expected, (size_t)t->length) == 0;
}

static rh_lang_context *begin(const rh_lang_scope *scope)
{
    rh_lang_context *context = test_malloc(sizeof *context);
    rh_status status = {0};
    assert_ok(rh_lang_context_init(context, scope, &status));
    return context;
}

static void end(rh_lang_context *context)
{
    rh_lang_context_free(context);
    test_free(context);
}

// --- strings ---------------------------------------------------------------------------------------------------------

static void strings_are_joined_and_kept(void **state)
{
    (void)state;
    rh_lang_scope scope = {.text_room = 16};
    rh_lang_context *context = begin(&scope);
    rh_lang_text a = text("water"), b = text("fall"), joined, kept, again;
    rh_lang_text_join(context, &joined, &a, &b);
    assert_true(is(&joined, "waterfall"));
    rh_lang_text_keep(context, &kept, &joined);
    context->text_used = 0;  // the next element overwrites the joined text, not the kept one
    rh_lang_text_join(context, &joined, &b, &a);
    assert_true(is(&joined, "fallwater") && is(&kept, "waterfall") && kept.data[9] == 0);
    context->text_used = 0;
    rh_lang_text_join(context, &joined, &a, &b);
    rh_lang_text_keep(context, &again, &joined);
    assert_ptr_equal(again.data, kept.data);
    rh_lang_text empty = text("");
    rh_lang_text_keep(context, &again, &empty);
    assert_true(again.length == 0 && again.data);
    rh_lang_text_join(context, &joined, &joined, &joined);  // 18 bytes do not fit
    assert_true(context->failed && joined.length == 0 && context->status.code == RH_USER && context->steps_left <= 0);
    end(context);
}

// A loop that appends takes memory for what it appends; strings that were made before stay what they were.
static void long_strings(void **state)
{
    (void)state;
    rh_lang_scope scope = {0};
    rh_lang_context *context = begin(&scope);
    for (int element = 0; element < 2; element++) {
        rh_lang_text long_one = text(""), part = text("0123456789"), half = text(""), other;
        context->text_used = 0;
        for (int i = 0; i < 20000; i++) {
            rh_lang_text_join(context, &long_one, &long_one, &part);
            if (i == 9999) half = long_one;
        }
        assert_true(!context->failed && long_one.length == 200000 && half.length == 100000 &&
                    context->text_used < 1000000);
        for (int64_t i = 0; i < long_one.length; i++) assert_true(long_one.data[i] == '0' + i % 10);
        rh_lang_text_join(context, &other, &half, &part);  // not the last any more: a copy
        assert_true(other.length == 100010 && memcmp(other.data, half.data, 100000) == 0 &&
                    long_one.data[100000] == '0' && other.data != half.data);
    }
    end(context);
}

static void many_kept_strings_stay_apart(void **state)
{
    (void)state;
    rh_lang_scope scope = {0};
    rh_lang_context *context = begin(&scope);
    enum { COUNT = 2000 };
    static rh_lang_text kept[COUNT];
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "name%d", i);
        rh_lang_text t = text(name);
        rh_lang_text_keep(context, &kept[i], &t);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "name%d", i);
        assert_true(is(&kept[i], name));
    }
    end(context);
}

// --- groups and deletion ---------------------------------------------------------------------------------------------

// Every third element joins "new", every sixth leaves it again; "old" exists.
static void visit(rh_lang_context *context, int64_t element)
{
    rh_lang_text fresh = text("new"), old = text("old"), other = text(element % 2 ? "odd" : "even");
    context->element = element;
    assert_false(rh_lang_ingroup(context, &fresh));
    if (element % 3 == 0) {
        rh_lang_addtogroup(context, &fresh);
        rh_lang_addtogroup(context, &fresh);
        assert_true(rh_lang_ingroup(context, &fresh));
    }
    if (element % 6 == 0) {
        rh_lang_removefromgroup(context, &fresh);
        rh_lang_removefromgroup(context, &fresh);
        assert_false(rh_lang_ingroup(context, &fresh));
    }
    rh_lang_addtogroup(context, &other);
    if (element % 5 == 0) rh_lang_addtogroup(context, &old);
    else rh_lang_removefromgroup(context, &old);
    if (element % 7 == 0) rh_lang_deletepoint(context);
    if (element % 10 == 0) rh_lang_print_l(context, element);
}

static void check_visits(int64_t count, int64_t block_size)
{
    uint8_t old[100], dead[100] = {0};
    memset(old, 1, sizeof old);
    rh_lang_group group = {"old", old};
    rh_lang_scope scope = {.groups = &group, .group_count = 1, .dead = dead};
    rh_lang_context *context = begin(&scope);
    rh_lang_result blocks[100], merged;
    rh_status status = {0};
    int64_t block_count = (count + block_size - 1) / block_size;
    for (int64_t k = 0; k < block_count; k++) {
        int64_t b = (k * 7) % block_count;  // in any order
        if (block_count % 7 == 0) b = block_count - 1 - k;
        rh_lang_context_begin(context, b * block_size);
        for (int64_t e = b * block_size; e < count && e < (b + 1) * block_size; e++) visit(context, e);
        assert_ok(rh_lang_context_end(context, &blocks[b], &status));
    }
    assert_ok(rh_lang_results_merge(blocks, block_count, &merged, &status));
    assert_int_equal(merged.group_count, 3);
    assert_string_equal(merged.groups[0].name, "even");
    assert_string_equal(merged.groups[1].name, "new");
    assert_string_equal(merged.groups[2].name, "odd");
    int64_t at = 0;
    for (int64_t e = 0; e < count; e++) {
        assert_int_equal(old[e], e % 5 == 0);
        assert_int_equal(dead[e], e % 7 == 0);
        if (e % 3 == 0 && e % 6 != 0) assert_int_equal(merged.groups[1].elements[at++], e);
    }
    assert_int_equal(merged.groups[1].count, at);
    assert_memory_equal(merged.printed, "0\n10\n20\n30\n40\n50\n60\n70\n80\n90\n", (size_t)merged.printed_length);
    assert_int_equal(merged.printed_length, 29);
    rh_lang_result_free(&merged);
    end(context);
}

static void any_split_into_blocks_gives_the_same(void **state)
{
    (void)state;
    for (int64_t size = 1; size <= 100; size += 9) check_visits(100, size);
}

static void groups_without_end_are_refused(void **state)
{
    (void)state;
    rh_lang_scope scope = {0};
    rh_lang_context *context = begin(&scope);
    for (int i = 0; i < RH_LANG_GROUP_MAX + 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "g%d", i);
        rh_lang_text t = text(name);
        rh_lang_addtogroup(context, &t);
    }
    assert_true(context->failed && strstr(context->status.message, "1024"));
    rh_lang_context_begin(context, 0);
    assert_false(context->failed);
    static const char *const wrong[] = {"", "two words", "-3.5", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rh_lang_text name = text(wrong[i]);
        rh_lang_context_begin(context, 0);
        rh_lang_addtogroup(context, &name);
        assert_true(context->failed && strstr(context->status.message, wrong[i]));
    }
    rh_lang_context_begin(context, 0);
    rh_lang_deletepoint(context);  // no marks here
    rh_lang_result result;
    rh_status status = {0};
    assert_int_equal(rh_lang_context_end(context, &result, &status), RH_USER);
    assert_non_null(strstr(status.message, "deletepoint"));
    end(context);
}

// --- externals and print ---------------------------------------------------------------------------------------------

static void externals_are_read_where_they_stand(void **state)
{
    (void)state;
    float time = 1.5f, wind[3] = {1, 2, 3}, out[3];
    rh_lang_external list[] = {{"time", "float", &time}, {"wind", "vec3f", wind}};
    rh_lang_scope scope = {.externals = list, .external_count = 2};
    rh_lang_context *context = begin(&scope);
    rh_lang_text t = text("time"), w = text("wind"), none = text("win");
    assert_true(rh_lang_external_f(context, &t) == 1.5f);
    time = 2.5f;
    assert_true(rh_lang_external_f(context, &t) == 2.5f);
    assert_true(rh_lang_external_f(context, &w) == 0 && rh_lang_external_f(context, &none) == 0);
    rh_lang_external_v(context, out, &w);
    assert_true(out[0] == 1 && out[1] == 2 && out[2] == 3);
    rh_lang_external_v(context, out, &t);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 0);
    end(context);
}

static void values_are_printed_as_they_read_back(void **state)
{
    (void)state;
    rh_lang_scope scope = {0};
    rh_lang_context *context = begin(&scope);
    rh_lang_result result;
    rh_status status = {0};
    rh_lang_text word = text("a text");
    rh_lang_print_f(context, 0.1f);
    rh_lang_print_d(context, 0.1);
    rh_lang_print_d(context, 1 / 3.0);
    rh_lang_print_i(context, -7);
    rh_lang_print_s(context, &word);
    rh_lang_print_3f(context, (float[]){1, 2.5f, -3});
    rh_lang_print_m3d(context, (double[]){1, 2, 3, 4, 5, 6, 7, 8, 9});
    const char *expected =
        "0.1\n0.1\n0.3333333333333333\n-7\na text\n[1, 2.5, -3]\n[[1, 2, 3], [4, 5, 6], [7, 8, 9]]\n";
    assert_ok(rh_lang_context_end(context, &result, &status));
    assert_int_equal(result.printed_length, strlen(expected));
    assert_memory_equal(result.printed, expected, strlen(expected));
    rh_lang_result_free(&result);
    for (int i = 0; i < 300000; i++) rh_lang_print_s(context, &word);
    assert_true(context->printed_length <= RH_LANG_PRINT_ROOM &&
                context->printed_length + context->printed_lost == 7 * 300000);
    end(context);
}

static void voxels_know_where_they_are(void **state)
{
    (void)state;
    rh_lang_scope scope = {.to_world = {{0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 0.5}, {1, 2, 3}}};
    rh_lang_context *context = begin(&scope);
    int32_t c[3];
    double p[3];
    context->origin[0] = -8, context->origin[1] = 0, context->origin[2] = 16;
    context->element = 3 << 6 | 5 << 3 | 7;
    rh_lang_getcoord(context, c);
    assert_true(c[0] == -5 && c[1] == 5 && c[2] == 23);
    assert_true(rh_lang_getcoordx(context) == -5 && rh_lang_getcoordy(context) == 5 &&
                rh_lang_getcoordz(context) == 23);
    rh_lang_getvoxelpws(context, p);
    assert_true(p[0] == -1.5 && p[1] == 4.5 && p[2] == 14.5);
    const int32_t listed[2][3] = {{0, 0, 0}, {9, -9, 1}};
    scope.coords = listed;
    context->element = 1;
    rh_lang_getcoord(context, c);
    assert_true(c[0] == 9 && c[1] == -9 && c[2] == 1);
    end(context);
}

// --- neighbours ------------------------------------------------------------------------------------------------------

enum { POINTS = 600 };

static void random_points(rh_vec3 *p, float flat)
{
    for (uint64_t i = 0; i < POINTS; i++)
        p[i] = rh_v3(support_random(i, 0), support_random(i, 1) * flat, support_random(i, 2));
    p[10] = p[11];                     // two at one place
    p[12] = rh_v3(NAN, 0, 0);          // nowhere
    p[13] = rh_v3(3e7f, -3e7f, 1e9f);  // far out
}

static void neighbours_are_those_of_a_search_through_all(void **state)
{
    (void)state;
    static rh_vec3 p[POINTS];
    rh_status status = {0};
    for (int set = 0; set < 2; set++) {
        random_points(p, set == 0 ? 1 : 0);
        for (int k = 0; k < 4; k++) {
            rh_lang_snapshot snapshot;
            rh_neighbour_list found = {0};
            assert_ok(rh_lang_snapshot_init(&snapshot, p, POINTS, (double[]){0, 0.05, 0.3, 10}[k], NULL, 0, &status));
            for (int64_t i = 0; i < POINTS; i += 7) {
                float radius = (float[]){0, 0.1f, 0.3f, 5}[i % 4];
                assert_ok(rh_neighbours_within(&snapshot.near, p[i], radius, &found, &status));
                bool is_found[POINTS] = {false};
                for (int64_t n = 0; n < found.count; n++) {
                    assert_false(is_found[found.index[n]]);
                    is_found[found.index[n]] = true;
                    assert_true(found.offset[n].x == p[found.index[n]].x - p[i].x &&
                                found.distance[n] == rh_v3_length(found.offset[n]));
                }
                for (int64_t j = 0; j < POINTS; j++) {
                    rh_vec3 d = rh_v3_sub(p[j], p[i]);
                    assert_int_equal(is_found[j], rh_v3_dot(d, d) <= radius * radius);
                }
            }
            rh_neighbour_list_free(&found);
            rh_lang_snapshot_free(&snapshot);
        }
    }
    rh_neighbour_list none = {0};
    rh_lang_snapshot empty;
    assert_ok(rh_lang_snapshot_init(&empty, p, 0, 0, NULL, 0, &status));
    assert_ok(rh_neighbours_nearest(&empty.near, p[0], INFINITY, 5, &none, &status));
    assert_int_equal(none.count, 0);
    rh_lang_snapshot_free(&empty);
    assert_ok(rh_lang_snapshot_init(&empty, p, 1, 0, NULL, 0, &status));  // one point: no extent to take a cell from
    assert_ok(rh_neighbours_within(&empty.near, rh_v3(3, 4, 5), INFINITY, &none, &status));
    assert_int_equal(none.count, 1);
    assert_ok(rh_neighbours_within(&empty.near, rh_v3(NAN, 4, 5), INFINITY, &none, &status));
    assert_int_equal(none.count, 0);
    rh_lang_snapshot_free(&empty);
    rh_neighbour_list_free(&none);
    const rh_lang_array strange = {"name", "string", NULL, false};
    rh_lang_snapshot snapshot;
    assert_int_equal(rh_lang_snapshot_init(&snapshot, p, POINTS, 1, &strange, 1, &status), RH_USER);
    assert_non_null(strstr(status.message, "string"));
}

static void nearest_come_in_order(void **state)
{
    (void)state;
    static rh_vec3 p[POINTS];
    random_points(p, 1);
    rh_lang_snapshot snapshot;
    rh_neighbour_list found = {0}, all = {0};
    rh_status status = {0};
    assert_ok(rh_lang_snapshot_init(&snapshot, p, POINTS, 0.2, NULL, 0, &status));
    for (int64_t i = 0; i < POINTS; i += 5) {
        assert_ok(rh_neighbours_within(&snapshot.near, p[i], 0.5f, &all, &status));
        assert_ok(rh_neighbours_nearest(&snapshot.near, p[i], 0.5f, 9, &found, &status));
        assert_int_equal(found.count, all.count < 9 ? all.count : 9);
        for (int64_t n = 1; n < found.count; n++)
            assert_true(found.distance[n - 1] < found.distance[n] ||
                        (found.distance[n - 1] == found.distance[n] && found.index[n - 1] < found.index[n]));
        int64_t nearer = 0;
        for (int64_t n = 0; n < all.count; n++)
            nearer += found.count > 0 && all.distance[n] < found.distance[found.count - 1];
        assert_true(nearer <= found.count - (found.count > 0));
    }
    assert_ok(rh_neighbours_nearest(&snapshot.near, p[10], 0.5f, 2, &found, &status));
    assert_true(found.index[0] == 10 && found.index[1] == 11 && found.distance[1] == 0);
    rh_neighbour_list_free(&found);
    rh_neighbour_list_free(&all);
    rh_lang_snapshot_free(&snapshot);
}

// A density as a program would ask for it, on a lattice: the inner points all see the same neighbours.
static void a_density_takes_three_lines(void **state)
{
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    static rh_vec3 p[COUNT];
    static float mass[COUNT];
    static int64_t id[COUNT];
    uint8_t wet[COUNT] = {0};
    rh_vec3 v = rh_v3(1, 2, 3);
    for (int i = 0; i < COUNT; i++)
        p[i] = rh_v3((float)(i % SIDE), (float)(i / SIDE % SIDE), (float)(i / SIDE / SIDE)), mass[i] = 2,
        id[i] = 1000 + i;
    wet[5] = 1;
    rh_lang_array arrays[] = {{"mass", "float", mass, false},
                              {"id", "int64", id, false},
                              {"v", "vec3f", &v, true},
                              {"wet", "group", wet, false}};
    rh_lang_snapshot snapshot;
    rh_status status = {0};
    assert_ok(rh_lang_snapshot_init(&snapshot, p, COUNT, 1.5, arrays, 4, &status));
    rh_lang_scope scope = {.snapshot = &snapshot, .positions = p};
    rh_lang_context *context = begin(&scope);
    rh_lang_text mass_name = text("mass"), id_name = text("id"), v_name = text("v"), wet_name = text("wet"),
                 none = text("mas");
    for (int z = 1; z < SIDE - 1; z++) {
        context->element = (z * SIDE + 3) * SIDE + 3;
        int32_t n = rh_lang_neighbours(context, 1.5f);
        assert_int_equal(n, 1 + 6 + 12);
        double density = 0, q = 2 / 1.5 / 1.5, expected = 2 * (1 + 6 * pow(1 - 1 / 1.5 / 1.5, 3) + 12 * pow(1 - q, 3));
        for (int32_t i = 0; i < n; i++) {
            double s = rh_lang_neighbour_distance(context, i) / 1.5;
            density += rh_lang_neighbour_float(context, &mass_name, i) * pow(1 - s * s, 3);
            int64_t index = rh_lang_neighbour_index(context, i);
            float place[3], offset[3];
            rh_lang_neighbour_position(context, place, i), rh_lang_neighbour_offset(context, offset, i);
            assert_true(place[0] == p[index].x && offset[0] == p[index].x - 3);
            assert_int_equal(rh_lang_neighbour_int64(context, &id_name, i), 1000 + index);
        }
        assert_near(density, expected, 1e-5);
    }
    float velocity[3], here[3] = {5, 0, 0};
    assert_int_equal(rh_lang_neighbours_at(context, here, 0.1f), 1);
    rh_lang_neighbour_vec3f(context, velocity, &v_name, 0);
    assert_true(velocity[2] == 3 && rh_lang_neighbour_ingroup(context, &wet_name, 0));
    assert_int_equal(rh_lang_nearest_at(context, here, 4, 9), 4);
    assert_true(rh_lang_neighbour_index(context, 0) == 5 && !context->failed);
    assert_true(rh_lang_neighbour_float(context, &none, 0) == 0 && context->failed);
    assert_non_null(strstr(context->status.message, "mas"));
    rh_lang_context_begin(context, 0);
    rh_lang_neighbours(context, 1);
    rh_lang_neighbour_float(context, &v_name, 0);
    assert_non_null(strstr(context->status.message, "vec3f"));
    rh_lang_context_begin(context, 0);
    rh_lang_neighbour_distance(context, 0);  // before anything was asked
    assert_true(context->failed);
    rh_lang_context_begin(context, 0);
    rh_lang_neighbour_distance(context, rh_lang_neighbours(context, 1));  // one too far
    assert_true(context->failed);
    scope.snapshot = NULL;
    rh_lang_context_begin(context, 0);
    assert_int_equal(rh_lang_neighbours(context, 1), 0);
    assert_true(context->failed);
    end(context);
    rh_lang_snapshot_free(&snapshot);
}

// --- memory that runs out --------------------------------------------------------------------------------------------

static rh_code use_everything(void)
{
    static rh_vec3 p[POINTS];
    random_points(p, 1);
    rh_status status = {0};
    rh_lang_snapshot snapshot;
    rh_lang_context *context = test_malloc(sizeof *context);
    rh_lang_result result = {0}, merged = {0};
    rh_code code = rh_lang_snapshot_init(&snapshot, p, POINTS, 0.1, NULL, 0, &status);
    rh_lang_scope scope = {.snapshot = &snapshot, .positions = p};
    if (code == RH_OK) code = rh_lang_context_init(context, &scope, &status);
    if (code == RH_OK) {
        rh_lang_text name = text("group"), kept;
        rh_lang_addtogroup(context, &name);
        rh_lang_text_keep(context, &kept, &name);
        rh_lang_neighbours(context, 2);
        rh_lang_print_i(context, 1);
        bool lost = context->printed_lost > 0;
        code = rh_lang_context_end(context, &result, &status);
        if (code == RH_OK && lost) code = RH_MEMORY;  // print counts what it cannot keep
        if (code == RH_OK) code = rh_lang_results_merge(&result, 1, &merged, &status);
        rh_lang_context_free(context);
    }
    rh_lang_result_free(&result);
    rh_lang_result_free(&merged);
    rh_lang_snapshot_free(&snapshot);
    test_free(context);
    return code;
}

static void memory_that_runs_out_leaves_nothing(void **state)
{
    (void)state;
    int failures = 0;
    for (int64_t n = 0; n < 100; n++) {
        rh_memory_fail_after(n);
        rh_code code = use_everything();
        rh_memory_fail_after(-1);
        assert_int_equal(rh_memory_blocks(), 0);
        if (code == RH_OK) break;
        assert_int_equal(code, RH_MEMORY);
        failures++;
    }
    assert_true(failures > 10 && failures < 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_joined_and_kept),
        cmocka_unit_test(long_strings),
        cmocka_unit_test(many_kept_strings_stay_apart),
        cmocka_unit_test(any_split_into_blocks_gives_the_same),
        cmocka_unit_test(groups_without_end_are_refused),
        cmocka_unit_test(externals_are_read_where_they_stand),
        cmocka_unit_test(values_are_printed_as_they_read_back),
        cmocka_unit_test(voxels_know_where_they_are),
        cmocka_unit_test(neighbours_are_those_of_a_search_through_all),
        cmocka_unit_test(nearest_come_in_order),
        cmocka_unit_test(a_density_takes_three_lines),
        cmocka_unit_test(memory_that_runs_out_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
