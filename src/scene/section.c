// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The base is written as YAML and read again: numbers come back as the same bits (tests/unit/test_scene.c), and
// settings work on trees.
#include "scene/section.h"

#include <string.h>
#include "base/memory.h"
#include "scene/print.h"
#include "scene/reader.h"
#include "scene/setting.h"

static rh_code base_tree(rh_yaml *yaml, const rh_param_table *table, int file, const void *base, rh_yaml_node **root,
                         rh_status *status)
{
    char *text = base ? rh_print_block(table, base, status) : rh_strdup("{}", "scene.section", status);
    if (!text) return status ? status->code : RH_MEMORY;
    rh_code code = rh_yaml_parse(yaml, file, text, strlen(text), root, status);
    rh_free(text);
    return code;
}

static rh_code load(rh_yaml *yaml, const rh_param_table *table, const char *name, const void *base,
                    const char *const *sets, int set_count, void *object, rh_status *status)
{
    // As a setting its places have no line and column: nobody has seen the text they would point into.
    int file = rh_yaml_add_file(yaml, name, ".", true, status);
    if (file < 0) return RH_MEMORY;
    rh_yaml_node *root = NULL;
    RH_TRY(base_tree(yaml, table, file, base, &root, status));
    for (int i = 0; i < set_count; i++) RH_TRY(rh_setting_apply(yaml, table, root, sets[i], status));
    return rh_reader_read(yaml, root, table, object, NULL, status);
}

rh_code rh_section_load(const rh_param_table *table, const char *name, const void *base, const char *const *sets,
                        int set_count, void *object, rh_status *status)
{
    rh_yaml yaml;
    rh_status local = {0};
    rh_yaml_init(&yaml);
    rh_code code = load(&yaml, table, name, base, sets, set_count, object, &local);
    rh_yaml_free(&yaml);
    return code == RH_OK ? RH_OK : rh_fail(status, code, "%s", local.message);
}
