// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Numbers as people write them where a scene expects one: 0.05, 1/20, 5cm, 30deg, 2.5 km/h, 1/24 s. What has a unit
// becomes a number in the unit of the parameter; units of another kind are refused.
#pragma once
#include <stdbool.h>

// `unit` is that of the parameter ("m/s"). False when the text is no such number, or of another kind of quantity.
bool rh_units_parse(const char *text, const char *unit, double *out);
