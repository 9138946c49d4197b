// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The built-in functions of the expression language: one row per overload. The rows drive the type checker, the code
// generator and the language reference in the docs.
//
// How compiled code calls a function's symbol:
//   bool, int16, int32, int64, float, double   by value (bool as bool)
//   vectors and matrices                       by pointer to const elements (matrices row by row); those
//                                              that are written by pointer
//   string                                     by pointer to a const rh_lang_text
//   a vector, matrix or string as result       through a pointer that comes first
//   with RH_LANG_CONTEXT                       a pointer to the running thread's rh_lang_context comes
//                                              before everything else
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef struct rh_lang_text {
    const char *data;  // not owned: lives in the source, an attribute, or the thread's memory for the point at hand
    int64_t length;
} rh_lang_text;

struct rh_lang_context;  // what a running kernel knows: runtime.h

typedef enum rh_lang_flags {
    RH_LANG_PURE = 1,     // the same arguments give the same result: may be folded and moved
    RH_LANG_POINTS = 2,   // only where points are visited
    RH_LANG_VOLUMES = 4,  // only where voxels are visited
    RH_LANG_CONTEXT = 8,  // takes the thread's context
} rh_lang_flags;

typedef struct rh_lang_function {
    const char *name;
    // "float(vec3f, vec3f)", "void(string, bool)", "void(&vec3f)" for an argument that is written
    const char *signature;
    void (*symbol)(void);  // NULL: the compiler emits the code itself
    unsigned flags;
    const char *help;  // one line, without a full stop
} rh_lang_function;

extern const rh_lang_function rh_lang_functions[];
extern const int rh_lang_function_count;
