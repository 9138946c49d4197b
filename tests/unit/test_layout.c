// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Rows of eight cells with their neighbours (grid/rows.h) and the numbering of unknowns (solve/layout.h), against
// looking every cell up by its place.
#include "support.h"
#include "solve/layout.h"

typedef struct grid {
    cloud c;
    float *field;
    const float **apart;
    uint8_t *bits;
} grid;

// Odd tiles have no bits at all, every fifth tile has all.
static void grid_make(grid *g, int dimension)
{
    cloud_random(&g->c, dimension, 0.1, 80, rh_v3(0.3f, -0.2f, 0.1f), rh_v3(2, 1, 0.6f), 2);
    const rh_tiles *tiles = &g->c.tiles;
    g->field = rh_field_new(tiles, &g->c.arena, NULL);
    g->apart = rh_arena_take(&g->c.arena, (size_t)tiles->count * sizeof *g->apart, NULL);
    g->bits = rh_arena_take_zero(&g->c.arena, (size_t)rh_tiles_values(tiles) / 8, NULL);
    for (int32_t t = 0; t < tiles->count; t++) g->apart[t] = g->field + (int64_t)t * tiles->cells;
    for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
        int64_t t = v / tiles->cells;
        g->field[v] = support_random((uint64_t)v, 0);
        if (t % 5 == 0 || (t % 2 == 0 && support_random((uint64_t)v, 1) > 0))
            g->bits[v >> 3] |= (uint8_t)(1 << (v & 7));
    }
}

static int64_t beside(const rh_tiles *tiles, int64_t v, int axis, int step)
{
    int cell[3];
    cell_of(tiles, v, cell);
    cell[axis] += step;
    return value_at(tiles, cell[0], cell[1], cell[2]);
}

static bool has_bit(const uint8_t *bits, int64_t v) { return v >= 0 && (bits[v >> 3] >> (v & 7) & 1); }

// Checks one row of values against the field one step along an axis; `missing` (a tile of values) where there is no
// tile.
static void check_row(const grid *g, rh_f8 row, int32_t t, int r, int axis, int step, const float *missing)
{
    const rh_tiles *tiles = &g->c.tiles;
    float found[8];
    rh_f8_store(found, row);
    for (int i = 0; i < 8; i++) {
        int64_t v = (int64_t)t * tiles->cells + 8 * r + i, other = beside(tiles, v, axis, step);
        // In a tile that is not there the cell has the place it would have.
        const int side[3] = {1, 8, 64};
        float expected = other >= 0 ? g->field[other] : missing[8 * r + i - 7 * step * side[axis]];
        if (found[i] != expected)
            fail_msg("%dD: row %d of tile %d, lane %d, axis %d, step %d: %g, not %g", tiles->dimension, r, t, i, axis,
                     step, (double)found[i], (double)expected);
    }
}

static void rows_equal_plain_indexing(void **state)
{
    (void)state;
    float missing[RH_CELLS];
    for (int n = 0; n < RH_CELLS; n++) missing[n] = 10 + (float)n;
    for (int dimension = 2; dimension <= 3; dimension++) {
        grid g;
        grid_make(&g, dimension);
        for (int32_t t = 0; t < g.c.tiles.count; t++) {
            rh_rows together = rh_rows_of(&g.c.tiles, g.field, t, missing),
                    apart = rh_rows_apart(&g.c.tiles, g.apart, t, missing);
            rh_bit_rows bits = rh_bit_rows_of(&g.c.tiles, g.bits, t);
            for (int r = 0; r < g.c.tiles.cells / 8; r++)
                for (int a = 0; a < dimension; a++) {
                    check_row(&g, rh_row_below(&together, a, r), t, r, a, -1, missing);
                    check_row(&g, rh_row_above(&together, a, r), t, r, a, 1, missing);
                    check_row(&g, rh_row_below(&apart, a, r), t, r, a, -1, missing);
                    check_row(&g, rh_row_above(&apart, a, r), t, r, a, 1, missing);
                    int below = 0, above = 0;
                    for (int i = 0; i < 8; i++) {
                        int64_t v = (int64_t)t * g.c.tiles.cells + 8 * r + i;
                        below |= has_bit(g.bits, beside(&g.c.tiles, v, a, -1)) << i;
                        above |= has_bit(g.bits, beside(&g.c.tiles, v, a, 1)) << i;
                    }
                    assert_int_equal(rh_bits_row_below(&bits, a, r), below);
                    assert_int_equal(rh_bits_row_above(&bits, a, r), above);
                }
        }
        cloud_free(&g.c);
    }
}

static void layout_make(rh_layout *layout, grid *g)
{
    rh_status status = {0};
    assert_ok(rh_layout_init(layout, &g->c.tiles, &g->c.arena, &status));
    memcpy(layout->unknown, g->bits, (size_t)rh_tiles_values(&g->c.tiles) / 8);
    assert_ok(rh_layout_number(layout, &g->c.arena, &status));
}

// Tiles with unknowns are numbered in their order, and know each other.
static void tiles_with_unknowns_are_listed(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        grid g;
        rh_layout layout;
        rh_poisson m;
        rh_status status = {0};
        grid_make(&g, dimension);
        layout_make(&layout, &g);
        const rh_tiles *tiles = &g.c.tiles;
        int32_t count = 0;
        for (int32_t t = 0; t < tiles->count; t++) {
            bool any = false;
            for (int c = 0; c < tiles->cells; c++) any = any || has_bit(g.bits, (int64_t)t * tiles->cells + c);
            assert_int_equal(layout.slot[t], any ? count : -1);
            if (any) assert_int_equal(layout.listed[count++], t);
        }
        assert_int_equal(layout.count, count);
        assert_true(count > 2 && count < tiles->count);
        assert_ok(rh_poisson_init(&m, dimension, count, &g.c.arena, &status));
        for (int32_t n = 0; n < count; n++) {
            rh_layout_place(&layout, n, &m);
            rh_tile at = tiles->at[layout.listed[n]];
            assert_true(m.at[n].x == at.x && m.at[n].y == at.y && m.at[n].z == at.z);
            for (int s = 0; s < 6; s++) {
                rh_tile next = at;
                (&next.x)[s / 2] += s & 1 ? 1 : -1;
                int32_t other = s / 2 < dimension ? rh_tiles_find(tiles, next) : -1;
                assert_int_equal(m.near[n][s], other < 0 || layout.slot[other] < 0 ? count : layout.slot[other]);
            }
            for (int c = 0; c < tiles->cells; c++)
                assert_int_equal(has_bit(m.unknown, (int64_t)n * tiles->cells + c),
                                 has_bit(g.bits, (int64_t)layout.listed[n] * tiles->cells + c));
        }
        cloud_free(&g.c);
    }
}

static void vectors_read_as_rows(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        grid g;
        rh_layout layout;
        grid_make(&g, dimension);
        layout_make(&layout, &g);
        const rh_tiles *tiles = &g.c.tiles;
        float *vector = rh_arena_take(&g.c.arena, ((size_t)layout.count + 1) * (size_t)tiles->cells * sizeof *vector,
                                      NULL);
        const float zeros[RH_CELLS] = {0};
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {  // the field the vector stands for
            int32_t slot = layout.slot[v / tiles->cells];
            if (slot < 0) g.field[v] = 0;
            else vector[(int64_t)slot * tiles->cells + v % tiles->cells] = g.field[v];
        }
        for (int32_t t = 0; t < tiles->count; t++) {
            rh_rows rows = rh_layout_rows(&layout, vector, t);
            for (int r = 0; r < tiles->cells / 8; r++)
                for (int a = 0; a < dimension; a++) {
                    assert_memory_equal(rows.here + 8 * r, g.field + (int64_t)t * tiles->cells + 8 * r,
                                        8 * sizeof(float));
                    check_row(&g, rh_row_below(&rows, a, r), t, r, a, -1, zeros);
                    check_row(&g, rh_row_above(&rows, a, r), t, r, a, 1, zeros);
                }
        }
        cloud_free(&g.c);
    }
}

// A tile is full with all its cells and all beside it; every single one that is missing tells, those across edges and
// corners do not.
static void full_tiles_miss_no_cell(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        grid g;
        rh_layout layout;
        grid_make(&g, dimension);
        const rh_tiles *tiles = &g.c.tiles;
        memset(g.bits, 255, (size_t)rh_tiles_values(tiles) / 8);
        layout_make(&layout, &g);
        int32_t inner = -1;
        for (int32_t t = 0; t < tiles->count; t++) {
            bool surrounded = true;
            for (int a = 0; a < dimension; a++)
                surrounded = surrounded && tiles->near[t][RH_HERE - rh_near_step[a]] >= 0 &&
                             tiles->near[t][RH_HERE + rh_near_step[a]] >= 0;
            assert_int_equal(rh_layout_is_full(&layout, t), surrounded);
            if (surrounded) inner = t;
        }
        assert_true(inner >= 0);
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            int cell[3], off = 0;
            cell_of(tiles, v, cell);
            for (int a = 0; a < dimension; a++) {
                int local = cell[a] - (&tiles->at[inner].x)[a] * RH_TILE;
                off += local < 0 ? -local : local > 7 ? local - 7 : 0;
            }
            layout.unknown[v >> 3] ^= (uint8_t)(1 << (v & 7));
            assert_int_equal(rh_layout_is_full(&layout, inner), off > 1);
            layout.unknown[v >> 3] ^= (uint8_t)(1 << (v & 7));
        }
        cloud_free(&g.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_equal_plain_indexing),
        cmocka_unit_test(tiles_with_unknowns_are_listed),
        cmocka_unit_test(vectors_read_as_rows),
        cmocka_unit_test(full_tiles_miss_no_cell),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
