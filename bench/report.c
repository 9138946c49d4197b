// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tables for people and CSV for programs. Stages are whatever the runs reported: columns are made from their names.
#include <errno.h>
#include <string.h>
#include "bench.h"

// --- shared with surface_report.c ------------------------------------------------------------------------------------
void bench_names_add(bench_names *names, const bench_stage *stages, int count)
{
    for (int i = 0, at = 0; i < count; i++, at++) {
        int k = 0;
        while (k < names->count && strcmp(names->name[k], stages[i].name) != 0) k++;
        if (k < names->count) at = k;
        else if (names->count < BENCH_NAMES) {
            memmove(&names->name[at + 1], &names->name[at], (size_t)(names->count++ - at) * sizeof names->name[0]);
            names->name[at] = stages[i].name;
        } else return;
    }
}

const bench_stage *bench_find_stage(const bench_stage *stages, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(stages[i].name, name) == 0) return &stages[i];
    return NULL;
}

int bench_width(const char *name) { return strlen(name) > 7 ? (int)strlen(name) : 7; }

void bench_print_labels(FILE *to, const char *entry, int64_t particles, const bench_memory *memory)
{
    double each = 1 / (double)particles;
    fprintf(to, "\nMemory by label, %s, %lld particles\n  %-24s %12s %14s\n", entry, (long long)particles, "",
            "peak MB", "B a particle");
    for (int i = 0; i < memory->label_count; i++)
        if (memory->labels[i].peak * 1000 >= memory->peak)
            fprintf(to, "  %-24s %12.2f %14.2f\n", memory->labels[i].name, 1e-6 * (double)memory->labels[i].peak,
                    (double)memory->labels[i].peak * each);
    fprintf(to, "  %-24s %12.2f %14.2f\n", "all at one time", 1e-6 * (double)memory->peak, (double)memory->peak * each);
    fprintf(to, "  %-24s %12.2f %14.2f\n", "process", 1e-6 * (double)memory->resident, (double)memory->resident * each);
}

void bench_write_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc(*text == '\n' ? ' ' : *text, to);
    }
    fputc('"', to);
}

// --- figures of a row ------------------------------------------------------------------------------------------------
static const bench_stage *find_stage(const bench_result *r, const char *name)
{
    return bench_find_stage(r->stages, r->stage_count, name);
}

static bench_names all_stages(const bench_row *rows, int count)
{
    bench_names all = {.count = 0};
    for (int n = 0; n < count; n++) bench_names_add(&all, rows[n].result.stages, rows[n].result.stage_count);
    return all;
}

static double per_step(const bench_row *row, double sum) { return sum / row->result.steps; }
static double nanoseconds(const bench_row *row) { return 1e9 * row->result.seconds / row->result.particle_steps; }
static double bytes_each(const bench_row *row, int64_t bytes)
{
    return (double)bytes / (double)row->result.most_particles;
}

static double share(const bench_row *row, double bytes, double seconds)
{
    double bound = bench_best_bandwidth(&row->bandwidth);
    return bound > 0 && seconds > 0 ? bytes / seconds / bound : 0;
}

static double all_bytes(const bench_result *r)
{
    double bytes = 0;
    for (int i = 0; i < r->stage_count; i++) bytes += r->stages[i].bytes;
    return bytes;
}

// --- the table of all ------------------------------------------------------------------------------------------------
static void print_row(FILE *to, const bench_row *row, const bench_names *stages)
{
    const bench_result *r = &row->result;
    if (!bench_fine(row)) {
        fprintf(to, "%-13s failed: %s\n", row->entry->name, r->message[0] ? r->message : "no step was taken");
        return;
    }
    fprintf(to, "%-13s %3d %10.0f %9.0f %5d ", row->entry->name, r->threads, per_step(row, r->particle_steps),
            per_step(row, r->cell_steps), r->steps);
    for (int i = 0; i < stages->count; i++) {
        const bench_stage *stage = find_stage(r, stages->name[i]);
        if (stage) fprintf(to, " %*.2f", bench_width(stages->name[i]), 1e3 * per_step(row, stage->seconds));
        else fprintf(to, " %*s", bench_width(stages->name[i]), "-");
    }
    fprintf(to, " %9.2f %7.1f %7.1f %6.1f %4d %7.1f %7.1f %5.1f%%\n", 1e3 * per_step(row, r->seconds), nanoseconds(row),
            1e9 * r->cpu_seconds / r->particle_steps, per_step(row, (double)r->iterations), r->most_iterations,
            bytes_each(row, r->memory.peak), bytes_each(row, r->memory.resident),
            100 * share(row, all_bytes(r), r->seconds));
}

static void print_all(FILE *to, const bench_row *rows, int count)
{
    bench_names stages = all_stages(rows, count);
    fprintf(to, "\nEach line: the least of its runs. Stages and step: milliseconds a step. ns/p: wall time of a "
                "particle and step (CPU/p: processor time of all threads).\n"
                "iter., max: iterations of the pressure solve (splash: of both solves), mean and most. B/p: peak bytes "
                "a particle (RSS/p: of the whole process).\n"
                "bandw.: bytes the stages must move (bench/traffic.c) over time, as a share "
                "of the measured bandwidth.\n\n");
    fprintf(to, "%-13s %3s %10s %9s %5s ", "entry", "thr", "particles", "cells", "steps");
    for (int i = 0; i < stages.count; i++) fprintf(to, " %*s", bench_width(stages.name[i]), stages.name[i]);
    fprintf(to, " %9s %7s %7s %6s %4s %7s %7s %6s\n", "step", "ns/p", "CPU/p", "iter.", "max", "B/p", "RSS/p",
            "bandw.");
    for (int i = 0; i < count; i++) print_row(to, &rows[i], &stages);
}

// --- comparisons -----------------------------------------------------------------------------------------------------
static void print_bandwidth_by_stage(FILE *to, const bench_row *row)
{
    const bench_result *r = &row->result;
    fprintf(to, "\nBandwidth by stage, %s (%d threads: copy %.1f, triad %.1f GB/s)\n", row->entry->name, r->threads,
            1e-9 * row->bandwidth.copy, 1e-9 * row->bandwidth.triad);
    fprintf(to, "  %-14s %9s %9s %7s %12s %8s %7s\n", "", "ms/step", "ns/p", "time", "model B/p", "GB/s", "share");
    for (int i = 0; i < r->stage_count; i++) {
        const bench_stage *s = &r->stages[i];
        fprintf(to, "  %-14s %9.2f %9.2f %6.1f%%", s->name, 1e3 * per_step(row, s->seconds),
                1e9 * s->seconds / r->particle_steps, 100 * s->seconds / r->seconds);
        if (s->bytes > 0)
            fprintf(to, " %12.1f %8.2f %6.1f%%\n", s->bytes / r->particle_steps, 1e-9 * s->bytes / s->seconds,
                    100 * share(row, s->bytes, s->seconds));
        else fprintf(to, " %12s %8s %7s\n", "-", "-", "-");
    }
}

static void print_growth(FILE *to, const bench_row *rows, int count)
{
    const bench_row *first = NULL;
    for (int i = 0; i < count; i++) {
        const bench_row *row = &rows[i];
        if (!bench_fine(row) || strcmp(row->entry->group, "growth") != 0) continue;
        if (!first) {
            first = row;
            fprintf(to,
                    "\nGrowth: nanoseconds a particle and step, and their ratio to the smallest\n  %-13s %12s %8s %8s "
                    "%8s %8s\n",
                    "", "particles", "ns", "ratio", "iter.", "B/p");
        }
        fprintf(to, "  %-13s %12.0f %8.1f %8.2f %8.1f %8.1f\n", row->entry->name,
                per_step(row, row->result.particle_steps), nanoseconds(row), nanoseconds(row) / nanoseconds(first),
                per_step(row, (double)row->result.iterations), bytes_each(row, row->result.memory.peak));
    }
}

static const bench_row *find_threads(const bench_row *rows, int count, int threads)
{
    for (int i = 0; i < count; i++)
        if (bench_fine(&rows[i]) && strcmp(rows[i].entry->group, "threads") == 0 && rows[i].entry->threads == threads)
            return &rows[i];
    return NULL;
}

static void print_threads(FILE *to, const bench_row *rows, int count)
{
    const bench_row *one = find_threads(rows, count, 1), *two = find_threads(rows, count, 2);
    if (!one || !two) return;
    fprintf(to, "\nThreads: milliseconds a step with one and with two\n  %-14s %9s %9s %9s %16s\n", "", "one", "two",
            "speed-up", "share of the two");
    for (int i = 0; i < one->result.stage_count; i++) {
        const bench_stage *s = &one->result.stages[i], *t = find_stage(&two->result, s->name);
        if (t)
            fprintf(to, "  %-14s %9.2f %9.2f %9.2f %15.1f%%\n", s->name, 1e3 * per_step(one, s->seconds),
                    1e3 * per_step(two, t->seconds), s->seconds / t->seconds, 100 * t->seconds / two->result.seconds);
    }
    fprintf(to, "  %-14s %9.2f %9.2f %9.2f\n", "step", 1e3 * per_step(one, one->result.seconds),
            1e3 * per_step(two, two->result.seconds), one->result.seconds / two->result.seconds);
    if (one->result.hash != two->result.hash)
        fprintf(to, "  THE PARTICLES DIFFER: the result depends on the number of threads\n");
}

// The splash method has a study of its own.
static bool in_study(const bench_row *row)
{
    return bench_fine(row) && row->entry->resolution && !bench_is_splash(row->entry);
}

// Resolutions that occur, increasing.
static int resolutions(const bench_row *rows, int count, int *out, int max)
{
    int found = 0;
    for (int last = 0;; last = out[found - 1]) {
        int next = 0;
        for (int i = 0; i < count; i++) {
            int r = in_study(&rows[i]) ? rows[i].entry->resolution : 0;
            if (r > last && (next == 0 || r < next)) next = r;
        }
        if (next == 0 || found == max) return found;
        out[found++] = next;
    }
}

static const bench_row *study_row(const bench_row *rows, int count, const char *scene, int resolution)
{
    for (int i = 0; i < count; i++)
        if (in_study(&rows[i]) && rows[i].entry->resolution == resolution && strcmp(rows[i].entry->scene, scene) == 0)
            return &rows[i];
    return NULL;
}

static void print_iterations(FILE *to, const bench_row *rows, int count)
{
    int resolution[16], n = resolutions(rows, count, resolution, 16);
    if (n < 2) return;
    fprintf(to, "\nIterations of the pressure solve, mean (most), by cells a metre\n  %-12s", "");
    for (int k = 0; k < n; k++) fprintf(to, " %12d", resolution[k]);
    fprintf(to, "\n");
    for (int i = 0; i < count; i++) {
        const char *scene = rows[i].entry->scene;
        bool seen = !in_study(&rows[i]);
        for (int k = 0; k < i && !seen; k++) seen = in_study(&rows[k]) && strcmp(rows[k].entry->scene, scene) == 0;
        if (seen) continue;
        fprintf(to, "  %-12s", scene);
        for (int k = 0; k < n; k++) {
            const bench_row *row = study_row(rows, count, scene, resolution[k]);
            if (row)
                fprintf(to, " %6.1f (%3d)", per_step(row, (double)row->result.iterations), row->result.most_iterations);
            else fprintf(to, " %12s", "-");
        }
        fprintf(to, "\n");
    }
}

void bench_print_memory(FILE *to, const bench_row *rows, int count)
{
    for (int n = 0; n < count; n++)
        if (bench_fine(&rows[n]))
            bench_print_labels(to, rows[n].entry->name, rows[n].result.most_particles, &rows[n].result.memory);
}

void bench_print_tables(FILE *to, const bench_row *rows, int count)
{
    const bench_row *largest = NULL;  // in time
    for (int i = 0; i < count; i++)
        if (bench_fine(&rows[i]) && (!largest || rows[i].result.seconds > largest->result.seconds)) largest = &rows[i];
    print_all(to, rows, count);
    for (int i = 0; i < count; i++)
        if (bench_fine(&rows[i]) && (&rows[i] == largest || strcmp(rows[i].entry->group, "dam") == 0))
            print_bandwidth_by_stage(to, &rows[i]);
    print_growth(to, rows, count);
    print_threads(to, rows, count);
    print_iterations(to, rows, count);
    bench_splash_print(to, rows, count);
    bench_sand_print(to, rows, count);
}

// --- CSV -------------------------------------------------------------------------------------------------------------
static void write_header(FILE *to, const bench_names *stages)
{
    fprintf(
        to,
        "entry,group,scene,resolution,threads,repeats,steps,particles,cells,tiles,ms_per_step,cpu_ms_per_step,ns_per_"
        "particle_step,"
        "iterations_mean,iterations_most,peak_bytes,peak_bytes_per_particle,resident_bytes,resident_bytes_per_particle,"
        "copy_gb_per_s,triad_gb_per_s,model_bytes_per_particle_step,bandwidth_share,hash,error");
    for (int i = 0; i < stages->count; i++)
        fprintf(to, ",%s_ms_per_step,%s_model_bytes_per_particle_step,%s_bandwidth_share", stages->name[i],
                stages->name[i], stages->name[i]);
    fprintf(to, "\n");
}

static void write_figures(FILE *to, const bench_row *row)
{
    const bench_result *r = &row->result;
    fprintf(to, "%d,%.1f,%.1f,%.1f,%.6g,%.6g,%.6g,", r->steps, per_step(row, r->particle_steps),
            per_step(row, r->cell_steps), per_step(row, r->tile_steps), 1e3 * per_step(row, r->seconds),
            1e3 * per_step(row, r->cpu_seconds), nanoseconds(row));
    fprintf(to, "%.3f,%d,%lld,%.3f,%lld,%.3f,", per_step(row, (double)r->iterations), r->most_iterations,
            (long long)r->memory.peak, bytes_each(row, r->memory.peak), (long long)r->memory.resident,
            bytes_each(row, r->memory.resident));
    fprintf(to, "%.4g,%.4g,%.5g,%.5g,%016llx,", 1e-9 * row->bandwidth.copy, 1e-9 * row->bandwidth.triad,
            all_bytes(r) / r->particle_steps, share(row, all_bytes(r), r->seconds), (unsigned long long)r->hash);
}

static void write_line(FILE *to, const bench_row *row, const bench_names *stages)
{
    const bench_result *r = &row->result;
    const bench_entry *e = row->entry;
    fprintf(to, "%s,%s,%s,%d,%d,%d,", e->name, e->group, e->scene, e->resolution, r->threads, r->repeats);
    if (bench_fine(row)) write_figures(to, row);
    else fprintf(to, "0%s", ",,,,,,,,,,,,,,,,,,");
    bench_write_text(to, r->message);
    for (int i = 0; i < stages->count; i++) {
        const bench_stage *s = bench_fine(row) ? find_stage(r, stages->name[i]) : NULL;
        if (s)
            fprintf(to, ",%.6g,%.5g,%.5g", 1e3 * per_step(row, s->seconds), s->bytes / r->particle_steps,
                    share(row, s->bytes, s->seconds));
        else fprintf(to, ",,,");
    }
    fprintf(to, "\n");
}

rh_code bench_write_csv(const char *path, const bench_row *rows, int count, rh_status *status)
{
    bench_names stages = all_stages(rows, count);
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    write_header(to, &stages);
    for (int i = 0; i < count; i++) write_line(to, &rows[i], &stages);
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
