// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A step has a dozen stages and a method adds a few: names are compared one by one.
#include "physics/stages.h"

#include <string.h>
#include "physics/step.h"

bool rh_stages_fit(const rh_step_method *method, const char *const *step_stages)
{
    bool fit = true;
    for (int i = 0; i < method->stage_count; i++) {
        bool found = false;
        for (int k = 0; step_stages[k]; k++) found = found || strcmp(step_stages[k], method->stages[i].after) == 0;
        for (int k = 0; k < i; k++) found = found || strcmp(method->stages[k].name, method->stages[i].after) == 0;
        fit = fit && found && method->stages[i].run;
    }
    return fit;
}

rh_code rh_stages_end(const rh_step_method *method, const char *name, const void *view, rh_step_report *report,
                      double *clock, rh_status *status)
{
    rh_step_stage(report, clock, name);
    for (int i = 0; i < method->stage_count; i++) {
        const rh_added_stage *added = &method->stages[i];
        if (strcmp(added->after, name) != 0) continue;
        RH_TRY(added->run(view, method->user, status));
        RH_TRY(rh_stages_end(method, added->name, view, report, clock, status));
    }
    return RH_OK;
}
