// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The manual (rheo doc): every row of every table is in it with an example that reads as that row, within the width.
#include "unit/scene_support.h"

// --- manual ----------------------------------------------------------------------------------------------------------

// The example behind each row must read as that row, alone.
static void check_examples(const rh_param_table *table, const char *text)
{
    char start[24];  // two tables may share a name: ours begins with its help
    snprintf(start, sizeof start, "%.20s", table->help);
    const char *at = strstr(text, start);
    assert_non_null(at);
    for (int i = 0; i < table->count; i++) {
        at = strstr(at, "example: ");
        assert_non_null(at);
        at += strlen("example: ");
        const rh_param_table one = {table->name, table->help, &table->rows[i], 1, table->size, NULL};
        void *object = calloc(1, table->size);
        assert_non_null(object);
        rh_yaml yaml;
        rh_yaml_node *root;
        rh_status status = {0};
        rh_yaml_init(&yaml);
        int file = rh_yaml_add_file(&yaml, table->name, "/", false, &status);
        assert_int_equal(rh_yaml_parse(&yaml, file, at, strcspn(at, "\n"), &root, &status), RH_OK);
        rh_code code = rh_reader_read(&yaml, root, &one, object, NULL, &status);
        if (code != RH_OK) print_error("%s\n", status.message);
        assert_int_equal(code, RH_OK);
        rh_params_free(&one, object);
        rh_yaml_free(&yaml);
        free(object);
    }
}

static void check_width(const char *text)
{
    for (const char *line = text; *line;) {
        size_t width = strcspn(line, "\n");
        if (width > 100) print_error("%.*s\n", (int)width, line);
        assert_true(width <= 100);
        line += width + (line[width] == '\n');
    }
}

// Every table that the root reaches: a topic, sound defaults, and rows that help.
static const rh_param_table *checked[128];
static int checked_count;

static void check_table(const rh_param_table *table, const char *path)
{
    for (int i = 0; i < checked_count; i++)
        if (checked[i] == table) return;
    assert_true(checked_count < 128);
    checked[checked_count++] = table;
    rh_status status = {0};
    char *text = rh_scene_manual(path, false, &status), *marked = rh_scene_manual(path, true, &status);
    assert_non_null(text);
    assert_non_null(marked);
    check_width(text);
    check_examples(table, text);
    void *object = calloc(1, table->size);
    assert_int_equal(rh_params_defaults(table, object, &status), RH_OK);
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        char cell[96];
        double value = row->type == RH_PARAM_FLOAT ? *(double *)((char *)object + row->offset)
                       : row->type == RH_PARAM_INT ? (double)*(int64_t *)((char *)object + row->offset)
                                                   : 0;
        if (row->initial && (row->type == RH_PARAM_FLOAT || row->type == RH_PARAM_INT) &&
            (row->min != 0 || row->max != 0))
            assert_true(value >= row->min && value <= row->max);
        snprintf(cell, sizeof cell, "| `%s` |", row->name);
        assert_non_null(strstr(marked, cell));
        assert_true(row->help && row->help[0] && row->help[strlen(row->help) - 1] != '.');
        assert_ptr_equal(rh_params_find(table, row->name), row);               // no name twice
        assert_true(!row->formerly || !rh_params_find(table, row->formerly));  // nor one that a row had before
        assert_true(!row->formerly || rh_params_find_former(table, row->formerly) == row);
        char below[160], deeper[256];
        snprintf(below, sizeof below, "%s%s%s%s", table == &rh_scene_table ? "" : path,
                 table == &rh_scene_table ? "" : ".", row->name, row->type == RH_PARAM_LIST ? "[0]" : "");
        if (row->table && row->type != RH_PARAM_OPTIONAL) check_table(row->table, below);
        for (int k = 0; row->variants && row->variants[k]; k++) {
            snprintf(deeper, sizeof deeper, "%s.%s", below, row->variants[k]->name);
            check_table(row->variants[k], deeper);
        }
    }
    rh_params_free(table, object);
    free(object);
    rh_free(text);
    rh_free(marked);
}

static void test_manual(void **state)
{
    (void)state;
    checked_count = 0;
    check_table(&rh_scene_table, "scene");
    rh_status status = {0};
    char *text = rh_scene_manual(NULL, false, &status);
    assert_non_null(text);
    check_width(text);
    assert_non_null(strstr(text, "\n  liquid "));
    rh_free(text);
    text = rh_scene_manual("bodies", false, &status);  // the key instead of the table
    assert_true(strncmp(text, "body\n", 5) == 0);
    rh_free(text);
    assert_null(rh_scene_manual("liqiud", false, &status));
    assert_int_equal(status.code, RH_USER);
    assert_non_null(strstr(status.message, "did you mean 'liquid'?"));
    rh_status_clear(&status);
    assert_null(rh_scene_manual("quantum", false, &status));
    assert_non_null(strstr(status.message, "expected scene, frames"));
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : rh_memory_bytes() != 0;
}
