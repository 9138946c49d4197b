// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The checker's half about calls: which overload, and what is known beforehand about some functions: groups,
// deletion, values from outside.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/param.h"
#include "lang/check_parts.h"
#include "lang/operators.h"

const rh_lang_function *rh_lang_row(const rh_lang_options *options, int index)
{
    return index < rh_lang_function_count ? &rh_lang_functions[index]
                                          : &options->functions[index - rh_lang_function_count];
}

static int row_count(const rh_lang_checker *c) { return rh_lang_function_count + c->options->function_count; }

bool rh_lang_known_function(const rh_lang_checker *c, const char *name)
{
    for (int i = 0; i < row_count(c); i++)
        if (strcmp(rh_lang_row(c->options, i)->name, name) == 0) return true;
    return false;
}

static bool fits(const rh_lang_signature *signature, const rh_lang_node *call, bool exactly)
{
    int i = 0;
    if (signature->count != call->count) return false;
    for (const rh_lang_node *a = call->first; a; a = a->next, i++) {
        rh_lang_type wanted = signature->arguments[i];
        if (exactly || signature->written[i] ? a->type != wanted : !rh_lang_convertible(wanted, a->type)) return false;
    }
    return true;
}

// The row of the overload: an exact one, else the first that fits by conversion, else -1.
static int choose_row(rh_lang_checker *c, const rh_lang_node *node, rh_lang_signature *signature)
{
    for (int exactly = 1; exactly >= 0; exactly--)
        for (int i = 0; i < row_count(c); i++) {
            const rh_lang_function *row = rh_lang_row(c->options, i);
            if (strcmp(row->name, node->name) == 0 && rh_lang_signature_read(row->signature, signature) &&
                fits(signature, node, exactly != 0))
                return i;
        }
    return -1;
}

static void append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", text);
}

static void no_overload(rh_lang_checker *c, const rh_lang_node *node)
{
    char types[160] = "", candidates[420] = "";
    for (const rh_lang_node *a = node->first; a; a = a->next) {
        append(types, sizeof types, rh_lang_type_name(a->type));
        if (a->next) append(types, sizeof types, ", ");
    }
    bool counted = false;
    int found = 0;
    for (int i = 0; i < row_count(c); i++) {
        rh_lang_signature s;
        const rh_lang_function *row = rh_lang_row(c->options, i);
        if (strcmp(row->name, node->name) != 0 || !rh_lang_signature_read(row->signature, &s)) continue;
        append(candidates, sizeof candidates, found++ ? ", " : "");
        append(candidates, sizeof candidates, row->signature);
        counted |= s.count == node->count;
    }
    const char *of = found > 1 ? "one of " : "";
    if (counted)
        rh_lang_error(c->unit, node->at, NULL, "no %s( ) takes (%s), expected %s%s", node->name, types, of, candidates);
    else
        rh_lang_error(c->unit, node->at, NULL, "found %d argument%s for %s( ), expected %s%s", node->count,
                      node->count == 1 ? "" : "s", node->name, of, candidates);
}

static void unknown_function(rh_lang_checker *c, const rh_lang_node *node)
{
    const char *names[512];
    int count = 0;
    for (int i = 0; i < row_count(c) && count < 512; i++) {
        const char *name = rh_lang_row(c->options, i)->name;
        if (count == 0 || strcmp(names[count - 1], name) != 0) names[count++] = name;
    }
    char hint[128];
    rh_lang_error(c->unit, node->at,
                  rh_lang_did_you_mean(rh_nearest_name(node->name, names, count), "", hint, sizeof hint),
                  "there is no function %s( )", node->name);
}

static bool is_group_function(const char *name)
{
    return strcmp(name, "ingroup") == 0 || strcmp(name, "addtogroup") == 0 || strcmp(name, "removefromgroup") == 0;
}

// Files take no other names; the library checks those that are made while running.
static void check_group_name(rh_lang_checker *c, const rh_lang_node *argument)
{
    rh_lang_text text = argument->value.text;
    bool good = text.length > 0 && text.length < RH_LANG_GROUP_NAME;
    for (int64_t i = 0; i < text.length; i++)
        good &= isalnum((unsigned char)text.data[i]) || memchr("_:|", text.data[i], 3) != NULL;
    if (!good)
        rh_lang_error(c->unit, argument->at, NULL,
                      "found a group's name with other characters, expected 1 to %d letters, digits, _ : or |",
                      RH_LANG_GROUP_NAME - 1);
}

// A group named by a literal becomes a column of bytes.
static void note_group(rh_lang_checker *c, const rh_lang_node *node)
{
    const rh_lang_node *argument = node->first;
    rh_lang_facts *f = c->facts;
    if (argument->kind != RH_LANG_TEXT) {
        f->named_groups = false;
        return;
    }
    if (node->name[0] == 'a') check_group_name(c, argument);
    rh_lang_text text = argument->value.text;
    int i = 0;
    while (i < f->group_count && (strlen(f->groups[i].name) != (size_t)text.length ||
                                  memcmp(f->groups[i].name, text.data, (size_t)text.length) != 0))
        i++;
    if (i == f->group_count) {
        char *name = rh_arena_take_zero(&c->unit->arena, (size_t)text.length + 1, c->unit->status);
        f->groups = rh_lang_grown(c, f->groups, i, sizeof *f->groups);
        if (!name || c->unit->failed) {
            c->unit->failed = true;
            return;
        }
        memcpy(name, text.data, (size_t)text.length);
        f->groups[f->group_count++] = (rh_lang_group_use){.name = name};
    }
    ((rh_lang_node *)node->first)->slot = i;
    f->groups[i].reads |= node->name[0] == 'i';
    f->groups[i].adds |= node->name[0] == 'a';
    f->groups[i].removes |= node->name[0] == 'r';
}

// external("name") is $name: a value known before the loop instead of a search for every element. Where $name has
// another type in the program the library is asked, which gives 0.
static bool is_plain_external(rh_lang_checker *c, rh_lang_node *node, const rh_lang_function *row)
{
    rh_lang_node *argument = node->first;
    rh_lang_type type = strcmp(row->name, "external") == 0    ? RH_LANG_FLOAT
                        : strcmp(row->name, "externalv") == 0 ? RH_LANG_VEC3F
                                                              : RH_LANG_VOID;
    if (type == RH_LANG_VOID || argument->kind != RH_LANG_TEXT) return false;
    rh_lang_text text = argument->value.text;
    char *name = rh_arena_take_zero(&c->unit->arena, (size_t)text.length + 1, c->unit->status);
    if (!name) c->unit->failed = true;
    else memcpy(name, text.data, (size_t)text.length);
    int slot = name ? rh_lang_external_slot(c, node, name, type) : -1;
    if (slot < 0 || c->facts->externals[slot].type != type) return false;
    argument->slot = slot;
    return true;
}

static void note_call(rh_lang_checker *c, rh_lang_node *node, const rh_lang_function *row)
{
    bool built_in = node->slot < rh_lang_function_count;
    if (built_in && is_plain_external(c, node, row)) return;
    if (built_in && is_group_function(row->name)) note_group(c, node);
    else if (built_in && strcmp(row->name, "deletepoint") == 0) c->facts->deletes = true;
    else if (row->flags & RH_LANG_CONTEXT) c->facts->calls_library = true;
    if (!built_in) return;
    c->facts->neighbours |= strncmp(row->name, "neighbour", 9) == 0 || strcmp(row->name, "nearest") == 0;
    c->facts->random |= strncmp(row->name, "rand", 4) == 0;
    c->facts->coordinates |= strncmp(row->name, "getcoord", 8) == 0 || strcmp(row->name, "getvoxelpws") == 0;
}

static void use_argument(rh_lang_checker *c, rh_lang_node *argument, rh_lang_type wanted, bool written)
{
    if (written && argument->kind != RH_LANG_LOCAL && argument->kind != RH_LANG_ATTRIBUTE &&
        argument->kind != RH_LANG_INDEX)
        rh_lang_error(c->unit, argument->at, NULL, "this argument is written, expected a variable or an attribute");
    else if (written) rh_lang_check_place(c, argument, true, true);
    else if (argument->type != wanted) {
        if (!rh_lang_is_literal(argument))
            rh_lang_warn(c->unit, argument->at, NULL, "the argument is converted from %s to %s",
                         rh_lang_type_name(argument->type), rh_lang_type_name(wanted));
        argument->as = wanted;
    }
}

rh_lang_type rh_lang_check_call(rh_lang_checker *c, rh_lang_node *node)
{
    bool wrong = false;
    for (rh_lang_node *a = node->first; a; a = a->next) {
        rh_lang_type type = rh_lang_check_expression(c, a);
        if (type == RH_LANG_VOID) rh_lang_error(c->unit, a->at, NULL, "this argument has no value");
        wrong |= type == RH_LANG_WRONG || type == RH_LANG_VOID;
    }
    if (!rh_lang_known_function(c, node->name)) {
        unknown_function(c, node);
        return RH_LANG_WRONG;
    }
    if (wrong) return RH_LANG_WRONG;
    rh_lang_signature signature;
    node->slot = choose_row(c, node, &signature);
    if (node->slot < 0) {
        no_overload(c, node);
        return RH_LANG_WRONG;
    }
    const rh_lang_function *row = rh_lang_row(c->options, node->slot);
    unsigned only = row->flags & (RH_LANG_POINTS | RH_LANG_VOLUMES);
    if (only && !(only & c->options->domain)) {
        rh_lang_error(c->unit, node->at, NULL, "%s( ) exists for %s only", row->name,
                      only == RH_LANG_POINTS ? "points" : "volumes");
        return RH_LANG_WRONG;
    }
    int i = 0;
    for (rh_lang_node *a = node->first; a; a = a->next, i++)
        use_argument(c, a, signature.arguments[i], signature.written[i]);
    c->facts->strings |= signature.result == RH_LANG_STRING;
    note_call(c, node, row);
    return signature.result;
}
