/* steno: dynamic time warping. SPDX-License-Identifier: MIT
 *
 * Two rows of costs are kept at a time, and one byte of direction per cell. The order in which cells are filled does not matter. Costs are
 * doubles, as in the reference: it requests floats, but numba widens them when it multiplies by infinity. Float sums of hundreds of frames
 * would decide between paths that differ by less than their rounding. */
#include "search/dtw.h"

#include <math.h>
#include <stdlib.h>

enum { BOTH,
       DOWN,
       RIGHT };

/* One row of cells: cost[0 .. m] from the costs above; directions go to step[0 .. m]. */
static void row_fill(double *cost, uint8_t *step, const double *above, const float *x, int32_t m)
{
    cost[0] = INFINITY;
    for (int32_t j = 1; j <= m; j++) {
        const double both = above[j - 1], down = above[j], right = cost[j - 1];
        const uint8_t way = both < down && both < right ? BOTH : down < both && down < right ? DOWN
                                                                                             : RIGHT;
        const double smallest = way == BOTH ? both : way == DOWN ? down
                                                                 : right;
        cost[j] = -(double)x[j - 1] + smallest;
        step[j] = way;
    }
}

/* Trace back from the last corner; at the edges there is only one direction. */
static void path_trace(int32_t *jump, const uint8_t *step, int32_t n, int32_t m)
{
    const size_t width = (size_t)m + 1;
    for (int32_t i = n, j = m; i > 0;) {
        jump[i - 1] = j > 0 ? j - 1 : 0;
        const uint8_t way = j == 0 ? DOWN : step[(size_t)i * width + (size_t)j];
        if (way != RIGHT) i--;
        if (way != DOWN) j--;
    }
}

int dtw_path(int32_t *jump, const float *x, size_t ld, int32_t n_rows, int32_t n_frames)
{
    const size_t width = (size_t)n_frames + 1, rows = (size_t)n_rows + 1;
    double *cost = calloc(2 * width, sizeof *cost);
    uint8_t *step = width > SIZE_MAX / rows ? NULL : malloc(width * rows);
    if (cost && step) {
        for (int32_t j = 1; j <= n_frames; j++) cost[j] = INFINITY;
        for (int32_t i = 1; i <= n_rows; i++)
            row_fill(cost + (i & 1 ? width : 0), step + (size_t)i * width, cost + (i & 1 ? 0 : width), x + (size_t)(i - 1) * ld, n_frames);
        path_trace(jump, step, n_rows, n_frames);
    }
    const int rc = cost && step ? 0 : -1;
    free(cost);
    free(step);
    return rc;
}
