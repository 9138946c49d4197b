// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A build without LLVM: programs are read and checked, but not run.
#include "lang/code.h"

rh_code rh_lang_code_make(rh_lang_unit *unit, const rh_lang_node *program, const rh_lang_options *options,
                          const rh_lang_facts *facts, rh_lang_code **out)
{
    (void)program, (void)options, (void)facts;
    *out = NULL;
    return rh_fail(unit->status, RH_USER,
                   "expressions need LLVM, which this build of Rheo is without (package llvm-dev, option RHEO_LANG)");
}

void rh_lang_code_free(rh_lang_code *code) { (void)code; }
rh_lang_kernel *rh_lang_code_kernel(const rh_lang_code *code) { return (void)code, NULL; }
const char *rh_lang_code_text(const rh_lang_code *code) { return (void)code, NULL; }
