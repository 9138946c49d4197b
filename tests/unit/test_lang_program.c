// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a host asks about programs: which attribute depends on which, and the cache of compiled ones.
#include "lang_bench.h"
#include "lang/cache.h"
#include "lang/manual.h"

static void check_dependencies(const char *code, const char *expected)
{
    lang_bench b;
    char found[256] = "";
    if (!bench_compile(&b, code, RH_LANG_POINTS, false)) fail_msg("%s: %s", code, b.status.message);
    for (int i = 0; i < b.listing->attribute_count; i++) {
        if (!b.listing->attributes[i].writes) continue;
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s:", found[0] ? " " : "",
                 b.listing->attributes[i].name);
        for (int k = 0; k < b.listing->attribute_count; k++)
            if (rh_lang_program_depends(b.program, i, k))
                snprintf(found + strlen(found), sizeof found - strlen(found), "%s", b.listing->attributes[k].name);
    }
    if (strcmp(found, expected) != 0) fail_msg("%s: found %s, expected %s", code, found, expected);
    bench_free(&b);
}

static void dependencies(void **state)
{
    (void)state;
    check_dependencies("f@a = 1;", "a:");
    check_dependencies("f@a = f@b;", "a:b");
    check_dependencies("f@a += f@b;", "a:ba");
    check_dependencies("f@a++;", "a:a");
    check_dependencies("float t = f@b; float u = t; f@a = u;", "a:b");
    check_dependencies("f@a = f@b; f@c = f@a;", "a:b c:ba");
    check_dependencies("if (f@b > 1) f@a = 1;", "a:b");
    check_dependencies("for (int i = 0; i < f@b; ++i) f@a = 1;", "a:b");
    check_dependencies("do { f@a = 1; } while (f@b > 2)", "a:b");
    check_dependencies("if (f@b > 1) return; f@a = 1;", "a:b");
    check_dependencies("f@b > 1 && (f@a = 2);", "a:b");
    check_dependencies("f@b > 1 ? f@a = 2 : f@c;", "a:b");
    check_dependencies("v@a.x = f@b;", "a:ba");
    check_dependencies("int k = i@k; v@a[k] = 1;", "a:ka");
    check_dependencies("prescale(mat4f@m, v@s);", "m:ms");
    check_dependencies("f@a = f@b; f@c = f@d;", "a:b c:d");
    check_dependencies("f@a = length(v@P) + $x;", "a:P");
}

static void cache(void **state)
{
    (void)state;
    rh_lang_cache *c;
    rh_status status = {0};
    rh_lang_messages messages = {0};
    rh_lang_options points = {.domain = RH_LANG_POINTS}, volumes = {.domain = RH_LANG_VOLUMES};
    const rh_lang_program *a, *b, *d, *e;
    const char *one = "f@a = 1;", *two = "i@a = 2.5f;";
    assert_int_equal(rh_lang_cache_create(2, &c, &status), RH_OK);
    assert_int_equal(rh_lang_cache_get(c, one, strlen(one), &points, &a, &messages, &status), RH_OK);
    assert_int_equal(rh_lang_cache_get(c, one, strlen(one), &points, &b, &messages, &status), RH_OK);
    assert_ptr_equal(a, b);
    assert_int_equal(rh_lang_cache_hits(c), 1);
    assert_int_equal(rh_lang_cache_get(c, one, strlen(one), &volumes, &d, &messages, &status), RH_OK);
    assert_ptr_not_equal(a, d);
    // Over capacity, but in use: nothing goes. Warnings come with a hit too.
    assert_int_equal(rh_lang_cache_get(c, two, strlen(two), &points, &e, &messages, &status), RH_OK);
    assert_int_equal(messages.count, 1);
    rh_lang_cache_release(c, e);
    assert_int_equal(rh_lang_cache_get(c, one, strlen(one), &volumes, &b, &messages, &status), RH_OK);
    assert_ptr_equal(b, d);
    assert_int_equal(rh_lang_cache_get(c, "f@a = ;", 7, &points, &b, &messages, &status), RH_USER);
    assert_null(b);
    assert_int_equal(messages.errors, 1);
    rh_lang_cache_release(c, a);
    rh_lang_cache_release(c, a);
    rh_lang_cache_release(c, d);
    rh_lang_cache_release(c, d);
    rh_lang_cache_free(c);
    rh_lang_messages_free(&messages);
}

// The list of functions in docs/expressions.md is what the table gives: rheo doc functions --markdown.
static void reference_is_up_to_date(void **state)
{
    (void)state;
    rh_status status = {0};
    char *list = rh_lang_manual(true, &status), *plain = rh_lang_manual(false, &status), *page = calloc(1, 1 << 20);
    FILE *file = fopen(RHEO_SOURCE_DIR "/docs/expressions.md", "rb");
    assert_non_null(file);
    assert_true(fread(page, 1, (1 << 20) - 1, file) > strlen(list));
    fclose(file);
    assert_non_null(strstr(page, list));
    for (int i = 0; i < rh_lang_function_count; i++)
        assert_true(strstr(plain, rh_lang_functions[i].name) && strstr(plain, rh_lang_functions[i].help));
    free(page);
    rh_free(list);
    rh_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dependencies), cmocka_unit_test(cache),
                                       cmocka_unit_test(reference_is_up_to_date)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
