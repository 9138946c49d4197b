// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Blocks report from any thread: the line is drawn by whichever finds it due, ten times a second at most, and not at
// all for work that is over at once. The flag that a signal sets is looked at on every call.
#include "ax_watch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"

static const double draw_interval = 0.1, quiet_at_first = 0.5;  // s; nothing is drawn for what is over before

static bool go_on(void *user, const char *stage, double share)
{
    ax_watch *w = user;
    if (atomic_load(w->stop)) return false;
    if (!w->live || atomic_flag_test_and_set(&w->drawing)) return true;
    double now = rh_seconds();
    if (now - w->last >= draw_interval) {
        fprintf(stderr, "\r\033[K%s  %s %3.0f %%", w->file, stage, 100 * share);
        w->last = now;
        w->shown = true;
    }
    atomic_flag_clear(&w->drawing);
    return true;
}

void ax_watch_begin(ax_watch *watch, atomic_int *stop, const char *file, bool quiet)
{
    const char *kind = getenv("TERM");
    *watch = (ax_watch){.watch = {go_on, watch}, .stop = stop, .file = file, .last = rh_seconds() + quiet_at_first};
    atomic_flag_clear(&watch->drawing);
    watch->live = !quiet && isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
}

void ax_watch_clear(ax_watch *watch)
{
    if (watch->shown) fputs("\r\033[K", stderr);
    watch->shown = false;
}
