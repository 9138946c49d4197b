// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// ODE solves each island (solids that contacts or joints connect) in a world of its own, made for this one step and
// thrown away, so that nothing hidden lives between steps: small islands exactly (Dantzig's pivoting; D. Baraff, "Fast
// contact force computation for nonpenetrating rigid bodies", SIGGRAPH 1994), large ones by projected successive
// over-relaxation, whose order of rows comes from ODE's random numbers, seeded anew. Solids stand in it without
// rotation, with their inertia along the axes of the world; only velocities are read back. Joints are enforced by the
// projection of solid/joints.h, which removes whatever impulses joints give here; ODE has them so that contacts, motors
// and limits take them into account.
//
// Its random numbers and its allocator belong to the process: a lock keeps worlds of other threads out while a step is
// solved. All its memory is the caller's arena, so a steady step allocates nothing.
//
// Restitution is Newton's: the speed after an impact is that share of the speed before. It acts in the step whose
// middle is nearest to the moment of impact: one that would come in the second half is left to the next step, so that
// solids turn back on average where they touch and heights of jumps have no bias.
#include <math.h>
#include <ode/ode.h>
#include <pthread.h>
#include <string.h>
#include "base/union_find.h"
#include "solid/contact_solver.h"

enum {
    PARTS = 6,
    EXACT_ROWS = 240,
    SWEEPS = 100,
    FIRST_SWEEPS = 40,
    MANY_SWEEPS = 4000,
    OBJECT_BYTES = 2048,
    WORLD_BYTES = 1 << 16
};
static const double PUSHED = 0.2;  // share of an overlap that is pushed out in a step
// Compliance of a row, as a share of its own effect, so that redundant contacts have one solution. The pivoting may
// still fail where rounding decides between rows, as in a stack of equal boxes; ODE reports that, and the solve is
// tried again with the next value, and at last by many sweeps.
static const double COMPLIANCE[] = {1e-7, 1e-6, 1e-5};
enum { TRIES = sizeof COMPLIANCE / sizeof *COMPLIANCE };
static const double LEAST_BOUNCE = 0.01;  // m/s

// --- ODE's memory ----------------------------------------------------------------------------------------------------
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static rh_arena *lent;  // of the solve in progress, under the lock
static char *reserve;   // of it: for objects, whose making must not fail
static size_t reserve_left;
static bool failed;  // of it: ODE reported a message, which it does when pivoting fails

static void *take(dsizeint bytes)
{
    size_t room = (bytes + 31) & ~(size_t)31;
    if (room > reserve_left) return rh_arena_take(lent, bytes, NULL);
    char *at = reserve;
    reserve += room;
    reserve_left -= room;
    return at;
}
static void *take_again(void *old, dsizeint was, dsizeint bytes)
{
    void *at = take(bytes);
    if (at && old) memcpy(at, old, was < bytes ? was : bytes);
    return at;
}
static void give_back(void *at, dsizeint bytes)  // with the arena
{
    (void)at;
    (void)bytes;
}
static void note_trouble(int number, const char *format, va_list values)
{
    failed = true;
    (void)number;
    (void)format;
    (void)values;
}

static void start_ode(void)
{
    dInitODE2(0);
    dSetMessageHandler(note_trouble);
}

typedef struct borrowed {
    dAllocFunction *alloc;
    dReallocFunction *realloc;
    dFreeFunction *free;
} borrowed;

static borrowed enter(rh_arena *arena)
{
    pthread_once(&once, start_ode);
    pthread_mutex_lock(&lock);
    borrowed before = {dGetAllocHandler(), dGetReallocHandler(), dGetFreeHandler()};
    lent = arena;
    dSetAllocHandler(take);
    dSetReallocHandler(take_again);
    dSetFreeHandler(give_back);
    return before;
}

static void leave(borrowed before)
{
    dSetAllocHandler(before.alloc);
    dSetReallocHandler(before.realloc);
    dSetFreeHandler(before.free);
    lent = NULL;
    pthread_mutex_unlock(&lock);
}

// --- an island -------------------------------------------------------------------------------------------------------
typedef struct island {
    const rh_contact_problem *p;
    dWorldID world;
    dBodyID *bodies;  // by dynamic solid; NULL: not of this one
    int rows;
    double compliance;
    dJointFeedback *feedback;  // per contact
} island;

static void make_body(island *s, int n)
{
    const rh_contact_body *b = &s->p->bodies[n];
    dBodyID body = s->bodies[n] = dBodyCreate(s->world);
    dMass mass;
    const rh_dvec3 *i = b->inertia.row;
    bool flat = s->p->dimension == 2;
    if (flat) dMassSetParameters(&mass, b->mass, 0, 0, 0, i[2].z, i[2].z, i[2].z, 0, 0, 0);
    else dMassSetParameters(&mass, b->mass, 0, 0, 0, i[0].x, i[1].y, i[2].z, i[0].y, i[0].z, i[1].z);
    dBodySetMass(body, &mass);
    dBodySetGyroscopicMode(body, 0);  // solid/dynamics.c turns by angular momentum
    dBodySetPosition(body, b->center.x, b->center.y, b->center.z);
    dBodySetLinearVel(body, b->linear.x, b->linear.y, b->linear.z);
    dBodySetAngularVel(body, b->angular.x, b->angular.y, b->angular.z);
    if (b->held) dBodySetKinematic(body);
}

static rh_dvec3 along_slide(const rh_contact *c, bool flat)
{
    rh_dvec3 n = c->normal, slide = rh_d3_sub(c->approach, rh_d3_scale(n, rh_d3_dot(n, c->approach)));
    if (flat) return rh_d3(-n.y, n.x, 0);
    if (rh_d3_length(slide) > 1e-9) return rh_d3_unit(slide);
    rh_dvec3 other = fabs(n.x) < 0.6 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0);
    return rh_d3_unit(rh_d3_cross(n, other));
}

// The normal velocity, of a less that of b, that the contact must have at least. False: the contact does not act in
// this step.
static bool least_speed(const rh_contact_problem *p, const rh_contact *c, double *speed)
{
    double towards = -rh_d3_dot(c->normal, c->approach), g = rh_d3_length(p->gravity),
           slow = LEAST_BOUNCE + 2 * g * p->dt;
    double gentle = fmax(0.5 * sqrt(g * c->size), c->size);  // m/s: pushed apart no faster
    // Velocities are those of the middle of the step, half a step of falling from those of the impact.
    double fall = c->fixed ? -0.5 * p->dt * rh_d3_dot(c->normal, p->gravity) : 0;
    *speed = c->gap > 0 ? -c->gap / p->dt : fmin(-PUSHED * c->gap / p->dt, gentle);
    *speed -= c->lift / p->dt;
    if (!(c->restitution > 0) || towards <= slow) return true;
    if (c->gap > 0.5 * towards * p->dt) return false;
    *speed = fmax(*speed, c->restitution * (towards - fall) - fall);
    return true;
}

static void make_contact(island *s, rh_contact *c)
{
    const rh_contact_problem *p = s->p;
    int a = p->of_obstacle[c->a], b = c->fixed ? -1 : p->of_obstacle[c->b];
    double speed, lightness = 1 / p->bodies[a].mass + (b >= 0 ? 1 / p->bodies[b].mass : 0);
    c->acts = least_speed(p, c, &speed);
    if (!c->acts) return;
    bool flat = p->dimension == 2;
    rh_dvec3 slide = along_slide(c, flat), other = rh_d3_cross(c->normal, slide);
    c->least = speed;
    c->slide = slide;
    dContact contact;
    memset(&contact, 0, sizeof contact);
    contact.surface.mode = dContactFDir1 | dContactMu2 | dContactSoftCFM | dContactMotionN | dContactApprox1_1 |
                           dContactApprox1_2;
    contact.surface.mu = c->friction;
    contact.surface.mu2 = flat ? 0 : c->friction;
    contact.surface.soft_cfm = s->compliance * p->dt * lightness * (1 + 0.1 * (s->rows % 7));  // no two alike
    contact.surface.motionN = speed + (c->fixed ? rh_d3_dot(c->normal, c->wall) : 0);
    if (c->fixed) {
        contact.surface.mode |= dContactMotion1 | dContactMotion2;
        contact.surface.motion1 = rh_d3_dot(slide, c->wall);
        contact.surface.motion2 = rh_d3_dot(other, c->wall);
    }
    for (int k = 0; k < 3; k++) {
        contact.geom.pos[k] = (&c->at.x)[k];
        contact.geom.normal[k] = (&c->normal.x)[k];
        contact.fdir1[k] = (&slide.x)[k];
    }
    dJointID joint = dJointCreateContact(s->world, 0, &contact);
    dJointAttach(joint, s->bodies[a], b >= 0 ? s->bodies[b] : 0);
    dJointSetFeedback(joint, &s->feedback[c - p->contacts->items]);
    s->rows += c->friction > 0 ? flat ? 2 : 3 : 1;
}

// --- joints ----------------------------------------------------------------------------------------------------------
// `time`: share of the step that forces act for.
static void set_limits(const rh_joint *j, double position, double time, dJointID joint,
                       void (*set)(dJointID, int, dReal))
{
    if (j->limited) {
        set(joint, dParamLoStop, j->low - position);
        set(joint, dParamHiStop, j->high - position);
        set(joint, dParamStopERP, PUSHED);
    }
    set(joint, dParamVel, j->speed);
    set(joint, dParamFMax, j->strength * time);
}

static dBodyID partner(island *s, const rh_joint *j)
{
    int n = j->b < 0 ? -1 : s->p->of_obstacle[j->b];
    if (j->b < 0) return 0;
    if (n >= 0 && s->bodies[n]) return s->bodies[n];
    // Moved by its keys, or another that nothing moves here.
    const rh_obstacle *o = &s->p->solids->items[j->b];
    dBodyID body = dBodyCreate(s->world);
    dBodySetPosition(body, o->origin.x, o->origin.y, o->origin.z);
    dBodySetLinearVel(body, o->linear.x, o->linear.y, o->linear.z);
    dBodySetAngularVel(body, o->angular.x, o->angular.y, o->angular.z);
    dBodySetKinematic(body);
    return body;
}

static void make_joint(island *s, int i)
{
    const rh_joint *j = &s->p->joints->items[i];
    const rh_obstacle *a = &s->p->solids->items[j->a];
    const rh_joint_start *start = &s->p->joints->start[i];
    rh_dvec3 at = rh_pose_to_world(&a->pose, rh_pose_to_local(&start->a, j->point));
    rh_dvec3 axis = rh_pose_turn(&a->pose, rh_m3_mul_transposed(start->a.rotation, j->axis));
    dBodyID one = s->bodies[s->p->of_obstacle[j->a]], other = partner(s, j);
    double position = rh_joints_position(s->p->joints, i, s->p->solids);
    double time = s->p->bodies[s->p->of_obstacle[j->a]].kick / s->p->dt;
    dJointID joint = j->kind == RH_JOINT_HINGE    ? dJointCreateHinge(s->world, 0)
                     : j->kind == RH_JOINT_SLIDER ? dJointCreateSlider(s->world, 0)
                     : j->kind == RH_JOINT_BALL   ? dJointCreateBall(s->world, 0)
                                                  : dJointCreateFixed(s->world, 0);
    dJointAttach(joint, one, other);
    switch (j->kind) {
    case RH_JOINT_HINGE:
        dJointSetHingeAnchor(joint, at.x, at.y, at.z);
        dJointSetHingeAxis(joint, axis.x, axis.y, axis.z);
        set_limits(j, position, time, joint, dJointSetHingeParam);
        break;
    case RH_JOINT_SLIDER:
        dJointSetSliderAxis(joint, axis.x, axis.y, axis.z);
        set_limits(j, position, time, joint, dJointSetSliderParam);
        break;
    case RH_JOINT_BALL: dJointSetBallAnchor(joint, at.x, at.y, at.z); break;
    case RH_JOINT_FIXED: dJointSetFixed(joint); break;
    }
    s->rows += 6;
}

static void lock_axes(island *s, int n, unsigned locks, bool turns)
{
    int count = 0;
    for (int k = 0; k < 3; k++) count += locks >> k & 1;
    if (count == 0) return;
    dJointID joint = turns ? dJointCreateAMotor(s->world, 0) : dJointCreateLMotor(s->world, 0);
    dJointAttach(joint, s->bodies[n], 0);
    if (turns) dJointSetAMotorNumAxes(joint, count);
    else dJointSetLMotorNumAxes(joint, count);
    for (int k = 0, i = 0; k < 3; k++) {
        if (!(locks >> k & 1)) continue;
        if (turns) dJointSetAMotorAxis(joint, i, 0, k == 0, k == 1, k == 2);
        else dJointSetLMotorAxis(joint, i, 0, k == 0, k == 1, k == 2);
        void (*set)(dJointID, int, dReal) = turns ? dJointSetAMotorParam : dJointSetLMotorParam;
        set(joint, i * dParamGroup + dParamVel, 0);
        set(joint, i * dParamGroup + dParamFMax, dInfinity);
        i++;
    }
    s->rows += count;
}

static void make_lock(island *s, int n)
{
    unsigned locks = s->p->solids->items[s->p->bodies[n].obstacle].rules.locks;
    if (!locks || s->p->bodies[n].held) return;
    lock_axes(s, n, locks & 7, false);
    lock_axes(s, n, locks >> 3 & 7, true);
}

// --- all -------------------------------------------------------------------------------------------------------------
static rh_code step(island *s, bool exact, rh_status *status)
{
    double dt = s->p->dt;
    dRandSetSeed(1);
    failed = false;
    int sweeps = s->p->first ? FIRST_SWEEPS : SWEEPS;
    dWorldSetQuickStepNumIterations(s->world, s->rows <= EXACT_ROWS ? MANY_SWEEPS : sweeps);
    int done = exact ? dWorldStep(s->world, dt) : dWorldQuickStep(s->world, dt);
    return done ? RH_OK : rh_fail(status, RH_MEMORY, "no memory for the contacts of solids");
}

static void read_impulses(const island *s, int n, double *impulse, bool *any)
{
    const rh_contact_body *b = &s->p->bodies[n];
    const dReal *linear = dBodyGetLinearVel(s->bodies[n]), *angular = dBodyGetAngularVel(s->bodies[n]);
    rh_dvec3 faster = rh_d3_sub(rh_d3(linear[0], linear[1], linear[2]), b->linear);
    rh_dvec3 turn = rh_d3_sub(rh_d3(angular[0], angular[1], angular[2]), b->angular);
    if (s->p->dimension == 2) {
        faster.z = 0;
        turn = rh_d3(0, 0, turn.z);
    }
    turn = rh_m3_mul(b->inertia, turn);
    for (int k = 0; k < 3; k++) {
        double p = b->mass * (&faster.x)[k], l = (&turn.x)[k];
        impulse[n * PARTS + k] = isfinite(p) ? p : 0;
        impulse[n * PARTS + 3 + k] = isfinite(l) ? l : 0;
        *any = *any || p != 0 || l != 0;
    }
}

static void read_contacts(const island *s, int root, int32_t *parent)
{
    const rh_contact_problem *p = s->p;
    for (int i = 0; i < p->contacts->count; i++) {
        rh_contact *c = &p->contacts->items[i];
        const dReal *force = s->feedback[i].f1;
        if (rh_union_root(parent, p->of_obstacle[c->a]) != root) continue;
        c->impulse = c->acts ? rh_d3_scale(rh_d3(force[0], force[1], force[2]), p->dt) : rh_d3(0, 0, 0);
    }
}

static bool has_drive(const rh_joint *j) { return j->limited || j->strength > 0; }

// Joins solids to islands, and marks the islands that have anything to solve.
static void join(const rh_contact_problem *p, int32_t *parent, bool *busy)
{
    for (int n = 0; n < p->body_count; n++) parent[n] = n;
    for (int i = 0; i < p->contacts->count; i++) {
        const rh_contact *c = &p->contacts->items[i];
        if (!c->fixed) rh_union_join(parent, p->of_obstacle[c->a], p->of_obstacle[c->b]);
    }
    for (int i = 0; i < p->joints->count; i++) {
        const rh_joint *j = &p->joints->items[i];
        int b = j->b < 0 ? -1 : p->of_obstacle[j->b];
        if (b >= 0) rh_union_join(parent, p->of_obstacle[j->a], b);
    }
    for (int i = 0; i < p->contacts->count; i++)
        busy[rh_union_root(parent, p->of_obstacle[p->contacts->items[i].a])] = true;
    for (int i = 0; i < p->joints->count; i++)
        if (has_drive(&p->joints->items[i])) busy[rh_union_root(parent, p->of_obstacle[p->joints->items[i].a])] = true;
}

static int count_objects(const rh_contact_problem *p, int root, int32_t *parent)
{
    int objects = 0;
    for (int n = 0; n < p->body_count; n++) objects += 3 * (rh_union_root(parent, n) == root);
    for (int i = 0; i < p->contacts->count; i++)
        objects += rh_union_root(parent, p->of_obstacle[p->contacts->items[i].a]) == root;
    for (int i = 0; i < p->joints->count; i++)
        objects += 2 * (rh_union_root(parent, p->of_obstacle[p->joints->items[i].a]) == root);
    return objects;
}

static void build(island *s, int root, int32_t *parent)
{
    const rh_contact_problem *p = s->p;
    double lightest = 0;
    s->rows = 0;
    for (int n = 0; n < p->body_count; n++) {
        if (rh_union_root(parent, n) != root) continue;
        make_body(s, n);
        lightest = fmax(lightest, 1 / p->bodies[n].mass);
    }
    dWorldSetCFM(s->world, s->compliance * p->dt * lightest);
    for (int n = 0; n < p->body_count; n++)
        if (rh_union_root(parent, n) == root) make_lock(s, n);
    for (int i = 0; i < p->joints->count; i++)
        if (rh_union_root(parent, p->of_obstacle[p->joints->items[i].a]) == root) make_joint(s, i);
    for (int i = 0; i < p->contacts->count; i++)
        if (rh_union_root(parent, p->of_obstacle[p->contacts->items[i].a]) == root)
            make_contact(s, &p->contacts->items[i]);
}

static rh_code solve_island(island *s, int root, int32_t *parent, int attempt, rh_arena *arena, double *impulse,
                            bool *any, rh_status *status)
{
    const rh_contact_problem *p = s->p;
    rh_arena_mark mark = rh_arena_save(arena);
    reserve_left = WORLD_BYTES + (size_t)count_objects(p, root, parent) * OBJECT_BYTES;
    reserve = rh_arena_take(arena, reserve_left, status);
    if (!reserve) return RH_MEMORY;
    s->world = dWorldCreate();
    // One that belongs to this world alone: the library's own keeps memory from one world to the next.
    dThreadingImplementationID jobs = dThreadingAllocateSelfThreadedImplementation();
    dWorldSetStepThreadingImplementation(s->world, dThreadingImplementationGetFunctions(jobs), jobs);
    s->compliance = COMPLIANCE[attempt < TRIES ? attempt : TRIES - 1];
    build(s, root, parent);
    rh_code code = step(s, s->rows <= EXACT_ROWS && attempt < TRIES, status);
    for (int n = 0; n < p->body_count && code == RH_OK; n++)
        if (rh_union_root(parent, n) == root && !p->bodies[n].held) read_impulses(s, n, impulse, any);
    if (code == RH_OK) read_contacts(s, root, parent);
    dWorldDestroy(s->world);
    dThreadingFreeImplementation(jobs);
    rh_arena_restore(arena, mark);  // the next one takes the same memory
    return code;
}

rh_code rh_contact_solve(const rh_contact_problem *p, rh_arena *arena, double *impulse, bool *any, rh_status *status)
{
    size_t count = (size_t)p->body_count + 1;
    island s = {.p = p};
    int32_t *parent = rh_arena_take(arena, count * sizeof *parent, status);
    bool *busy = rh_arena_take_zero(arena, count * sizeof *busy, status);
    s.bodies = rh_arena_take_zero(arena, count * sizeof *s.bodies, status);
    s.feedback = rh_arena_take_zero(arena, ((size_t)p->contacts->count + 1) * sizeof *s.feedback, status);
    *any = false;
    if (!parent || !busy || !s.bodies || !s.feedback) return RH_MEMORY;
    memset(impulse, 0, (size_t)p->body_count * PARTS * sizeof *impulse);
    join(p, parent, busy);
    borrowed before = enter(arena);
    rh_code code = RH_OK;
    for (int root = 0; root < p->body_count && code == RH_OK; root++)
        for (int attempt = 0; attempt <= TRIES && busy[root] && code == RH_OK; attempt++) {
            code = solve_island(&s, root, parent, attempt, arena, impulse, any, status);
            if (!failed) break;
        }
    leave(before);
    return code;
}

bool rh_contact_solver_is_there(void) { return true; }
