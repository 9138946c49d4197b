// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Assertions: what must hold if the program is right. Never a user's mistake, never memory or a disk that is full:
// those have a status. On in every build that has tests (RHEO_ASSERT in CMakeLists.txt), off in the one that is
// installed and measured. There the condition is compiled and not run, so it must have no effect.
//
// They are cheap: a test of numbers at hand where a function is entered, or one pass over tiles or particles a step.
// What costs more belongs into a test.
#pragma once
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Says what was broken on standard error and aborts: the one place where the library prints.
__attribute__((noreturn, cold)) void rh_assert_failed(const char *condition, const char *file, int line,
                                                      const char *function);
bool rh_assert_is_on(void);  // in the library as it was built

#ifdef RHEO_ASSERT
#define RH_ASSERT(condition) ((condition) ? (void)0 : rh_assert_failed(#condition, __FILE_NAME__, __LINE__, __func__))
#else
#define RH_ASSERT(condition) ((void)sizeof !(condition))
#endif

#ifdef __cplusplus
}
#endif
