// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Stopping cleanly: the first signal asks, the second does not.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app.h"

// A signal handler has no other way to reach the work or its words.
static atomic_int stop_requested;
static char message[96];

static void on_signal(int number)
{
    (void)number;
    static const char first[] = "\r\033[K";
    if (atomic_fetch_add(&stop_requested, 1) > 0) _exit(130);
    if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, first, sizeof first - 1);
    (void)!write(STDERR_FILENO, message, strlen(message));
}

atomic_int *app_stop_on_signals(const char *what)
{
    snprintf(message, sizeof message, "stopping after %.40s (again to leave at once)\n", what);
    // Writes in progress must go on undisturbed, hence SA_RESTART.
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &stop_requested;
}
