// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conservation over ten violent seconds: a column of water let go in a closed box splashes to and fro and comes to
// rest. The volume inside the level set stays within 2 % of what it was at the start, and total energy never exceeds
// that of the start (no force but gravity, walls at rest).
#include "lab.h"

typedef struct balance {
    double first, low, high, energy, energy_high;
    int64_t particles;
} balance;

static void weigh(lab *l, void *user)
{
    balance *b = user;
    rh_progress p = lab_progress(l);
    if (b->particles == 0)
        *b = (balance){p.volume_error, p.volume_error, p.volume_error, b->energy, b->energy_high, p.particles};
    b->low = fmin(b->low, p.volume_error);
    b->high = fmax(b->high, p.volume_error);
    b->energy_high = fmax(b->energy_high, lab_energy(l));
    assert_int_equal(p.particles, b->particles);
}

static void splash(const char *settings)
{
    lab l;
    lab_open(&l,
             "cell: 0.03125\ngravity: [0, -9.81, 0]\nphysics: {liquid: {%s}}\n"
             "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.375, 0.75, 0.5]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.5]}}}]\n",
             settings);
    balance b = {.energy = lab_energy(&l)};
    lab_run(&l, 10, weigh, &b);
    double now = lab_progress(&l).volume_error, end = lab_energy(&l), least = 9.81 * 0.28125 / 2;
    print_message("splash {%s}, %lld particles, 10 s: volume from %+.2f %% to %+.2f %% of the start, settled at %+.2f "
                  "%%; energy %.4f -> %.4f J/kg "
                  "(most %.4f, flat water %.4f); speed at the end %.3f m/s; penetration %.3f cells\n",
                  settings, (long long)b.particles, 100 * (b.low - b.first), 100 * (b.high - b.first),
                  100 * (now - b.first), b.energy, end, b.energy_high, least, lab_max_speed(&l),
                  l.penetration / l.scene.cell);
    assert_true(b.low - b.first > -0.02 && b.high - b.first < 0.02);
    assert_true(fabs(now - b.first) < 0.02);
    assert_true(end < b.energy && b.energy_high < b.energy * 1.001);
    assert_true(end > 0.98 * least);  // a liquid that lost its volume would lie lower
    assert_true(l.penetration < 0.05 * l.scene.cell);
    lab_close(&l);
}

static void a_splash_keeps_its_volume(void **state)
{
    (void)state;
    splash("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_splash_keeps_its_volume)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
