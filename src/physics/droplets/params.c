// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of droplets. What each does is in physics/droplets/collision.h and droplets.h.
#include "physics/droplets/droplets.h"

static const char *const drags[] = {"air", "power", "none", NULL};
static const char *const criticals[] = {"ashgriz_poo", "orourke", NULL};
static const char *const frames[] = {"neck", "world", NULL};

// clang-format off
#define AT(field) offsetof(rh_droplets_params, field)
static const rh_param rows[] = {
    {"density", RH_PARAM_FLOAT, AT(law.density), "kg/m^3", "997", 1e-3, 1e5, .help = "of the liquid"},
    {"particles_per_axis", RH_PARAM_INT, AT(particles_per_axis), "", "2", 1, 4,
     .help = "drops per cell and axis that bodies and emitters make: 2 gives 8 a cell"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", "0", 0, 1,
     .help = "of drops that bodies and emitters make; 0: a drop takes up all the room that it stands for. Programs "
             "`at: emit` may set the attribute radius"},
    {"surface_tension", RH_PARAM_FLOAT, AT(law.surface_tension), "N/m", "0.072", 1e-9, 1e6,
     .help = "less gives finer spray, more gives fewer, larger drops"},
    {"collisions", RH_PARAM_BOOL, AT(collisions), "", "true", .help = "whether drops meet each other"},
    {"min_radius", RH_PARAM_FLOAT, AT(law.min_radius), "m", "5e-5", 0, 1, .help = "no smaller drops are shed"},
    {"max_radius", RH_PARAM_FLOAT, AT(law.max_radius), "m", "0.01", 1e-9, 10, .help = "none merge to larger ones"},
    {"max_fragments", RH_PARAM_INT, AT(law.max_fragments), "", "5", 0, RH_DROPLET_FRAGMENTS,
     .help = "drops that one collision sheds at most; many, with more scatter, for drops that shatter"},
    {"scatter", RH_PARAM_FLOAT, AT(law.scatter), "", "0.01", 0, 1,
     .help = "how far shed drops stray: they turn by up to this many rad for each drop shed, and lose speed by it"},
    {"scatter_frame", RH_PARAM_CHOICE, AT(law.scatter_frame), "", "neck", .choices = frames,
     .help = "seen from where drops stray: from the neck that they break from (momentum is kept), or from the world"},
    {"critical_impact", RH_PARAM_CHOICE, AT(law.critical), "", "ashgriz_poo", .choices = criticals,
     .help = "which impact parameter begins to part drops that stretch: the threshold's own, or O'Rourke's fit"},
    {"orourke_constant", RH_PARAM_FLOAT, AT(law.orourke), "", "2.4", 0, 100,
     .help = "of O'Rourke's fit: 2.4 as printed, 4.8 where the Weber number is that of diameters, as here"},
    {"bounce", RH_PARAM_BOOL, AT(law.bounce), "", "false",
     .help = "drops that meet gently part again instead of merging"},
    {"bounce_restitution", RH_PARAM_FLOAT, AT(law.restitution), "", "1", 0, 1,
     .help = "of a bounce: share of the speed along the line of centres that is left"},
    {"mirror", RH_PARAM_BOOL, AT(law.mirror), "", "false",
     .help = "after a reflexive separation each drop flies back to where it came from, instead of through the other"},
    {"rest_time", RH_PARAM_FLOAT, AT(rest_time), "s", "0.0416667", 0, 10,
     .help = "after a collision a drop meets nobody for so long"},
    {"iterations", RH_PARAM_INT, AT(iterations), "", "4", 1, 64,
     .help = "how often drops look for a partner in a step"},
    {"reach", RH_PARAM_FLOAT, AT(reach), "m", "0", 0, 10,
     .help = "how far apart partners are at the middle of a step at most; 0: from radii and velocities"},
    {"drag", RH_PARAM_CHOICE, AT(drag), "", "air", .choices = drags,
     .help = "of air: by size and speed, so that drops of 0.2 to 5.8 mm fall as fast as measured; power: "
             "drag_coefficient / radius^drag_exponent * speed^(2 - drag_exponent)"},
    {"drag_coefficient", RH_PARAM_FLOAT, AT(drag_coefficient), "", "0.0001", 0, 1e3,
     .help = "of the power law, in SI units"},
    {"drag_exponent", RH_PARAM_FLOAT, AT(drag_exponent), "", "1", 1, 2,
     .help = "of the power law: 1 is drag that grows with the square of the speed, 2 with the speed"},
    {"air_density", RH_PARAM_FLOAT, AT(air_density), "kg/m^3", "1.204", 0, 1e4, .help = "of the air"},
    {"air_viscosity", RH_PARAM_FLOAT, AT(air_viscosity), "Pa s", "1.81e-5", 1e-9, 1e3, .help = "of the air"},
    {"wind", RH_PARAM_VEC3, AT(wind), "m/s", "[0, 0, 0]", .help = "velocity of the air"},
    {"restitution", RH_PARAM_FLOAT, AT(restitution), "", "0", 0, 1,
     .help = "share of the speed across a wall that is left after an impact: 0 stays on it, 1 bounces back"},
};
// clang-format on

static rh_code check(const void *object, const char **field, rh_status *status)
{
    const rh_droplets_params *p = object;
    *field = "min_radius";
    if (p->law.min_radius >= p->law.max_radius)
        return rh_fail(status, RH_USER, "found min_radius %g m and max_radius %g m, expected the first to be smaller",
                       p->law.min_radius, p->law.max_radius);
    *field = "radius";
    if (p->radius > p->law.max_radius)
        return rh_fail(status, RH_USER, "found a radius of %g m, expected at most max_radius (%g m)", p->radius,
                       p->law.max_radius);
    return RH_OK;
}

const rh_param_table rh_droplets_table = {
    "droplets",
    "Spray of drops that fall through air by their size, merge, part and shed smaller ones when they meet. In three "
    "dimensions only.",
    rows,
    RH_PARAM_COUNT(rows),
    sizeof(rh_droplets_params),
    check};
