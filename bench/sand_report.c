// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What only sand has: seconds a frame of both models beside those that were published with the source's (Y. Zhu, R.
// Bridson, "Animating sand as a fluid", ACM TOG 24(3), 2005, section 5; Y. Zhu's thesis of the same name, University of
// British Columbia, 2005), and what share of a step every stage takes.
#include <errno.h>
#include <math.h>
#include <string.h>
#include "bench.h"

static const double FRAME = 1.0 / 30;  // s; the source does not say how long its frames are

// By scene. The source's shape is another one of as many particles.
static const struct published {
    const char *scene;
    double particles, seconds;  // a frame, "approximately"
} published[] = {
    {"scenes/sand/column", 433479, 12},
    {"scenes/sand/figure_sand_rough", 269322, 6},
};

bool bench_is_sand(const bench_entry *entry)
{
    return strcmp(entry->group, "sand") == 0 || strncmp(entry->group, "sand-", 5) == 0;
}

// --- figures of a row ------------------------------------------------------------------------------------------------
static double particles(const bench_row *row) { return row->result.particle_steps / row->result.steps; }
static double frames(const bench_row *row) { return row->result.simulated / FRAME; }
static double seconds(const bench_row *row) { return row->result.seconds / frames(row); }

// NULL: not the same work, or there is nothing to compare with.
static const struct published *published_of(const bench_row *row)
{
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (strcmp(row->entry->scene, published[i].scene) == 0 &&
            fabs(particles(row) / published[i].particles - 1) < 0.1)
            return &published[i];
    return NULL;
}

static const char *model_of(const bench_entry *entry)
{
    bool source = false;
    for (int i = 0; i < BENCH_SETTINGS && entry->settings[i]; i++)
        source |= strcmp(entry->settings[i], "physics.sand_incompressible={}") == 0;
    return source ? "incompressible" : "unilateral";
}

static double share(const bench_row *row, const char *name)
{
    const bench_stage *stage = bench_find_stage(row->result.stages, row->result.stage_count, name);
    return stage ? 100 * stage->seconds / row->result.seconds : 0;
}

// --- the table -------------------------------------------------------------------------------------------------------
static void print_head(FILE *to, const bench_names *stages)
{
    fprintf(to, "\nSand: seconds a frame of 1/30 s, and stages in per cent of a step. Ours: the measured frames, in "
                "which all of it slides. Published: the source's \"approximately\",\n"
                "with its model (incompressible), on a 2 GHz G5 of 2005 and for frames of a length that it does not "
                "state: machines differ, and the ratio (published / ours)\n"
                "says how much less one waits. It is given where particles agree within a tenth.\n\n");
    fprintf(to, "%-15s %-15s %3s %10s %6s %9s %9s %7s ", "", "model", "thr", "particles", "steps", "s/frame",
            "published", "ratio");
    for (int i = 0; i < stages->count; i++) fprintf(to, " %*s", bench_width(stages->name[i]), stages->name[i]);
    fprintf(to, "\n");
}

static void print_row(FILE *to, const bench_row *row, const bench_names *stages)
{
    const struct published *theirs = published_of(row);
    fprintf(to, "%-15s %-15s %3d %10.0f %6.1f %9.3f", row->entry->name, model_of(row->entry), row->result.threads,
            particles(row), row->result.steps / frames(row), seconds(row));
    if (theirs) fprintf(to, " %9.1f %7.1f ", theirs->seconds, theirs->seconds / seconds(row));
    else fprintf(to, " %9s %7s ", "-", "-");
    for (int i = 0; i < stages->count; i++) {
        double part = share(row, stages->name[i]);
        if (part > 0) fprintf(to, " %*.1f", bench_width(stages->name[i]), part);
        else fprintf(to, " %*s", bench_width(stages->name[i]), "-");
    }
    fprintf(to, "\n");
}

void bench_sand_print(FILE *to, const bench_row *rows, int count)
{
    bench_names stages = {.count = 0};
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (!bench_fine(&rows[i]) || !bench_is_sand(rows[i].entry)) continue;
        bench_names_add(&stages, rows[i].result.stages, rows[i].result.stage_count);
        any = true;
    }
    if (!any) return;
    print_head(to, &stages);
    for (int i = 0; i < count; i++)
        if (bench_fine(&rows[i]) && bench_is_sand(rows[i].entry)) print_row(to, &rows[i], &stages);
}

// --- CSV -------------------------------------------------------------------------------------------------------------
// Stages and memory of the rows are in the first CSV.
static void write_line(FILE *to, const bench_row *row)
{
    fprintf(to, "%s,%s,%s,%d,", row->entry->name, row->entry->scene, model_of(row->entry), row->result.threads);
    if (!bench_fine(row)) fprintf(to, "0,,,,,,,");
    else {
        const struct published *theirs = published_of(row);
        fprintf(to, "%d,%.9g,%.1f,%.6g,", row->result.steps, row->result.simulated, particles(row), seconds(row));
        if (theirs) fprintf(to, "%.0f,%.6g,%.6g,", theirs->particles, theirs->seconds, theirs->seconds / seconds(row));
        else fprintf(to, ",,,");
    }
    bench_write_text(to, row->result.message);
    fprintf(to, "\n");
}

rh_code bench_sand_write_csv(const char *path, const bench_row *rows, int count, rh_status *status)
{
    int first = 0;
    while (first < count && !bench_is_sand(rows[first].entry)) first++;
    if (first == count) return RH_OK;
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(to, "entry,scene,model,threads,steps,simulated_seconds,particles,s_per_frame,published_particles,published_"
                "s_per_frame,ratio,error\n");
    for (int i = first; i < count; i++)
        if (bench_is_sand(rows[i].entry)) write_line(to, &rows[i]);
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
