// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the program does when a C++ library (OpenVDB, oneTBB, Embree) throws where nothing can catch it: in a thread of
// its own, or in a destructor. Without this such a throw ends in an abort whose only words are a type's name; it is
// lack of memory nearly always. Only the program sets this: the library leaves its host's handler alone.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// From now on an uncaught throw is told on standard error as other errors are, and the program ends with exit code 1.
void app_tell_uncaught(void);

#ifdef __cplusplus
}
#endif
