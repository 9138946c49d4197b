// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Messages for the person at the terminal. The library never prints: it hands each message to a sink that the program
// installs once at start-up (none by default, messages are then dropped).
#pragma once

typedef enum rh_log_level { RH_LOG_DEBUG, RH_LOG_INFO, RH_LOG_WARNING } rh_log_level;
typedef void rh_log_sink(rh_log_level level, const char *message, void *user);

void rh_log_set_sink(rh_log_sink *sink, void *user);  // call before threads start
void rh_log(rh_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
