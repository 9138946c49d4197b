// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target for the expression language. Any bytes must give a program or messages, and a program must run on a
// few elements (guard bytes around every column stay what they are) or say why not; no block may be lost. A first byte
// '!' compiles for volumes.
//   fuzz_lang -dict=tests/fuzz/lang.dict tests/fuzz/corpus/lang
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lang/lang.h"
#include "target.h"

enum { ELEMENTS = 7, COLUMNS = 64, GUARD = 64 };

static uint64_t noise(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
    return x ^ x >> 29;
}

// A column with guards on both sides: numbers of all sizes, strings that point somewhere.
static char *make_column(rh_lang_type type, uint64_t seed)
{
    size_t bytes = rh_lang_type_size(type) * ELEMENTS;
    char *block = malloc(bytes + 2 * GUARD), *column = block + GUARD;
    memset(block, 0x5a, bytes + 2 * GUARD);
    for (size_t i = 0; i < bytes; i++) column[i] = (char)noise(seed + i);
    if (type == RH_LANG_STRING)
        for (int i = 0; i < ELEMENTS; i++) ((rh_lang_text *)(void *)column)[i] = (rh_lang_text){"12 apples", i};
    if (rh_lang_type_element(type) == RH_LANG_E_BOOL)
        for (size_t i = 0; i < bytes; i++) column[i] &= 1;
    return column;
}

static void check_guards(char *column, size_t bytes)
{
    for (int i = 0; i < GUARD; i++) require(column[-1 - i] == 0x5a && column[(int)bytes + i] == 0x5a);
    free(column - GUARD);
}

static void run(const rh_lang_program *program)
{
    const rh_lang_listing *l = rh_lang_program_listing(program);
    if (l->attribute_count > COLUMNS || l->group_count > COLUMNS) return;
    rh_lang_column columns[COLUMNS];
    rh_lang_group groups[COLUMNS];
    float time = 0.25f, wind[3] = {1, 2, 3};
    rh_lang_external externals[] = {{"a", "float", &time}, {"wind", "vec3f", wind}};
    for (int i = 0; i < l->attribute_count; i++)
        columns[i] = (rh_lang_column){make_column(l->attributes[i].type, (uint64_t)i * 997),
                                      (int64_t)rh_lang_type_size(l->attributes[i].type)};
    for (int i = 0; i < l->group_count; i++)
        groups[i] = (rh_lang_group){l->groups[i].name, (uint8_t *)make_column(RH_LANG_BOOL, 5)};
    uint8_t dead[ELEMENTS] = {0};
    rh_lang_scope scope = {.externals = externals,
                           .external_count = 2,
                           .groups = groups,
                           .group_count = l->group_count,
                           .dead = dead,
                           .steps = 2000,
                           .text_room = 4096};
    rh_lang_thread thread;
    rh_lang_result result = {0};
    rh_status status = {0};
    require(rh_lang_thread_init(&thread, program, &scope, &status) == RH_OK);
    rh_lang_context_begin(&thread.context, 0);
    rh_lang_elements elements = {.attributes = columns};
    rh_code code = rh_lang_run(program, &thread, &elements, 0, ELEMENTS, &status);
    require(code == RH_OK || status.message[0]);
    rh_status_clear(&status);
    rh_lang_context_end(&thread.context, &result, &status);
    rh_lang_result_free(&result);
    for (int i = 0; i < l->attribute_count; i++)
        check_guards(columns[i].data, rh_lang_type_size(l->attributes[i].type) * ELEMENTS);
    for (int i = 0; i < l->group_count; i++) check_guards((char *)groups[i].member, ELEMENTS);
    rh_lang_thread_free(&thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool volumes = size > 0 && data[0] == '!';
    const char *source = (const char *)data + volumes;
    size -= volumes;
    rh_lang_options options = {.domain = volumes ? RH_LANG_VOLUMES : RH_LANG_POINTS};
    rh_lang_messages messages = {0};
    rh_lang_program *program = NULL;
    rh_status status = {0};
    rh_code code = rh_lang_compile(source, size, &options, &program, &messages, &status);
    require((code == RH_OK) == (program != NULL) && (code == RH_OK || (code == RH_USER && status.message[0])));
    char *text = rh_lang_messages_print(&messages, "fuzz", source, size, true, &status);
    require(text != NULL);
    rh_free(text);
    if (program) run(program);
    rh_lang_program_free(program);
    rh_lang_messages_free(&messages);
    require(rh_memory_bytes() == 0);
    return 0;
}
