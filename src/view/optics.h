// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Light at a boundary: float vectors, a basis around a normal, reflection, Snell's law, Fresnel's formulas for light
// without polarisation, and absorption along a path (Beer-Lambert). M. Born, E. Wolf, "Principles of Optics", 7th ed.,
// sections 1.5 and 4.9.
#pragma once
#include <math.h>
#include <stdbool.h>
#include "base/vec.h"

#define RH_PI_F 3.14159265f

static inline rh_vec3 rh_v3_cross(rh_vec3 a, rh_vec3 b)
{
    return rh_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline rh_vec3 rh_v3_multiply(rh_vec3 a, rh_vec3 b) { return rh_v3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline rh_vec3 rh_v3_lerp(rh_vec3 a, rh_vec3 b, float t)
{
    return rh_v3_add(a, rh_v3_scale(rh_v3_sub(b, a), t));
}
static inline float rh_v3_max(rh_vec3 a) { return rh_max_of(a.x, rh_max_of(a.y, a.z)); }
static inline rh_vec3 rh_v3_unit(rh_vec3 a)  // zero stays zero
{
    float length = rh_v3_length(a);
    return length > 0 ? rh_v3_scale(a, 1 / length) : a;
}

// Two directions that make a right-handed frame with the unit vector n (T. Duff et al., "Building an orthonormal basis,
// revisited", JCGT 6(1), 2017).
static inline void rh_orthonormal_basis(rh_vec3 n, rh_vec3 *tangent, rh_vec3 *bitangent)
{
    float sign = copysignf(1, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
    *tangent = rh_v3(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *bitangent = rh_v3(b, sign + n.y * n.y * a, -n.y);
}

// `direction` travels towards the surface, `normal` looks against it; both unit.
static inline rh_vec3 rh_reflect(rh_vec3 direction, rh_vec3 normal)
{
    return rh_v3_sub(direction, rh_v3_scale(normal, 2 * rh_v3_dot(direction, normal)));
}

// Share of the light that is reflected. `cosine` of the angle of incidence, not negative; `ratio` is the index on the
// side the light comes from over the index on the other. 1 beyond the critical angle.
static inline float rh_fresnel(float cosine, float ratio)
{
    float sine2 = ratio * ratio * (1 - cosine * cosine);
    if (sine2 >= 1) return 1;
    float other = sqrtf(1 - sine2);
    float across = (ratio * cosine - other) / (ratio * cosine + other);  // electric field across the plane of incidence
    float along = (cosine - ratio * other) / (cosine + ratio * other);
    return 0.5f * (across * across + along * along);
}

// The direction behind the surface; false when there is none (total reflection). Arguments as above.
static inline bool rh_refract(rh_vec3 direction, rh_vec3 normal, float ratio, rh_vec3 *out)
{
    float cosine = -rh_v3_dot(direction, normal), sine2 = ratio * ratio * (1 - cosine * cosine);
    if (sine2 >= 1) return false;
    rh_vec3 along = rh_v3_scale(direction, ratio), across = rh_v3_scale(normal, ratio * cosine - sqrtf(1 - sine2));
    *out = rh_v3_unit(rh_v3_add(along, across));
    return true;
}

// What is left of light after `distance` metres in a medium that absorbs `absorption` per metre.
static inline rh_vec3 rh_transmittance(rh_vec3 absorption, float distance)
{
    return rh_v3(expf(-absorption.x * distance), expf(-absorption.y * distance), expf(-absorption.z * distance));
}
