// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Windows over the points around one cell after the other: points/near_parts.h.
#include "base/assert.h"
#include "points/near_parts.h"

int64_t rh_neighbours_cell_at(const rh_neighbours *n, int64_t place)
{
    int64_t begin = 0, end = n->cells;
    while (end - begin > 1) {
        int64_t middle = begin + (end - begin) / 2;
        if ((int64_t)n->cell_first[middle] <= place) begin = middle;
        else end = middle;
    }
    return begin;
}

static void find_rows(rh_near_window *s, uint64_t key, int64_t x)
{
    const rh_neighbours *n = s->n;
    int64_t y = (int64_t)(key & ((1ull << n->bits[1]) - 1)), z = (int64_t)(key >> n->bits[1]);
    int reach_z = n->dimension == 2 ? 0 : s->reach;
    s->count = 0;
    for (int k = s->forward ? 0 : -reach_z; k <= reach_z; k++)
        for (int j = s->forward && k == 0 ? 0 : -s->reach; j <= s->reach; j++) {
            if (z + k < 0 || y + j < 0 || z + k > n->high[2] - n->low[2] || y + j > n->high[1] - n->low[1]) continue;
            int64_t row = rh_neighbours_row(n, (uint64_t)(z + k) << n->bits[1] | (uint64_t)(y + j));
            if (row < 0) continue;
            int64_t begin = rh_neighbours_cell_from(n, row, x - s->reach);
            s->rows[s->count].row = row;
            s->rows[s->count].begin = s->rows[s->count].end = begin;
            s->rows[s->count].y = (int8_t)j, s->rows[s->count].z = (int8_t)k;
            s->count++;
        }
}

void rh_near_window_to(rh_near_window *s, int64_t cell) { rh_near_window_span(s, cell, cell); }

void rh_near_window_span(rh_near_window *s, int64_t cell, int64_t last_cell)
{
    const rh_neighbours *n = s->n;
    RH_ASSERT(!n->rows_only && s->reach >= 1 && s->reach <= RH_NEAR_REACH && cell >= s->cell && cell <= last_cell);
    RH_ASSERT(last_cell < n->cells && n->cell_keys[cell] >> n->bits[0] == n->cell_keys[last_cell] >> n->bits[0]);
    uint64_t key = n->cell_keys[cell], row = key >> n->bits[0];
    int64_t x = (int64_t)(key & ((1ull << n->bits[0]) - 1)), low = x - s->reach > 0 ? x - s->reach : 0;
    if (s->cell < 0 || n->cell_keys[s->cell] >> n->bits[0] != row) find_rows(s, row, x);
    int64_t width = (int64_t)(n->cell_keys[last_cell] - key);
    s->cell = cell;
    for (int r = 0; r < s->count; r++) {
        int64_t begin = s->rows[r].begin, end = s->rows[r].end, last = n->row_first[s->rows[r].row + 1];
        uint64_t from = (n->row_keys[s->rows[r].row] << n->bits[0]) + (uint64_t)low,
                 to = from + (uint64_t)(x + width + s->reach - low);
        while (begin < last && n->cell_keys[begin] < from) begin++;
        if (end < begin) end = begin;
        while (end < last && n->cell_keys[end] <= to) end++;
        s->rows[r].begin = begin, s->rows[r].end = end;
        s->runs[r] = (rh_neighbours_run){n->cell_first[begin], n->cell_first[end]};
    }
}
