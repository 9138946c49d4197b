// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// From degrees and names of the scene to radians and numbers of solids (solid/joints.h).
#include "world/joints.h"

#include "base/memory.h"

static void set_travel(rh_joint *out, const rh_limit_params *limits, const rh_motor_params *motor, double unit)
{
    if (limits) {
        out->limited = true;
        out->low = limits->low * unit;
        out->high = limits->high * unit;
    }
    if (motor) {
        out->speed = motor->speed * unit;
        out->strength = motor->strength;
    }
}

// A slider has no place of its own: the centre of its solid will do.
static rh_joint joint_of(const rh_joint_params *p, const rh_obstacles *solids)
{
    static const double degree = 3.14159265358979323846 / 180;
    rh_joint out = {.kind = (rh_joint_kind)p->joint.kind, .a = p->solid_index, .b = p->to_index, .axis = {0, 0, 1}};
    const rh_hinge_params *hinge = p->joint.value;
    const rh_slider_params *slider = p->joint.value;
    switch (out.kind) {
    case RH_JOINT_HINGE:
        out.point = hinge->point;
        out.axis = rh_d3_unit(hinge->axis);
        set_travel(&out, hinge->limits, hinge->motor, degree);
        break;
    case RH_JOINT_SLIDER:
        out.point = rh_pose_to_world(&solids->items[out.a].pose, solids->items[out.a].mass.center);
        out.axis = rh_d3_unit(slider->axis);
        set_travel(&out, slider->limits, slider->motor, 1);
        break;
    case RH_JOINT_BALL: out.point = ((const rh_ball_params *)p->joint.value)->point; break;
    case RH_JOINT_FIXED: out.point = ((const rh_fixed_params *)p->joint.value)->point; break;
    }
    if (solids->items[out.a].shape.flat) out.point.z = 0;
    return out;
}

rh_code rh_world_join(const rh_scene *scene, const rh_obstacles *solids, rh_dynamics *dynamics, rh_status *status)
{
    const rh_joint_params *params = scene->joints.items;
    int count = scene->joints.count;
    if (count == 0) return RH_OK;
    rh_joint *joints = rh_alloc((size_t)count * sizeof *joints, "world.joints", status);
    if (!joints) return RH_MEMORY;
    for (int i = 0; i < count; i++) joints[i] = joint_of(&params[i], solids);
    rh_code code = rh_dynamics_join(dynamics, solids, joints, count, status);
    rh_free(joints);
    return code;
}
