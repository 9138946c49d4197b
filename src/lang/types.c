// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Names, sizes and conversions of the language's types.
#include "lang/types.h"
#include <string.h>
#include "lang/functions.h"

static const struct {
    const char *name;
    rh_lang_type type;
} aliases[] = {
    {"int", RH_LANG_INT32},       {"vector", RH_LANG_VEC3F},      {"matrix", RH_LANG_MAT4F},
    {"matrix3", RH_LANG_MAT3F},   {"short", RH_LANG_INT32},       {"long", RH_LANG_INT64},
    {"vectorint", RH_LANG_VEC3I}, {"vectorfloat", RH_LANG_VEC3F}, {"vectordouble", RH_LANG_VEC3D},
};

const char *rh_lang_type_name(rh_lang_type type)
{
    static const char *const names[RH_LANG_TYPES] = {
        "void",  "bool",  "int16", "int32", "int64", "float", "double", "string", "?",     "vec2b", "vec2s", "vec2i",
        "vec2l", "vec2f", "vec2d", "?",     "?",     "vec3b", "vec3s",  "vec3i",  "vec3l", "vec3f", "vec3d", "?",
        "?",     "vec4b", "vec4s", "vec4i", "vec4l", "vec4f", "vec4d",  "?",      "?",     "mat3b", "mat3s", "mat3i",
        "mat3l", "mat3f", "mat3d", "?",     "?",     "mat4b", "mat4s",  "mat4i",  "mat4l", "mat4f", "mat4d", "?",
    };
    return (unsigned)type < RH_LANG_TYPES ? names[type] : "?";
}

static bool can_be_named(rh_lang_type type)
{
    rh_lang_element e = rh_lang_type_element(type);
    if (e == RH_LANG_E_VOID) return false;
    if (!rh_lang_is_container(type)) return true;
    return e == RH_LANG_E_FLOAT || e == RH_LANG_E_DOUBLE || (e == RH_LANG_E_INT32 && rh_lang_is_vector(type));
}

rh_lang_type rh_lang_type_named(const char *name, size_t length)
{
    for (int t = 0; t < RH_LANG_TYPES; t++) {
        const char *candidate = rh_lang_type_name((rh_lang_type)t);
        if (can_be_named((rh_lang_type)t) && strlen(candidate) == length && memcmp(candidate, name, length) == 0)
            return (rh_lang_type)t;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strlen(aliases[i].name) == length && memcmp(aliases[i].name, name, length) == 0) return aliases[i].type;
    return RH_LANG_VOID;
}

int rh_lang_type_parts(rh_lang_type type)
{
    static const int parts[] = {1, 2, 3, 4, 9, 16};
    return parts[rh_lang_type_shape(type)];
}

int rh_lang_type_side(rh_lang_type type)
{
    return rh_lang_is_matrix(type) ? (rh_lang_type_shape(type) == RH_LANG_MAT3 ? 3 : 4) : 0;
}

size_t rh_lang_element_size(rh_lang_element element)
{
    static const size_t sizes[] = {0, 1, 2, 4, 8, 4, 8, sizeof(rh_lang_text)};
    return sizes[element];
}

size_t rh_lang_type_size(rh_lang_type type)
{
    return (size_t)rh_lang_type_parts(type) * rh_lang_element_size(rh_lang_type_element(type));
}

static bool is_text(rh_lang_type type) { return rh_lang_type_element(type) == RH_LANG_E_STRING; }

bool rh_lang_convertible(rh_lang_type to, rh_lang_type from)
{
    if (to == RH_LANG_VOID || from == RH_LANG_VOID || is_text(to) || is_text(from))
        return to == from && to != RH_LANG_VOID;
    return rh_lang_type_shape(to) == rh_lang_type_shape(from);
}

bool rh_lang_assignable(rh_lang_type to, rh_lang_type from)
{
    return rh_lang_convertible(to, from) || (rh_lang_is_container(to) && rh_lang_is_number(from));
}

rh_lang_type rh_lang_common(rh_lang_type a, rh_lang_type b)
{
    if (a == RH_LANG_VOID || b == RH_LANG_VOID || is_text(a) || is_text(b)) return RH_LANG_VOID;
    rh_lang_shape sa = rh_lang_type_shape(a), sb = rh_lang_type_shape(b);
    if (sa != sb && sa != RH_LANG_SCALAR && sb != RH_LANG_SCALAR) return RH_LANG_VOID;
    rh_lang_element ea = rh_lang_type_element(a), eb = rh_lang_type_element(b), highest = ea > eb ? ea : eb;
    if (highest == RH_LANG_E_BOOL) highest = RH_LANG_E_INT32;
    return RH_LANG_TYPE(sa > sb ? sa : sb, highest);
}
