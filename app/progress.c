// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The time left is estimated from a running mean of the seconds a frame took, in which the newest weighs most: a splash
// slows frames down within a few of them. Facts that do not fit into the width of the terminal are left out, the least
// wanted first.
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "app.h"
#include "base/clock.h"
#include "format.h"

enum { LINE_MAX_BYTES = 512, MOST_PARTS = 8, BAR_LONGEST = 30, BAR_SHORTEST = 6 };

static const double draw_interval = 0.1;  // s
// Weight of the newest frame: a splash slows frames down within a few frames, and the estimate should follow.
static const double newest_weight = 0.3;

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

void app_progress_begin(app_progress *progress, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    progress->quiet = quiet;
    const char *kind = getenv("TERM");
    progress->live = isatty(STDERR_FILENO) && !(kind && !strcmp(kind, "dumb"));
    progress->color = app_color(STDERR_FILENO);
    progress->started = progress->frame_started = rh_seconds();
}

static void clear_line(app_progress *progress)
{
    if (progress->line_shown) fputs("\r\033[K", stderr);
    progress->line_shown = false;
}

// Share of all frames done, 0..1.
static double done_fraction(const rh_progress *step, bool frame_done)
{
    double frames = (double)(step->last_frame - step->first_frame + 1);
    double done = (double)(step->frame - step->first_frame) + (frame_done ? 1 : step->frame_fraction);
    if (frames <= 0 || done < 0) return 0;
    return done < frames ? done / frames : 1;
}

// Seconds left, or -1 while nothing is known.
static double time_left(const app_progress *progress, const rh_progress *step, bool frame_done, double now)
{
    double fraction = frame_done ? 1 : step->frame_fraction;
    double per_frame = progress->frame_seconds;
    if (per_frame <= 0) per_frame = fraction > 0.02 ? (now - progress->frame_started) / fraction : -1;
    if (per_frame < 0) return -1;
    double frames_left = (double)(step->last_frame - step->frame) + 1 - fraction;
    return frames_left > 0 ? frames_left * per_frame : 0;
}

// The facts beside the bar, the ones to give up last first.
static int collect_parts(const app_progress *progress, const rh_progress *step, bool frame_done, double now,
                         char parts[MOST_PARTS][64])
{
    app_text text;
    int count = 0;
    snprintf(parts[count++], 64, "frame %lld/%lld", (long long)step->frame, (long long)step->last_frame);
    double left = time_left(progress, step, frame_done, now);
    if (left >= 0) snprintf(parts[count++], 64, "%s left", app_format_duration(left, &text));
    snprintf(parts[count++], 64, "%s particles", app_format_short(step->particles, &text));
    snprintf(parts[count++], 64, "step %d", step->substeps);
    snprintf(parts[count++], 64, "%d iterations", step->iterations);
    snprintf(parts[count++], 64, "volume %s", app_format_percent(step->volume_error, &text));
    snprintf(parts[count++], 64, "%s", app_format_bytes(step->memory_bytes, &text));
    return count;
}

static int append(char *line, int used, const char *text)
{
    int length = (int)strlen(text);
    if (used + length >= LINE_MAX_BYTES) return used;
    memcpy(line + used, text, (size_t)length + 1);
    return used + length;
}

static int append_bar(char *line, int used, int cells, double fraction, bool color)
{
    int full = (int)(fraction * cells + 0.5);
    used = append(line, used, " [");
    if (color) used = append(line, used, "\033[36m");
    for (int i = 0; i < cells; i++) used = append(line, used, i < full ? "=" : i == full ? ">" : " ");
    if (color) used = append(line, used, "\033[0m");
    return append(line, used, "]");
}

// Facts are dropped from the end of the list until the line fits; what room is left goes to the bar.
static void draw(app_progress *progress, const rh_progress *step, bool frame_done, double now)
{
    char parts[MOST_PARTS][64], line[LINE_MAX_BYTES] = "";
    int count = collect_parts(progress, step, frame_done, now, parts);
    int room = terminal_width() - 1;  // the last column would wrap on some terminals
    int length = (int)strlen(parts[0]), kept = 1;
    while (kept < count && length + 2 + (int)strlen(parts[kept]) + BAR_SHORTEST + 3 <= room)
        length += 2 + (int)strlen(parts[kept++]);
    int cells = room - length - 3;
    if (cells > BAR_LONGEST) cells = BAR_LONGEST;
    int used = append(line, 0, parts[0]);
    if (used > room) line[used = room > 0 ? room : 0] = 0;
    if (cells >= BAR_SHORTEST) used = append_bar(line, used, cells, done_fraction(step, frame_done), progress->color);
    for (int i = 1; i < kept; i++) used = append(line, append(line, used, "  "), parts[i]);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    progress->line_shown = true;
    progress->last_draw = now;
}

static void print_frame(const rh_progress *step, double seconds)
{
    app_text error, memory, wall;
    fprintf(stderr, "frame %lld/%lld  substeps %d  particles %lld  iterations %d  volume %s  memory %s",
            (long long)step->frame, (long long)step->last_frame, step->substeps, (long long)step->particles,
            step->iterations, app_format_percent(step->volume_error, &error),
            app_format_bytes(step->memory_bytes, &memory));
    if (step->surface_seconds > 0) fprintf(stderr, "  surface %s", app_format_duration(step->surface_seconds, &wall));
    fprintf(stderr, "  %s\n", app_format_duration(seconds, &wall));
}

void app_progress_update(const rh_progress *step, bool frame_done, void *user)
{
    app_progress *progress = user;
    double now = rh_seconds();
    if (frame_done) {
        double seconds = now - progress->frame_started;
        double old = progress->frame_seconds;
        progress->frame_seconds = old > 0 ? old + newest_weight * (seconds - old) : seconds;
        progress->frame_started = now;
        progress->frames_done++;
        if (!progress->quiet && !progress->live) print_frame(step, seconds);
    }
    bool last = frame_done && step->frame >= step->last_frame;
    if (progress->quiet || !progress->live) return;
    if (last || now - progress->last_draw >= draw_interval) draw(progress, step, frame_done, now);
}

void app_progress_end(app_progress *progress)
{
    clear_line(progress);
    fflush(stderr);
}

void app_progress_log(rh_log_level level, const char *message, void *user)
{
    app_progress *progress = user;
    if (level == RH_LOG_INFO && progress->quiet) return;
    clear_line(progress);
    app_log_plain(level, message, NULL);
    progress->last_draw = 0;  // the line comes back with the next step
}
