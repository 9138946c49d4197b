// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The programs of tests/lang/corpus through our compiler, against what OpenVDB AX made of them (tests/lang/golden).
// What it accepted must compile and give the same values: integers, strings and groups exactly, reals within rounding.
// What it refused we must refuse. Differences on purpose stand, with their reasons, in tests/lang/differences.txt.
#include <dirent.h>
#include "lang_bench.h"
#include "lang/golden.h"

static golden_rows inputs;
static char *differences;

static rh_lang_type type_of(const char *name) { return rh_lang_type_named(name, strlen(name)); }

static rh_lang_type input_type(void *user, const char *name)
{
    (void)user;
    const golden_row *row = golden_find(&inputs, name);
    return row && strcmp(row->type, "group") != 0 ? type_of(row->type) : RH_LANG_VOID;
}

static void put_word(rh_lang_type type, char *at, const char *word)
{
    switch (rh_lang_type_element(type)) {
    case RH_LANG_E_BOOL: *at = (char)golden_whole(word); break;
    case RH_LANG_E_INT16: *(int16_t *)(void *)at = (int16_t)golden_whole(word); break;
    case RH_LANG_E_INT32: *(int32_t *)(void *)at = (int32_t)golden_whole(word); break;
    case RH_LANG_E_INT64: *(int64_t *)(void *)at = golden_whole(word); break;
    case RH_LANG_E_FLOAT: *(float *)(void *)at = (float)golden_real(word); break;
    case RH_LANG_E_DOUBLE: *(double *)(void *)at = golden_real(word); break;
    case RH_LANG_E_STRING: *(rh_lang_text *)(void *)at = (rh_lang_text){word, (int64_t)strlen(word)}; break;
    default: fail_msg("a value of type void");
    }
}

static void fill(lang_bench *b)
{
    for (int i = 0; i < b->listing->attribute_count; i++) {
        const golden_row *row = golden_find(&inputs, b->listing->attributes[i].name);
        rh_lang_type type = b->listing->attributes[i].type;
        for (int k = 0; row && k < row->count; k++)
            put_word(type, (char *)b->columns[i].data + (size_t)k * rh_lang_element_size(rh_lang_type_element(type)),
                     row->words[k]);
    }
    for (int i = 0; i < b->scope.group_count; i++) {
        const golden_row *row = golden_find(&inputs, b->groups[i].name);
        for (int k = 0; row && k < row->count; k++) b->groups[i].member[k] = (uint8_t)golden_whole(row->words[k]);
    }
}

// Groups whose names are made while running: those of the input exist, others are in the result.
static void offer_groups(lang_bench *b)
{
    static uint8_t members[8][64];
    for (int i = 0; i < inputs.count && b->listing->group_count == 0; i++)
        if (strcmp(inputs.rows[i].type, "group") == 0 && b->scope.group_count < 8) {
            b->groups[b->scope.group_count] = (rh_lang_group){inputs.rows[i].name, members[b->scope.group_count]};
            b->scope.group_count++;
        }
}

static char *group_of(lang_bench *b, const char *name)
{
    static char members[64];
    for (int i = 0; i < b->scope.group_count; i++)
        if (strcmp(b->groups[i].name, name) == 0) return (char *)b->groups[i].member;
    for (int i = 0; i < b->result.group_count; i++) {
        if (strcmp(b->result.groups[i].name, name) != 0) continue;
        memset(members, 0, sizeof members);
        for (int64_t k = 0; k < b->result.groups[i].count; k++) members[b->result.groups[i].elements[k]] = 1;
        return members;
    }
    return NULL;
}

static bool close_enough(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

static bool same_word(rh_lang_type type, const char *at, const char *word)
{
    switch (rh_lang_type_element(type)) {
    case RH_LANG_E_BOOL: return *at == golden_whole(word);
    case RH_LANG_E_INT16: return *(const int16_t *)(const void *)at == golden_whole(word);
    case RH_LANG_E_INT32: return *(const int32_t *)(const void *)at == golden_whole(word);
    case RH_LANG_E_INT64: return *(const int64_t *)(const void *)at == golden_whole(word);
    case RH_LANG_E_FLOAT: return close_enough(*(const float *)(const void *)at, golden_real(word), 4e-6);
    case RH_LANG_E_DOUBLE: return close_enough(*(const double *)(const void *)at, golden_real(word), 1e-12);
    default: {
        const rh_lang_text *text = (const void *)at;
        return (size_t)text->length == strlen(word) && memcmp(text->data, word, strlen(word)) == 0;
    }
    }
}

// The column of a row and its type; NULL when the program has none.
static char *column_of(lang_bench *b, const golden_row *row, rh_lang_type *type)
{
    if (strcmp(row->type, "group") != 0) {
        *type = type_of(row->type);
        for (int i = 0; i < b->listing->attribute_count; i++)
            if (strcmp(b->listing->attributes[i].name, row->name) == 0)
                return b->listing->attributes[i].type == *type ? b->columns[i].data : NULL;
        return NULL;
    }
    *type = RH_LANG_BOOL;
    return group_of(b, row->name);
}

// Values stand in order of points, those that were deleted left out.
static bool row_agrees(lang_bench *b, const golden_row *row, char *why, size_t size)
{
    rh_lang_type type;
    const char *data = column_of(b, row, &type);
    if (!data) {
        // After a deletion every attribute changed; what the program does not touch is none of its business.
        snprintf(why, size, "no column %s of type %s", row->name, row->type);
        return b->listing->deletes;
    }
    size_t width = rh_lang_element_size(rh_lang_type_element(type));
    int parts = rh_lang_type_parts(type), word = 0;
    for (int64_t i = 0; i < b->count; i++)
        for (int k = 0; k < parts && !(b->listing->deletes && b->dead[i]); k++, word++) {
            if (word < row->count &&
                same_word(type, data + ((size_t)i * (size_t)parts + (size_t)k) * width, row->words[word]))
                continue;
            snprintf(why, size, "%s, point %d, component %d is not %s", row->name, (int)i, k,
                     word < row->count ? row->words[word] : "there");
            return false;
        }
    snprintf(why, size, "%s: %d values, expected %d", row->name, word, row->count);
    return word == row->count;
}

static bool outputs_agree(lang_bench *b, const golden_program *p, char *why, size_t size)
{
    for (int i = 0; i < p->rows.count; i++)
        if (!row_agrees(b, &p->rows.rows[i], why, size)) return false;
    return true;
}

static bool program_agrees(const golden_program *p, char *why, size_t size)
{
    lang_bench b;
    rh_lang_host host = {.attribute = input_type, .create_missing = true};
    bool compiled = bench_compile(&b, p->code, RH_LANG_POINTS, false) &&
                    rh_lang_match(b.program, &host, &b.messages, &b.status) == RH_OK;
    bool wanted = strcmp(p->verdict, "accepted") == 0, agrees = compiled == wanted;
    snprintf(why, size, "%s", compiled ? "should be refused" : b.status.message);
    if (compiled) {
        bench_allocate(&b, inputs.points);
        offer_groups(&b);
        fill(&b);
        agrees = (bench_run(&b) == RH_OK) == wanted;
        if (!agrees) snprintf(why, size, "%s", wanted ? b.status.message : "should be refused");
        else if (wanted) agrees = outputs_agree(&b, p, why, size);
    }
    bench_free(&b);
    return agrees;
}

static bool is_intended(const char *group, const char *program)
{
    char key[256];
    snprintf(key, sizeof key, "\n%s/%s:", group, program);
    return strstr(differences, key) != NULL;
}

static int check_group(const char *group, int *programs, int *listed)
{
    golden_file file = golden_open(group);
    int wrong = 0;
    for (int i = 0; i < file.count; i++) {
        char why[2400];
        const golden_program *p = &file.programs[i];
        if (strcmp(p->verdict, "crashed") == 0) continue;
        bool agrees = program_agrees(p, why, sizeof why), intended = is_intended(group, p->name);
        ++*programs;
        *listed += intended;
        if (agrees != intended) continue;
        if (agrees) print_message("%s/%s: listed as a difference, but it agrees\n", group, p->name);
        else print_message("%s/%s: %s\n%s", group, p->name, why, p->code);
        wrong++;
    }
    golden_close(&file);
    return wrong;
}

static void agrees_with_the_original(void **state)
{
    (void)state;
    int programs = 0, wrong = 0, listed = 0, lines = 0;
    DIR *folder = opendir(RHEO_SOURCE_DIR "/tests/lang/golden");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char *end = strstr(entry->d_name, ".txt");
        if (!end || strstr(entry->d_name, "_input") || strncmp(entry->d_name, "volumes", 7) == 0) continue;
        *end = 0;
        wrong += check_group(entry->d_name, &programs, &listed);
    }
    closedir(folder);
    print_message("%d programs\n", programs);
    assert_true(programs >= 300);
    assert_int_equal(wrong, 0);
    // Every line of the list speaks of a program there is.
    for (const char *at = differences; (at = strchr(at, '\n')); at++)
        lines += at[1] && at[1] != '#' && at[1] != '\n' && strncmp(at + 1, "volumes/", 8) != 0;
    assert_int_equal(listed, lines);
}

static int open_files(void **state)
{
    (void)state;
    inputs = golden_input("points");
    FILE *file = fopen(RHEO_SOURCE_DIR "/tests/lang/differences.txt", "rb");
    if (!file) return -1;
    differences = calloc(1, 1 << 16);
    if (fread(differences + 1, 1, (1 << 16) - 2, file) == 0) return -1;
    differences[0] = '\n';
    fclose(file);
    return 0;
}

static int close_files(void **state)
{
    golden_free(&inputs);
    free(differences);
    return nothing_left(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_original)};
    return cmocka_run_group_tests(tests, open_files, close_files);
}
