// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Embree 3 behind rays.h (I. Wald et al., "Embree: a kernel framework for efficient CPU ray tracing", ACM TOG 33(4),
// 2014). Pictures must have the same bytes for any number of threads and on any machine: the tree is built by one
// thread (where two triangles are equally near, the order of the leaf decides), with instructions no newer than AVX2,
// and with the robust test so that no ray slips between triangles.
#include "view/rays.h"

#include "base/memory.h"

#ifdef RHEO_HAVE_EMBREE
#include <embree3/rtcore.h>
#include <math.h>
#include <stdio.h>

struct rh_rays {
    RTCDevice device;
    RTCScene scene;
};

bool rh_rays_built_in(void) { return true; }

static rh_code check(const rh_rays *rays, const char *what, rh_status *status)
{
    enum RTCError error = rtcGetDeviceError(rays->device);
    if (error == RTC_ERROR_NONE) return RH_OK;
    if (error == RTC_ERROR_OUT_OF_MEMORY)
        return rh_fail(status, RH_MEMORY, "out of memory while %s for the picture", what);
    return rh_fail(status, RH_IO, "Embree failed with code %d while %s", (int)error, what);
}

rh_code rh_rays_create(rh_rays **out, rh_status *status)
{
    rh_rays *rays = rh_alloc_zero(sizeof *rays, "view.rays", status);
    *out = NULL;
    if (!rays) return RH_MEMORY;
    rays->device = rtcNewDevice("threads=1,set_affinity=0,max_isa=avx2");
    if (!rays->device) {
        rh_free(rays);
        enum RTCError error = rtcGetDeviceError(NULL);
        if (error == RTC_ERROR_OUT_OF_MEMORY)
            return rh_fail(status, RH_MEMORY, "out of memory: Embree, which traces the pictures, does not start");
        return rh_fail(status, RH_IO, "Embree does not start on this machine (code %d)", (int)error);
    }
    rays->scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(rays->scene, RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(rays->scene, RTC_BUILD_QUALITY_MEDIUM);
    *out = rays;
    return RH_OK;
}

void rh_rays_free(rh_rays *rays)
{
    if (!rays) return;
    rtcReleaseScene(rays->scene);
    rtcReleaseDevice(rays->device);
    rh_free(rays);
}

static rh_vec3 moved(rh_vec3 p, rh_vec3 v, float seconds)
{
    bool known = isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
    return known ? rh_v3_add(p, rh_v3_scale(v, seconds)) : p;
}

// Fills the vertex buffers of one or two time steps; records of `floats` numbers, the fourth is the radius.
static void fill_vertices(RTCGeometry geometry, enum RTCFormat format, const rh_vec3 *position, const rh_vec3 *velocity,
                          const float *radius, int64_t count, float shutter)
{
    size_t floats = radius ? 4 : 3;
    int steps = velocity && shutter > 0 ? 2 : 1;
    rtcSetGeometryTimeStepCount(geometry, (unsigned)steps);
    for (int step = 0; step < steps; step++) {
        float *to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, (unsigned)step, format,
                                            floats * sizeof *to, (size_t)count);
        if (!to) return;  // the device remembers the error
        float seconds = steps == 1 ? 0 : shutter * ((float)step - 0.5f);
        for (int64_t i = 0; i < count; i++, to += floats) {
            rh_vec3 p = steps == 1 ? position[i] : moved(position[i], velocity[i], seconds);
            to[0] = p.x, to[1] = p.y, to[2] = p.z;
            if (radius) to[3] = radius[i];
        }
    }
}

static rh_code attach(rh_rays *rays, RTCGeometry geometry, rh_status *status)
{
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(rays->scene, geometry);
    rtcReleaseGeometry(geometry);
    return check(rays, "taking over the geometry", status);
}

rh_code rh_rays_add_triangles(rh_rays *rays, const rh_vec3 *position, const rh_vec3 *velocity, int64_t vertex_count,
                              const uint32_t (*triangle)[3], int64_t triangle_count, float shutter, rh_status *status)
{
    RTCGeometry geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (!geometry) return check(rays, "taking over a mesh", status);
    fill_vertices(geometry, RTC_FORMAT_FLOAT3, position, velocity, NULL, vertex_count, shutter);
    uint32_t(*to)[3] = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, sizeof *to,
                                               (size_t)triangle_count);
    for (int64_t i = 0; to && i < triangle_count; i++)
        for (int k = 0; k < 3; k++) to[i][k] = triangle[i][k];
    return attach(rays, geometry, status);
}

rh_code rh_rays_add_spheres(rh_rays *rays, const rh_vec3 *center, const rh_vec3 *velocity, const float *radius,
                            int64_t count, float shutter, rh_status *status)
{
    RTCGeometry geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_SPHERE_POINT);
    if (!geometry) return check(rays, "taking over spheres", status);
    fill_vertices(geometry, RTC_FORMAT_FLOAT4, center, velocity, radius, count, shutter);
    return attach(rays, geometry, status);
}

rh_code rh_rays_commit(rh_rays *rays, rh_status *status)
{
    rtcCommitScene(rays->scene);
    return check(rays, "building the ray tree", status);
}

bool rh_rays_nearest(const rh_rays *rays, const rh_ray *ray, rh_ray_hit *hit)
{
    struct RTCRayHit r = {.ray = {.org_x = ray->origin.x,
                                  .org_y = ray->origin.y,
                                  .org_z = ray->origin.z,
                                  .dir_x = ray->direction.x,
                                  .dir_y = ray->direction.y,
                                  .dir_z = ray->direction.z,
                                  .tnear = 0,
                                  .tfar = ray->far,
                                  .time = ray->time,
                                  .mask = ~0u}};
    r.hit.geomID = r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(rays->scene, &context, &r);
    if (r.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;
    rh_vec3 n = rh_v3(r.hit.Ng_x, r.hit.Ng_y, r.hit.Ng_z);
    float length = rh_v3_length(n);
    *hit = (rh_ray_hit){r.ray.tfar,   length > 0 ? rh_v3_scale(n, 1 / length) : rh_v3(0, 1, 0),
                        r.hit.u,      r.hit.v,
                        r.hit.geomID, r.hit.primID};
    return true;
}

#else

bool rh_rays_built_in(void) { return false; }

rh_code rh_rays_create(rh_rays **out, rh_status *status)
{
    *out = NULL;
    return rh_fail(status, RH_USER,
                   "this program was built without Embree (package libembree-dev, build option RHEO_EMBREE), which "
                   "traces the rays of a picture");
}

void rh_rays_free(rh_rays *rays) { (void)rays; }

static rh_code none(rh_status *status) { return rh_fail(status, RH_USER, "this program was built without Embree"); }

rh_code rh_rays_add_triangles(rh_rays *rays, const rh_vec3 *position, const rh_vec3 *velocity, int64_t vertex_count,
                              const uint32_t (*triangle)[3], int64_t triangle_count, float shutter, rh_status *status)
{
    (void)rays, (void)position, (void)velocity, (void)vertex_count, (void)triangle, (void)triangle_count, (void)shutter;
    return none(status);
}

rh_code rh_rays_add_spheres(rh_rays *rays, const rh_vec3 *center, const rh_vec3 *velocity, const float *radius,
                            int64_t count, float shutter, rh_status *status)
{
    (void)rays, (void)center, (void)velocity, (void)radius, (void)count, (void)shutter;
    return none(status);
}

rh_code rh_rays_commit(rh_rays *rays, rh_status *status)
{
    (void)rays;
    return none(status);
}

bool rh_rays_nearest(const rh_rays *rays, const rh_ray *ray, rh_ray_hit *hit)
{
    (void)rays, (void)ray, (void)hit;
    return false;
}
#endif
