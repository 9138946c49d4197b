// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions on numbers that the C library has in another form.
#include <math.h>
#include "lang/library/library.h"

double rh_lang_pow_di(double base, int32_t exponent) { return pow(base, (double)exponent); }
