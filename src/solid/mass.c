// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Volume, first and second moments are integrals of polynomials over tetrahedra, which have closed forms: with corners
// a to d, volume V and sum of corners s,
//      integral x = V s / 4        integral x x^T = V / 20 (a a^T + b b^T + c c^T + d d^T + s s^T)
// (F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor in terms of its vertex coordinates",
// Journal of Mathematics and Statistics 1(1), 2004).
//
// A closed mesh is the sum of the tetrahedra that its triangles make with one point, signed by the side they are seen
// from. A shape is cut into blocks, those around its boundary into cells and these into six tetrahedra each, in which
// the distance is taken to be linear: what lies inside is a tetrahedron, a wedge, or what a tetrahedron leaves. Where
// the boundary bends the error falls with the square of the edge, so that cells half as wide give the fourth power
// (Richardson).
#include "solid/mass.h"

#include <math.h>

enum { BLOCKS = 8, PER_BLOCK = 8 };  // along the longest side: blocks, and cells in them

typedef struct moments {
    double volume;
    double first[3];
    double second[6];  // xx, yy, zz, xy, xz, yz
} moments;

static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

static void add_tetrahedron(moments *m, const rh_dvec3 corner[4], double volume)
{
    rh_dvec3 s = rh_d3_add(rh_d3_add(corner[0], corner[1]), rh_d3_add(corner[2], corner[3]));
    m->volume += volume;
    for (int a = 0; a < 3; a++) m->first[a] += 0.25 * volume * (&s.x)[a];
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        double sum = (&s.x)[i] * (&s.x)[j];
        for (int c = 0; c < 4; c++) sum += (&corner[c].x)[i] * (&corner[c].x)[j];
        m->second[k] += 0.05 * volume * sum;
    }
}

static double volume_of(const rh_dvec3 c[4])
{
    rh_dvec3 a = rh_d3_sub(c[1], c[0]), b = rh_d3_sub(c[2], c[0]), d = rh_d3_sub(c[3], c[0]);
    return rh_d3_dot(a, rh_d3_cross(b, d)) / 6;
}

static void add_box(moments *m, rh_dvec3 center, const double edge[3])
{
    double volume = edge[0] * edge[1] * edge[2];
    m->volume += volume;
    for (int a = 0; a < 3; a++) m->first[a] += volume * (&center.x)[a];
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        m->second[k] += volume * ((&center.x)[i] * (&center.x)[j] + (i == j ? edge[i] * edge[i] / 12 : 0));
    }
}

// `origin`: what the moments were taken about.
static rh_mass mass_of(const moments *m, rh_dvec3 origin, double density)
{
    rh_mass out = {.volume = m->volume, .mass = density * m->volume};
    double c[3], spread[6];
    for (int a = 0; a < 3; a++) c[a] = m->first[a] / m->volume;
    for (int k = 0; k < 6; k++) spread[k] = density * (m->second[k] - m->volume * c[pair[k][0]] * c[pair[k][1]]);
    out.center = rh_d3_add(origin, rh_d3(c[0], c[1], c[2]));
    out.inertia = (rh_mat3){{{spread[1] + spread[2], -spread[3], -spread[4]},
                             {-spread[3], spread[0] + spread[2], -spread[5]},
                             {-spread[4], -spread[5], spread[0] + spread[1]}}};
    return out;
}

// --- meshes ----------------------------------------------------------------------------------------------------------
rh_code rh_mass_of_mesh(const rh_mesh *mesh, double density, rh_mass *out, rh_status *status)
{
    moments m = {0};
    rh_dbox box = rh_mesh_bounds(mesh);
    rh_dvec3 origin = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5), size = rh_d3_sub(box.max, box.min);
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        rh_dvec3 corner[4] = {{0, 0, 0}};
        for (int k = 0; k < 3; k++)
            corner[k + 1] = rh_d3_sub(rh_d3_from(mesh->vertices[mesh->triangles[t][k]]), origin);
        add_tetrahedron(&m, corner, volume_of(corner));
    }
    *out = (rh_mass){0};
    if (!(fabs(m.volume) > 1e-9 * size.x * size.y * size.z))
        return rh_fail(status, RH_USER, "the mesh encloses nothing, expected a closed one");
    double sign = m.volume < 0 ? -1 : 1;
    m.volume *= sign;
    for (int a = 0; a < 3; a++) m.first[a] *= sign;
    for (int k = 0; k < 6; k++) m.second[k] *= sign;
    *out = mass_of(&m, origin, density);
    return RH_OK;
}

// --- shapes ----------------------------------------------------------------------------------------------------------
typedef struct cutter {
    const rh_shape *shape;
    rh_dvec3 origin;  // of the moments
    double slack;     // m
    moments sum;
} cutter;

// Where the distance is zero on the way from an inner to an outer corner.
static rh_dvec3 between(const rh_dvec3 corner[4], const double distance[4], int in, int out)
{
    double share = distance[in] / (distance[in] - distance[out]);
    return rh_d3_add(rh_d3_scale(corner[in], 1 - share), rh_d3_scale(corner[out], share));
}

static void add_part(moments *m, rh_dvec3 a, rh_dvec3 b, rh_dvec3 c, rh_dvec3 d, double sign)
{
    const rh_dvec3 corner[4] = {a, b, c, d};
    add_tetrahedron(m, corner, sign * fabs(volume_of(corner)));
}

// Corners on the boundary, but for rounding (`zero`, m), count as inside: at the edges of a box all four may be.
static void add_inside(moments *m, const rh_dvec3 corner[4], const double distance[4], double zero)
{
    int in[4], out[4], inside = 0, outside = 0;
    for (int c = 0; c < 4; c++) {
        if (distance[c] <= zero) in[inside++] = c;
        else out[outside++] = c;
    }
    if (inside == 0) return;
    if (inside != 1 && inside != 2) add_part(m, corner[0], corner[1], corner[2], corner[3], 1);
    if (inside == 1) {
        rh_dvec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = between(corner, distance, in[0], out[k]);
        add_part(m, corner[in[0]], p[0], p[1], p[2], 1);
    } else if (inside == 3) {
        rh_dvec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = between(corner, distance, in[k], out[0]);
        add_part(m, corner[out[0]], p[0], p[1], p[2], -1);
    } else if (inside == 2) {  // a wedge, in three
        rh_dvec3 a = corner[in[0]], b = corner[in[1]];
        rh_dvec3 a0 = between(corner, distance, in[0], out[0]), a1 = between(corner, distance, in[0], out[1]);
        rh_dvec3 b0 = between(corner, distance, in[1], out[0]), b1 = between(corner, distance, in[1], out[1]);
        add_part(m, a, a0, a1, b, 1);
        add_part(m, a0, a1, b, b0, 1);
        add_part(m, a1, b, b0, b1, 1);
    }
}

// Six tetrahedra around the diagonal (H. W. Kuhn's): from corner 0 to corner 7, one axis after the other.
static void add_cell(cutter *c, rh_dvec3 center, const double edge[3])
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    rh_dvec3 corner[8];
    double distance[8];
    for (int k = 0; k < 8; k++) {
        rh_dvec3 x = center;
        for (int a = 0; a < 3; a++) (&x.x)[a] += (k >> a & 1 ? 0.5 : -0.5) * edge[a];
        corner[k] = rh_d3_sub(x, c->origin);
        distance[k] = rh_shape_distance(c->shape, x);
    }
    for (int n = 0; n < 6; n++) {
        int at = 0;
        rh_dvec3 four[4] = {corner[0]};
        double values[4] = {distance[0]};
        for (int k = 0; k < 3; k++) {
            at |= 1 << order[n][k];
            four[k + 1] = corner[at];
            values[k + 1] = distance[at];
        }
        add_inside(&c->sum, four, values, 1e-9 * edge[0]);
    }
}

// True when the boundary does not come here; then what lies inside was added.
static bool add_whole(cutter *c, rh_dvec3 center, const double edge[3])
{
    double depth = c->shape->flat ? 0 : edge[2];
    double reach = 0.5 * sqrt(edge[0] * edge[0] + edge[1] * edge[1] + depth * depth) + c->slack;
    double distance = rh_shape_distance(c->shape, center);
    if (fabs(distance) <= reach) return false;
    if (distance < 0) add_box(&c->sum, rh_d3_sub(center, c->origin), edge);
    return true;
}

static void add_block(cutter *c, rh_dvec3 low, const double edge[3], const int cells[3])
{
    double whole[3];
    rh_dvec3 middle = low;
    for (int a = 0; a < 3; a++) {
        whole[a] = cells[a] * edge[a];
        (&middle.x)[a] += 0.5 * whole[a];
    }
    if (add_whole(c, middle, whole)) return;
    for (int k = 0; k < cells[2]; k++)
        for (int j = 0; j < cells[1]; j++)
            for (int i = 0; i < cells[0]; i++) {
                rh_dvec3 center = {low.x + (i + 0.5) * edge[0], low.y + (j + 0.5) * edge[1],
                                   low.z + (k + 0.5) * edge[2]};
                if (!add_whole(c, center, edge)) add_cell(c, center, edge);
            }
}

// Blocks end where the bounds do, so that a box is found exactly.
static moments integrate(const rh_shape *shape, rh_dbox box, rh_dvec3 origin, int per_block)
{
    cutter c = {.shape = shape, .origin = origin, .slack = rh_shape_slack(shape)};
    rh_dvec3 size = rh_d3_sub(box.max, box.min);
    double longest = fmax(size.x, fmax(size.y, shape->flat ? 0 : size.z)), edge[3];
    int blocks[3] = {1, 1, 1}, cells[3] = {per_block, per_block, per_block};
    for (int a = 0; a < 3; a++) {
        if (a == 2 && shape->flat) cells[a] = 1;
        else blocks[a] = (int)fmax(1, ceil(BLOCKS * (&size.x)[a] / longest - 1e-9));
        edge[a] = (&size.x)[a] / (blocks[a] * cells[a]);
    }
    for (int k = 0; k < blocks[2]; k++)
        for (int j = 0; j < blocks[1]; j++)
            for (int i = 0; i < blocks[0]; i++)
                add_block(&c,
                          rh_d3(box.min.x + i * cells[0] * edge[0], box.min.y + j * cells[1] * edge[1],
                                box.min.z + k * cells[2] * edge[2]),
                          edge, cells);
    return c.sum;
}

// --- shapes with a closed form ---------------------------------------------------------------------------------------
// Moments of a body of revolution about its middle: `along` and `across` are the integrals of squares of distances
// along its axis (any length), and along any direction across it.
static moments revolved(double volume, rh_dvec3 axis, double along, double across)
{
    moments m = {.volume = volume};
    double length = rh_d3_length(axis);
    rh_dvec3 n = length > 0 ? rh_d3_scale(axis, 1 / length) : rh_d3(0, 0, 1);
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        m.second[k] = (along - across) * (&n.x)[i] * (&n.x)[j] + (i == j ? across : 0);
    }
    return m;
}

static moments round_ends(double r, double length, rh_dvec3 axis)
{
    double rod = M_PI * r * r * length, cap = 2 * M_PI * r * r * r / 3;
    double along = rod * length * length / 12 + 2 * cap * (0.25 * length * length + 0.375 * length * r + 0.2 * r * r);
    return revolved(rod + 2 * cap, axis, along, 0.25 * rod * r * r + 0.4 * cap * r * r);
}

// False: there is none. Flat ones are a metre deep.
static bool closed_form(const rh_shape *s, rh_dvec3 *origin, moments *m)
{
    if (s->kind == RH_SHAPE_SPHERE) {
        double r = s->as.sphere.radius;
        *origin = s->as.sphere.center;
        if (s->flat) origin->z = 0;
        double volume = s->flat ? M_PI * r * r : 4 * M_PI / 3 * r * r * r;
        *m = s->flat ? revolved(volume, rh_d3(0, 0, 1), volume / 12, 0.25 * volume * r * r)
                     : revolved(volume, rh_d3(0, 0, 1), 0.2 * volume * r * r, 0.2 * volume * r * r);
        return true;
    }
    if (s->kind == RH_SHAPE_BOX && s->as.box.rounding == 0) {
        rh_dvec3 size = rh_d3_sub(s->as.box.max, s->as.box.min);
        *origin = rh_d3_scale(rh_d3_add(s->as.box.min, s->as.box.max), 0.5);
        if (s->flat) size.z = 1, origin->z = 0;
        *m = (moments){0};
        add_box(m, rh_d3(0, 0, 0), (double[3]){size.x, size.y, size.z});
        return true;
    }
    if (s->flat) return false;
    if (s->kind == RH_SHAPE_CYLINDER || s->kind == RH_SHAPE_CAPSULE) {
        bool capsule = s->kind == RH_SHAPE_CAPSULE;
        rh_dvec3 from = capsule ? s->as.capsule.from : s->as.cylinder.from;
        rh_dvec3 to = capsule ? s->as.capsule.to : s->as.cylinder.to, axis = rh_d3_sub(to, from);
        double r = capsule ? s->as.capsule.radius : s->as.cylinder.radius, length = rh_d3_length(axis);
        double rod = M_PI * r * r * length;
        *origin = rh_d3_scale(rh_d3_add(from, to), 0.5);
        *m = capsule ? round_ends(r, length, axis)
                     : revolved(rod, axis, rod * length * length / 12, 0.25 * rod * r * r);
        return true;
    }
    if (s->kind == RH_SHAPE_TORUS && s->as.torus.minor <= s->as.torus.major) {
        double far = s->as.torus.major, r = s->as.torus.minor, volume = 2 * M_PI * M_PI * far * r * r;
        *origin = s->as.torus.center;
        *m = revolved(volume, s->as.torus.axis, 0.25 * volume * r * r, volume * (0.5 * far * far + 0.375 * r * r));
        return true;
    }
    return false;
}

static double extrapolated(double coarse, double fine) { return fine + (fine - coarse) / 3; }

rh_code rh_mass_of_shape(const rh_shape *shape, double density, rh_mass *out, rh_status *status)
{
    moments exact;
    rh_dvec3 middle;
    rh_dbox box = rh_shape_bounds(shape);
    *out = (rh_mass){0};
    if (closed_form(shape, &middle, &exact)) {
        *out = mass_of(&exact, middle, density);
        return RH_OK;
    }
    if (shape->flat) box.min.z = -0.5, box.max.z = 0.5;
    for (int a = 0; a < 3; a++)
        if (!(fabs((&box.min.x)[a]) < 1e9 && fabs((&box.max.x)[a]) < 1e9))
            return rh_fail(status, RH_USER, "the shape has no end, and so no mass");
    rh_dvec3 origin = rh_d3_scale(rh_d3_add(box.min, box.max), 0.5);
    moments coarse = integrate(shape, box, origin, PER_BLOCK / 2), m = integrate(shape, box, origin, PER_BLOCK);
    m.volume = extrapolated(coarse.volume, m.volume);
    for (int a = 0; a < 3; a++) m.first[a] = extrapolated(coarse.first[a], m.first[a]);
    for (int k = 0; k < 6; k++) m.second[k] = extrapolated(coarse.second[k], m.second[k]);
    if (!(m.volume > 0)) return rh_fail(status, RH_USER, "nothing lies inside of the shape, and so it has no mass");
    *out = mass_of(&m, origin, density);
    return RH_OK;
}

// --- answers ---------------------------------------------------------------------------------------------------------
rh_mass rh_mass_weighing(const rh_mass *of, double mass)
{
    rh_mass out = *of;
    out.mass = mass;
    for (int r = 0; r < 3; r++) out.inertia.row[r] = rh_d3_scale(of->inertia.row[r], mass / of->mass);
    return out;
}

rh_mat3 rh_mass_inertia(const rh_mass *of, const rh_pose *pose)
{
    rh_mat3 half, out;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) (&half.row[r].x)[c] = rh_d3_dot(pose->rotation.row[r], of->inertia.row[c]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) (&out.row[r].x)[c] = rh_d3_dot(half.row[r], pose->rotation.row[c]);
    return out;
}
