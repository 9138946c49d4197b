// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tables of expressions' benchmarks for people, CSV for programs.
#include <errno.h>
#include <string.h>
#include "expression.h"

void bench_expression_list(FILE *to)
{
    static const char *const when[] = {"", "long", "only by name"};
    fprintf(to, "%-22s %-20s %-11s %-7s %10s %8s %8s  %s\n", "expression entry", "group", "program", "where", "points",
            "repeats", "threads", "");
    for (int i = 0; i < bench_expression_entry_count; i++) {
        const bench_expression_entry *e = &bench_expression_entries[i];
        char threads[16] = "all";
        if (e->threads) snprintf(threads, sizeof threads, "%d", e->threads);
        fprintf(to, "%-22s %-20s %-11s %-7s %10lld %8d %8s  %s\n", e->name, e->group, bench_program_name[e->program],
                e->files ? "files" : "memory", (long long)e->points, e->repeats, threads, when[e->when]);
    }
}

static double ratio(double peer, double ours) { return peer > 0 && ours > 0 ? peer / ours : 0; }

static void print_failure(FILE *to, const bench_expression_row *row)
{
    fprintf(to, "%-22s failed: %s\n", row->entry->name, row->result.message[0] ? row->result.message : "no points");
}

static bool any(const bench_expression_row *rows, int count, bool files)
{
    for (int i = 0; i < count; i++)
        if (rows[i].entry->files == files) return true;
    return false;
}

static void print_memory(FILE *to, const bench_expression_row *rows, int count)
{
    if (!any(rows, count, false)) return;
    fprintf(to, "\nExpressions in memory against the same loop written in C, same arrays and threads, in turns. "
                "Seconds of a pass, least of all; CPU: of all threads.\n"
                "C/ours: above 1 the expression is faster (published: step 0.74, decimation 0.99). compile: once, not "
                "in the pass.\n\n");
    fprintf(to, "%-22s %3s %10s %10s %9s %9s %8s %9s %9s %9s %9s\n", "expression entry", "thr", "points", "left", "C",
            "ours", "C/ours", "CPU C", "CPU ours", "ns/p", "compile");
    for (int i = 0; i < count; i++) {
        const bench_expression_result *r = &rows[i].result;
        if (rows[i].entry->files) continue;
        if (!bench_expression_fine(&rows[i])) print_failure(to, &rows[i]);
        else
            fprintf(to, "%-22s %3d %10lld %10lld %9.4f %9.4f %8.2f %9.4f %9.4f %9.2f %9.4f\n", rows[i].entry->name,
                    r->threads, (long long)r->points, (long long)r->left, r->peer.whole, r->ours.whole,
                    ratio(r->peer.whole, r->ours.whole), r->peer.cpu, r->ours.cpu,
                    1e9 * r->ours.whole / (double)r->points, r->ours.compile);
    }
}

static void print_side(FILE *to, const char *name, int threads, int64_t points, const bench_side *s)
{
    fprintf(to, "%-22s %3d %10lld %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %9.1f\n", name, threads, (long long)points,
            s->whole, s->compile, s->read, s->execute, s->write, s->cpu, 1e-6 * (double)s->resident);
}

static void print_files(FILE *to, const bench_expression_row *rows, int count)
{
    if (!any(rows, count, true)) return;
    fprintf(to, "\nExpressions on a .vdb file: `rheo ax`, vdb_ax below it, and the ratio of its time to ours. Seconds, "
                "least of all. all: from the start of the process to its end.\n"
                "Stages as both programs tell them; those of vdb_ax from runs without delayed loading, which else "
                "reads while it executes. RSS: peak, MB.\n\n");
    fprintf(to, "%-22s %3s %10s %9s %9s %9s %9s %9s %9s %9s\n", "expression entry", "thr", "points", "all", "compile",
            "read", "execute", "write", "CPU", "RSS");
    for (int i = 0; i < count; i++) {
        const bench_expression_result *r = &rows[i].result;
        if (!rows[i].entry->files) continue;
        if (!bench_expression_fine(&rows[i])) {
            print_failure(to, &rows[i]);
            continue;
        }
        print_side(to, rows[i].entry->name, r->threads, r->points, &r->ours);
        if (r->no_peer) fprintf(to, "%-22s is not installed\n", "  vdb_ax");
        else print_side(to, "  vdb_ax", r->threads, r->left, &r->peer);
        if (!r->no_peer)
            fprintf(to, "%-22s %3s %10s %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f\n", "  ratio", "", "",
                    ratio(r->peer.whole, r->ours.whole), ratio(r->peer.compile, r->ours.compile),
                    ratio(r->peer.read, r->ours.read), ratio(r->peer.execute, r->ours.execute),
                    ratio(r->peer.write, r->ours.write), ratio(r->peer.cpu, r->ours.cpu),
                    ratio((double)r->peer.resident, (double)r->ours.resident));
    }
}

void bench_expression_print(FILE *to, const bench_expression_row *rows, int count)
{
    print_memory(to, rows, count);
    print_files(to, rows, count);
}

// --- CSV -------------------------------------------------------------------------------------------------------------
static void write_side(FILE *to, const bench_side *s)
{
    fprintf(to, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%lld,", s->whole, s->compile, s->read, s->execute, s->write, s->cpu,
            (long long)s->resident);
}

static void write_line(FILE *to, const bench_expression_row *row)
{
    const bench_expression_entry *e = row->entry;
    const bench_expression_result *r = &row->result;
    fprintf(to, "%s,%s,%s,%s,%d,%d,", e->name, e->group, bench_program_name[e->program], e->files ? "files" : "memory",
            r->threads, r->repeats);
    if (!bench_expression_fine(row)) fprintf(to, "0%s", ",,,,,,,,,,,,,,,,,,");
    else {
        fprintf(to, "%lld,%lld,", (long long)r->points, (long long)r->left);
        write_side(to, &r->ours);
        if (r->no_peer) fprintf(to, ",,,,,,,,,");
        else {
            write_side(to, &r->peer);
            fprintf(to, "%.5g,%.5g,", ratio(r->peer.whole, r->ours.whole), ratio(r->peer.execute, r->ours.execute));
        }
    }
    bench_write_text(to, r->message);
    fprintf(to, "\n");
}

rh_code bench_expression_write_csv(const char *path, const bench_expression_row *rows, int count, rh_status *status)
{
    static const char *const sides[] = {"ours", "peer"}, *const fields[] = {"seconds",       "compile_seconds",
                                                                            "read_seconds",  "execute_seconds",
                                                                            "write_seconds", "cpu_seconds",
                                                                            "resident_bytes"};
    FILE *to = fopen(path, "w");
    if (!to) return rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno));
    fprintf(to, "entry,group,program,where,threads,repeats,points,left,");
    for (int s = 0; s < 2; s++)
        for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) fprintf(to, "%s_%s,", sides[s], fields[f]);
    fprintf(to, "peer_ratio,execute_ratio,error\n");
    for (int i = 0; i < count; i++) write_line(to, &rows[i]);
    bool bad = ferror(to) != 0;
    return fclose(to) != 0 || bad ? rh_fail(status, RH_IO, "cannot write %s: %s", path, strerror(errno)) : RH_OK;
}
