// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The C side of the built-in functions, called by compiled code through the table in functions.c. How arguments are
// passed is said in lang/functions.h. A name is rh_lang_ + the function's name + the types that tell its overloads
// apart (f d: float double; 3f: vec3f or mat3f).
#pragma once
#include "lang/runtime.h"

// numbers.c
double rh_lang_pow_di(double base, int32_t exponent);

// matrices.c
double rh_lang_determinant_3d(const double *m);
float rh_lang_determinant_3f(const float *m);
double rh_lang_determinant_4d(const double *m);
float rh_lang_determinant_4f(const float *m);
void rh_lang_adjoint_d(double *out, const double *m);
void rh_lang_adjoint_f(float *out, const float *m);
void rh_lang_cofactor_d(double *out, const double *m);
void rh_lang_cofactor_f(float *out, const float *m);
void rh_lang_inverse_d(double *out, const double *m);
void rh_lang_inverse_f(float *out, const float *m);
void rh_lang_prescale_d(double *m, const double *scale);
void rh_lang_prescale_f(float *m, const float *scale);
void rh_lang_postscale_d(double *m, const double *scale);
void rh_lang_postscale_f(float *m, const float *scale);
bool rh_lang_polardecompose_d(const double *m, double *unitary, double *symmetric);
bool rh_lang_polardecompose_f(const float *m, float *unitary, float *symmetric);
bool rh_lang_eigen_d(const double *m, double *values, double *vectors);
bool rh_lang_eigen_f(const float *m, float *values, float *vectors);

// random.c
void rh_lang_twister64_seed(rh_lang_twister64 *twister, uint64_t seed);
uint64_t rh_lang_twister64_draw(rh_lang_twister64 *twister);
void rh_lang_twister32_seed(rh_lang_twister32 *twister, uint32_t seed);
uint32_t rh_lang_twister32_draw(rh_lang_twister32 *twister);
uint64_t rh_lang_hash_bytes(const void *data, int64_t length);
double rh_lang_rand(rh_lang_context *context);
double rh_lang_rand_d(rh_lang_context *context, double seed);
double rh_lang_rand_l(rh_lang_context *context, int64_t seed);
double rh_lang_rand32(rh_lang_context *context);
double rh_lang_rand32_d(rh_lang_context *context, double seed);
double rh_lang_rand32_i(rh_lang_context *context, int32_t seed);

// reals.c: of floats, one and eight at once, which get the same bits as alone.
#define RH_LANG_OF_ONE(name)           \
    float rh_lang_##name##_1(float x); \
    void rh_lang_##name##_8(float *restrict out, const float *restrict x)
#define RH_LANG_OF_TWO(name)                    \
    float rh_lang_##name##_1(float x, float y); \
    void rh_lang_##name##_8(float *restrict out, const float *restrict x, const float *restrict y)
RH_LANG_OF_ONE(sin);
RH_LANG_OF_ONE(cos);
RH_LANG_OF_ONE(tan);
RH_LANG_OF_ONE(atan);
RH_LANG_OF_ONE(asin);
RH_LANG_OF_ONE(acos);
RH_LANG_OF_ONE(exp);
RH_LANG_OF_ONE(exp2);
RH_LANG_OF_ONE(log);
RH_LANG_OF_ONE(log2);
RH_LANG_OF_ONE(log10);
RH_LANG_OF_ONE(cbrt);
RH_LANG_OF_ONE(sinh);
RH_LANG_OF_ONE(cosh);
RH_LANG_OF_ONE(tanh);
RH_LANG_OF_TWO(atan2);
RH_LANG_OF_TWO(pow);
RH_LANG_OF_TWO(fmod);
// simplex.c. The forms with 8 take eight places at once, which get the same bits as alone.
void rh_lang_simplexnoise_8(double *out, const double *x, const double *y, const double *z);
double rh_lang_curlsimplex_x(double x, double y, double z);  // components
double rh_lang_curlsimplex_y(double x, double y, double z);
double rh_lang_curlsimplex_z(double x, double y, double z);
void rh_lang_curlsimplex_8x(double *out, const double *x, const double *y, const double *z);
void rh_lang_curlsimplex_8y(double *out, const double *x, const double *y, const double *z);
void rh_lang_curlsimplex_8z(double *out, const double *x, const double *y, const double *z);
// simplex.c, noise.c
double rh_lang_simplexnoise_1(double x);
double rh_lang_simplexnoise_2(double x, double y);
double rh_lang_simplexnoise_3(double x, double y, double z);
double rh_lang_simplexnoise_v(const double *p);
void rh_lang_curlsimplexnoise_3(double *out, double x, double y, double z);
void rh_lang_curlsimplexnoise_v(double *out, const double *p);
double rh_lang_noise_1(double x);
double rh_lang_noise_2(double x, double y);
double rh_lang_noise_3(double x, double y, double z);
double rh_lang_noise_v(const double *p);
void rh_lang_curlnoise_3(double *out, double x, double y, double z);
void rh_lang_curlnoise_v(double *out, const double *p);

// texts.c
int64_t rh_lang_hash(const rh_lang_text *text);
int32_t rh_lang_atoi(const rh_lang_text *text);
double rh_lang_atof(const rh_lang_text *text);
void rh_lang_print_d(rh_lang_context *context, double value);
void rh_lang_print_f(rh_lang_context *context, float value);
void rh_lang_print_l(rh_lang_context *context, int64_t value);
void rh_lang_print_i(rh_lang_context *context, int32_t value);
void rh_lang_print_s(rh_lang_context *context, const rh_lang_text *text);
void rh_lang_print_2i(rh_lang_context *context, const int32_t *v);
void rh_lang_print_2f(rh_lang_context *context, const float *v);
void rh_lang_print_2d(rh_lang_context *context, const double *v);
void rh_lang_print_3i(rh_lang_context *context, const int32_t *v);
void rh_lang_print_3f(rh_lang_context *context, const float *v);
void rh_lang_print_3d(rh_lang_context *context, const double *v);
void rh_lang_print_4i(rh_lang_context *context, const int32_t *v);
void rh_lang_print_4f(rh_lang_context *context, const float *v);
void rh_lang_print_4d(rh_lang_context *context, const double *v);
void rh_lang_print_m3f(rh_lang_context *context, const float *m);
void rh_lang_print_m3d(rh_lang_context *context, const double *m);
void rh_lang_print_m4f(rh_lang_context *context, const float *m);
void rh_lang_print_m4d(rh_lang_context *context, const double *m);

// elements.c
float rh_lang_external_f(rh_lang_context *context, const rh_lang_text *name);
void rh_lang_external_v(rh_lang_context *context, float *out, const rh_lang_text *name);
void rh_lang_addtogroup(rh_lang_context *context, const rh_lang_text *name);
void rh_lang_removefromgroup(rh_lang_context *context, const rh_lang_text *name);
bool rh_lang_ingroup(rh_lang_context *context, const rh_lang_text *name);
void rh_lang_deletepoint(rh_lang_context *context);
int64_t rh_lang_pointindex(rh_lang_context *context);
void rh_lang_getcoord(rh_lang_context *context, int32_t *out);
int32_t rh_lang_getcoordx(rh_lang_context *context);
int32_t rh_lang_getcoordy(rh_lang_context *context);
int32_t rh_lang_getcoordz(rh_lang_context *context);
void rh_lang_getvoxelpws(rh_lang_context *context, double *out);

// near.c
int32_t rh_lang_neighbours(rh_lang_context *context, float radius);
int32_t rh_lang_neighbours_at(rh_lang_context *context, const float *place, float radius);
int32_t rh_lang_nearest(rh_lang_context *context, int32_t most, float radius);
int32_t rh_lang_nearest_at(rh_lang_context *context, const float *place, int32_t most, float radius);
int64_t rh_lang_neighbour_index(rh_lang_context *context, int32_t i);
float rh_lang_neighbour_distance(rh_lang_context *context, int32_t i);
void rh_lang_neighbour_offset(rh_lang_context *context, float *out, int32_t i);
void rh_lang_neighbour_position(rh_lang_context *context, float *out, int32_t i);
int32_t rh_lang_neighbour_int(rh_lang_context *context, const rh_lang_text *name, int32_t i);
int64_t rh_lang_neighbour_int64(rh_lang_context *context, const rh_lang_text *name, int32_t i);
float rh_lang_neighbour_float(rh_lang_context *context, const rh_lang_text *name, int32_t i);
double rh_lang_neighbour_double(rh_lang_context *context, const rh_lang_text *name, int32_t i);
void rh_lang_neighbour_vec3f(rh_lang_context *context, float *out, const rh_lang_text *name, int32_t i);
void rh_lang_neighbour_mat3f(rh_lang_context *context, float *out, const rh_lang_text *name, int32_t i);
bool rh_lang_neighbour_ingroup(rh_lang_context *context, const rh_lang_text *name, int32_t i);
