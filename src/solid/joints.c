// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rows as in M. Cline, D. Pai, "Post-stabilization for rigid body simulation with contact and constraints", ICRA 2003;
// drift is corrected for the most part in each step (J. Baumgarte, "Stabilization of constraints and integrals of
// motion in dynamical systems", Computer Methods in Applied Mechanics and Engineering 1, 1972). Redundant equations, as
// those of a closed chain of hinges, would have no single solution: all of them are made compliant by a tiny share.
#include "solid/joints.h"

#include <math.h>
#include <string.h>
#include "base/assert.h"
#include "base/memory.h"
#include "base/union_find.h"
#include "solve/dense.h"

const char *const rh_joint_names[] = {"hinge", "slider", "ball", "fixed", NULL};

enum { PARTS = 6, SQUARE = 36, MOST_ROWS = 6 };  // rows of a joint, or of the locks of a solid
static const double MENDED = 0.8;                // share of the drift that is corrected in a step
static const double GIVES_WAY = 1e-9;            // compliance of a row, of its own effect

// --- making ----------------------------------------------------------------------------------------------------------
static void find_islands(rh_joints *j, const int *of_obstacle, int dynamic_count)
{
    for (int n = 0; n < dynamic_count; n++) j->parent[n] = n;
    for (int i = 0; i < j->count; i++) {
        int b = j->items[i].b < 0 ? -1 : of_obstacle[j->items[i].b];
        if (b >= 0) rh_union_join(j->parent, of_obstacle[j->items[i].a], b);
    }
}

rh_code rh_joints_create(const rh_joint *joints, int count, const rh_obstacles *solids, const int *of_obstacle,
                         const int *dynamic, int dynamic_count, rh_joints *out, rh_status *status)
{
    *out = (rh_joints){0};
    int locked = 0;
    for (int n = 0; n < dynamic_count; n++) locked += solids->items[dynamic[n]].rules.locks != 0;
    if (count + locked == 0) return RH_OK;
    size_t rows = (size_t)(count + locked) * MOST_ROWS, solids_room = (size_t)dynamic_count + 1;
    out->items = rh_alloc(((size_t)count + 1) * sizeof *out->items, "solid.joints", status);
    out->start = rh_alloc(((size_t)count + 1) * sizeof *out->start, "solid.joints", status);
    out->rows = rh_alloc(rows * sizeof *out->rows, "solid.joints", status);
    out->work = rh_alloc(rows * sizeof *out->work, "solid.joints", status);
    out->first = rh_alloc((solids_room + 1) * sizeof *out->first, "solid.joints", status);
    out->parent = rh_alloc(solids_room * sizeof *out->parent, "solid.joints", status);
    if (!out->items || !out->start || !out->rows || !out->work || !out->first || !out->parent) {
        rh_joints_free(out);
        return RH_MEMORY;
    }
    out->count = count;
    for (int i = 0; i < count; i++) {
        out->items[i] = joints[i];
        out->start[i].a = solids->items[joints[i].a].pose;
        if (joints[i].b >= 0) out->start[i].b = solids->items[joints[i].b].pose;
    }
    find_islands(out, of_obstacle, dynamic_count);
    // Room for the factors of all islands: the square of the rows of each.
    for (int root = 0; root < dynamic_count; root++) {
        size_t here = 0;
        for (int i = 0; i < count; i++)
            here += rh_union_root(out->parent, of_obstacle[joints[i].a]) == root ? MOST_ROWS : 0;
        for (int n = 0; n < dynamic_count; n++)
            here += rh_union_root(out->parent, n) == root && solids->items[dynamic[n]].rules.locks ? MOST_ROWS : 0;
        out->factor_room += here * here;
    }
    out->factors = rh_alloc(out->factor_room * sizeof *out->factors, "solid.joints", status);
    if (out->factors) return RH_OK;
    rh_joints_free(out);
    return RH_MEMORY;
}

void rh_joints_free(rh_joints *joints)
{
    rh_free(joints->items);
    rh_free(joints->start);
    rh_free(joints->rows);
    rh_free(joints->work);
    rh_free(joints->first);
    rh_free(joints->parent);
    rh_free(joints->factors);
    *joints = (rh_joints){0};
}

bool rh_joints_connect(const rh_joints *joints, int a, int b)
{
    for (int i = 0; i < joints->count; i++) {
        const rh_joint *j = &joints->items[i];
        if ((j->a == a && j->b == b) || (j->a == b && j->b == a)) return true;
    }
    return false;
}

// --- rows ------------------------------------------------------------------------------------------------------------
// A joint where it is: anchors and axes of both sides in the world.
typedef struct place {
    const rh_obstacles *solids;
    const rh_joint *joint;
    int a, b;                     // numbers among the dynamic solids; b = -1: not moved by it
    rh_dvec3 center_a, center_b;  // m: of mass
    rh_dvec3 anchor_a, anchor_b;  // m
    rh_mat3 turn_a, turn_b;       // since the start
    double rate;                  // 1/s: how fast drift is mended
} place;

static rh_mat3 times_transposed(rh_mat3 a, rh_mat3 b)
{
    rh_mat3 out;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) (&out.row[r].x)[c] = rh_d3_dot(a.row[r], b.row[c]);
    return out;
}

static const rh_mat3 identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

static rh_dvec3 center_of(const rh_obstacle *o) { return rh_pose_to_world(&o->pose, o->mass.center); }

static rh_joint_row *new_row(rh_joints *j, const place *p)
{
    rh_joint_row *row = &j->rows[j->row_count++];
    *row = (rh_joint_row){.a = p->a, .b = p->b};
    return row;
}

// Velocity along `way` of the point x of a less that of b there.
static void add_linear(rh_joints *j, const place *p, rh_dvec3 way, rh_dvec3 x, double drift)
{
    rh_joint_row *row = new_row(j, p);
    rh_dvec3 ta = rh_d3_cross(rh_d3_sub(x, p->center_a), way), tb = rh_d3_cross(rh_d3_sub(x, p->center_b), way);
    row->target = -p->rate * drift;
    for (int k = 0; k < 3; k++) {
        row->ja[k] = (&way.x)[k];
        row->ja[3 + k] = (&ta.x)[k];
        row->jb[k] = p->b >= 0 ? -(&way.x)[k] : 0;
        row->jb[3 + k] = p->b >= 0 ? -(&tb.x)[k] : 0;
    }
    if (p->b < 0 && p->joint && p->joint->b >= 0)
        row->target += rh_d3_dot(way, rh_obstacles_velocity(p->solids, p->joint->b, x));
}

// Turning of a about `way` less that of b.
static void add_angular(rh_joints *j, const place *p, rh_dvec3 way, double drift)
{
    rh_joint_row *row = new_row(j, p);
    row->target = -p->rate * drift;
    for (int k = 0; k < 3; k++) {
        row->ja[3 + k] = (&way.x)[k];
        row->jb[3 + k] = p->b >= 0 ? -(&way.x)[k] : 0;
    }
    if (p->b < 0 && p->joint && p->joint->b >= 0) row->target += rh_d3_dot(way, p->solids->items[p->joint->b].angular);
}

static void across(rh_dvec3 axis, rh_dvec3 *p, rh_dvec3 *q)
{
    rh_dvec3 other = fabs(axis.x) < 0.6 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0);
    *p = rh_d3_unit(rh_d3_cross(axis, other));
    *q = rh_d3_cross(axis, *p);
}

static const rh_dvec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void add_joint(rh_joints *j, const place *p)
{
    const rh_joint *joint = p->joint;
    rh_dvec3 u, v, apart = rh_d3_sub(p->anchor_a, p->anchor_b);
    rh_dvec3 axis_a = rh_m3_mul(p->turn_a, joint->axis), axis_b = rh_m3_mul(p->turn_b, joint->axis);
    across(axis_b, &u, &v);
    if (joint->kind == RH_JOINT_SLIDER) {
        add_linear(j, p, u, p->anchor_a, rh_d3_dot(u, apart));
        add_linear(j, p, v, p->anchor_a, rh_d3_dot(v, apart));
    } else
        for (int k = 0; k < 3; k++) add_linear(j, p, axes[k], p->anchor_a, (&apart.x)[k]);
    if (joint->kind == RH_JOINT_HINGE) {
        rh_dvec3 off = rh_d3_cross(axis_b, axis_a);
        add_angular(j, p, u, rh_d3_dot(u, off));
        add_angular(j, p, v, rh_d3_dot(v, off));
    }
    if (joint->kind != RH_JOINT_FIXED && joint->kind != RH_JOINT_SLIDER) return;
    rh_mat3 e = times_transposed(p->turn_a, p->turn_b);  // what a has turned beyond b: for small angles 1 + [angle]x
    rh_dvec3 angle = {0.5 * (e.row[2].y - e.row[1].z), 0.5 * (e.row[0].z - e.row[2].x),
                      0.5 * (e.row[1].x - e.row[0].y)};
    for (int k = 0; k < 3; k++) add_angular(j, p, axes[k], (&angle.x)[k]);
}

static place place_of(const rh_joints *j, int i, const rh_obstacles *solids, const int *of_obstacle, const bool *held,
                      double dt)
{
    const rh_joint *joint = &j->items[i];
    const rh_obstacle *a = &solids->items[joint->a], *b = joint->b < 0 ? NULL : &solids->items[joint->b];
    const rh_joint_start *start = &j->start[i];
    place p = {.solids = solids,
               .joint = joint,
               .a = of_obstacle[joint->a],
               .b = -1,
               .turn_b = identity,
               .anchor_b = joint->point,
               .rate = dt > 0 ? MENDED / dt : 0};
    p.center_a = center_of(a);
    p.anchor_a = rh_pose_to_world(&a->pose, rh_pose_to_local(&start->a, joint->point));
    p.turn_a = times_transposed(a->pose.rotation, start->a.rotation);
    if (!b) return p;
    int n = of_obstacle[joint->b];
    if (n >= 0 && !held[n]) p.b = n;
    p.center_b = center_of(b);
    p.anchor_b = rh_pose_to_world(&b->pose, rh_pose_to_local(&start->b, joint->point));
    p.turn_b = times_transposed(b->pose.rotation, start->b.rotation);
    return p;
}

double rh_joints_position(const rh_joints *joints, int i, const rh_obstacles *solids)
{
    const rh_joint *joint = &joints->items[i];
    const rh_obstacle *a = &solids->items[joint->a], *b = joint->b < 0 ? NULL : &solids->items[joint->b];
    const rh_joint_start *start = &joints->start[i];
    rh_mat3 turn_a = times_transposed(a->pose.rotation, start->a.rotation), turn_b = identity;
    rh_dvec3 anchor_a = rh_pose_to_world(&a->pose, rh_pose_to_local(&start->a, joint->point)), anchor_b = joint->point;
    if (b) turn_b = times_transposed(b->pose.rotation, start->b.rotation);
    if (b) anchor_b = rh_pose_to_world(&b->pose, rh_pose_to_local(&start->b, joint->point));
    rh_dvec3 axis = rh_m3_mul(turn_b, joint->axis), u, v;
    if (joint->kind == RH_JOINT_SLIDER) return rh_d3_dot(axis, rh_d3_sub(anchor_a, anchor_b));
    if (joint->kind != RH_JOINT_HINGE) return 0;
    across(joint->axis, &u, &v);  // where a pointer across the axis has turned to
    rh_dvec3 pointer = rh_m3_mul(turn_a, u);
    return atan2(rh_d3_dot(pointer, rh_m3_mul(turn_b, v)), rh_d3_dot(pointer, rh_m3_mul(turn_b, u)));
}

static void add_locks(rh_joints *j, int n, unsigned locks)
{
    place p = {.a = n, .b = -1};
    for (int k = 0; k < PARTS; k++)
        if (locks >> k & 1) new_row(j, &p)->ja[k] = 1;
}

// A joint whose first solid is held, and whose second is not, holds the second by the first's motion.
static bool turned(const rh_joint *joint, const int *of_obstacle, const bool *held)
{
    int n = joint->b < 0 ? -1 : of_obstacle[joint->b];
    return held[of_obstacle[joint->a]] && n >= 0 && !held[n];
}

static void turn(place *p, rh_joint *other, const int *of_obstacle)
{
    place was = *p;
    *other = *was.joint;
    other->a = was.joint->b;
    other->b = was.joint->a;
    p->joint = other;
    p->a = of_obstacle[other->a];
    p->b = -1;
    p->center_a = was.center_b;
    p->center_b = was.center_a;
    p->anchor_a = was.anchor_b;
    p->anchor_b = was.anchor_a;
    p->turn_a = was.turn_b;
    p->turn_b = was.turn_a;
}

static void assemble(rh_joints *joints, const rh_obstacles *solids, const int *of_obstacle, const int *dynamic,
                     int dynamic_count, const bool *held, double dt)
{
    joints->row_count = joints->island_count = 0;
    for (int root = 0; root < dynamic_count && joints->rows; root++) {
        int before = joints->row_count;
        if (joints->parent[root] != root) continue;
        for (int i = 0; i < joints->count; i++) {
            const rh_joint *joint = &joints->items[i];
            rh_joint other;
            if (rh_union_root(joints->parent, of_obstacle[joint->a]) != root) continue;
            place p = place_of(joints, i, solids, of_obstacle, held, dt);
            if (turned(joint, of_obstacle, held)) turn(&p, &other, of_obstacle);
            else if (held[p.a]) continue;
            add_joint(joints, &p);
        }
        for (int n = 0; n < dynamic_count; n++) {
            unsigned locks = solids->items[dynamic[n]].rules.locks;
            if (locks && !held[n] && rh_union_root(joints->parent, n) == root) add_locks(joints, n, locks);
        }
        if (joints->row_count == before) continue;
        joints->first[joints->island_count++] = before;
        joints->first[joints->island_count] = joints->row_count;
    }
}

void rh_joints_assemble(rh_joints *joints, const rh_obstacles *start, const rh_obstacles *middle,
                        const int *of_obstacle, const int *dynamic, int dynamic_count, const bool *held, double dt)
{
    assemble(joints, start, of_obstacle, dynamic, dynamic_count, held, dt);
    for (int r = 0; r < joints->row_count; r++) joints->work[r] = joints->rows[r].target;
    assemble(joints, middle, of_obstacle, dynamic, dynamic_count, held, dt);
    for (int r = 0; r < joints->row_count; r++) joints->rows[r].target = joints->work[r];
}

// --- answers ---------------------------------------------------------------------------------------------------------
static double dot_part(const double *x, const double *y)
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++) sum += x[k] * y[k];
    return sum;
}

static void multiply(const double *m, const double *x, double *y)
{
    for (int r = 0; r < PARTS; r++) y[r] = dot_part(m + r * PARTS, x);
}

// The change of the velocity of solid n by a row: M^-1 J^T. False when the row does not contain it.
static bool effect(const rh_joint_row *row, int n, const double *inverse, double out[PARTS])
{
    if (n < 0 || (n != row->a && n != row->b)) return false;
    multiply(inverse + n * SQUARE, n == row->a ? row->ja : row->jb, out);
    return true;
}

void rh_joints_factor(rh_joints *joints, const double *inverse)
{
    double *matrix = joints->factors;
    for (int island = 0; island < joints->island_count; island++) {
        int first = joints->first[island], rows = joints->first[island + 1] - first;
        for (int r = 0; r < rows; r++)
            for (int c = 0; c <= r; c++) {
                const rh_joint_row *one = &joints->rows[first + r], *other = &joints->rows[first + c];
                double y[PARTS], sum = 0;
                if (effect(one, other->a, inverse, y)) sum += dot_part(other->ja, y);
                if (effect(one, other->b, inverse, y)) sum += dot_part(other->jb, y);
                matrix[r * rows + c] = r == c ? sum * (1 + GIVES_WAY) : sum;
            }
        rh_cholesky(matrix, rows);
        matrix += (size_t)rows * (size_t)rows;
        RH_ASSERT(matrix <= joints->factors + joints->factor_room);
    }
}

static void apply(const rh_joint_row *row, const double *inverse, double by, double *velocity)
{
    double y[PARTS];
    for (int side = 0; side < 2; side++) {
        int n = side ? row->b : row->a;
        if (!effect(row, n, inverse, y)) continue;
        for (int k = 0; k < PARTS; k++) velocity[n * PARTS + k] -= by * y[k];
    }
}

void rh_joints_project(const rh_joints *joints, const double *inverse, bool bring, double *velocity)
{
    const double *matrix = joints->factors;
    for (int island = 0; island < joints->island_count; island++) {
        int first = joints->first[island], rows = joints->first[island + 1] - first;
        for (int r = 0; r < rows; r++) {
            const rh_joint_row *row = &joints->rows[first + r];
            double excess = dot_part(row->ja, velocity + row->a * PARTS);
            if (row->b >= 0) excess += dot_part(row->jb, velocity + row->b * PARTS);
            joints->work[r] = excess - (bring ? row->target : 0);
        }
        rh_cholesky_solve(matrix, rows, joints->work);
        for (int r = 0; r < rows; r++) apply(&joints->rows[first + r], inverse, joints->work[r], velocity);
        matrix += (size_t)rows * (size_t)rows;
    }
}
