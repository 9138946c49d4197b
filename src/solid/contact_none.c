// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A program built without ODE: it refuses dynamic solids (world/geometry.c), so nobody comes here.
#include "solid/contact_solver.h"

rh_code rh_contact_solve(const rh_contact_problem *problem, rh_arena *arena, double *impulse, bool *any,
                         rh_status *status)
{
    (void)problem;
    (void)arena;
    (void)impulse;
    *any = false;
    return rh_fail(status, RH_USER, "dynamic solids need ODE, which this program was built without");
}

bool rh_contact_solver_is_there(void) { return false; }
