// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Numbers as text, the same in every locale: a host program that speaks German must not turn "1.5" into 1.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef enum rh_number_result {
    RH_NUMBER_OK,
    RH_NUMBER_BAD,         // not a number
    RH_NUMBER_NOT_FINITE,  // a spelling of infinity or "not a number"
    RH_NUMBER_FRACTION,    // a number, but not a whole one (rh_integer_parse only)
    RH_NUMBER_TOO_LARGE,
} rh_number_result;

// Decimal: sign, digits, fraction, exponent; the whole text. `out` is written on RH_NUMBER_OK only.
rh_number_result rh_number_parse(const char *text, double *out);
// Sign and decimal digits; the whole text.
rh_number_result rh_integer_parse(const char *text, int64_t *out);

enum { RH_NUMBER_TEXT = 32 };  // room for any number that rh_number_print writes
// Shortest of 9 to 17 significant digits that reads back as the same bits (finite values). Returns `out`.
char *rh_number_print(double value, char out[RH_NUMBER_TEXT]);
