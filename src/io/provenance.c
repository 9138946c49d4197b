// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The marks: OpenVDB files have metadata "rheo_..." right behind their header, PLY, OBJ and VTP files comments of
// those names, pictures a text chunk, films a comment, the log begins with a step, probes with the title of their first
// column, a scene that was written back with its first line, and checkpoints end in a seal. A list of files beside them
// was considered: it would have to be kept true by several machines that make surfaces and pictures of one run at a
// time.
#include "io/provenance.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/regular.h"

enum { LOOK = 8192 };  // bytes at either end

static const char *skip_digits(const char *at, size_t least, size_t most)
{
    size_t count = strspn(at, "0123456789");
    return count >= least && count <= most ? at + count : NULL;
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

// Behind a material's name and a set's, "water.foam.", where there are any.
static const char *skip_names(const char *at)
{
    for (int n = 0; n < 2 && (isalpha((unsigned char)*at) || *at == '_'); n++) {
        const char *end = at + strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (*end != '.') break;
        at = end + 1;
    }
    return at;
}

bool rh_provenance_frame_name(const char *name, const char *stem, int64_t *number)
{
    static const struct {
        const char *stem;
        const char *endings[6];
    } kinds[] = {{"points", {".vdb", ".ply"}},
                 {"fields", {".vdb"}},
                 {"surface", {".vdb", ".ply", ".obj", ".vtp"}},
                 {"ellipsoids", {".vdb"}},
                 {"picture", {".png"}}};
    size_t length = strlen(stem);
    if (strncmp(name, stem, length) != 0 || name[length] != '.') return false;
    const char *digits = skip_names(name + length + 1), *tail = skip_digits(digits, 4, 18);
    if (!tail) return false;
    const char *fraction = *tail == '.' && (strcmp(stem, "surface") == 0 || strcmp(stem, "ellipsoids") == 0)
                               ? skip_digits(tail + 1, 3, 3)
                               : NULL;
    if (fraction) tail = fraction;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].stem, stem) != 0 || !is_one_of(tail, kinds[i].endings)) continue;
        if (number) *number = strtoll(digits, NULL, 10);
        return true;
    }
    return false;
}

bool rh_provenance_checkpoint_name(const char *name, int64_t *frame, bool *whole_frame, int64_t *step)
{
    static const char stem[] = "checkpoint.";
    size_t length = sizeof stem - 1;
    if (strncmp(name, stem, length) != 0) return false;
    const char *middle = skip_digits(name + length, 4, 18);
    if (!middle || (*middle != '.' && *middle != '-')) return false;
    const char *end = skip_digits(middle + 1, 9, 18);
    if (!end || strcmp(end, ".h5") != 0) return false;
    if (frame) *frame = strtoll(name + length, NULL, 10);
    if (whole_frame) *whole_frame = *middle == '.';
    if (step) *step = strtoll(middle + 1, NULL, 10);
    return true;
}

bool rh_provenance_name(const char *name)
{
    static const char *const names[] = {"scene.yaml",  "log.jsonl", "probes.csv", "solids.csv",
                                        "solids.json", "from.txt",  "film.mp4",   NULL},
                             *const stems[] = {"points", "fields", "surface", "ellipsoids", "picture"};
    if (is_one_of(name, names) || rh_provenance_checkpoint_name(name, NULL, NULL, NULL)) return true;
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++)
        if (rh_provenance_frame_name(name, stems[i], NULL)) return true;
    return false;
}

static bool holds(const char *bytes, size_t count, const char *mark, size_t length)
{
    return memmem(bytes, count, mark, length) != NULL;
}

static bool marked(const char *head, size_t head_bytes, const char *tail, size_t tail_bytes)
{
    static const char text_chunk[] = "tEXtSoftware\0rheo", log[] = "{\"step\":", probes[] = "time [s],",
                      solids[] = "frame,time [s],solid,", scene[] = "# A complete scene: every value";
    if (head_bytes == 0) return false;
    if (head_bytes >= sizeof log - 1 && memcmp(head, log, sizeof log - 1) == 0) return true;
    if (head_bytes >= sizeof probes - 1 && memcmp(head, probes, sizeof probes - 1) == 0) return true;
    if (head_bytes >= sizeof solids - 1 && memcmp(head, solids, sizeof solids - 1) == 0) return true;
    if (head_bytes >= sizeof scene - 1 && memcmp(head, scene, sizeof scene - 1) == 0) return true;
    if (holds(head, head_bytes, "rheo_version", 12) || holds(head, head_bytes, text_chunk, sizeof text_chunk - 1))
        return true;
    if (holds(head, head_bytes, "made by rheo", 12)) return true;
    return holds(tail, tail_bytes, "rheosum", 7) || holds(tail, tail_bytes, "rheoseal", 8);
}

bool rh_provenance_is_ours(const char *path)
{
    char head[LOOK], tail[64];
    struct stat facts;
    const char *why;
    int file = rh_open_regular(path, &why);
    if (file < 0) return false;
    bool regular = fstat(file, &facts) == 0;
    ssize_t first = regular ? pread(file, head, sizeof head, 0) : -1;
    off_t from = regular && facts.st_size > (off_t)sizeof tail ? facts.st_size - (off_t)sizeof tail : 0;
    ssize_t last = regular ? pread(file, tail, sizeof tail, from) : -1;
    close(file);
    return first >= 0 && last >= 0 && marked(head, (size_t)first, tail, (size_t)last);
}

rh_code rh_provenance_may_replace(const char *path, rh_status *status)
{
    struct stat facts = {0};
    if (lstat(path, &facts) != 0)
        return RH_OK;  // nothing that we could see; what is in the way is told by whoever writes
    if (S_ISREG(facts.st_mode) && facts.st_size == 0) return RH_OK;  // nothing is in it that could be lost
    if (rh_provenance_is_ours(path)) return RH_OK;
    return rh_fail(status, RH_USER,
                   "%s: found a file that was not made by rheo, which it would replace\n"
                   "  move it away, or take another folder: --out DIR",
                   path);
}

bool rh_provenance_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
