// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Small vectors. rh_vec3 (float) is simulation state; rh_dvec3 (double) is geometry, scene values and small solves.
#pragma once
#include <math.h>

typedef struct rh_vec3 {
    float x, y, z;
} rh_vec3;
typedef struct rh_dvec3 {
    double x, y, z;
} rh_dvec3;
typedef struct rh_mat3 {
    rh_dvec3 row[3];
} rh_mat3;  // rows
typedef struct rh_dbox {
    rh_dvec3 min, max;
} rh_dbox;  // empty when min > max

// Without the NaN rules of fminf and floorf, which cost a call into the maths library each.
static inline float rh_min(float a, float b) { return a < b ? a : b; }
static inline float rh_max_of(float a, float b) { return a > b ? a : b; }
static inline float rh_clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }
static inline int rh_floor(float x)  // |x| below 2^31
{
    int i = (int)x;
    return i - (x < (float)i);
}

static inline rh_vec3 rh_v3(float x, float y, float z) { return (rh_vec3){x, y, z}; }
static inline rh_vec3 rh_v3_add(rh_vec3 a, rh_vec3 b) { return rh_v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline rh_vec3 rh_v3_sub(rh_vec3 a, rh_vec3 b) { return rh_v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline rh_vec3 rh_v3_scale(rh_vec3 a, float s) { return rh_v3(a.x * s, a.y * s, a.z * s); }
static inline float rh_v3_dot(rh_vec3 a, rh_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline float rh_v3_length(rh_vec3 a) { return sqrtf(rh_v3_dot(a, a)); }

static inline rh_dvec3 rh_d3(double x, double y, double z) { return (rh_dvec3){x, y, z}; }
static inline rh_dvec3 rh_d3_add(rh_dvec3 a, rh_dvec3 b) { return rh_d3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline rh_dvec3 rh_d3_sub(rh_dvec3 a, rh_dvec3 b) { return rh_d3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline rh_dvec3 rh_d3_scale(rh_dvec3 a, double s) { return rh_d3(a.x * s, a.y * s, a.z * s); }
static inline double rh_d3_dot(rh_dvec3 a, rh_dvec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double rh_d3_length(rh_dvec3 a) { return sqrt(rh_d3_dot(a, a)); }
static inline rh_dvec3 rh_d3_cross(rh_dvec3 a, rh_dvec3 b)
{
    return rh_d3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline rh_dvec3 rh_d3_unit(rh_dvec3 a)  // zero stays zero
{
    double length = rh_d3_length(a);
    return length > 0 ? rh_d3_scale(a, 1 / length) : a;
}
static inline rh_dvec3 rh_d3_from(rh_vec3 a) { return rh_d3(a.x, a.y, a.z); }
static inline rh_vec3 rh_v3_from(rh_dvec3 a) { return rh_v3((float)a.x, (float)a.y, (float)a.z); }

static inline rh_dvec3 rh_m3_mul(rh_mat3 m, rh_dvec3 v)
{
    return rh_d3(rh_d3_dot(m.row[0], v), rh_d3_dot(m.row[1], v), rh_d3_dot(m.row[2], v));
}
static inline rh_dvec3 rh_m3_mul_transposed(rh_mat3 m, rh_dvec3 v)
{
    return rh_d3_add(rh_d3_add(rh_d3_scale(m.row[0], v.x), rh_d3_scale(m.row[1], v.y)), rh_d3_scale(m.row[2], v.z));
}
