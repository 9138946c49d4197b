// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Memory that runs out at any allocation of a whole run, files and all, of every tiny scene: told as such each time,
// nothing left in memory, whole files only, and with memory again the run goes on to the same particles.
//   test_failures [EVERY]     every so many allocations; 1 = all of them. Without: a sample
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#include "../unit/scratch.h"
#include "support.h"

static int every = 11;

enum { FRAMES = 3 };

// A run of the first frames; *hash of its particles at the end.
static rh_code run_scene(const char *path, const char *folder, bool resume, int64_t fail_after, uint64_t *hash,
                         rh_status *status)
{
    rh_scene scene;
    rh_world *world = NULL;
    rh_run_options options = {.folder = folder, .first = 1, .last = FRAMES};
    static const char *const sets[] = {"checkpoint.minutes=0", "checkpoint.frames=1"};
    rh_memory_fail_after(fail_after);
    rh_code code = rh_scene_load(path, sets, 2, &scene, status);
    if (code == RH_OK) {
        code = rh_world_create(&scene, &world, status);
        if (code == RH_OK && resume) code = rh_world_resume(world, folder, false, status);
        if (code == RH_OK) code = rh_world_run(world, &options, status);
        rh_memory_fail_after(-1);
        if (code == RH_OK) *hash = rh_points_hash(rh_world_points(world));
        rh_world_free(world);
        rh_scene_free(&scene);
    }
    rh_memory_fail_after(-1);
    return code;
}

static int count_files(const char *folder, const char *part, const char *marked)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, part);
    DIR *stream = opendir(path);
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));) count += strstr(entry->d_name, marked) != NULL;
    if (stream) closedir(stream);
    return count;
}

// True when the run came through: there were fewer allocations than that.
static bool fail_at(const char *path, const char *folder, int64_t count, uint64_t expected)
{
    rh_status status = {0};
    uint64_t hash = 0;
    rh_code code = run_scene(path, folder, false, count, &hash, &status);
    assert_int_equal(rh_memory_bytes(), 0);
    if (code == RH_OK) assert_true(hash == expected);
    if (code == RH_OK) return true;
    if (code != RH_MEMORY) print_message("allocation %lld: code %d, %s\n", (long long)count, (int)code, status.message);
    assert_int_equal(code, RH_MEMORY);
    assert_true(status.message[0]);
    static const char *const parts[] = {"", "points", "checkpoint", "surface"};
    for (int i = 0; i < 4; i++) assert_int_equal(count_files(folder, parts[i], ".tmp-"), 0);
    rh_status_clear(&status);
    assert_ok(run_scene(path, folder, count_files(folder, "checkpoint", ".h5") > 0, -1, &hash, &status));
    assert_true(hash == expected);
    return false;
}

static void try_scene(const char *path)
{
    rh_status status = {0};
    uint64_t expected = 0;
    scratch s = scratch_make();
    assert_ok(run_scene(path, s.folder, false, -1, &expected, &status));
    scratch_remove_tree(s.folder);
    int64_t count = 0;
    int failures = 0;
    while (!fail_at(path, s.folder, count, expected)) {
        scratch_remove_tree(s.folder);
        count += every;
        failures++;
    }
    scratch_remove_tree(s.folder);
    print_message("%s: %d failures of about %lld allocations, each told\n", strrchr(path, '/') + 1, failures,
                  (long long)count);
    assert_true(failures * every > 100);
}

static void every_scene(void **state)
{
    (void)state;
    static const char folder[] = RHEO_SOURCE_DIR "/tests/reliability/scenes";
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), done = 0;
    assert_true(count > 2);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%.200s", folder, entries[i]->d_name);
        bool ours = strstr(entries[i]->d_name, ".yaml") != NULL;
#if defined(RHEO_NO_LANG)
        ours = ours && strcmp(entries[i]->d_name, "program.yaml") != 0;
#endif
        free(entries[i]);
        if (!ours) continue;
        try_scene(path);
        done++;
    }
    free(entries);
    assert_true(done >= 2);
}

int main(int argc, char **argv)
{
    if (argc > 1) every = atoi(argv[1]) > 0 ? atoi(argv[1]) : 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
