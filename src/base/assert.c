// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The one place of the library that prints and ends the process: what is broken cannot be told through a status, since
// nothing after it can be trusted.
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void rh_assert_failed(const char *condition, const char *file, int line, const char *function)
{
    fprintf(stderr, "rheo: %s:%d: %s: broken invariant: %s\n", file, line, function, condition);
    abort();
}

bool rh_assert_is_on(void)
{
#ifdef RHEO_ASSERT
    return true;
#else
    return false;
#endif
}
