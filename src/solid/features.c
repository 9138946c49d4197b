// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Samples are half the smallest extent of a shape apart, farther where that would be too many. Those of a mesh are its
// corners and points of its triangles, thinned by taking again and again the one farthest from all taken (T. Gonzalez,
// "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985).
#include "solid/features.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"

enum { MOST_ALONG = 24, RIM = 16, RING = 32, MESH_CORNERS = 240, TRIANGLE_PARTS = 12, CANDIDATES = 40000 };

static const double INNER = 0.1;  // of the smallest half extent: how far inside inner places are

static void add_with(rh_features *f, rh_dvec3 at, double radius, rh_dvec3 inner)
{
    if (f->count < RH_FEATURES_MOST) f->items[f->count++] = (rh_feature){at, radius, inner, false};
}

// Towards the middle, where nothing better is known.
static void add(rh_features *f, rh_dvec3 at, double radius)
{
    rh_dvec3 way = rh_d3_unit(rh_d3_sub(f->center, at));
    add_with(f, at, radius, rh_d3_add(at, rh_d3_scale(way, INNER * f->depth)));
}

static rh_dvec3 between(rh_dvec3 a, rh_dvec3 b, double share)
{
    return rh_d3_add(a, rh_d3_scale(rh_d3_sub(b, a), share));
}

static rh_dvec3 flatten(const rh_shape *shape, rh_dvec3 p) { return shape->flat ? rh_d3(p.x, p.y, 0) : p; }

// Two unit vectors across an axis.
static void across(rh_dvec3 axis, rh_dvec3 *p, rh_dvec3 *q)
{
    rh_dvec3 other = fabs(axis.x) < 0.6 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0);
    *p = rh_d3_unit(rh_d3_cross(axis, other));
    *q = rh_d3_cross(axis, *p);
}

// --- shapes ----------------------------------------------------------------------------------------------------------
static void sample_box(const rh_shape *shape, rh_features *f)
{
    const rh_box_params *b = &shape->as.box;
    int axes = shape->flat ? 2 : 3, parts[3] = {0, 0, 0};
    double size[3] = {0}, r = b->rounding, area, small = 1e30, large = 0;
    for (int a = 0; a < axes; a++) {
        size[a] = (&b->max.x)[a] - (&b->min.x)[a] - 2 * r;
        small = fmin(small, size[a] + 2 * r);
        large = fmax(large, size[a]);
    }
    area = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]);
    double spacing = fmax(fmax(0.5 * small, large / MOST_ALONG), shape->flat ? 0 : sqrt(area / 200));
    for (int a = 0; a < axes; a++) parts[a] = (int)fmin(MOST_ALONG, fmax(1, ceil(size[a] / spacing - 1e-9)));
    for (int corners = 1; corners >= 0; corners--)
        for (int k = 0; k <= parts[2]; k++)
            for (int j = 0; j <= parts[1]; j++)
                for (int i = 0; i <= parts[0]; i++) {
                    const int at[3] = {i, j, k};
                    rh_dvec3 p = {0, 0, 0}, inner = {0, 0, 0};
                    int ends = 0;
                    for (int a = 0; a < axes; a++) {
                        int side = at[a] == 0 ? 1 : at[a] == parts[a] ? -1 : 0;
                        ends += side != 0;
                        (&p.x)[a] = (&b->min.x)[a] + r + size[a] * at[a] / parts[a];
                        (&inner.x)[a] = (&p.x)[a] + side * INNER * f->depth;
                    }
                    if (ends > 0 && (ends == axes) == (corners == 1)) add_with(f, p, r, inner);
                }
}

static void sample_segment(rh_dvec3 from, rh_dvec3 to, double radius, double spacing, rh_features *f)
{
    double length = rh_d3_length(rh_d3_sub(to, from));
    int parts = (int)fmin(MOST_ALONG, ceil(length / spacing - 1e-9));
    add(f, from, radius);
    if (parts < 1) return;
    add(f, to, radius);
    for (int i = 1; i < parts; i++) add(f, between(from, to, (double)i / parts), radius);
}

// `inwards`: from the circle into the solid along the axis, m.
static void sample_circle(rh_dvec3 center, rh_dvec3 axis, double around, double radius, double inwards, int count,
                          rh_features *f)
{
    rh_dvec3 p, q;
    across(axis, &p, &q);
    for (int i = 0; i < count; i++) {
        double angle = 2 * 3.14159265358979323846 * i / count;
        rh_dvec3 way = rh_d3_add(rh_d3_scale(p, cos(angle)), rh_d3_scale(q, sin(angle)));
        rh_dvec3 at = rh_d3_add(center, rh_d3_scale(way, around));
        rh_dvec3 inner = rh_d3_add(center, rh_d3_scale(way, around - fabs(inwards)));
        add_with(f, at, radius, rh_d3_add(inner, rh_d3_scale(axis, inwards)));
        f->items[f->count - 1].rim = true;
    }
}

// Rims, and balls on the axis that touch the side. In the plane: a rectangle or a disc.
static void sample_cylinder(const rh_shape *shape, rh_features *f)
{
    const rh_cylinder_params *c = &shape->as.cylinder;
    rh_dvec3 from = flatten(shape, c->from), to = flatten(shape, c->to), way = rh_d3_sub(to, from);
    double length = rh_d3_length(way), r = c->radius;
    if (!(length > 0)) {
        add(f, from, r);
        return;
    }
    rh_dvec3 axis = rh_d3_scale(way, 1 / length), side = rh_d3(-axis.y * r, axis.x * r, 0);
    if (shape->flat) {
        for (int s = -1; s <= 1; s += 2)
            sample_segment(rh_d3_add(from, rh_d3_scale(side, s)), rh_d3_add(to, rh_d3_scale(side, s)), 0,
                           fmin(r, 0.5 * length), f);
        return;
    }
    sample_circle(from, axis, r, 0, INNER * f->depth, RIM, f);
    sample_circle(to, axis, r, 0, -INNER * f->depth, RIM, f);
    if (length >= 2 * r) sample_segment(between(from, to, r / length), between(to, from, r / length), r, 0.5 * r, f);
    add(f, from, 0);
    add(f, to, 0);
}

static void sample_torus(const rh_shape *shape, rh_features *f)
{
    const rh_torus_params *t = &shape->as.torus;
    rh_dvec3 axis = rh_d3_unit(t->axis), center = flatten(shape, t->center);
    if (!shape->flat) {
        sample_circle(center, axis, t->major, t->minor, 0, RING, f);
        return;
    }
    if (fabs(axis.z) > 0.999) add(f, center, t->major + t->minor);  // a ring, as others see it from outside
    rh_dvec3 side = rh_d3_unit(rh_d3(-axis.y, axis.x, 0));
    for (int s = -1; s <= 1 && fabs(axis.z) <= 0.999; s += 2)
        add(f, rh_d3_add(center, rh_d3_scale(side, s * t->major)), t->minor);
}

// --- meshes ----------------------------------------------------------------------------------------------------------
// Takes from `candidates` the farthest from all that `f` has until it has `most`; `apart`: square of the distance of
// each from the nearest that was taken.
static void thin(const rh_dvec3 *candidates, double *apart, int count, int most, double least, rh_features *f)
{
    while (f->count < most) {
        int best = -1;
        for (int i = 0; i < count; i++)
            if (best < 0 || apart[i] > apart[best]) best = i;
        if (best < 0 || !(apart[best] > least * least)) return;
        add(f, candidates[best], 0);
        for (int i = 0; i < count; i++) {
            rh_dvec3 d = rh_d3_sub(candidates[i], candidates[best]);
            apart[i] = fmin(apart[i], rh_d3_dot(d, d));
        }
    }
}

static void start_apart(const rh_features *f, const rh_dvec3 *candidates, int count, double *apart)
{
    for (int i = 0; i < count; i++) {
        rh_dvec3 d = rh_d3_sub(candidates[i], f->center);
        apart[i] = f->count ? 1e30 : rh_d3_dot(d, d);  // the first is the one farthest from the middle
        for (int k = 0; k < f->count; k++) {
            d = rh_d3_sub(candidates[i], f->items[k].at);
            apart[i] = fmin(apart[i], rh_d3_dot(d, d));
        }
    }
}

static int triangle_points(const rh_mesh *mesh, int64_t t, double spacing, rh_dvec3 *out, int room)
{
    rh_dvec3 corner[3];
    double longest = 0;
    int count = 0;
    for (int k = 0; k < 3; k++) corner[k] = rh_d3_from(mesh->vertices[mesh->triangles[t][k]]);
    for (int k = 0; k < 3; k++) longest = fmax(longest, rh_d3_length(rh_d3_sub(corner[(k + 1) % 3], corner[k])));
    int parts = (int)fmin(TRIANGLE_PARTS, ceil(longest / spacing));
    for (int i = 0; i <= parts; i++)
        for (int j = 0; i + j <= parts && parts > 1; j++) {
            if (count == room) return count;
            rh_dvec3 p = between(corner[0], corner[1], (double)i / parts);
            out[count++] = rh_d3_add(p, rh_d3_scale(rh_d3_sub(corner[2], corner[0]), (double)j / parts));
        }
    return count;
}

static rh_code sample_mesh(const rh_mesh *mesh, rh_features *f, rh_status *status)
{
    double *apart = rh_alloc(CANDIDATES * sizeof *apart, "solid.features", status);
    rh_dvec3 *all = apart ? rh_alloc(CANDIDATES * sizeof *all, "solid.features", status) : NULL;
    if (!all) {
        rh_free(apart);
        return RH_MEMORY;
    }
    int count = 0;
    int64_t stride = mesh->vertex_count / CANDIDATES + 1;
    for (int64_t i = 0; i < mesh->vertex_count && count < CANDIDATES; i += stride)
        all[count++] = rh_d3_from(mesh->vertices[i]);
    start_apart(f, all, count, apart);
    thin(all, apart, count, MESH_CORNERS, 1e-4 * f->radius, f);
    count = 0;
    double spacing = fmax(0.5 * f->depth, f->radius / MOST_ALONG);
    stride = mesh->triangle_count / (CANDIDATES / 8) + 1;
    for (int64_t t = 0; t < mesh->triangle_count && count < CANDIDATES; t += stride)
        count += triangle_points(mesh, t, spacing, all + count, CANDIDATES - count);
    start_apart(f, all, count, apart);
    thin(all, apart, count, RH_FEATURES_MOST, 0.5 * spacing, f);
    rh_free(all);
    rh_free(apart);
    return RH_OK;
}

// --- all -------------------------------------------------------------------------------------------------------------
static void measure(const rh_shape *shape, rh_features *f)
{
    rh_dbox b = rh_shape_bounds(shape);
    rh_dvec3 size = rh_d3_sub(b.max, b.min);
    f->center = rh_d3_scale(rh_d3_add(b.min, b.max), 0.5);
    f->radius = 0.5 * rh_d3_length(size);
    f->depth = 0.5 * fmin(fmin(size.x, size.y), shape->flat ? size.x : size.z);
    if (shape->kind == RH_SHAPE_SPHERE) f->radius = f->depth = shape->as.sphere.radius;
    if (shape->kind == RH_SHAPE_CAPSULE) f->depth = shape->as.capsule.radius;
    if (shape->kind == RH_SHAPE_TORUS) f->depth = shape->as.torus.minor;
    if (shape->kind == RH_SHAPE_CYLINDER) {
        double length = rh_d3_length(flatten(shape, rh_d3_sub(shape->as.cylinder.to, shape->as.cylinder.from)));
        f->depth = length > 0 ? fmin(shape->as.cylinder.radius, 0.5 * length) : shape->as.cylinder.radius;
    }
}

rh_code rh_features_create(const rh_shape *shape, const rh_mesh *mesh, rh_features *out, rh_status *status)
{
    *out = (rh_features){.radius = 1e30};
    if (shape->kind == RH_SHAPE_PLANE || shape->kind == RH_SHAPE_MESH_SEQUENCE) return RH_OK;
    measure(shape, out);
    if (shape->kind == RH_SHAPE_MESH && (!mesh || shape->flat)) return RH_OK;
    out->items = rh_alloc(RH_FEATURES_MOST * sizeof *out->items, "solid.features", status);
    if (!out->items) return RH_MEMORY;
    rh_code code = RH_OK;
    switch (shape->kind) {
    case RH_SHAPE_SPHERE: add(out, flatten(shape, shape->as.sphere.center), shape->as.sphere.radius); break;
    case RH_SHAPE_BOX: sample_box(shape, out); break;
    case RH_SHAPE_CYLINDER: sample_cylinder(shape, out); break;
    case RH_SHAPE_CAPSULE:
        sample_segment(flatten(shape, shape->as.capsule.from), flatten(shape, shape->as.capsule.to),
                       shape->as.capsule.radius, shape->as.capsule.radius, out);
        break;
    case RH_SHAPE_TORUS: sample_torus(shape, out); break;
    case RH_SHAPE_MESH: code = sample_mesh(mesh, out, status); break;
    case RH_SHAPE_PLANE:
    case RH_SHAPE_MESH_SEQUENCE: break;
    }
    if (code != RH_OK) rh_features_free(out);
    return code;
}

void rh_features_free(rh_features *features)
{
    rh_free(features->items);
    *features = (rh_features){0};
}

// The part of `direction` across the axis, as a unit vector; false where there is none.
static bool outward(rh_dvec3 axis, rh_dvec3 direction, rh_dvec3 *out)
{
    rh_dvec3 part = rh_d3_sub(direction, rh_d3_scale(axis, rh_d3_dot(axis, direction)));
    double length = rh_d3_length(part);
    if (!(length > 1e-6)) return false;
    *out = rh_d3_scale(part, 1 / length);
    return true;
}

bool rh_features_lies_flat(const rh_shape *shape, rh_dvec3 direction)
{
    rh_dvec3 axis = shape->kind == RH_SHAPE_TORUS ? shape->as.torus.axis
                                                  : rh_d3_sub(shape->as.cylinder.to, shape->as.cylinder.from);
    return fabs(rh_d3_dot(rh_d3_unit(axis), direction)) > 0.9;
}

int rh_features_supports(const rh_shape *shape, rh_dvec3 direction, rh_feature out[RH_SUPPORTS_MOST])
{
    rh_dvec3 way;
    if (shape->flat) return 0;
    if (shape->kind == RH_SHAPE_CYLINDER) {
        const rh_cylinder_params *c = &shape->as.cylinder;
        rh_dvec3 axis = rh_d3_unit(rh_d3_sub(c->to, c->from));
        double in = INNER * fmin(c->radius, 0.5 * rh_d3_length(rh_d3_sub(c->to, c->from)));
        if (!outward(axis, direction, &way)) return 0;
        for (int end = 0; end < 2; end++) {
            rh_dvec3 at = rh_d3_add(end ? c->to : c->from, rh_d3_scale(way, c->radius));
            rh_dvec3 inner = rh_d3_add(at, rh_d3_scale(axis, end ? -in : in));
            out[end] = (rh_feature){at, 0, rh_d3_sub(inner, rh_d3_scale(way, in)), false};
        }
        return 2;
    }
    if (shape->kind == RH_SHAPE_TORUS) {
        const rh_torus_params *t = &shape->as.torus;
        if (!outward(rh_d3_unit(t->axis), direction, &way)) return 0;
        rh_dvec3 at = rh_d3_add(t->center, rh_d3_scale(way, t->major));
        out[0] = (rh_feature){at, t->minor, at, false};
        return 1;
    }
    return 0;
}
