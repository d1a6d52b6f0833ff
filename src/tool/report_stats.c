/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "tool/report.h"

#define AP_RANK_LEAST 8u /* the normal approximation is poor below */

ap__moments ap__stats_moments(const ap__duration *samples, uint32_t count)
{
    ap__moments m = {.count = count};
    double squares = 0;

    for (uint32_t i = 0; i < count; i++) {
        double delta = (double)samples[i].ns - m.mean;

        m.mean += delta / (i + 1.0);
        squares += delta * ((double)samples[i].ns - m.mean);
    }
    m.variance = count > 1 ? squares / (count - 1.0) : 0;
    return m;
}

/* ---- Student's t ---- */

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double ap__beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    double h = 0;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    h = d;
    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a - 1 + 2 * m) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1 + 2 * m));
        double step = 0;

        d = 1 + even * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-13) {
            break;
        }
    }
    return h;
}

/* The regularised incomplete beta function; y is 1 - x, which may be too small to be told from it.
 */
static double ap__beta(double a, double b, double x, double y)
{
    double front = 0;

    if (x <= 0 || y <= 0) {
        return x <= 0 ? 0 : 1;
    }
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
    return x < (a + 1) / (a + b + 2) ? front * ap__beta_fraction(a, b, x) / a
                                     : 1 - front * ap__beta_fraction(b, a, y) / b;
}

static double ap__t_two_sided(double t, double freedom)
{
    double all = freedom + t * t;

    if (freedom > 1e6) {
        return erfc(fabs(t) / sqrt(2)); /* the normal distribution is as good */
    }
    return ap__beta(freedom / 2, 0.5, freedom / all, t * t / all);
}

/* t with 5 % beyond on both sides together. */
static double ap__t_limit(double freedom)
{
    double low = 0;
    double high = 1000; /* 12.7 with one degree of freedom, which Welch's do not fall below */

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (ap__t_two_sided(middle, freedom) > 0.05) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

ap__welch ap__stats_welch(const ap__moments *a, const ap__moments *b)
{
    ap__welch w = {b->mean - a->mean, NAN, NAN, NAN};
    double va = a->variance / (double)a->count;
    double vb = b->variance / (double)b->count;
    double error = sqrt(va + vb);
    double freedom = 0;

    if (a->count < 2 || b->count < 2) {
        return w;
    }
    if (error <= 0) { /* all samples of a run are equal */
        w.low = w.high = w.difference;
        w.p = fabs(w.difference) > 0 ? 0 : 1;
        return w;
    }
    freedom = (va + vb) * (va + vb) /
              (va * va / ((double)a->count - 1) + vb * vb / ((double)b->count - 1));
    w.p = ap__t_two_sided(w.difference / error, freedom);
    w.low = w.difference - ap__t_limit(freedom) * error;
    w.high = w.difference + ap__t_limit(freedom) * error;
    return w;
}

/* ---- ranks ---- */

double ap__stats_rank(const ap__duration *a, uint32_t a_count, const ap__duration *b,
                      uint32_t b_count)
{
    double n = (double)a_count + b_count;
    double ranks = 0; /* sum of a's */
    double ties = 0;
    double mean = 0;
    double variance = 0;
    uint32_t i = 0;
    uint32_t j = 0;

    if (a_count < AP_RANK_LEAST || b_count < AP_RANK_LEAST) {
        return NAN;
    }
    while (i < a_count || j < b_count) {
        uint64_t value = j == b_count || (i < a_count && a[i].ns < b[j].ns) ? a[i].ns : b[j].ns;
        double before = (double)i + j;
        uint32_t from = i;
        double same = 0;

        while (i < a_count && a[i].ns == value) {
            i++;
        }
        while (j < b_count && b[j].ns == value) {
            j++;
        }
        same = (double)i + j - before;
        ranks += (double)(i - from) * (before + (same + 1) / 2);
        ties += same * same * same - same;
    }
    mean = (double)a_count * (n + 1) / 2;
    variance = (double)a_count * (double)b_count / 12 * (n + 1 - ties / (n * (n - 1)));
    if (variance <= 0) {
        return 1; /* all values are one */
    }
    return erfc(fmax(fabs(ranks - mean) - 0.5, 0) / sqrt(2 * variance));
}

/* ---- many tests at once ---- */

typedef struct ap__test {
    double p;
    uint32_t at;
} ap__test;

static int ap__by_p(const void *a, const void *b)
{
    const ap__test *x = a;
    const ap__test *y = b;

    return x->p < y->p ? -1 : x->p > y->p;
}

bool ap__stats_adjust(double *p, uint32_t count)
{
    ap__test *tests = calloc((size_t)count + 1, sizeof(*tests));
    uint32_t n = 0;
    double least = 1;

    if (tests == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!isnan(p[i])) {
            tests[n++] = (ap__test){p[i], i};
        }
    }
    if (n != 0) {
        qsort(tests, n, sizeof(*tests), ap__by_p);
    }
    for (uint32_t i = n; i-- > 0;) {
        least = fmin(least, tests[i].p * n / (i + 1.0));
        p[tests[i].at] = least;
    }
    free(tests);
    return true;
}
