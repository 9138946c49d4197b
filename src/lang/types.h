// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The types of the expression language: an element and a shape. A program can name every scalar, the vectors of int32,
// float and double, and the matrices of float and double. The other combinations (a vec3 of int64, say, from vec3i +
// 2l) exist only inside expressions: an operation runs at the highest rank of its operands and what it gives is
// converted where it is stored.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In order of rank: a mixed operation runs at the higher one.
typedef enum rh_lang_element {
    RH_LANG_E_VOID,
    RH_LANG_E_BOOL,
    RH_LANG_E_INT16,
    RH_LANG_E_INT32,
    RH_LANG_E_INT64,
    RH_LANG_E_FLOAT,
    RH_LANG_E_DOUBLE,
    RH_LANG_E_STRING,
} rh_lang_element;

typedef enum rh_lang_shape {
    RH_LANG_SCALAR,
    RH_LANG_VEC2,
    RH_LANG_VEC3,
    RH_LANG_VEC4,
    RH_LANG_MAT3,
    RH_LANG_MAT4,
} rh_lang_shape;

enum { RH_LANG_MOST_PARTS = 16, RH_LANG_TYPES = 48 };

#define RH_LANG_TYPE(shape, element) ((rh_lang_type)((shape)*8 + (element)))

typedef enum rh_lang_type {
    RH_LANG_VOID = 0,
    RH_LANG_BOOL = 1,
    RH_LANG_INT16 = 2,
    RH_LANG_INT32 = 3,
    RH_LANG_INT64 = 4,
    RH_LANG_FLOAT = 5,
    RH_LANG_DOUBLE = 6,
    RH_LANG_STRING = 7,
    RH_LANG_VEC2I = 8 + 3,
    RH_LANG_VEC2F = 8 + 5,
    RH_LANG_VEC2D = 8 + 6,
    RH_LANG_VEC3I = 16 + 3,
    RH_LANG_VEC3F = 16 + 5,
    RH_LANG_VEC3D = 16 + 6,
    RH_LANG_VEC4I = 24 + 3,
    RH_LANG_VEC4F = 24 + 5,
    RH_LANG_VEC4D = 24 + 6,
    RH_LANG_MAT3F = 32 + 5,
    RH_LANG_MAT3D = 32 + 6,
    RH_LANG_MAT4F = 40 + 5,
    RH_LANG_MAT4D = 40 + 6,
} rh_lang_type;

static inline rh_lang_element rh_lang_type_element(rh_lang_type type) { return (rh_lang_element)(type & 7); }
static inline rh_lang_shape rh_lang_type_shape(rh_lang_type type) { return (rh_lang_shape)(type >> 3); }
static inline rh_lang_type rh_lang_type_with(rh_lang_type type, rh_lang_element element)
{
    return (rh_lang_type)((type & ~7) | (int)element);
}

const char *rh_lang_type_name(rh_lang_type type);  // "vec3f"
// A name a program may write, aliases included; RH_LANG_VOID when it is none. `length` bytes of `name`.
rh_lang_type rh_lang_type_named(const char *name, size_t length);
int rh_lang_type_parts(rh_lang_type type);  // how many elements: 1, 2, 3, 4, 9, 16
int rh_lang_type_side(rh_lang_type type);   // 3 or 4 for matrices, else 0
// Bytes in an array; a bool is one byte, a string an rh_lang_text.
size_t rh_lang_element_size(rh_lang_element element);
size_t rh_lang_type_size(rh_lang_type type);

static inline bool rh_lang_is_number(rh_lang_type type)  // a scalar, bool included
{
    return type >= RH_LANG_BOOL && type <= RH_LANG_DOUBLE;
}
static inline bool rh_lang_is_container(rh_lang_type type) { return rh_lang_type_shape(type) != RH_LANG_SCALAR; }
static inline bool rh_lang_is_matrix(rh_lang_type type) { return rh_lang_type_shape(type) >= RH_LANG_MAT3; }
static inline bool rh_lang_is_vector(rh_lang_type type)
{
    return rh_lang_is_container(type) && !rh_lang_is_matrix(type);
}
static inline bool rh_lang_is_integer(rh_lang_type type)  // elements of bool or a whole number
{
    rh_lang_element e = rh_lang_type_element(type);
    return e >= RH_LANG_E_BOOL && e <= RH_LANG_E_INT64;
}
static inline bool rh_lang_is_floating(rh_lang_type type)
{
    rh_lang_element e = rh_lang_type_element(type);
    return e == RH_LANG_E_FLOAT || e == RH_LANG_E_DOUBLE;
}

// May a value of `from` be stored where a `to` is? Scalars into each other, a scalar into a vector (all elements) or a
// matrix (times the identity), containers of equal size, strings into strings.
bool rh_lang_assignable(rh_lang_type to, rh_lang_type from);
// May a call convert an argument? As above without scalar into container.
bool rh_lang_convertible(rh_lang_type to, rh_lang_type from);
// The type two operands are brought to before a component-wise operation, RH_LANG_VOID when there is none. Two bools
// count as int32; two int16 stay what they are.
rh_lang_type rh_lang_common(rh_lang_type a, rh_lang_type b);
