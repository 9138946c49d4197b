// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Messages for the person at the terminal. The library never prints: it hands each message to the sink of the context
// that the calling thread is in (context.h), or where that has none to the process', which the program installs once at
// start-up (none by default, messages are then dropped).
#pragma once

typedef enum rh_log_level { RH_LOG_DEBUG, RH_LOG_INFO, RH_LOG_WARNING } rh_log_level;
typedef void rh_log_sink(rh_log_level level, const char *message, void *user);

void rh_log_set_sink(rh_log_sink *sink, void *user);  // of the current context; not while others work in it
void rh_log(rh_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
