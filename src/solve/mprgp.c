// TEMPORARY
#include "solve/mprgp.h"
#include <math.h>
#include "base/parallel.h"
const char *const rh_precondition_names[] = {"multigrid", "mic", "none", NULL};
const char *const rh_expansion_names[] = {"projected", "gradient", NULL};
rh_code rh_mprgp_solve(const rh_poisson *a, float *b, const float *lower, float *x, float *w, const rh_mprgp_options *o,
                       rh_arena *arena, rh_mprgp_report *report, rh_status *status)
{
    size_t n = (size_t)a->count * a->cells;
    *report = (rh_mprgp_report){.converged = true};
    float *p = rh_poisson_vector(a, arena, status), *ap = rh_poisson_vector(a, arena, status);
    double nb = 0, maxd = 4;
    for (int32_t t = 0; t < a->count; t++) for (int c = 0; c < a->cells; c++) {
        size_t i = (size_t)t * a->cells + c;
        if (!(a->unknown[i >> 3] >> (i & 7) & 1)) { x[i] = 0; b[i] = 0; continue; }
        maxd = fmax(maxd, rh_poisson_block(a, t)[c]);
    }
    #define L(i) (lower ? lower[i] : 0)
    for (size_t i = 0; i < n; i++) { double m = fmin(b[i], 0); nb += m * m; if (x[i] < L(i)) x[i] = L(i); }
    if (lower) { nb = 0; for (size_t i = 0; i < n; i++) nb += b[i] * b[i]; }
    nb = sqrt(nb); double abar = 1.9 / (2 * maxd);
    rh_poisson_apply(a, x, w, NULL);
    for (size_t i = 0; i < n; i++) w[i] += b[i];
    bool fresh = true;
    for (;; report->iterations++) {
        double phi2 = 0, beta2 = 0, phit = 0;
        for (size_t i = 0; i < n; i++) {
            double g = w[i];
            if (x[i] > L(i)) { phi2 += g * g; phit += fmin((x[i] - L(i)) / abar, g) * g; } else if (g < 0) beta2 += g * g;
        }
        report->residual = sqrt(phi2 + beta2) / fmax(nb, 1e-30);
        if (report->residual <= o->tolerance || nb == 0) break;
        if (report->iterations > 20000) { report->converged = false; break; }
        if (beta2 <= phit) {
            if (fresh) for (size_t i = 0; i < n; i++) p[i] = x[i] > L(i) ? w[i] : 0;
            fresh = false;
            rh_poisson_apply(a, p, ap, NULL);
            double gp = 0, pap = 0, af = INFINITY;
            for (size_t i = 0; i < n; i++) { gp += (double)w[i] * p[i]; pap += (double)p[i] * ap[i]; if (x[i] > L(i) && p[i] > 0) af = fmin(af, ((double)x[i] - L(i)) / p[i]); }
            double acg = gp / pap, st = fmin(acg, af);
            for (size_t i = 0; i < n; i++) { x[i] -= st * p[i]; w[i] -= st * ap[i]; if (x[i] < L(i)) x[i] = L(i); }
            if (acg <= af) {
                double pr = 0; for (size_t i = 0; i < n; i++) if (x[i] > L(i)) pr += (double)w[i] * ap[i];
                for (size_t i = 0; i < n; i++) p[i] = (x[i] > L(i) ? w[i] : 0) - pr / pap * p[i];
            } else {
                for (size_t i = 0; i < n; i++) if (x[i] > L(i)) x[i] = fmax(L(i), x[i] - abar * w[i]);
                rh_poisson_apply(a, x, w, NULL); for (size_t i = 0; i < n; i++) w[i] += b[i];
                fresh = true;
            }
        } else {
            for (size_t i = 0; i < n; i++) p[i] = x[i] > L(i) ? 0 : fmin(w[i], 0);
            rh_poisson_apply(a, p, ap, NULL);
            double gp = 0, pap = 0;
            for (size_t i = 0; i < n; i++) gp += (double)w[i] * p[i], pap += (double)p[i] * ap[i];
            for (size_t i = 0; i < n; i++) x[i] -= gp / pap * p[i], w[i] -= gp / pap * ap[i];
            fresh = true;
        }
    }
    for (size_t i = 0; i < n; i++) report->worst = fmax(report->worst, fabs(lower ? fmin((double)x[i] - lower[i], w[i]) : fmin(x[i], w[i])));
    return RH_OK;
}
