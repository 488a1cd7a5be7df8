/* steno: grammar rules for ranges of whole numbers. SPDX-License-Identifier: MIT
 *
 * A range is split into pieces. In a piece, the first digits are fixed, one digit is between two limits, and all later digits are free: 8
 * to 123 is 8-9, 10-99, 100-119, 120-123. There are at most two pieces per digit. */
#include "search/json_range.h"

enum { DIGITS_MOST = 18 }; /* digits of a number with a bound */

/* 10 to the n. */
static uint64_t ten(int n)
{
    uint64_t v = 1;
    while (n-- > 0) v *= 10;
    return v;
}

static int digits_of(uint64_t v)
{
    int n = 1;
    while (v >= 10) v /= 10, n++;
    return n;
}

/* Numbers of equal length, digit by digit: fixed, a range, or any digit. */
static void write_piece(struct buf *out, uint64_t lo, uint64_t hi)
{
    const int n = digits_of(hi);
    int free_digits = 0;
    for (int k = n - 1; k >= 0; k--) {
        const int a = (int)(lo / ten(k) % 10), b = (int)(hi / ten(k) % 10);
        if (a == 0 && b == 9 && (n > 1 || k < n - 1)) free_digits++;
        else if (a == b) buf_fmt(out, "\"%d\" ", a);
        else buf_fmt(out, "[%d-%d] ", a, b);
    }
    if (free_digits) buf_fmt(out, "[0-9]{%d} ", free_digits);
}

/* The end of the longest piece that begins with lo and does not exceed hi. */
static uint64_t piece_end(uint64_t lo, uint64_t hi)
{
    uint64_t end = lo;
    for (int k = 0; k <= DIGITS_MOST; k++) { /* k digits are free, the digit before them goes up to 9 */
        const uint64_t step = ten(k);
        if (lo % step) break;
        const uint64_t last = lo / (step * 10) * (step * 10) + 9 * step + (step - 1);
        const uint64_t most = last <= hi ? last : (hi + 1) / step * step;
        const uint64_t here = last <= hi ? last : most > lo ? most - 1 : end;
        if (here < end || digits_of(here) != digits_of(lo)) break;
        end = here;
        if (last > hi) break;
    }
    return end;
}

static void write_whole(struct buf *out, uint64_t lo, uint64_t hi, int *any, const char *sign)
{
    while (lo <= hi) {
        const uint64_t end = piece_end(lo, hi);
        buf_fmt(out, "%s%s", *any ? "| " : "", sign);
        write_piece(out, lo, end);
        *any = 1;
        lo = end + 1;
    }
}

/* Numbers from lo on, without an upper bound. */
static void write_from(struct buf *out, uint64_t lo, int *any, const char *sign)
{
    const int n = digits_of(lo);
    write_whole(out, lo, ten(n) - 1, any, sign);
    buf_fmt(out, "| %s[1-9] [0-9]{%d,%d} ", sign, n, n > 15 ? n : 15);
}

void json_range_write(struct buf *out, int64_t lo, int64_t hi)
{
    int any = 0;
    const int has_lo = lo != INT64_MIN, has_hi = hi != INT64_MAX;
    if (!has_lo || lo < 0) { /* negative numbers: with limits exchanged */
        const uint64_t from = has_hi && hi < 0 ? (uint64_t)-hi : 1;
        if (has_lo) write_whole(out, from, (uint64_t)-lo, &any, "\"-\" ");
        else write_from(out, from, &any, "\"-\" ");
    }
    if (has_hi && hi < 0) return;
    const uint64_t from = has_lo && lo > 0 ? (uint64_t)lo : 0;
    if (has_hi) write_whole(out, from, (uint64_t)hi, &any, "");
    else write_from(out, from, &any, "");
}
