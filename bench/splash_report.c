// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What only the splash method has: seconds a frame by stage beside those that were published with the method (D. J.
// Gerszewski, "Physics-based animation of large-scale splashing liquids, ...", dissertation, University of Utah, 2014,
// Table 3.2), and the steps of its solver over resolution.
#include <errno.h>
#include <math.h>
#include <string.h>
#include "bench.h"

static const double FRAME = 1.0 / 30;  // s, of the published figures

// The published stages, and ours that do their work. What has no counterpart there is told apart, and is part of the
// total.
typedef enum part { SOLVE, EXTRAPOLATE, ADVECT, RASTERISE, SOLIDS, REST, TOTAL, PARTS } part;
enum { MOST_OURS = 5 };
static const struct {
    const char *name;
    const char *ours[MOST_OURS + 1];
} parts[PARTS] = {
    [SOLVE] = {"solve", {"density", "pressure"}},
    [EXTRAPOLATE] = {"extrapolate", {"extend"}},
    [ADVECT] = {"advect", {"update", "spray", "advect", "collide", "sort"}},
    [RASTERISE] = {"rasterise", {"to_grid", "forces", "predict"}},
    [SOLIDS] = {"solids", {"solids"}},
    [REST] = {"rest", {NULL}},
    [TOTAL] = {"total", {NULL}},
};

// Seconds a frame, by id.
static const struct published {
    const char *id;
    double particles;
    double seconds[PARTS];
} published[] = {
    {"R1", 104988, {[TOTAL] = 7.8, [SOLVE] = 5.1, [EXTRAPOLATE] = 0.8, [ADVECT] = 0.7, [RASTERISE] = 0.7}},
    {"R2", 1539000, {[TOTAL] = 21.7, [SOLVE] = 5.2, [EXTRAPOLATE] = 0.5, [ADVECT] = 9, [RASTERISE] = 6.8}},
    {"R3", 16307596, {[TOTAL] = 75.6, [SOLVE] = 35.3, [EXTRAPOLATE] = 1.5, [ADVECT] = 23.5, [RASTERISE] = 14.4}},
    {"R4", 5508794, {[TOTAL] = 118.5, [SOLVE] = 54.2, [EXTRAPOLATE] = 2.7, [ADVECT] = 30.3, [RASTERISE] = 29.9}},
    {"R5", 2060247, {[TOTAL] = 81.6, [SOLVE] = 52.1, [EXTRAPOLATE] = 4.6, [ADVECT] = 12.4, [RASTERISE] = 10.2}},
    {"R6", 6937747, {[TOTAL] = 556, [SOLVE] = 470, [EXTRAPOLATE] = 12.6, [ADVECT] = 39.1, [RASTERISE] = 28.7}},
    {"R7", 3430944, {[TOTAL] = 20, [SOLVE] = 11.3, [EXTRAPOLATE] = 0.3, [ADVECT] = 4.2, [RASTERISE] = 4}},
};

bool bench_is_splash(const bench_entry *entry) { return strncmp(entry->group, "splash-", 7) == 0; }

// --- figures of a row ------------------------------------------------------------------------------------------------
static const struct published *published_of(const bench_row *row)
{
    return row->entry->published ? &published[row->entry->published - 1] : NULL;
}

static double particles(const bench_row *row) { return row->result.particle_steps / row->result.steps; }
static double cells(const bench_row *row) { return row->result.cell_steps / row->result.steps; }
static double frames(const bench_row *row) { return row->result.simulated / FRAME; }

static double stage_seconds(const bench_result *r, part p)
{
    double sum = 0;
    for (int i = 0; parts[p].ours[i]; i++) {
        const bench_stage *stage = bench_find_stage(r->stages, r->stage_count, parts[p].ours[i]);
        if (stage) sum += stage->seconds;
    }
    return sum;
}

// Seconds a frame.
static double seconds(const bench_row *row, part p)
{
    const bench_result *r = &row->result;
    double sum = p == TOTAL || p == REST ? r->seconds : stage_seconds(r, p);
    for (int k = 0; k < REST && p == REST; k++) sum -= stage_seconds(r, (part)k);
    return sum / frames(row);
}

// Published over ours; 0: not the same work, or there is nothing to compare with.
static double ratio(const bench_row *row, part p)
{
    const struct published *theirs = published_of(row);
    if (!theirs || fabs(particles(row) / theirs->particles - 1) > 0.1 || theirs->seconds[p] == 0 ||
        !(seconds(row, p) > 0))
        return 0;
    return theirs->seconds[p] / seconds(row, p);
}

static const bench_solve *find_solve(const bench_row *row, const char *stage)
{
    for (int i = 0; i < row->result.solve_count; i++)
        if (strcmp(row->result.solves[i].stage, stage) == 0) return &row->result.solves[i];
    return NULL;
}

static double each_solve(const bench_solve *s, int64_t sum) { return (double)sum / (double)s->solves; }

// Solver steps: of a solve of this stage; of a time step with both solves when it is NULL.
static double solver_steps(const bench_row *row, const char *stage)
{
    const bench_solve *s = stage ? find_solve(row, stage) : NULL;
    if (stage) return s ? each_solve(s, s->iterations) : 0;
    return (double)row->result.iterations / row->result.steps;
}

// --- seconds a frame -------------------------------------------------------------------------------------------------
static void print_number(FILE *to, int width, const char *format, double value)
{
    if (value > 0) fprintf(to, format, width, value);
    else fprintf(to, " %*s", width, "-");
}

static void print_frame_head(FILE *to)
{
    fprintf(to, "\nSplash: seconds a frame of 1/30 s. solve = density + pressure; extrapolate = extend; advect = "
                "update + advect + collide + sort;\n"
                "rasterise = to_grid + predict; solids, and the rest (choice of the time step, emitters), are told "
                "apart and are in the total.\n"
                "Ours: the measured frames, in which much happens. Published: averages of Table 3.2 of the method's "
                "source, on hardware that it does not\n"
                "state, so that the ratio (published / ours) says how much less one waits and nothing about the "
                "method. It is given where particles agree within a tenth.\n"
                "peak: through rh_alloc, MB. RSS: peak of the whole process, MB.\n\n");
    fprintf(to, "%-14s %-10s %3s %10s %6s", "", "", "thr", "particles", "steps");
    for (int p = 0; p < PARTS; p++) fprintf(to, " %11s", parts[p].name);
    fprintf(to, " %9s %9s\n", "peak", "RSS");
}

static void print_frame_row(FILE *to, const bench_row *row)
{
    const bench_result *r = &row->result;
    const struct published *theirs = published_of(row);
    fprintf(to, "%-14s %-10s %3d %10.0f %6.1f", row->entry->name, "ours", r->threads, particles(row),
            r->steps / frames(row));
    for (int p = 0; p < PARTS; p++) fprintf(to, " %11.3f", seconds(row, (part)p));
    fprintf(to, " %9.1f %9.1f\n", 1e-6 * (double)r->memory.peak, 1e-6 * (double)r->memory.resident);
    fprintf(to, "%-14s %-10s %3s %10.0f %6s", theirs->id, "published", "", theirs->particles, "");
    for (int p = 0; p < PARTS; p++) print_number(to, 11, " %*.1f", theirs->seconds[p]);
    fprintf(to, "\n%-14s %-10s %3s %10s %6s", "", "ratio", "", "", "");
    for (int p = 0; p < PARTS; p++) print_number(to, 11, " %*.1f", ratio(row, (part)p));
    fprintf(to, "\n");
}

static void print_frames(FILE *to, const bench_row *rows, int count)
{
    bool begun = false;
    for (int i = 0; i < count; i++) {
        if (!bench_fine(&rows[i]) || !rows[i].entry->published) continue;
        if (!begun) print_frame_head(to);
        begun = true;
        print_frame_row(to, &rows[i]);
    }
}

// --- solver steps over resolution ------------------------------------------------------------------------------------
static bool in_study(const bench_row *row) { return bench_fine(row) && row->entry->preconditioner; }

static bool same_variant(const bench_row *a, const bench_row *b)
{
    return strcmp(a->entry->preconditioner, b->entry->preconditioner) == 0 &&
           strcmp(a->entry->expansion, b->entry->expansion) == 0 && strcmp(a->entry->group, b->entry->group) == 0;
}

// Of the rows of a variant, by least squares: e in steps ~ (cells^(1/3))^e. NaN without two resolutions, or where a
// solve had nothing to do.
static double exponent(const bench_row *of, const char *stage, const bench_row *rows, int count)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        if (!in_study(&rows[i]) || !same_variant(&rows[i], of)) continue;
        double size = log(cells(&rows[i])) / 3, steps = log(solver_steps(&rows[i], stage));
        n += 1, x += size, y += steps, xx += size * size, xy += size * steps;
    }
    double spread = n * xx - x * x;
    return n >= 2 && spread > 0 && isfinite(y) ? (n * xy - x * y) / spread : NAN;
}

static double step_ms(const bench_row *row) { return 1e3 * row->result.seconds / row->result.steps; }
static double solve_ms(const bench_row *row) { return 1e3 * stage_seconds(&row->result, SOLVE) / row->result.steps; }

// Time of a step (`of` says what of it) with MIC(0) over that of this row, on the same scene and resolution with the
// same expansion.
static double mic_ratio(const bench_row *row, double (*of)(const bench_row *), const bench_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        if (in_study(&rows[i]) && strcmp(rows[i].entry->preconditioner, "mic") == 0 &&
            strcmp(rows[i].entry->expansion, row->entry->expansion) == 0 &&
            strcmp(rows[i].entry->group, row->entry->group) == 0 &&
            rows[i].entry->resolution == row->entry->resolution && rows[i].result.threads == row->result.threads)
            return of(&rows[i]) / of(row);
    return 0;
}

static void print_solve(FILE *to, const bench_solve *s)
{
    if (!s) {
        fprintf(to, "  %8s %7s %7s %7s %7s", "-", "-", "-", "-", "-");
        return;
    }
    fprintf(to, "  %8.1f %7.1f %7.1f %7.1f %7.1f", each_solve(s, s->iterations), each_solve(s, s->cg),
            each_solve(s, s->expansions), each_solve(s, s->proportionings), each_solve(s, s->preparations));
}

static void print_study_row(FILE *to, const bench_row *row, double solve_ratio, double step_ratio)
{
    const bench_result *r = &row->result;
    fprintf(to, "%-14s %4d %9.0f %5d", row->entry->name, row->entry->resolution, cells(row), r->steps);
    print_solve(to, find_solve(row, "density"));
    print_solve(to, find_solve(row, "pressure"));
    fprintf(to, "  %8.1f %6d  %9.2f", solver_steps(row, NULL), r->most_iterations, solve_ms(row));
    print_number(to, 8, " %*.2f", solve_ratio);
    fprintf(to, "  %9.2f", step_ms(row));
    print_number(to, 8, " %*.2f", step_ratio);
    fprintf(to, "\n");
}

static void print_study_head(FILE *to)
{
    fprintf(to, "\nSplash: steps of the complementarity solver by cells a metre, means of a solve: all, then conjugate "
                "gradients, expansions, proportionings, and how\n"
                "often the preconditioner was prepared. both: of a time step with its two solves (max: the most). "
                "Times: milliseconds of the two solves and of the\n"
                "whole step. mic/this: the same time with MIC(0) over that of the row, same expansion, in this run; "
                "above 1 the row is faster.\n"
                "The exponent e is fitted to steps ~ (cells^(1/3))^e: the method's source states about 1.\n\n");
    fprintf(to, "%-14s %4s %9s %5s  %8s %7s %7s %7s %7s  %8s %7s %7s %7s %7s  %8s %6s  %9s %8s  %9s %8s\n", "", "/m",
            "cells", "steps", "density", "CG", "exp.", "prop.", "prep.", "pressure", "CG", "exp.", "prop.", "prep.",
            "both", "max", "solves ms", "mic/this", "step ms", "mic/this");
}

static void print_variant(FILE *to, const bench_row *first, const bench_row *rows, int count)
{
    fprintf(to, "%s, %s\n", first->entry->preconditioner, first->entry->expansion);
    for (int i = 0; i < count; i++)
        if (in_study(&rows[i]) && same_variant(&rows[i], first))
            print_study_row(to, &rows[i], mic_ratio(&rows[i], solve_ms, rows, count),
                            mic_ratio(&rows[i], step_ms, rows, count));
    double both = exponent(first, NULL, rows, count);
    if (isfinite(both))
        fprintf(to, "%-14s density %.2f, pressure %.2f, both %.2f\n", "  exponent",
                exponent(first, "density", rows, count), exponent(first, "pressure", rows, count), both);
}

static void print_study(FILE *to, const bench_row *rows, int count)
{
    bool begun = false;
    for (int i = 0; i < count; i++) {
        bool seen = !in_study(&rows[i]);
        for (int k = 0; k < i && !seen; k++) seen = in_study(&rows[k]) && same_variant(&rows[k], &rows[i]);
        if (seen) continue;
        if (!begun) print_study_head(to);
        begun = true;
        print_variant(to, &rows[i], rows, count);
    }
}

void bench_splash_print(FILE *to, const bench_row *rows, int count)
{
    print_frames(to, rows, count);
    print_study(to, rows, count);
}

// --- CSV -------------------------------------------------------------------------------------------------------------
enum { SOLVES = 2 };
static const char *const solve_stages[SOLVES] = {"density", "pressure"};

static void write_header(FILE *to)
{
    fprintf(to, "entry,group,scene,resolution,preconditioner,expansion,threads,steps,simulated_seconds,particles,cells,"
                "solves_ms_per_step,ms_per_step,solves_mic_ratio,mic_ratio,peak_bytes,resident_bytes,published_id,"
                "published_particles,error");
    for (int p = 0; p < PARTS; p++)
        fprintf(to, ",%s_s_per_frame,%s_published_s_per_frame,%s_ratio", parts[p].name, parts[p].name, parts[p].name);
    for (int i = 0; i < SOLVES; i++)
        fprintf(to, ",%s_steps,%s_cg,%s_expansions,%s_proportionings,%s_preparations,%s_exponent", solve_stages[i],
                solve_stages[i], solve_stages[i], solve_stages[i], solve_stages[i], solve_stages[i]);
    fprintf(to, ",both_steps,both_exponent\n");
}

// With its comma before it; empty unless above 0.
static void write_number(FILE *to, double value)
{
    if (value > 0) fprintf(to, ",%.6g", value);
    else fprintf(to, ",");
}

static void write_exponent(FILE *to, const bench_row *row, const char *stage, const bench_row *rows, int count)
{
    double e = in_study(row) ? exponent(row, stage, rows, count) : NAN;
    if (isfinite(e)) fprintf(to, ",%.4f", e);
    else fprintf(to, ",");
}

static void write_parts(FILE *to, const bench_row *row)
{
    const struct published *theirs = published_of(row);
    for (int p = 0; p < PARTS; p++) {
        fprintf(to, ",%.6g", seconds(row, (part)p));
        write_number(to, theirs ? theirs->seconds[p] : 0);
        write_number(to, ratio(row, (part)p));
    }
}

static void write_solves(FILE *to, const bench_row *row, const bench_row *rows, int count)
{
    for (int i = 0; i < SOLVES; i++) {
        const bench_solve *s = find_solve(row, solve_stages[i]);
        if (!s) fprintf(to, ",,,,,");
        else
            fprintf(to, ",%.3f,%.3f,%.3f,%.3f,%.3f", each_solve(s, s->iterations), each_solve(s, s->cg),
                    each_solve(s, s->expansions), each_solve(s, s->proportionings), each_solve(s, s->preparations));
        write_exponent(to, row, solve_stages[i], rows, count);
    }
    fprintf(to, ",%.3f", solver_steps(row, NULL));
    write_exponent(to, row, NULL, rows, count);
}

static void write_line(FILE *to, const bench_row *row, const bench_row *rows, int count)
{
    const bench_entry *e = row->entry;
    const bench_result *r = &row->result;
    const struct published *theirs = published_of(row);
    bool fine = bench_fine(row);
    fprintf(to, "%s,%s,%s,%d,%s,%s,%d,%d", e->name, e->group, e->scene, e->resolution,
            e->preconditioner ? e->preconditioner : "", e->expansion ? e->expansion : "", r->threads,
            fine ? r->steps : 0);
    if (fine)
        fprintf(to, ",%.9g,%.1f,%.1f,%.6g,%.6g", r->simulated, particles(row), cells(row), solve_ms(row), step_ms(row));
    else fprintf(to, ",,,,,");
    write_number(to, in_study(row) ? mic_ratio(row, solve_ms, rows, count) : 0);
    write_number(to, in_study(row) ? mic_ratio(row, step_ms, rows, count) : 0);
    if (fine) fprintf(to, ",%lld,%lld", (long long)r->memory.peak, (long long)r->memory.resident);
    else fprintf(to, ",,");
    fprintf(to, ",%s", theirs ? theirs->id : "");
    if (theirs) fprintf(to, ",%.0f,", theirs->particles);
    else fprintf(to, ",,");
    bench_write_text(to, r->message);
    if (fine) {
        write_parts(to, row);
        write_solves(to, row, rows, count);
    } else
        for (int i = 0; i < 3 * PARTS + 6 * SOLVES + 2; i++) fprintf(to, ",");
    fprintf(to, "\n");
}

rh_code bench_splash_write_csv(const char *path, const bench_row *rows, int count, rh_status *status)
{
    int first = 0;
    while (first < count && !bench_is_splash(rows[first].entry)) first++;
    if (first == count) return RH_OK;
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    write_header(to);
    for (int i = first; i < count; i++)
        if (bench_is_splash(rows[i].entry)) write_line(to, &rows[i], rows, count);
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
