// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The table of built-in functions. Rows of one name stand together, in the order in which overloads are tried: where no
// row fits exactly the first that fits by conversion is taken, so that rand(1) is rand(double). Names, overloads and
// their order are those of OpenVDB AX; the rows at the end (Perlin noise, eigenvalues, neighbours) are ours.
#include "lang/functions.h"
#include <math.h>
#include "lang/library/library.h"

// clang-format off
#define CALL(function) ((void (*)(void))(function))

// Row shapes. EMIT: the compiler writes the code; CALL: a symbol of the C library or of lang/library.
#define EMIT(name, signature, help) {name, signature, NULL, RH_LANG_PURE, help},
#define PURE(name, signature, symbol, help) {name, signature, CALL(symbol), RH_LANG_PURE, help},
#define EMIT_REAL(name, help) EMIT(name, "double(double)", help) EMIT(name, "float(float)", help)
#define MATH(name, symbol, help) PURE(name, "double(double)", symbol, help) PURE(name, "float(float)", symbol##f, help)
#define EMIT_NUMBER(name, d, f, l, i, help) \
    EMIT(name, d, help) EMIT(name, f, help) EMIT(name, l, help) EMIT(name, i, help)
#define EMIT_NUMBER2(name, help) \
    EMIT_NUMBER(name, "double(double, double)", "float(float, float)", "int64(int64, int64)", "int32(int32, int32)", \
                help)
#define EMIT_FINITE(name, help) \
    EMIT(name, "bool(vec2d)", help) EMIT(name, "bool(vec2f)", help) EMIT(name, "bool(vec3d)", help) \
    EMIT(name, "bool(vec3f)", help) \
    EMIT(name, "bool(vec4d)", help) EMIT(name, "bool(vec4f)", help) EMIT(name, "bool(mat3f)", help) \
    EMIT(name, "bool(mat3d)", help) \
    EMIT(name, "bool(mat4f)", help) EMIT(name, "bool(mat4d)", help) EMIT(name, "bool(double)", help) \
    EMIT(name, "bool(float)", help)
#define WRITES(name, signature, symbol, help) {name, signature, CALL(symbol), 0, help},
#define CONTEXT(name, signature, symbol, help) {name, signature, CALL(symbol), RH_LANG_CONTEXT, help},
#define POINT(name, signature, symbol, help) {name, signature, CALL(symbol), RH_LANG_CONTEXT | RH_LANG_POINTS, help},
#define VOXEL(name, signature, symbol, help) {name, signature, CALL(symbol), RH_LANG_CONTEXT | RH_LANG_VOLUMES, help},

// Help of names with several rows of different shape.
#define ABS "the value without its sign"
#define NORM "Euclidean length of a vector"
#define NORM_SQUARED "squared length of a vector"
#define UNIT "the vector divided by its length"
#define SORTED "the components in ascending order"
#define ARGSORTED "the components' indices in ascending order of their values; equal ones stay in order"
#define DETERMINANT "determinant of a matrix"
#define TRACE "sum of a matrix' diagonal"
#define TRANSPOSE "the matrix with rows and columns exchanged"
#define DIAG "the diagonal matrix of a vector, or the diagonal of a matrix"
#define TRANSFORM "row vector times matrix; a vec3 with a 4 x 4 matrix is a position (its fourth component is 1)"
#define PRETRANSFORM "matrix times column vector; a vec3 with a 4 x 4 matrix is a position (its fourth component is 1)"
#define FIT "the value cut to the old range (second, third) and mapped to the new range (fourth, fifth)"
#define RAND "uniform in [0, 1), the same for the same seed; without a seed the next number of the element's sequence"
#define RAND32 "uniform in [0, 1) from the 32-bit generator; otherwise as rand"
#define SIMPLEX "OpenSimplex noise in [0, 1]; coordinates that are not given are 0"
#define CURL_SIMPLEX "a vector field without divergence: the curl of three OpenSimplex noises"
#define PERLIN "Perlin's gradient noise (2002) in [0, 1]; coordinates that are not given are 0"
#define CURL_PERLIN "a vector field without divergence: the curl of three Perlin noises"
#define PRINT "the value as a line of text, for every element: on the terminal, in the order of elements"
#define NEIGHBOURS \
    "number of points within a radius (m) of the point, itself included, or of a place; " \
    "neighbour functions then speak of these"
#define NEAREST "as neighbours, but at most so many, nearest first"
#define OF_NEIGHBOUR "an attribute of the i-th neighbour, as it was before the pass"

const rh_lang_function rh_lang_functions[] = {
    EMIT("abs", "int64(int64)", ABS) EMIT("abs", "int32(int32)", ABS) EMIT("abs", "double(double)", ABS)
    EMIT("abs", "float(float)", ABS)
    MATH("acos", acos, "arc cosine in radians")
    MATH("acosh", acosh, "inverse hyperbolic cosine")
    POINT("addtogroup", "void(string)", rh_lang_addtogroup,
          "makes the point a member of a group, which is created when there is none")
    PURE("adjoint", "mat3d(mat3d)", rh_lang_adjoint_d, "adjoint of a matrix: its cofactors transposed")
    PURE("adjoint", "mat3f(mat3f)", rh_lang_adjoint_f, "adjoint of a matrix: its cofactors transposed")
    EMIT("argsort", "vec3i(vec3d)", ARGSORTED)
    EMIT("argsort", "vec3i(vec3f)", ARGSORTED)
    EMIT("argsort", "vec3i(vec3i)", ARGSORTED)
    EMIT("argsort", "vec4i(vec4d)", ARGSORTED)
    EMIT("argsort", "vec4i(vec4f)", ARGSORTED)
    EMIT("argsort", "vec4i(vec4i)", ARGSORTED)
    MATH("asin", asin, "arc sine in radians")
    MATH("asinh", asinh, "inverse hyperbolic sine")
    MATH("atan", atan, "arc tangent in radians")
    PURE("atan2", "double(double, double)", atan2,
         "angle of the point (second, first) in radians, in the right quadrant")
    PURE("atan2", "float(float, float)", atan2f, "angle of the point (second, first) in radians, in the right quadrant")
    MATH("atanh", atanh, "inverse hyperbolic tangent")
    PURE("atof", "double(string)", rh_lang_atof, "the number a text begins with; 0 when it begins with none")
    PURE("atoi", "int32(string)", rh_lang_atoi, "the whole number a text begins with; 0 when it begins with none")
    MATH("cbrt", cbrt, "cubic root")
    EMIT_REAL("ceil", "the smallest whole number not below the value")
    EMIT_NUMBER("clamp", "double(double, double, double)", "float(float, float, float)",
                "int64(int64, int64, int64)", "int32(int32, int32, int32)",
                "the first value, not below the second and not above the third")
    PURE("cofactor", "mat3d(mat3d)", rh_lang_cofactor_d, "matrix of the cofactors")
    PURE("cofactor", "mat3f(mat3f)", rh_lang_cofactor_f, "matrix of the cofactors")
    MATH("cos", cos, "cosine of an angle in radians")
    MATH("cosh", cosh, "hyperbolic cosine")
    EMIT("cross", "vec3d(vec3d, vec3d)", "cross product") EMIT("cross", "vec3f(vec3f, vec3f)", "cross product")
    EMIT("cross", "vec3i(vec3i, vec3i)", "cross product")
    PURE("curlsimplexnoise", "vec3d(vec3d)", rh_lang_curlsimplexnoise_v, CURL_SIMPLEX)
    PURE("curlsimplexnoise", "vec3d(double, double, double)", rh_lang_curlsimplexnoise_3, CURL_SIMPLEX)
    EMIT_REAL("degrees", "radians to degrees")
    POINT("deletepoint", "void()", rh_lang_deletepoint, "deletes the point after the pass; the program goes on")
    PURE("determinant", "double(mat3d)", rh_lang_determinant_3d, DETERMINANT)
    PURE("determinant", "float(mat3f)", rh_lang_determinant_3f, DETERMINANT)
    PURE("determinant", "double(mat4d)", rh_lang_determinant_4d, DETERMINANT)
    PURE("determinant", "float(mat4f)", rh_lang_determinant_4f, DETERMINANT)
    EMIT("diag", "vec3d(mat3d)", DIAG) EMIT("diag", "vec3f(mat3f)", DIAG) EMIT("diag", "vec4d(mat4d)", DIAG)
    EMIT("diag", "vec4f(mat4f)", DIAG)
    EMIT("diag", "mat3d(vec3d)", DIAG) EMIT("diag", "mat3f(vec3f)", DIAG) EMIT("diag", "mat4d(vec4d)", DIAG)
    EMIT("diag", "mat4f(vec4f)", DIAG)
    EMIT("dot", "double(vec3d, vec3d)", "dot product") EMIT("dot", "float(vec3f, vec3f)", "dot product")
    EMIT("dot", "int32(vec3i, vec3i)", "dot product")
    EMIT_NUMBER2("euclideanmod", "remainder that is never negative")
    MATH("exp", exp, "e to the power of the value")
    MATH("exp2", exp2, "2 to the power of the value")
    CONTEXT("external", "float(string)", rh_lang_external_f,
            "a float given by the host under this name; 0 when there is none of that type")
    CONTEXT("externalv", "vec3f(string)", rh_lang_external_v,
            "a vec3f given by the host under this name; 0 when there is none of that type")
    EMIT_REAL("fabs", ABS)
    EMIT("fit", "double(double, double, double, double, double)", FIT)
    EMIT("fit", "float(float, float, float, float, float)", FIT)
    EMIT("fit", "double(int64, int64, int64, int64, int64)", FIT)
    EMIT("fit", "double(int32, int32, int32, int32, int32)", FIT)
    EMIT_REAL("floor", "the largest whole number not above the value")
    EMIT_NUMBER2("floormod", "remainder with the sign of the divisor; the operator %")
    VOXEL("getcoord", "vec3i()", rh_lang_getcoord, "index coordinate of the voxel")
    VOXEL("getcoordx", "int32()", rh_lang_getcoordx, "x of the voxel's index coordinate")
    VOXEL("getcoordy", "int32()", rh_lang_getcoordy, "y of the voxel's index coordinate")
    VOXEL("getcoordz", "int32()", rh_lang_getcoordz, "z of the voxel's index coordinate")
    VOXEL("getvoxelpws", "vec3d()", rh_lang_getvoxelpws, "position of the voxel in the world (m)")
    PURE("hash", "int64(string)", rh_lang_hash, "a number that depends on the text only")
    EMIT("hsvtorgb", "vec3d(vec3d)",
         "hue, saturation, value to red, green, blue; hue wraps, saturation is cut to [0, 1]")
    EMIT("hsvtorgb", "vec3f(vec3f)",
         "hue, saturation, value to red, green, blue; hue wraps, saturation is cut to [0, 1]")
    EMIT("identity3", "mat3f()", "the 3 x 3 identity") EMIT("identity4", "mat4f()", "the 4 x 4 identity")
    POINT("ingroup", "bool(string)", rh_lang_ingroup,
          "whether the point is a member of a group; false when there is none of that name")
    PURE("inverse", "mat3d(mat3d)", rh_lang_inverse_d, "inverse of a matrix; a singular one is given back as it is")
    PURE("inverse", "mat3f(mat3f)", rh_lang_inverse_f, "inverse of a matrix; a singular one is given back as it is")
    EMIT_FINITE("isfinite", "whether all components are finite")
    EMIT_FINITE("isinf", "whether any component is infinite")
    EMIT_FINITE("isnan", "whether any component is not a number")
    EMIT("length", "double(vec2d)", NORM) EMIT("length", "float(vec2f)", NORM) EMIT("length", "double(vec2i)", NORM)
    EMIT("length", "double(vec3d)", NORM) EMIT("length", "float(vec3f)", NORM) EMIT("length", "double(vec3i)", NORM)
    EMIT("length", "double(vec4d)", NORM) EMIT("length", "float(vec4f)", NORM) EMIT("length", "double(vec4i)", NORM)
    EMIT("lengthsq", "double(vec2d)", NORM_SQUARED) EMIT("lengthsq", "float(vec2f)", NORM_SQUARED)
    EMIT("lengthsq", "int32(vec2i)", NORM_SQUARED)
    EMIT("lengthsq", "double(vec3d)", NORM_SQUARED) EMIT("lengthsq", "float(vec3f)", NORM_SQUARED)
    EMIT("lengthsq", "int32(vec3i)", NORM_SQUARED)
    EMIT("lengthsq", "double(vec4d)", NORM_SQUARED) EMIT("lengthsq", "float(vec4f)", NORM_SQUARED)
    EMIT("lengthsq", "int32(vec4i)", NORM_SQUARED)
    EMIT("lerp", "double(double, double, double)",
         "from the first value (third is 0) to the second (third is 1), beyond them in a line")
    EMIT("lerp", "float(float, float, float)",
         "from the first value (third is 0) to the second (third is 1), beyond them in a line")
    MATH("log", log, "natural logarithm")
    MATH("log10", log10, "logarithm to base 10")
    MATH("log2", log2, "logarithm to base 2")
    EMIT_NUMBER2("max", "the larger value")
    EMIT_NUMBER2("min", "the smaller value")
    EMIT("normalize", "vec3d(vec3d)", UNIT) EMIT("normalize", "vec3f(vec3f)", UNIT)
    EMIT("normalize", "vec3d(vec3i)", UNIT)
    EMIT("normalize", "vec4d(vec4d)", UNIT) EMIT("normalize", "vec4f(vec4f)", UNIT)
    EMIT("normalize", "vec4d(vec4i)", UNIT)
    WRITES("polardecompose", "bool(mat3d, &mat3d, &mat3d)", rh_lang_polardecompose_d,
           "a matrix as orthogonal times symmetric; false when it is singular")
    WRITES("polardecompose", "bool(mat3f, &mat3f, &mat3f)", rh_lang_polardecompose_f,
           "a matrix as orthogonal times symmetric; false when it is singular")
    WRITES("postscale", "void(&mat4d, vec3d)", rh_lang_postscale_d,
           "scales after the matrix' own transform: columns are multiplied")
    WRITES("postscale", "void(&mat4f, vec3f)", rh_lang_postscale_f,
           "scales after the matrix' own transform: columns are multiplied")
    PURE("pow", "double(double, double)", pow, "the first value to the power of the second")
    PURE("pow", "float(float, float)", powf, "the first value to the power of the second")
    PURE("pow", "double(double, int32)", rh_lang_pow_di, "the first value to the power of the second")
    WRITES("prescale", "void(&mat4d, vec3d)", rh_lang_prescale_d,
           "scales before the matrix' own transform: rows are multiplied")
    WRITES("prescale", "void(&mat4f, vec3f)", rh_lang_prescale_f,
           "scales before the matrix' own transform: rows are multiplied")
    EMIT("pretransform", "vec3d(mat3d, vec3d)", PRETRANSFORM) EMIT("pretransform", "vec3f(mat3f, vec3f)", PRETRANSFORM)
    EMIT("pretransform", "vec3d(mat4d, vec3d)", PRETRANSFORM) EMIT("pretransform", "vec3f(mat4f, vec3f)", PRETRANSFORM)
    EMIT("pretransform", "vec4d(mat4d, vec4d)", PRETRANSFORM) EMIT("pretransform", "vec4f(mat4f, vec4f)", PRETRANSFORM)
    CONTEXT("print", "void(double)", rh_lang_print_d, PRINT)
    CONTEXT("print", "void(float)", rh_lang_print_f, PRINT)
    CONTEXT("print", "void(int64)", rh_lang_print_l, PRINT)
    CONTEXT("print", "void(int32)", rh_lang_print_i, PRINT)
    CONTEXT("print", "void(string)", rh_lang_print_s, PRINT)
    CONTEXT("print", "void(vec2i)", rh_lang_print_2i, PRINT)
    CONTEXT("print", "void(vec2f)", rh_lang_print_2f, PRINT)
    CONTEXT("print", "void(vec2d)", rh_lang_print_2d, PRINT)
    CONTEXT("print", "void(vec3i)", rh_lang_print_3i, PRINT)
    CONTEXT("print", "void(vec3f)", rh_lang_print_3f, PRINT)
    CONTEXT("print", "void(vec3d)", rh_lang_print_3d, PRINT)
    CONTEXT("print", "void(vec4i)", rh_lang_print_4i, PRINT)
    CONTEXT("print", "void(vec4f)", rh_lang_print_4f, PRINT)
    CONTEXT("print", "void(vec4d)", rh_lang_print_4d, PRINT)
    CONTEXT("print", "void(mat3f)", rh_lang_print_m3f, PRINT)
    CONTEXT("print", "void(mat3d)", rh_lang_print_m3d, PRINT)
    CONTEXT("print", "void(mat4f)", rh_lang_print_m4f, PRINT)
    CONTEXT("print", "void(mat4d)", rh_lang_print_m4d, PRINT)
    EMIT_REAL("radians", "degrees to radians")
    CONTEXT("rand", "double()", rh_lang_rand, RAND)
    CONTEXT("rand", "double(double)", rh_lang_rand_d, RAND)
    CONTEXT("rand", "double(int64)", rh_lang_rand_l, RAND)
    CONTEXT("rand32", "double()", rh_lang_rand32, RAND32)
    CONTEXT("rand32", "double(double)", rh_lang_rand32_d, RAND32)
    CONTEXT("rand32", "double(int32)", rh_lang_rand32_i, RAND32)
    POINT("removefromgroup", "void(string)", rh_lang_removefromgroup,
          "ends the point's membership of a group; nothing happens when there is none")
    EMIT("rgbtohsv", "vec3d(vec3d)", "red, green, blue to hue, saturation, value")
    EMIT("rgbtohsv", "vec3f(vec3f)", "red, green, blue to hue, saturation, value")
    EMIT_REAL("round", "the nearest whole number, halves away from zero")
    EMIT_NUMBER("sign", "int32(double)", "int32(float)", "int32(int64)", "int32(int32)",
                "-1, 0 or 1 for values below, at or above zero")
    EMIT("signbit", "bool(double)", "whether the sign is minus, also of -0.0")
    EMIT("signbit", "bool(float)", "whether the sign is minus, also of -0.0")
    PURE("simplexnoise", "double(double)", rh_lang_simplexnoise_1, SIMPLEX)
    PURE("simplexnoise", "double(double, double)", rh_lang_simplexnoise_2, SIMPLEX)
    PURE("simplexnoise", "double(double, double, double)", rh_lang_simplexnoise_3, SIMPLEX)
    PURE("simplexnoise", "double(vec3d)", rh_lang_simplexnoise_v, SIMPLEX)
    MATH("sin", sin, "sine of an angle in radians")
    MATH("sinh", sinh, "hyperbolic sine")
    EMIT("sort", "vec3d(vec3d)", SORTED)
    EMIT("sort", "vec3f(vec3f)", SORTED)
    EMIT("sort", "vec3i(vec3i)", SORTED)
    EMIT("sort", "vec4d(vec4d)", SORTED)
    EMIT("sort", "vec4f(vec4f)", SORTED)
    EMIT("sort", "vec4i(vec4i)", SORTED)
    EMIT_REAL("sqrt", "square root")
    MATH("tan", tan, "tangent of an angle in radians")
    MATH("tanh", tanh, "hyperbolic tangent")
    EMIT("trace", "double(mat3d)", TRACE) EMIT("trace", "float(mat3f)", TRACE) EMIT("trace", "double(mat4d)", TRACE)
    EMIT("trace", "float(mat4f)", TRACE)
    EMIT("transform", "vec3d(vec3d, mat3d)", TRANSFORM) EMIT("transform", "vec3f(vec3f, mat3f)", TRANSFORM)
    EMIT("transform", "vec3d(vec3d, mat4d)", TRANSFORM) EMIT("transform", "vec3f(vec3f, mat4f)", TRANSFORM)
    EMIT("transform", "vec4d(vec4d, mat4d)", TRANSFORM) EMIT("transform", "vec4f(vec4f, mat4f)", TRANSFORM)
    EMIT("transpose", "mat3d(mat3d)", TRANSPOSE) EMIT("transpose", "mat3f(mat3f)", TRANSPOSE)
    EMIT("transpose", "mat4d(mat4d)", TRANSPOSE) EMIT("transpose", "mat4f(mat4f)", TRANSPOSE)
    EMIT_NUMBER2("truncatemod", "remainder with the sign of the dividend, as % in C")

    // Ours.
    PURE("curlnoise", "vec3d(vec3d)", rh_lang_curlnoise_v, CURL_PERLIN)
    PURE("curlnoise", "vec3d(double, double, double)", rh_lang_curlnoise_3, CURL_PERLIN)
    WRITES("eigen", "bool(mat3d, &vec3d, &mat3d)", rh_lang_eigen_d,
           "eigenvalues, largest first, and unit eigenvectors (rows) of a symmetric matrix")
    WRITES("eigen", "bool(mat3f, &vec3f, &mat3f)", rh_lang_eigen_f,
           "eigenvalues, largest first, and unit eigenvectors (rows) of a symmetric matrix")
    POINT("nearest", "int32(int32, float)", rh_lang_nearest, NEAREST)
    POINT("nearest", "int32(vec3f, int32, float)", rh_lang_nearest_at, NEAREST)
    POINT("neighbour_distance", "float(int32)", rh_lang_neighbour_distance, "distance to the i-th neighbour (m)")
    POINT("neighbour_double", "double(string, int32)", rh_lang_neighbour_double, OF_NEIGHBOUR)
    POINT("neighbour_float", "float(string, int32)", rh_lang_neighbour_float, OF_NEIGHBOUR)
    POINT("neighbour_index", "int64(int32)", rh_lang_neighbour_index, "pointindex() of the i-th neighbour")
    POINT("neighbour_ingroup", "bool(string, int32)", rh_lang_neighbour_ingroup,
          "whether the i-th neighbour was a member of a group before the pass")
    POINT("neighbour_int", "int32(string, int32)", rh_lang_neighbour_int, OF_NEIGHBOUR)
    POINT("neighbour_int64", "int64(string, int32)", rh_lang_neighbour_int64, OF_NEIGHBOUR)
    POINT("neighbour_mat3f", "mat3f(string, int32)", rh_lang_neighbour_mat3f, OF_NEIGHBOUR)
    POINT("neighbour_offset", "vec3f(int32)", rh_lang_neighbour_offset,
          "position of the i-th neighbour minus the point's, or minus the place asked about (m)")
    POINT("neighbour_position", "vec3f(int32)", rh_lang_neighbour_position,
          "position of the i-th neighbour before the pass (m)")
    POINT("neighbour_vec3f", "vec3f(string, int32)", rh_lang_neighbour_vec3f, OF_NEIGHBOUR)
    POINT("neighbours", "int32(float)", rh_lang_neighbours, NEIGHBOURS)
    POINT("neighbours", "int32(vec3f, float)", rh_lang_neighbours_at, NEIGHBOURS)
    PURE("noise", "double(double)", rh_lang_noise_1, PERLIN)
    PURE("noise", "double(double, double)", rh_lang_noise_2, PERLIN)
    PURE("noise", "double(double, double, double)", rh_lang_noise_3, PERLIN)
    PURE("noise", "double(vec3d)", rh_lang_noise_v, PERLIN)
    POINT("pointindex", "int64()", rh_lang_pointindex,
          "number of the point in its set, from 0; changes when points are sorted")
};
// clang-format on

const int rh_lang_function_count = sizeof rh_lang_functions / sizeof *rh_lang_functions;
