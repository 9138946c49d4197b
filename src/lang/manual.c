// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rows of one name stand together in the table; here they become one entry with all overloads, in the order in which
// they are tried.
#include "lang/manual.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lang/functions.h"

static const char *where(const rh_lang_function *row)
{
    if (row->flags & RH_LANG_POINTS) return " (points only)";
    return row->flags & RH_LANG_VOLUMES ? " (volumes only)" : "";
}

static void print_entry(FILE *out, const rh_lang_function *row, int count, bool markdown)
{
    fprintf(out, markdown ? "| `%s` | %s%s | " : "%s: %s%s\n   ", row->name, row->help, where(row));
    for (int i = 0; i < count; i++)
        fprintf(out, markdown ? "%s`%s`" : "%s%s", i == 0 ? "" : markdown ? ", " : "  ", row[i].signature);
    fputs(markdown ? " |\n" : "\n", out);
}

char *rh_lang_manual(bool markdown, rh_status *status)
{
    char *text = NULL, *copy = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out) {
        if (markdown) fputs("| function | what it gives | result(arguments) |\n|---|---|---|\n", out);
        for (int i = 0, count; i < rh_lang_function_count; i += count) {
            for (count = 1; i + count < rh_lang_function_count &&
                            strcmp(rh_lang_functions[i].name, rh_lang_functions[i + count].name) == 0;)
                count++;
            print_entry(out, &rh_lang_functions[i], count, markdown);
        }
        if (fclose(out) == 0) copy = rh_strdup(text, "lang.manual", status);
    }
    if (!copy) rh_fail(status, RH_MEMORY, "no memory for the reference of functions");
    free(text);
    return copy;
}
