// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Runs scenes in one process again and again for so many seconds, each with its folder, stopped in the middle and
// resumed, its last frame surfaced. A line a round: resident bytes, bytes and blocks in use, open files (soak.py judges
// them). The folders are made in the current one and removed.
//   soak_worker SECONDS SCENE.yaml ...
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include "../unit/scratch.h"
#include "base/clock.h"
#include "base/memory.h"
#include "world/world.h"

static void require(rh_code code, const rh_status *status)
{
    if (code == RH_OK) return;
    fprintf(stderr, "soak: %s\n", status->message);
    exit(1);
}

static long long resident(void)
{
    long long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld %lld", &all, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int open_files(void)
{
    int count = -3;  // . and .. and the folder being read
    DIR *stream = opendir("/proc/self/fd");
    while (stream && readdir(stream)) count++;
    if (stream) closedir(stream);
    return count;
}

static void stop_half_way(const rh_progress *p, bool frame_done, void *user)
{
    if (frame_done && 2 * p->frame >= p->last_frame) atomic_store((atomic_int *)user, 1);
}

static void run_once(const char *path)
{
    rh_scene scene;
    rh_world *world;
    rh_status status = {0};
    atomic_int stop = 0;
    rh_run_options half = {.folder = "run", .stop = &stop, .progress = stop_half_way, .user = &stop},
                   rest = {.folder = "run"};
    require(rh_scene_load(path, NULL, 0, &scene, &status), &status);
    require(rh_world_create(&scene, &world, &status), &status);
    rh_code code = rh_world_run(world, &half, &status);
    if (code != RH_STOPPED) require(code == RH_OK ? RH_IO : code, &status);
    rh_world_free(world);
    rh_status_clear(&status);
    require(rh_world_create(&scene, &world, &status), &status);
    require(rh_world_resume(world, "run", false, &status), &status);
    require(rh_world_run(world, &rest, &status), &status);
    rh_world_free(world);
    rh_scene_free(&scene);
    scratch_remove_tree("run");
}

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: soak_worker SECONDS SCENE...\n"), 2;
    double end = rh_seconds() + atof(argv[1]);
    while (rh_seconds() < end) {
        for (int i = 2; i < argc; i++) run_once(argv[i]);
        printf("%lld %lld %lld %d\n", resident(), (long long)rh_memory_bytes(), (long long)rh_memory_blocks(),
               open_files());
        fflush(stdout);
    }
    return 0;
}
