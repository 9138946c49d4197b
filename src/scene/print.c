// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Write-back: every row of every table, in the order of the tables, so that the text is a complete record of a run.
// Numbers read back as the same bits and texts as the same bytes. The hash is taken over the same text without what
// does not decide the result, so two scenes have one hash exactly when their complete texts agree on the rest.
#include "scene/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "scene/text.h"

enum { COMMENT_COLUMN = 44, INDENT = 2 };

typedef struct printer {
    rh_text text;
    bool hashing;
    bool former_names;
    bool first_of_item;  // the next line opens a list item: "- " instead of two blanks
} printer;

static void print_block(printer *p, const rh_param_table *table, const void *object, int depth);

// --- values ----------------------------------------------------------------------------------------------------------

// Decodes one character of valid UTF-8 (all texts came through libyaml, which checks).
static uint32_t decode(const unsigned char **at)
{
    const unsigned char *s = *at;
    int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    uint32_t code = more == 3 ? s[0] & 7u : more == 2 ? s[0] & 15u : more == 1 ? s[0] & 31u : s[0];
    int i = 1;
    for (; i <= more && s[i]; i++) code = code << 6 | (s[i] & 63u);
    *at = s + i;
    return code;
}

// What YAML cannot hold raw inside double quotes, or would fold as a line break.
static bool needs_escape(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == '"' || code == '\\') return true;
    return code == 0x2028 || code == 0x2029 || code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static void print_quoted(rh_text *text, const char *value)
{
    rh_text_add(text, "\"");
    for (const unsigned char *at = (const unsigned char *)value; *at;) {
        const unsigned char *start = at;
        uint32_t code = decode(&at);
        if (!needs_escape(code)) rh_text_add_bytes(text, (const char *)start, (size_t)(at - start));
        else if (code == '"' || code == '\\') rh_text_add(text, "\\%c", (int)code);
        else if (code < 0x100) rh_text_add(text, "\\x%02" PRIX32, code);
        else rh_text_add(text, "\\u%04" PRIX32, code);
    }
    rh_text_add(text, "\"");
}

static void print_vector(rh_text *text, rh_dvec3 v)
{
    char x[RH_NUMBER_TEXT], y[RH_NUMBER_TEXT], z[RH_NUMBER_TEXT];
    rh_text_add(text, "[%s, %s, %s]", rh_number_print(v.x, x), rh_number_print(v.y, y), rh_number_print(v.z, z));
}

static void print_path(printer *p, const char *path)
{
    const char *slash = p->hashing ? strrchr(path, '/') : NULL;
    print_quoted(&p->text, slash ? slash + 1 : path);
}

static void print_scalar(printer *p, const rh_param *row, const void *field)
{
    char number[RH_NUMBER_TEXT];
    switch (row->type) {
    case RH_PARAM_BOOL: rh_text_add(&p->text, *(const bool *)field ? "true" : "false"); break;
    case RH_PARAM_INT: rh_text_add(&p->text, "%" PRId64, *(const int64_t *)field); break;
    case RH_PARAM_FLOAT: rh_text_add(&p->text, "%s", rh_number_print(*(const double *)field, number)); break;
    case RH_PARAM_VEC3: print_vector(&p->text, *(const rh_dvec3 *)field); break;
    case RH_PARAM_CHOICE: rh_text_add(&p->text, "%s", row->choices[*(const int *)field]); break;
    case RH_PARAM_TEXT: print_quoted(&p->text, *(char *const *)field); break;
    case RH_PARAM_PATH: print_path(p, *(char *const *)field); break;
    default: break;
    }
}

// --- lines -----------------------------------------------------------------------------------------------------------

static const char *name_of(const printer *p, const rh_param *row)
{
    return p->former_names && row->formerly ? row->formerly : row->name;
}

static void start_line(printer *p, int depth)
{
    rh_text_fill(&p->text, ' ', INDENT * depth - (p->first_of_item ? 2 : 0));
    if (p->first_of_item) rh_text_add(&p->text, "- ");
    p->first_of_item = false;
}

static void end_line(printer *p, const rh_param *row)
{
    const char *unit = row->unit ? row->unit : "";
    if (row->help && !p->hashing) {
        int column = rh_text_column(&p->text);
        rh_text_fill(&p->text, ' ', column < COMMENT_COLUMN - 2 ? COMMENT_COLUMN - column : 2);
        rh_text_add(&p->text, "# %s%s%s", unit, unit[0] ? "; " : "", row->help);
    }
    rh_text_add(&p->text, "\n");
}

static bool is_flat(const rh_param_table *table)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].type > RH_PARAM_CHOICE) return false;
    return true;
}

// An item of numbers only, such as a key of a motion, reads best on one line.
static void print_flat_item(printer *p, const rh_param_table *table, const char *object, int depth)
{
    p->first_of_item = true;
    start_line(p, depth);
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        rh_text_add(&p->text, "%s%s: ", i ? ", " : "{", name_of(p, row));
        print_scalar(p, row, object + row->offset);
    }
    rh_text_add(&p->text, "}\n");
}

static void print_list(printer *p, const rh_param *row, const rh_list *list, int depth)
{
    rh_text_add(&p->text, list->count ? ":" : ": []");
    end_line(p, row);
    for (int i = 0; i < list->count; i++) {
        const char *item = (const char *)list->items + (size_t)i * row->table->size;
        if (is_flat(row->table)) {
            print_flat_item(p, row->table, item, depth + 2);
        } else {
            p->first_of_item = true;
            print_block(p, row->table, item, depth + 2);
        }
    }
}

static void print_values(printer *p, const rh_param *row, const rh_list *list)
{
    const rh_named_value *values = list->items;
    char number[RH_NUMBER_TEXT];
    rh_text_add(&p->text, ": {");
    for (int i = 0; i < list->count; i++) {
        rh_text_add(&p->text, "%s%s: ", i ? ", " : "", values[i].name);
        if (values[i].is_vector) print_vector(&p->text, values[i].vector);
        else rh_text_add(&p->text, "%s", rh_number_print(values[i].number, number));
    }
    rh_text_add(&p->text, "}");
    end_line(p, row);
}

// Whether a block after | gives the text back: its line breaks are newlines alone, and it holds nothing that YAML wants
// escaped.
static bool fits_block(const char *code)
{
    if (!code[strspn(code, " \t\n")]) return false;
    for (const unsigned char *at = (const unsigned char *)code; *at;) {
        uint32_t letter = decode(&at);
        if (letter != '\n' && letter != '\t' && letter != '"' && letter != '\\' && needs_escape(letter)) return false;
    }
    return true;
}

// As a block, so that it stays readable. The indentation is said (2), for the text may begin with blanks; the sign says
// how many newlines end it.
static void print_code(printer *p, const rh_param *row, const char *code, int depth)
{
    size_t length = strlen(code);
    rh_text_add(&p->text, ": ");
    if (!fits_block(code)) {
        print_quoted(&p->text, code);
        end_line(p, row);
        return;
    }
    bool ended = code[length - 1] == '\n', more = ended && length > 1 && code[length - 2] == '\n';
    rh_text_add(&p->text, "|2%s", !ended ? "-" : more ? "+" : "");
    end_line(p, row);
    for (const char *line = code; *line;) {
        size_t bytes = strcspn(line, "\n");
        if (bytes) rh_text_fill(&p->text, ' ', INDENT * (depth + 1));
        rh_text_add_bytes(&p->text, line, bytes);
        rh_text_add(&p->text, "\n");
        line += bytes + (line[bytes] == '\n');
    }
}

static void print_variant(printer *p, const rh_param *row, const rh_variant *variant, int depth)
{
    const rh_param_table *table = row->variants[variant->kind];
    rh_text_add(&p->text, ":");
    end_line(p, row);
    start_line(p, depth + 1);
    rh_text_add(&p->text, "%s:\n", table->name);
    print_block(p, table, variant->value, depth + 2);
}

static bool is_given(const rh_param *row, const void *field)
{
    // Lists that came later than others are left out when empty: scenes without them keep their hash.
    bool later = row->table == &rh_material_table || row->table == &rh_exchange_table || row->table == &rh_from_table ||
                 row->table == &rh_joint_table || row->table == &rh_mask_table;
    if (row->type == RH_PARAM_LIST && later) return ((const rh_list *)field)->count > 0;
    if (row->type == RH_PARAM_TEXT || row->type == RH_PARAM_PATH || row->type == RH_PARAM_CODE)
        return *(char *const *)field != NULL;
    if (row->type == RH_PARAM_OPTIONAL) return *(void *const *)field != NULL;
    return row->type != RH_PARAM_VARIANT || ((const rh_variant *)field)->value != NULL;
}

// The rows that do not decide the result; only the root table and its frames are asked.
static bool is_left_out(const printer *p, const rh_param_table *table, const rh_param *row)
{
    const rh_param *frames = rh_params_find(&rh_scene_table, "frames");
    if (!p->hashing) return false;
    if (table == frames->table) return strcmp(row->name, "last") == 0;
    if (table == &rh_material_table) return strcmp(row->name, "look") == 0 || strcmp(row->name, "surface") == 0;
    if (table != &rh_scene_table) return false;
    static const char *const names[] = {"title", "probes", "output", "surface", "checkpoint", "limits", "look"};
    for (int i = 0; i < RH_PARAM_COUNT(names); i++)
        if (strcmp(row->name, names[i]) == 0) return true;
    return false;
}

static void print_row(printer *p, const rh_param *row, const void *field, int depth)
{
    start_line(p, depth);
    rh_text_add(&p->text, "%s", name_of(p, row));
    switch (row->type) {
    case RH_PARAM_TABLE:
        rh_text_add(&p->text, ":");
        end_line(p, row);
        print_block(p, row->table, field, depth + 1);
        break;
    case RH_PARAM_OPTIONAL:
        rh_text_add(&p->text, ":");
        end_line(p, row);
        print_block(p, row->table, *(void *const *)field, depth + 1);
        break;
    case RH_PARAM_LIST: print_list(p, row, field, depth); break;
    case RH_PARAM_VALUES: print_values(p, row, field); break;
    case RH_PARAM_CODE: print_code(p, row, *(char *const *)field, depth); break;
    case RH_PARAM_VARIANT: print_variant(p, row, field, depth); break;
    default:
        rh_text_add(&p->text, ": ");
        print_scalar(p, row, field);
        end_line(p, row);
    }
}

static void print_block(printer *p, const rh_param_table *table, const void *object, int depth)
{
    bool any = false;
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        const void *field = (const char *)object + row->offset;
        if (!is_given(row, field) || is_left_out(p, table, row)) continue;
        print_row(p, row, field, depth);
        any = true;
    }
    if (any) return;
    start_line(p, depth);
    rh_text_add(&p->text, "{}\n");
}

char *rh_scene_print(const rh_scene *scene, rh_status *status)
{
    printer p = {0};
    rh_text_add(&p.text,
                "# A complete scene: every value, with its unit (SI) and meaning. Reading it gives the same run.\n");
    print_block(&p, &rh_scene_table, scene, 0);
    return rh_text_take(&p.text, status);
}

char *rh_print_block(const rh_param_table *table, const void *object, rh_status *status)
{
    printer p = {0};
    print_block(&p, table, object, 0);
    return rh_text_take(&p.text, status);
}

char *rh_print_decisive(const rh_scene *scene, bool former_names, rh_status *status)
{
    printer p = {.hashing = true, .former_names = former_names};
    print_block(&p, &rh_scene_table, scene, 0);
    return rh_text_take(&p.text, status);
}

rh_code rh_print_hash(const rh_scene *scene, uint64_t *hash, rh_status *status)
{
    rh_status local = {0};
    char *text = rh_print_decisive(scene, true, &local);
    if (!text) return rh_fail(status, local.code, "%s", local.message);
    *hash = rh_hash(text, strlen(text), 0);
    rh_free(text);
    return RH_OK;
}

static int trimmed(const char *line, const char **start)
{
    *start = line + strspn(line, " ");
    return (int)strcspn(*start, "\n");
}

rh_code rh_scene_difference(const rh_scene *was, const rh_scene *is, char *out, size_t size, rh_status *status)
{
    char *a = rh_print_decisive(was, false, status), *b = a ? rh_print_decisive(is, false, status) : NULL;
    if (b) {
        size_t same = 0;
        for (size_t i = 0; a[i] && a[i] == b[i]; i++)
            if (a[i] == '\n') same = i + 1;
        const char *old, *fresh;
        int old_length = trimmed(a + same, &old), fresh_length = trimmed(b + same, &fresh);
        snprintf(out, size, "it was \"%.*s\", it is \"%.*s\"", old_length < 200 ? old_length : 200, old,
                 fresh_length < 200 ? fresh_length : 200, fresh);
    }
    rh_free(a);
    rh_free(b);
    return b ? RH_OK : RH_MEMORY;
}
