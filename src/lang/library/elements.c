// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions that know which element is at hand: externals, groups, deletion, coordinates of voxels.
// Groups that exist are bytes of their elements and written at once. A group that does not is made by the block:
// elements come in order, so whether the element at hand is a member is a look at the last entry of a list.
#include <string.h>
#include "base/memory.h"
#include "lang/library/library.h"

static bool same(const rh_lang_text *text, const char *name)
{
    return strlen(name) == (size_t)text->length &&
           (text->length == 0 || memcmp(text->data, name, (size_t)text->length) == 0);
}

static const void *find_external(const rh_lang_context *context, const rh_lang_text *name, const char *type)
{
    const rh_lang_scope *scope = context->scope;
    for (int i = 0; i < scope->external_count; i++)
        if (same(name, scope->externals[i].name) && strcmp(scope->externals[i].type, type) == 0)
            return scope->externals[i].value;
    return NULL;
}

float rh_lang_external_f(rh_lang_context *context, const rh_lang_text *name)
{
    const float *value = find_external(context, name, "float");
    return value ? *value : 0;
}

void rh_lang_external_v(rh_lang_context *context, float *out, const rh_lang_text *name)
{
    const float *value = find_external(context, name, "vec3f");
    for (int i = 0; i < 3; i++) out[i] = value ? value[i] : 0;
}

// --- groups ----------------------------------------------------------------------------------------------------------

static uint8_t *find_member(const rh_lang_context *context, const rh_lang_text *name)
{
    const rh_lang_scope *scope = context->scope;
    for (int i = 0; i < scope->group_count; i++)
        if (same(name, scope->groups[i].name)) return scope->groups[i].member + context->element;
    return NULL;
}

static rh_lang_new_group *find_new(rh_lang_context *context, const rh_lang_text *name)
{
    for (int i = 0; i < context->new_group_count; i++)
        if (same(name, context->new_groups[i].name)) return &context->new_groups[i];
    return NULL;
}

static bool is_last(const rh_lang_new_group *group, int64_t element)
{
    return group->count > 0 && group->elements[group->count - 1] == element;
}

// What .vdb files accept as a name.
static bool is_group_name(const rh_lang_text *name)
{
    if (name->length < 1 || name->length >= RH_LANG_GROUP_NAME) return false;
    for (int64_t i = 0; i < name->length; i++) {
        char c = name->data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
              c == '|'))
            return false;
    }
    return true;
}

static rh_lang_new_group *make_group(rh_lang_context *context, const rh_lang_text *name)
{
    if (!is_group_name(name)) {
        rh_lang_stop(context, RH_USER,
                     "addtogroup: found the name \"%.*s\", expected 1 to %d letters, digits, _ : or |",
                     (int)(name->length < 64 ? name->length : 64), name->data, RH_LANG_GROUP_NAME - 1);
        return NULL;
    }
    if (context->new_group_count == RH_LANG_GROUP_MAX) {
        rh_lang_stop(context, RH_USER, "addtogroup: found more than %d new groups; is a name made from a number?",
                     RH_LANG_GROUP_MAX);
        return NULL;
    }
    if (context->new_group_count == context->new_group_capacity) {
        int capacity = 2 * context->new_group_capacity + 4;
        rh_lang_new_group *grown = rh_realloc(context->new_groups, (size_t)capacity * sizeof *grown, "lang.groups",
                                              NULL);
        if (!grown) return rh_lang_stop(context, RH_MEMORY, "out of memory for groups"), NULL;
        context->new_groups = grown, context->new_group_capacity = capacity;
    }
    char *copy = rh_alloc((size_t)name->length + 1, "lang.groups", NULL);
    if (!copy) return rh_lang_stop(context, RH_MEMORY, "out of memory for groups"), NULL;
    memcpy(copy, name->data, (size_t)name->length);
    copy[name->length] = 0;
    rh_lang_new_group *group = &context->new_groups[context->new_group_count++];
    *group = (rh_lang_new_group){copy, NULL, 0, 0};
    return group;
}

void rh_lang_addtogroup(rh_lang_context *context, const rh_lang_text *name)
{
    uint8_t *member = find_member(context, name);
    if (member) {
        *member = 1;
        return;
    }
    rh_lang_new_group *group = find_new(context, name);
    if (!group) group = make_group(context, name);
    if (!group || is_last(group, context->element)) return;
    if (group->count == group->capacity) {
        int64_t capacity = 2 * group->capacity + 64;
        int64_t *grown = rh_realloc(group->elements, (size_t)capacity * sizeof *grown, "lang.groups", NULL);
        if (!grown) {
            rh_lang_stop(context, RH_MEMORY, "out of memory for groups");
            return;
        }
        group->elements = grown, group->capacity = capacity;
    }
    group->elements[group->count++] = context->element;
}

void rh_lang_removefromgroup(rh_lang_context *context, const rh_lang_text *name)
{
    uint8_t *member = find_member(context, name);
    if (member) *member = 0;
    rh_lang_new_group *group = member ? NULL : find_new(context, name);
    if (group && is_last(group, context->element)) group->count--;
}

bool rh_lang_ingroup(rh_lang_context *context, const rh_lang_text *name)
{
    const uint8_t *member = find_member(context, name);
    if (member) return *member != 0;
    const rh_lang_new_group *group = find_new(context, name);
    return group && is_last(group, context->element);
}

void rh_lang_deletepoint(rh_lang_context *context)
{
    if (context->scope->dead) context->scope->dead[context->element] = 1;
    else rh_lang_stop(context, RH_USER, "deletepoint: points cannot be deleted here");
}

int64_t rh_lang_pointindex(rh_lang_context *context) { return context->element; }

// --- voxels ----------------------------------------------------------------------------------------------------------

void rh_lang_coordinate(const rh_lang_context *context, int32_t out[3])
{
    int64_t e = context->element;
    if (context->scope->coords) {
        memcpy(out, context->scope->coords[e], 3 * sizeof *out);
        return;
    }
    for (int a = 0; a < 3; a++) out[a] = context->origin[a] + (int32_t)(e >> (6 - 3 * a) & 7);
}

void rh_lang_getcoord(rh_lang_context *context, int32_t *out) { rh_lang_coordinate(context, out); }

static int32_t coordinate(const rh_lang_context *context, int axis)
{
    int32_t c[3];
    rh_lang_coordinate(context, c);
    return c[axis];
}

int32_t rh_lang_getcoordx(rh_lang_context *context) { return coordinate(context, 0); }
int32_t rh_lang_getcoordy(rh_lang_context *context) { return coordinate(context, 1); }
int32_t rh_lang_getcoordz(rh_lang_context *context) { return coordinate(context, 2); }

void rh_lang_getvoxelpws(rh_lang_context *context, double *out)
{
    const double(*m)[3] = context->scope->to_world;
    int32_t c[3];
    rh_lang_coordinate(context, c);
    for (int i = 0; i < 3; i++) out[i] = c[0] * m[0][i] + c[1] * m[1][i] + c[2] * m[2][i] + m[3][i];
}
