// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The gradient follows the square root of the height: brightness changes fastest near the horizon, as under a clear
// sky. The measured skies (Preetham, Hosek-Wilkie) were left out on purpose: their yellow horizon tints every preview,
// and nobody judging a liquid asked for it.
#include "view/light.h"

#include "view/optics.h"

rh_vec3 rh_light_sky(const rh_light *light, rh_vec3 direction)
{
    if (direction.y <= 0) return light->horizon;
    return rh_v3_lerp(light->horizon, light->zenith, sqrtf(direction.y));
}

static float disc_sr(const rh_light *light) { return 2 * RH_PI_F * (1 - light->sun_cosine); }
// Irradiance of the disc when faced: the integral of the cosine over it.
static float disc_faced(const rh_light *light) { return RH_PI_F * (1 - light->sun_cosine * light->sun_cosine); }

rh_vec3 rh_light_sun(const rh_light *light, rh_vec3 direction, float *pdf)
{
    *pdf = 0;
    if (rh_v3_max(light->sun) <= 0 || rh_v3_dot(direction, light->to_sun) < light->sun_cosine) return rh_v3(0, 0, 0);
    *pdf = 1 / disc_sr(light);
    return rh_v3_scale(light->sun, RH_PI_F / disc_faced(light));
}

bool rh_light_sample_sun(const rh_light *light, const float u[2], rh_vec3 *direction, rh_vec3 *over_pdf, float *pdf)
{
    if (rh_v3_max(light->sun) <= 0) return false;
    float cosine = 1 - u[0] * (1 - light->sun_cosine), sine = sqrtf(rh_max_of(0, 1 - cosine * cosine)),
          angle = 2 * RH_PI_F * u[1];
    rh_vec3 t, b;
    rh_orthonormal_basis(light->to_sun, &t, &b);
    rh_vec3 across = rh_v3_add(rh_v3_scale(t, sine * cosf(angle)), rh_v3_scale(b, sine * sinf(angle)));
    *direction = rh_v3_unit(rh_v3_add(across, rh_v3_scale(light->to_sun, cosine)));
    *pdf = 1 / disc_sr(light);
    *over_pdf = rh_v3_scale(light->sun, RH_PI_F / disc_faced(light) * disc_sr(light));
    return true;
}
