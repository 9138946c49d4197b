// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the compiler says about wrong programs: tests/lang/errors/*.ax, each with the messages a user sees in the .txt
// beside it. After a change `test_lang_errors --record` writes the .txt anew; read the difference before it is
// committed.
#include <stdio.h>
#include "lang_bench.h"

static const char *const topics[] = {"words", "syntax", "names", "types", "warnings"};
static bool recording;

static char *read_file(const char *topic, const char *suffix)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/lang/errors/%s.%s", RHEO_SOURCE_DIR, topic, suffix);
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 20);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

// Appends "//: name" and the messages of one program. Everything but a warning must fail to compile.
static void judge(FILE *out, const char *name, const char *code, bool warning, int *wrong)
{
    lang_bench b;
    bool compiled = bench_compile(&b, code, RH_LANG_POINTS, false);
    char *text = rh_lang_messages_print(&b.messages, "program", code, strlen(code), true, NULL);
    fprintf(out, "//: %s\n%s", name, text);
    if (compiled != warning || (compiled ? b.messages.errors > 0 : b.status.code != RH_USER || !b.status.message[0])) {
        print_message("%s: %s\n", name, compiled ? "compiles, expected an error" : b.status.message);
        ++*wrong;
    }
    rh_free(text);
    bench_free(&b);
}

static int judge_topic(const char *topic, char **said, int *wrong)
{
    size_t size;
    FILE *out = open_memstream(said, &size);
    char *source = read_file(topic, "ax"), *at = strstr(source, "\n//: ");
    int count = 0;
    while (at) {
        char *name = at + 5, *code = strchr(name, '\n'), *after = strstr(code, "\n//: ");
        *code++ = 0;
        if (after) *after = 0;
        size_t length = strlen(code);
        while (length > 0 && code[length - 1] == '\n') code[--length] = 0;
        judge(out, name, code, strcmp(topic, "warnings") == 0, wrong);
        at = after;
        count++;
    }
    fclose(out);
    free(source);
    return count;
}

static void record(const char *topic, const char *said)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/lang/errors/%s.txt", RHEO_SOURCE_DIR, topic);
    FILE *file = fopen(path, "wb");
    fputs(said, file);
    fclose(file);
}

static void messages_are_the_recorded_ones(void **state)
{
    (void)state;
    int programs = 0, wrong = 0;
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        char *said = NULL;
        programs += judge_topic(topics[i], &said, &wrong);
        if (recording) record(topics[i], said);
        char *expected = read_file(topics[i], "txt");
        assert_non_null(expected);
        if (strcmp(said, expected) != 0) {
            size_t at = 0;
            while (said[at] && said[at] == expected[at]) at++;
            while (at > 0 && strncmp(said + at, "//: ", 4) != 0) at--;
            print_message("%s: first difference:\n%.600s\n", topics[i], said + at);
            wrong++;
        }
        free(said);
        free(expected);
    }
    assert_true(programs >= 150);
    assert_int_equal(wrong, 0);
}

// A hundred messages are kept, all errors counted.
static void messages_have_an_end(void **state)
{
    (void)state;
    char *code = calloc(1, 8192);
    for (int i = 0; i < 300; i++) strcat(code, "@a = q;\n");
    lang_bench b;
    assert_false(bench_compile(&b, code, RH_LANG_POINTS, false));
    assert_int_equal(b.messages.count, RH_LANG_MOST_MESSAGES);
    assert_int_equal(b.messages.errors, 300);
    bench_free(&b);
    free(code);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "float a = 1; for (int i = 0; i < 3; ++i) { a += v@P[i]; } f@x = a * $b; if (ingroup(\"g\")) deletepoint();",
        "@a = b; v@c = {1, 2};", "s@a = \"x\" + s@b; prescale(mat4f@m, v@v);"};
    for (int c = 0; c < 3; c++)
        for (int n = 0; n < 200; n++) {
            lang_bench b;
            rh_memory_fail_after(n);
            bool compiled = bench_compile(&b, codes[c], RH_LANG_POINTS, false);
            rh_memory_fail_after(-1);
            if (!compiled) assert_true(b.status.code == RH_MEMORY || b.messages.errors > 0);
            bench_free(&b);
            if (compiled || b.status.code != RH_MEMORY) break;
            assert_true(n < 199);
        }
}

int main(int argc, char **argv)
{
    recording = argc > 1 && strcmp(argv[1], "--record") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_the_recorded_ones),
        cmocka_unit_test(messages_have_an_end),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
