// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A program on a .vdb file: `rheo ax` (beside this program) and vdb_ax in turns, as processes, on the same file and
// with the same threads. The file is made first, in a folder beside the results that goes afterwards. From start to end
// both run with their defaults (vdb_ax: with --opt O3, which its help names as the default). For execution alone vdb_ax
// is run once more a turn with OPENVDB_DISABLE_DELAYED_LOAD=1: else it reads the attributes while it executes; its own
// --verbose tells the time, as does ours.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/memory.h"
#include "io/file.h"
#include "io/vdb.h"
#include "expression.h"

enum { TEXT_ROOM = 1 << 16, WORDS = 16 };
static const char *const PEER = "vdb_ax", *const EAGER = "OPENVDB_DISABLE_DELAYED_LOAD";

typedef struct scratch {
    char folder[RH_PATH_MAX], in[RH_PATH_MAX + 32], ours[RH_PATH_MAX + 32], theirs[RH_PATH_MAX + 32],
        rheo[RH_PATH_MAX + 32];
    char threads[16];
} scratch;

// ---- one process

typedef struct process {
    double seconds, cpu;
    int64_t resident;
    int exit_code;         // 127: there is no such program
    char said[TEXT_ROOM];  // the beginning of its output, both streams
} process;

static void become(char *const *words, int out, bool eager)
{
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(out);
    if (eager) setenv(EAGER, "1", 1);
    execvp(words[0], words);
    _exit(127);
}

static void listen_to(int from, char *said)
{
    char rest[4096];
    size_t got = 0;
    for (;;) {
        bool room = got + 1 < TEXT_ROOM;
        ssize_t n = read(from, room ? said + got : rest, room ? TEXT_ROOM - 1 - got : sizeof rest);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        if (room) got += (size_t)n;
    }
    said[got] = 0;
}

static bool run_process(char *const *words, bool eager, process *out)
{
    int ends[2], state;
    struct rusage use;
    if (pipe(ends) != 0) return false;
    double start = rh_seconds();
    pid_t child = fork();
    if (child == 0) become(words, ends[1], eager);
    close(ends[1]);
    if (child > 0) listen_to(ends[0], out->said);
    close(ends[0]);
    if (child < 0 || wait4(child, &state, 0, &use) != child) return false;
    out->seconds = rh_seconds() - start;
    out->cpu = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    out->resident = (int64_t)use.ru_maxrss * 1024;
    out->exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return true;
}

// ---- what they tell

// "  compile 0.046 s  read 0.060 s ..."
static double told_by_us(const char *said, const char *word)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "  %s ", word);
    const char *at = strstr(said, wanted);
    return at ? strtod(at + strlen(wanted), NULL) : 0;
}

// "[INFO] Executing on ...", some lines, then "[INFO] | 444.4ms": the first time after the word, before the next stage
// begins with another word.
static double told_by_peer(const char *said, const char *word)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"s", 1}, {"m", 60}};
    const char *at = strstr(said, word);
    for (at = at ? strstr(at, "| ") : NULL; at; at = strstr(at + 2, "| ")) {
        const char *number = at + 2;
        if (*number == '"') number = strstr(number, "\": ") ? strstr(number, "\": ") + 3 : number;
        char *unit;
        double value = strtod(number, &unit);
        if (unit == number) continue;
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (strncmp(unit, units[i].name, strlen(units[i].name)) == 0) return value * units[i].seconds;
    }
    return 0;
}

// ---- files

static rh_code write_input(const char *path, int64_t count, rh_status *status)
{
    bench_points made;
    rh_points points;
    rh_code code = bench_points_make(&made, count, status);
    rh_points_init(&points);
    const struct {
        const char *name;
        rh_point_type type;
        const void *data;
    } columns[] = {{"P", RH_POINT_VEC3F, made.position},
                   {"v", RH_POINT_VEC3F, made.velocity},
                   {"radius", RH_POINT_F32, made.radius},
                   {"id", RH_POINT_I64, made.id}};
    for (int i = 0; i < 4 && code == RH_OK; i++)
        code = rh_points_add(&points, columns[i].name, columns[i].type, status);
    if (code == RH_OK) code = rh_points_resize(&points, count, status);
    for (int i = 0; i < 4 && code == RH_OK; i++)
        memcpy(rh_points_data(&points, columns[i].name, columns[i].type), columns[i].data,
               (size_t)count * rh_point_type_size(columns[i].type));
    bench_points_free(&made);
    rh_frame_info info = {.frame = 1, .fps = 24, .cell = bench_points_cell()};
    if (code == RH_OK) code = rh_vdb_write_points(path, &points, &info, status);
    rh_points_free(&points);
    return code;
}

// Points that are left in a file.
static rh_code count_points(const char *path, int64_t *out, rh_status *status)
{
    rh_points points;
    rh_points_init(&points);
    rh_code code = rh_vdb_read_points(path, &points, NULL, status);
    *out = points.count;
    rh_points_free(&points);
    return code;
}

static rh_code make_scratch(scratch *s, int threads, rh_status *status)
{
    ssize_t length = readlink("/proc/self/exe", s->rheo, sizeof s->rheo - 32);
    s->rheo[length > 0 ? length : 0] = 0;
    char *slash = strrchr(s->rheo, '/');
    if (!slash) return rh_fail(status, RH_IO, "cannot find the folder of this program");
    *slash = 0;
    if (snprintf(s->folder, sizeof s->folder, "%s/bench_scratch.XXXXXX", s->rheo) >= (int)sizeof s->folder)
        return rh_fail(status, RH_USER, "path too long");
    if (!mkdtemp(s->folder)) return rh_fail(status, RH_IO, "cannot make %s: %s", s->folder, strerror(errno));
    strcat(s->rheo, "/rheo");
    snprintf(s->in, sizeof s->in, "%s/in.vdb", s->folder);
    snprintf(s->ours, sizeof s->ours, "%s/ours.vdb", s->folder);
    snprintf(s->theirs, sizeof s->theirs, "%s/theirs.vdb", s->folder);
    snprintf(s->threads, sizeof s->threads, "%d", threads);
    return RH_OK;
}

static void remove_scratch(const scratch *s)
{
    unlink(s->in), unlink(s->ours), unlink(s->theirs);
    rmdir(s->folder);
}

// ---- a turn

static rh_code failed(const process *p, const char *name, rh_status *status)
{
    const char *last = p->said + (strlen(p->said) > 300 ? strlen(p->said) - 300 : 0);
    return rh_fail(status, RH_NUMERIC, "%s ended with exit code %d: %s", name, p->exit_code, last);
}

static double least(double a, double b) { return a == 0 || b < a ? b : a; }

static void keep_least(bench_side *side, const bench_side *again)
{
    side->whole = least(side->whole, again->whole), side->cpu = least(side->cpu, again->cpu),
    side->compile = least(side->compile, again->compile);
    side->read = least(side->read, again->read), side->execute = least(side->execute, again->execute),
    side->write = least(side->write, again->write);
    if (again->resident > side->resident) side->resident = again->resident;
}

static rh_code run_ours(const scratch *s, const char *text, process *p, bench_side *out, rh_status *status)
{
    char *words[WORDS] = {(char *)s->rheo, "ax",        (char *)text,       (char *)s->in, "--out",
                          (char *)s->ours, "--threads", (char *)s->threads, "--verbose",   NULL};
    if (!run_process(words, false, p)) return rh_fail(status, RH_IO, "cannot run %s: %s", s->rheo, strerror(errno));
    if (p->exit_code != 0) return failed(p, s->rheo, status);
    const bench_side turn = {.whole = p->seconds,
                             .cpu = p->cpu,
                             .resident = p->resident,
                             .compile = told_by_us(p->said, "compile"),
                             .read = told_by_us(p->said, "read"),
                             .execute = told_by_us(p->said, "execute"),
                             .write = told_by_us(p->said, "write")};
    keep_least(out, &turn);
    return RH_OK;
}

static rh_code run_peer(const scratch *s, const char *text, process *p, bench_expression_result *out, rh_status *status)
{
    char *words[WORDS] = {
        (char *)PEER,       "-v",    "-i", (char *)s->in, "-s", (char *)text, "-o", (char *)s->theirs, "--threads",
        (char *)s->threads, "--opt", "O3", NULL};
    for (int eager = 0; eager < 2 && !out->no_peer; eager++) {
        if (!run_process(words, eager, p)) return rh_fail(status, RH_IO, "cannot run %s: %s", PEER, strerror(errno));
        out->no_peer = p->exit_code == 127;
        if (!out->no_peer && p->exit_code != 0) return failed(p, PEER, status);
        bench_side turn = {.compile = told_by_peer(p->said, "Compiling for VDB Points"), .resident = p->resident};
        if (!eager) turn.whole = p->seconds, turn.cpu = p->cpu;
        else
            turn.read = told_by_peer(p->said, "Reading VDB data"), turn.execute = told_by_peer(p->said, "Executing on"),
            turn.write = told_by_peer(p->said, "Writing results");
        if (out->no_peer) continue;
        if (eager && turn.execute == 0)
            return rh_fail(status, RH_NUMERIC, "%s did not tell how long it executed: %.300s", PEER, p->said);
        if (!eager)
            out->peer.whole = least(out->peer.whole, turn.whole), out->peer.cpu = least(out->peer.cpu, turn.cpu);
        else turn.whole = out->peer.whole, turn.cpu = out->peer.cpu, keep_least(&out->peer, &turn);
    }
    return RH_OK;
}

static rh_code run(const bench_expression_entry *entry, const scratch *s, int repeats, bench_expression_result *out,
                   rh_status *status)
{
    const char *text = bench_program_text[entry->program];
    int64_t theirs = 0;
    RH_TRY(write_input(s->in, entry->points, status));
    process *p = rh_alloc(sizeof *p, "bench.process", status);
    rh_code code = p ? RH_OK : RH_MEMORY;
    double start = rh_seconds();
    for (; out->repeats < repeats && code == RH_OK && (out->repeats == 0 || rh_seconds() - start < 4 * BENCH_PATIENCE);
         out->repeats++) {
        code = run_peer(s, text, p, out, status);
        if (code == RH_OK) code = run_ours(s, text, p, &out->ours, status);
    }
    rh_free(p);
    out->points = entry->points;
    if (code == RH_OK) code = count_points(s->ours, &out->left, status);
    if (code == RH_OK && !out->no_peer) code = count_points(s->theirs, &theirs, status);
    if (code == RH_OK && !out->no_peer && theirs != out->left)
        code = rh_fail(status, RH_NUMERIC, "%lld points are left with us, %lld with %s", (long long)out->left,
                       (long long)theirs, PEER);
    return code;
}

void bench_files_run(const bench_expression_entry *entry, int threads, int repeats, bench_expression_result *out)
{
    rh_status status = {0};
    scratch s = {.folder = ""};
    out->code = make_scratch(&s, threads, &status);
    if (out->code == RH_OK) {
        out->code = run(entry, &s, repeats, out, &status);
        remove_scratch(&s);
    }
    snprintf(out->message, sizeof out->message, "%.511s", out->code == RH_OK ? "" : status.message);
}
