// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Exact signed distances of the analytic shapes. Each function below gives the distance and, when asked, the outward
// unit normal from the same intermediate values. All are exact inside and outside (the box with rounding too: a point
// of the inner box is nearest to the flat part of a face).
//
// Flat shapes (two-dimensional runs) drop z from the point and from the shape: a sphere is a circle, a box a rectangle,
// a plane a half-plane, a capsule a 2D capsule, a cylinder a disc (axis along z) or else a rectangle over the
// projection of its axis. A torus and a mesh keep their distance in space, taken at z = 0: exact for a torus with its
// axis in the plane or along z, otherwise a lower bound of the distance to the cross-section.
#include "solid/shape.h"
#include "solid/mesh.h"

#include <stddef.h>

// A distance that says "nowhere near", as in obstacles.h.
#define FAR 1e30

static const rh_dvec3 up = {0, 1, 0};

// Unit vector along a, or `fallback` when a has no direction.
static rh_dvec3 unit_or(rh_dvec3 a, rh_dvec3 fallback)
{
    double length = rh_d3_length(a);
    return length > 0 && isfinite(length) ? rh_d3_scale(a, 1 / length) : fallback;
}

// Some unit vector at a right angle to a unit vector, in the x-y plane when that is possible.
static rh_dvec3 perpendicular(rh_dvec3 a) { return unit_or(rh_d3(-a.y, a.x, 0), rh_d3(1, 0, 0)); }

static rh_dvec3 drop_z(rh_dvec3 a) { return rh_d3(a.x, a.y, 0); }

static double sphere(rh_dvec3 center, double radius, rh_dvec3 point, rh_dvec3 *normal)
{
    rh_dvec3 offset = rh_d3_sub(point, center);
    if (normal) *normal = unit_or(offset, up);
    return rh_d3_length(offset) - radius;
}

// `q` is the signed excess over the (shrunken) half sizes along each axis; flat leaves the third axis out.
static double box(const rh_box_params *b, bool flat, rh_dvec3 point, rh_dvec3 *normal)
{
    rh_dvec3 center = rh_d3_scale(rh_d3_add(b->min, b->max), 0.5);
    rh_dvec3 offset = rh_d3_sub(point, center);
    double p[3] = {offset.x, offset.y, offset.z};
    double half[3] = {b->max.x - center.x, b->max.y - center.y, b->max.z - center.z};
    double q[3] = {0}, outside[3] = {0}, length2 = 0;
    int axes = flat ? 2 : 3, widest = 0;
    for (int i = 0; i < axes; i++) {
        q[i] = fabs(p[i]) - (half[i] - b->rounding);
        outside[i] = q[i] > 0 ? q[i] : 0;
        length2 += outside[i] * outside[i];
        if (q[i] > q[widest]) widest = i;
    }
    double length = sqrt(length2);
    if (normal) {
        double n[3] = {0};
        if (length > 0)
            for (int i = 0; i < axes; i++) n[i] = copysign(outside[i] / length, p[i]);
        else n[widest] = copysign(1, p[widest]);
        *normal = rh_d3(n[0], n[1], n[2]);
    }
    return (length > 0 ? length : q[widest]) - b->rounding;
}

static double plane(rh_dvec3 on, rh_dvec3 direction, rh_dvec3 point, rh_dvec3 *normal)
{
    double length = rh_d3_length(direction);
    if (normal) *normal = unit_or(direction, up);
    // A flat run's plane with its normal along z never cuts the x-y plane.
    return length > 0 ? rh_d3_dot(rh_d3_sub(point, on), direction) / length : FAR;
}

// Position along and away from the axis from a to b, for cylinders and tori.
typedef struct axial {
    double along, away;
    rh_dvec3 axis, outward;  // unit
} axial;

static axial split(rh_dvec3 origin, rh_dvec3 axis, rh_dvec3 point)
{
    rh_dvec3 offset = rh_d3_sub(point, origin);
    double along = rh_d3_dot(offset, axis);
    rh_dvec3 radial = rh_d3_sub(offset, rh_d3_scale(axis, along));
    double away = rh_d3_length(radial);
    // Rounding leaves a part along the axis that would dominate the direction very near to it.
    rh_dvec3 outward = away > 1e-12 * (fabs(along) + away) ? rh_d3_scale(radial, 1 / away) : perpendicular(axis);
    return (axial){along, away, axis, outward};
}

static double cylinder(const rh_cylinder_params *c, rh_dvec3 from, rh_dvec3 to, rh_dvec3 point, rh_dvec3 *normal)
{
    rh_dvec3 span = rh_d3_sub(to, from);
    double length = rh_d3_length(span);
    if (!(length > 0)) return sphere(from, c->radius, point, normal);  // flat, axis along z: a disc
    axial s = split(from, rh_d3_scale(span, 1 / length), point);
    double side = s.away - c->radius;
    double middle = s.along - 0.5 * length, cap = fabs(middle) - 0.5 * length;
    rh_dvec3 cap_normal = rh_d3_scale(s.axis, copysign(1, middle));
    if (side > 0 && cap > 0) {
        double corner = sqrt(side * side + cap * cap);
        if (normal) *normal = rh_d3_add(rh_d3_scale(s.outward, side / corner), rh_d3_scale(cap_normal, cap / corner));
        return corner;
    }
    if (normal) *normal = side > cap ? s.outward : cap_normal;
    return side > cap ? side : cap;
}

static double capsule(const rh_capsule_params *c, rh_dvec3 from, rh_dvec3 to, rh_dvec3 point, rh_dvec3 *normal)
{
    rh_dvec3 span = rh_d3_sub(to, from);
    double length2 = rh_d3_dot(span, span);
    double t = length2 > 0 ? rh_d3_dot(rh_d3_sub(point, from), span) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    rh_dvec3 offset = rh_d3_sub(point, rh_d3_add(from, rh_d3_scale(span, t)));
    if (normal) *normal = unit_or(offset, length2 > 0 ? perpendicular(unit_or(span, up)) : up);
    return rh_d3_length(offset) - c->radius;
}

static double torus(const rh_torus_params *t, rh_dvec3 center, rh_dvec3 point, rh_dvec3 *normal)
{
    axial s = split(center, unit_or(t->axis, up), point);
    double ring = s.away - t->major, length = sqrt(ring * ring + s.along * s.along);
    if (normal)
        *normal = length > 0 ? rh_d3_add(rh_d3_scale(s.outward, ring / length), rh_d3_scale(s.axis, s.along / length))
                             : s.outward;
    return length - t->minor;
}

static double mesh(const rh_mesh_sdf *sdf, rh_dvec3 point, rh_dvec3 *normal)
{
    if (!sdf) return FAR;
    if (normal) *normal = rh_mesh_sdf_normal(sdf, point);
    return rh_mesh_sdf_distance(sdf, point);
}

static double solid_distance(const rh_shape *s, rh_dvec3 p, rh_dvec3 *normal)
{
    switch (s->kind) {
    case RH_SHAPE_SPHERE: return sphere(s->as.sphere.center, s->as.sphere.radius, p, normal);
    case RH_SHAPE_BOX: return box(&s->as.box, false, p, normal);
    case RH_SHAPE_PLANE: return plane(s->as.plane.point, s->as.plane.normal, p, normal);
    case RH_SHAPE_CYLINDER: return cylinder(&s->as.cylinder, s->as.cylinder.from, s->as.cylinder.to, p, normal);
    case RH_SHAPE_CAPSULE: return capsule(&s->as.capsule, s->as.capsule.from, s->as.capsule.to, p, normal);
    case RH_SHAPE_TORUS: return torus(&s->as.torus, s->as.torus.center, p, normal);
    case RH_SHAPE_MESH: return mesh(s->mesh, p, normal) - s->offset;
    case RH_SHAPE_MESH_SEQUENCE: break;
    }
    return FAR;
}

static double flat_distance(const rh_shape *s, rh_dvec3 p, rh_dvec3 *normal)
{
    p = drop_z(p);
    switch (s->kind) {
    case RH_SHAPE_SPHERE: return sphere(drop_z(s->as.sphere.center), s->as.sphere.radius, p, normal);
    case RH_SHAPE_BOX: return box(&s->as.box, true, p, normal);
    case RH_SHAPE_PLANE: return plane(drop_z(s->as.plane.point), drop_z(s->as.plane.normal), p, normal);
    case RH_SHAPE_CYLINDER:
        return cylinder(&s->as.cylinder, drop_z(s->as.cylinder.from), drop_z(s->as.cylinder.to), p, normal);
    case RH_SHAPE_CAPSULE:
        return capsule(&s->as.capsule, drop_z(s->as.capsule.from), drop_z(s->as.capsule.to), p, normal);
    case RH_SHAPE_TORUS: return torus(&s->as.torus, drop_z(s->as.torus.center), p, normal);
    case RH_SHAPE_MESH: return mesh(s->mesh, p, normal) - s->offset;
    case RH_SHAPE_MESH_SEQUENCE: break;
    }
    return FAR;
}

double rh_shape_distance(const rh_shape *shape, rh_dvec3 point)
{
    return shape->flat ? flat_distance(shape, point, NULL) : solid_distance(shape, point, NULL);
}

rh_dvec3 rh_shape_normal(const rh_shape *shape, rh_dvec3 point)
{
    rh_dvec3 normal = up;
    if (!shape->flat) {
        solid_distance(shape, point, &normal);
        return normal;
    }
    flat_distance(shape, point, &normal);
    return unit_or(drop_z(normal), up);
}

double rh_shape_slack(const rh_shape *shape)
{
    return shape->kind == RH_SHAPE_MESH && shape->mesh ? rh_mesh_sdf_slack(shape->mesh) + fabs(shape->offset) : 0;
}

// --- bounds ----------------------------------------------------------------------------------------------------------

static rh_dbox around(rh_dvec3 a, rh_dvec3 b, rh_dvec3 reach)
{
    rh_dvec3 low = rh_d3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
    rh_dvec3 high = rh_d3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
    return (rh_dbox){rh_d3_sub(low, reach), rh_d3_add(high, reach)};
}

static rh_dvec3 equal_reach(double r) { return rh_d3(r, r, r); }

// Extent along each axis of a disc of radius 1 across the unit vector `axis`.
static rh_dvec3 disc_reach(rh_dvec3 axis)
{
    return rh_d3(sqrt(fmax(0, 1 - axis.x * axis.x)), sqrt(fmax(0, 1 - axis.y * axis.y)),
                 sqrt(fmax(0, 1 - axis.z * axis.z)));
}

static rh_dbox cylinder_bounds(const rh_cylinder_params *c, bool flat)
{
    rh_dvec3 from = flat ? drop_z(c->from) : c->from, to = flat ? drop_z(c->to) : c->to;
    rh_dvec3 span = rh_d3_sub(to, from);
    if (!(rh_d3_length(span) > 0)) return around(from, to, equal_reach(c->radius));
    return around(from, to, rh_d3_scale(disc_reach(unit_or(span, up)), c->radius));
}

static rh_dbox torus_bounds(const rh_torus_params *t)
{
    rh_dvec3 reach = rh_d3_scale(disc_reach(unit_or(t->axis, up)), t->major);
    return around(t->center, t->center, rh_d3_add(reach, equal_reach(t->minor)));
}

static rh_dbox bounds_in_space(const rh_shape *s)
{
    switch (s->kind) {
    case RH_SHAPE_SPHERE: return around(s->as.sphere.center, s->as.sphere.center, equal_reach(s->as.sphere.radius));
    case RH_SHAPE_BOX: return (rh_dbox){s->as.box.min, s->as.box.max};
    case RH_SHAPE_PLANE: break;
    case RH_SHAPE_CYLINDER: return cylinder_bounds(&s->as.cylinder, s->flat);
    case RH_SHAPE_CAPSULE: return around(s->as.capsule.from, s->as.capsule.to, equal_reach(s->as.capsule.radius));
    case RH_SHAPE_TORUS: return torus_bounds(&s->as.torus);
    case RH_SHAPE_MESH_SEQUENCE: break;
    case RH_SHAPE_MESH: return s->mesh ? rh_mesh_sdf_bounds(s->mesh) : (rh_dbox){equal_reach(1), equal_reach(-1)};
    }
    return (rh_dbox){equal_reach(-INFINITY), equal_reach(INFINITY)};
}

rh_dbox rh_shape_bounds(const rh_shape *shape)
{
    rh_dbox bounds = bounds_in_space(shape);
    if (shape->flat) bounds.min.z = bounds.max.z = 0;
    return bounds;
}

void rh_mesh_place(rh_mesh *mesh, const rh_mesh_params *p)
{
    rh_vec3 s = rh_v3_from(p->stretch);
    bool plain = p->stretch.x == 1 && p->stretch.y == 1 && p->stretch.z == 1;
    for (int64_t i = 0; i < mesh->vertex_count && !plain; i++) {
        rh_vec3 *v = &mesh->vertices[i];
        *v = rh_v3(v->x * s.x, v->y * s.y, v->z * s.z);
    }
    rh_mesh_transform(mesh, p->scale, p->rotate, p->translate);
}

double rh_shape_reach(const rh_shape *shape, rh_dvec3 from)
{
    rh_dbox b = rh_shape_bounds(shape);
    double reach = 0;
    for (int corner = 0; corner < 8; corner++) {
        rh_dvec3 p = {corner & 1 ? b.max.x : b.min.x, corner & 2 ? b.max.y : b.min.y, corner & 4 ? b.max.z : b.min.z};
        double r = rh_d3_length(rh_d3_sub(p, from));
        if (r < 1e9 && r > reach) reach = r;
    }
    return reach;
}
