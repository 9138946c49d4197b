// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Values between a grid and one of twice its spacing: linear functions come out exactly, and shrinking is the transpose
// of growing.
#include "solve/halves.h"
#include <math.h>
#include "base/memory.h"
#include "check.h"

enum { CELLS = RH_TILE * RH_TILE * RH_TILE };

typedef struct grids {
    rh_arena arena;
    rh_tiles fine, coarse;
    float *of_fine, *of_coarse;
} grids;

// Four tiles an axis of the fine grid, two of the coarse one, around the origin.
static void open_grids(grids *g, int dimension)
{
    rh_status status = {0};
    rh_tile keys[64];
    rh_arena_init(&g->arena, "test");
    for (int level = 0; level < 2; level++) {
        int reach = level ? 1 : 2;
        int64_t count = 0;
        for (int z = dimension == 3 ? -reach : 0; z < (dimension == 3 ? reach : 1); z++)
            for (int y = -reach; y < reach; y++)
                for (int x = -reach; x < reach; x++) keys[count++] = (rh_tile){x, y, z};
        rh_tiles *tiles = level ? &g->coarse : &g->fine;
        assert_int_equal(rh_tiles_from_keys(tiles, dimension, level ? 2 : 1, keys, count, &g->arena, &status), RH_OK);
    }
    g->of_fine = rh_field_new(&g->fine, &g->arena, &status);
    g->of_coarse = rh_field_new(&g->coarse, &g->arena, &status);
    assert_true(g->of_fine && g->of_coarse);
}

static int32_t parent_of(const grids *g, int32_t t)
{
    rh_tile at = g->fine.at[t];
    return rh_tiles_find(&g->coarse, (rh_tile){at.x >> 1, at.y >> 1, at.z >> 1});
}

// At the lower face of axis `axis` of a cell.
static double linear_at(const rh_tiles *tiles, int32_t t, int c, int axis)
{
    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
    (&x.x)[axis] -= 0.5f * tiles->h;
    return 1 + 0.3 * (double)x.x - 0.2 * (double)x.y + 0.7 * (double)x.z;
}

static void linear_functions_are_exact(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int axis = 0; axis < dimension; axis++) {
            grids g;
            open_grids(&g, dimension);
            for (int64_t i = 0; i < rh_tiles_values(&g.coarse); i++)
                g.of_coarse[i] = (float)linear_at(&g.coarse, (int32_t)(i / g.coarse.cells), (int)(i % g.coarse.cells),
                                                  axis);
            // Away from the border, where there is no value.
            for (int32_t t = 0; t < g.fine.count; t++) {
                rh_tile at = g.fine.at[t];
                float out[CELLS];
                if (at.x < -1 || at.x > 0 || at.y < -1 || at.y > 0 || at.z < -1 || at.z > 0) continue;
                rh_halves_grow(&g.coarse, g.of_coarse, parent_of(&g, t), at, axis, out);
                for (int c = 0; c < g.fine.cells; c++) assert_float_equal(out[c], linear_at(&g.fine, t, c, axis), 1e-4);
            }
            rh_arena_free(&g.arena);
        }
}

static float noise(uint32_t n)
{
    n = (n ^ 61) * 2654435761u;
    n = (n ^ n >> 15) * 2246822519u;
    return (float)(n >> 8) / (float)(1 << 23) - 1;
}

// x . grow(y) = 2^dimension shrink(x) . y
static void shrinking_is_the_transpose(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int axis = 0; axis < dimension; axis++) {
            grids g;
            double left = 0, right = 0;
            rh_halving how[3] = {RH_HALVE_SPREAD, RH_HALVE_SPREAD, RH_HALVE_SPREAD};
            how[axis] = RH_HALVE_POINTS;
            open_grids(&g, dimension);
            for (int64_t i = 0; i < rh_tiles_values(&g.fine); i++) g.of_fine[i] = noise((uint32_t)i);
            for (int64_t i = 0; i < rh_tiles_values(&g.coarse); i++) g.of_coarse[i] = noise((uint32_t)i + 777777);
            for (int32_t t = 0; t < g.fine.count; t++) {
                float grown[CELLS], half[RH_HALF * RH_HALF * RH_HALF];
                rh_tile at = g.fine.at[t];
                int32_t parent = parent_of(&g, t);
                rh_halves_grow(&g.coarse, g.of_coarse, parent, at, axis, grown);
                rh_halves_shrink(&g.fine, g.of_fine, t, how, half);
                for (int c = 0; c < g.fine.cells; c++)
                    left += (double)(grown[c] * g.of_fine[(int64_t)t * g.fine.cells + c]);
                for (int n = 0; n < RH_HALF * RH_HALF * (dimension == 3 ? RH_HALF : 1); n++) {
                    int c = (n & 3) + 4 * (at.x & 1) + 8 * ((n >> 2 & 3) + 4 * (at.y & 1)) +
                            (dimension == 3 ? 64 * ((n >> 4) + 4 * (at.z & 1)) : 0);
                    right += (double)(half[n] * g.of_coarse[(int64_t)parent * g.coarse.cells + c]);
                }
            }
            // Coarse values at the border reach beyond the fine tiles, where nothing is: the sums are over the same.
            assert_float_equal(left, (1 << dimension) * right, 1e-3 * fabs(left) + 1e-2);
            rh_arena_free(&g.arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_functions_are_exact),
        cmocka_unit_test(shrinking_is_the_transpose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
