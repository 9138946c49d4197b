// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Matte: Lambert, or Oren-Nayar in the energy-conserving form of Y. Fujii, "A tiny improvement of Oren-Nayar
// reflectance model". Glossy: a GGX coat (B. Walter et al., EGSR 2007; visible normals sampled after E. Heitz, JCGT
// 7(4), 2018) over a diffuse base that gets what the coat lets in and out, as M. Ashikhmin and P. Shirley (2000) do
// with Schlick's formula, here with Fresnel's exact one:
//   base = color/pi (1 - F(in)) (1 - F(out)) / (1 - mean F),
// so that the base reflects color (1 - F(out)) in all and coat and base together never more than comes in.
#include "view/appearance.h"

#include "view/optics.h"

// Over a cosine-weighted hemisphere; a fit within 1 % for 1.2 to 2 (checked by a test).
static float mean_fresnel(float ior) { return (ior - 1) / (4.08567f + 1.00071f * ior); }

// --- matte -----------------------------------------------------------------------------------------------------------

float rh_appearance_diffuse_factor(const rh_appearance *m)
{
    return RH_PI_F / (RH_PI_F + (RH_PI_F / 2 - 2.0f / 3) * rh_max_of(m->roughness, 0));
}

static rh_vec3 evaluate_matte(const rh_appearance *m, rh_vec3 color, float in, float out, float in_out)
{
    if (m->roughness <= 0) return rh_v3_scale(color, in / RH_PI_F);
    float s = in_out - in * out, t = s > 0 ? rh_max_of(in, out) : 1;
    return rh_v3_scale(color, in / RH_PI_F * rh_appearance_diffuse_factor(m) * (1 + m->roughness * s / t));
}

static rh_vec3 cosine_direction(rh_vec3 n, const float u[2])
{
    rh_vec3 t, b;
    rh_orthonormal_basis(n, &t, &b);
    float r = sqrtf(u[0]), angle = 2 * RH_PI_F * u[1];
    rh_vec3 flat = rh_v3_add(rh_v3_scale(t, r * cosf(angle)), rh_v3_scale(b, r * sinf(angle)));
    return rh_v3_add(flat, rh_v3_scale(n, sqrtf(rh_max_of(0, 1 - u[0]))));
}

// --- coat ------------------------------------------------------------------------------------------------------------

static float coat_alpha(const rh_appearance *m) { return rh_max_of(m->roughness * m->roughness, 1e-3f); }

static float ggx(float alpha, float cosine)
{
    float a2 = alpha * alpha, d = cosine * cosine * (a2 - 1) + 1;
    return a2 / (RH_PI_F * d * d);
}

static float smith_lambda(float alpha, float cosine)
{
    float c2 = cosine * cosine;
    return 0.5f * (sqrtf(1 + alpha * alpha * (1 - c2) / rh_max_of(c2, 1e-12f)) - 1);
}

// A facet's normal as seen from `out`.
static rh_vec3 visible_facet(float alpha, rh_vec3 n, rh_vec3 out, const float u[2])
{
    rh_vec3 t, b;
    rh_orthonormal_basis(n, &t, &b);
    rh_vec3 v = rh_v3_unit(rh_v3(alpha * rh_v3_dot(out, t), alpha * rh_v3_dot(out, b), rh_v3_dot(out, n)));
    float flat = v.x * v.x + v.y * v.y;
    rh_vec3 t1 = flat > 0 ? rh_v3_scale(rh_v3(-v.y, v.x, 0), 1 / sqrtf(flat)) : rh_v3(1, 0, 0), t2 = rh_v3_cross(v, t1);
    float r = sqrtf(u[0]), angle = 2 * RH_PI_F * u[1], s = 0.5f * (1 + v.z);
    float p1 = r * cosf(angle), p2 = r * sinf(angle);
    p2 = (1 - s) * sqrtf(rh_max_of(0, 1 - p1 * p1)) + s * p2;
    rh_vec3 h = rh_v3_add(rh_v3_scale(t1, p1), rh_v3_scale(t2, p2));
    h = rh_v3_add(h, rh_v3_scale(v, sqrtf(rh_max_of(0, 1 - p1 * p1 - p2 * p2))));
    h = rh_v3_unit(rh_v3(alpha * h.x, alpha * h.y, rh_max_of(0, h.z)));
    return rh_v3_unit(rh_v3_add(rh_v3_add(rh_v3_scale(t, h.x), rh_v3_scale(b, h.y)), rh_v3_scale(n, h.z)));
}

// How often the coat is sampled: by its share of what is reflected, on dark chocolate more than on milk.
static float coat_share(const rh_appearance *m, rh_vec3 color, float out)
{
    float coat = rh_fresnel(out, 1 / m->ior), base = (1 - coat) * rh_v3_max(color);
    return rh_clamp(coat / (coat + base), 0.1f, 0.9f);
}

static rh_vec3 evaluate_glossy(const rh_appearance *m, rh_vec3 color, rh_vec3 n, rh_vec3 out, rh_vec3 in, float *pdf)
{
    float ci = rh_v3_dot(n, in), co = rh_v3_dot(n, out), alpha = coat_alpha(m), share = coat_share(m, color, co);
    rh_vec3 h = rh_v3_unit(rh_v3_add(in, out));
    float d = ggx(alpha, rh_v3_dot(n, h)), li = smith_lambda(alpha, ci), lo = smith_lambda(alpha, co);
    float coat = rh_fresnel(rh_clamp(rh_v3_dot(h, out), 0, 1), 1 / m->ior) * d / ((1 + li + lo) * 4 * co);
    float base = (1 - rh_fresnel(ci, 1 / m->ior)) * (1 - rh_fresnel(co, 1 / m->ior)) / (1 - mean_fresnel(m->ior)) * ci /
                 RH_PI_F;
    *pdf = share * d / ((1 + lo) * 4 * co) + (1 - share) * ci / RH_PI_F;
    return rh_v3_add(rh_v3_scale(color, base), rh_v3(coat, coat, coat));
}

// --- both ------------------------------------------------------------------------------------------------------------

rh_vec3 rh_appearance_evaluate(const rh_appearance *m, rh_vec3 color, rh_vec3 n, rh_vec3 out, rh_vec3 in, float *pdf)
{
    float ci = rh_v3_dot(n, in), co = rh_v3_dot(n, out);
    *pdf = 0;
    if (ci <= 0 || co <= 0) return rh_v3(0, 0, 0);
    if (m->kind == RH_APPEARANCE_GLOSSY) return evaluate_glossy(m, color, n, out, in, pdf);
    *pdf = ci / RH_PI_F;
    return evaluate_matte(m, color, ci, co, rh_v3_dot(in, out));
}

bool rh_appearance_sample(const rh_appearance *m, rh_vec3 color, rh_vec3 n, rh_vec3 out, float choice, const float u[2],
                          rh_scatter *scatter)
{
    bool coat = m->kind == RH_APPEARANCE_GLOSSY && choice < coat_share(m, color, rh_v3_dot(n, out));
    rh_vec3 in = coat ? rh_reflect(rh_v3_scale(out, -1), visible_facet(coat_alpha(m), n, out, u))
                      : cosine_direction(n, u);
    *scatter = (rh_scatter){.direction = rh_v3_unit(in)};
    if (m->kind == RH_APPEARANCE_MATTE && m->roughness <= 0) {  // BRDF and density cancel: no rounding, no division
        scatter->pdf = rh_max_of(rh_v3_dot(n, scatter->direction), 0) / RH_PI_F;
        scatter->weight = color;
        return scatter->pdf > 0;
    }
    rh_vec3 reflected = rh_appearance_evaluate(m, color, n, out, scatter->direction, &scatter->pdf);
    if (!(scatter->pdf > 0)) return false;
    scatter->weight = rh_v3_scale(reflected, 1 / scatter->pdf);
    return true;
}
