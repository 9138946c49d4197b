// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Embedding Rheo: a small dam break, advanced frame by frame, with the height of the water's centre printed.
//   embed scenes/dam_break.yaml 10 cell=0.05
#include <rheo/rheo.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: embed SCENE FRAMES [path=value]...\n");
        return 2;
    }
    rheo_error error;
    rheo_simulation *sim;
    if (rheo_open(argv[1], (const char *const *)argv + 3, argc - 3, &sim, &error) != RHEO_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    for (int n = 0; n < atoi(argv[2]); n++) {
        if (rheo_advance_frame(sim, &error) != RHEO_OK) {
            fprintf(stderr, "%s\n", error.message);
            rheo_close(sim);
            return 1;
        }
        const float *P = rheo_points_float(sim, "P", 3);
        double height = 0;
        int64_t count = rheo_point_count(sim);
        for (int64_t i = 0; i < count; i++) height += (double)P[3 * i + 1];
        printf("frame %lld  time %.4f s  particles %lld  centre at %.4f m\n", (long long)rheo_frame(sim),
               rheo_time(sim), (long long)count, height / (double)count);
    }
    rheo_close(sim);
    return rheo_memory_bytes() == 0 ? 0 : 1;
}
