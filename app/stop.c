// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Stopping cleanly: the first signal asks, the second does not.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "app.h"

// A signal handler has no other way to reach the work or its words.
static atomic_int stop_requested, stop_due;
static char message[96];

static void on_signal(int number)
{
    (void)number;
    static const char first[] = "\r\033[K";
    if (atomic_fetch_add(&stop_requested, 1) > 0) _exit(130);
    if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, first, sizeof first - 1);
    (void)!write(STDERR_FILENO, message, strlen(message));
    const struct itimerval half_a_second = {.it_value = {.tv_usec = 500000}};
    setitimer(ITIMER_REAL, &half_a_second, NULL);
}

static void on_alarm(int number)
{
    (void)number;
    atomic_store(&stop_due, 1);
}

atomic_int *app_stop_on_signals(const char *what)
{
    snprintf(message, sizeof message, "stopping after %.40s (again to leave at once)\n", what);
    // Writes in progress must go on undisturbed, hence SA_RESTART.
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    return &stop_requested;
}

atomic_int *app_stop_due(void) { return &stop_due; }
