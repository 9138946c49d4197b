# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The map of what becomes of two drops that meet: the thresholds of its table have the values that the equations of Ashgriz and Poo (1990) give,
worked out apart in double precision; areas of the picture have the colours that these thresholds ask for; mistakes are told.

usage: test_collisions.py RHEO SOURCE
"""
import csv
import math
import pathlib
import sys
import unittest

import harness
from test_render import channels, header

# ratio, impact: We of stretching and of reflexive separation
VALUES = {("1", "0"): (math.inf, 18.6708), ("1", "0.2"): (167.7831, 73.4671), ("1", "0.5"): (22.1703, math.inf), ("1", "0.9"): (1.4743, math.inf),
          ("0.5", "0"): (991.2494, 34.7194), ("0.5", "0.5"): (42.6554, math.inf), ("0.25", "0.1"): (3716.4018, 1382.8717)}
SIDE, LEFT, TOP, WIDTH, HEIGHT = 360, 62, 46, 436, 452  # of a panel, as app/collisions.c lays them out


class Collisions(harness.Case):
    def draw(self, *options):
        self.rheo("collisions", harness.SOURCE / "scenes/droplets/geyser.yaml", "--out", "map.png", *options)
        return (self.folder / "map.png").read_bytes()

    def color(self, picture, panel, impact, weber):
        width = header(self.folder / "map.png")[0]
        x = panel % 2 * WIDTH + LEFT + int(impact * SIDE)
        y = panel // 2 * HEIGHT + TOP + int((1 - weber / 150) * SIDE)
        at = 3 * (y * width + x)
        return tuple(picture[at:at + 3])

    def test_table(self):
        self.draw()
        with open(self.folder / "map.csv", newline="") as file:
            rows = {(row["ratio"], row["impact"]): row for row in csv.DictReader(file)}
        self.assertEqual(len(rows), 303)
        for key, (stretching, reflexive) in VALUES.items():
            for name, value in (("we_stretching", stretching), ("we_reflexive", reflexive)):
                found = float(rows[key][name])
                self.assertTrue(found == value or abs(found - value) < 1e-4 * value, (key, name, found, value))

    def test_picture(self):
        plain, picture = self.draw(), channels(self.folder / "map.png")
        merge, reflexive = self.color(picture, 0, 0.05, 10), self.color(picture, 0, 0.05, 40)
        stretch = self.color(picture, 0, 0.5, 23.5)
        self.assertEqual(len({merge, reflexive, stretch}), 3)
        # a little to either side of the thresholds at X = 0.5 and 0.2, of all three ratios
        self.assertEqual(self.color(picture, 0, 0.5, 20), merge)
        self.assertEqual(self.color(picture, 0, 0.2, 68), merge)
        self.assertEqual(self.color(picture, 0, 0.2, 80), reflexive)
        self.assertEqual(self.color(picture, 1, 0.5, 40), merge)
        self.assertEqual(self.color(picture, 1, 0.5, 46), stretch)
        self.assertEqual(self.color(picture, 1, 0.01, 31), merge)
        self.assertEqual(self.color(picture, 1, 0.01, 40), reflexive)
        self.assertEqual(self.color(picture, 2, 0.1, 140), merge)
        self.assertNotEqual(self.draw("--force", "--set", "physics.droplets.bounce=true"), plain)

    def test_mistakes(self):
        self.draw()
        self.assertIn("--force", self.rheo("collisions", harness.SOURCE / "scenes/droplets/geyser.yaml", "--out", "map.png", code=2)[1])
        self.assertIn(".png", self.rheo("collisions", harness.SOURCE / "scenes/droplets/geyser.yaml", "--out", "map", code=2)[1])
        self.assertIn("droplets", self.rheo("collisions", harness.SOURCE / "scenes/dam_break.yaml", "--out", "b.png", code=2)[1])


if __name__ == "__main__":
    harness.RHEO, harness.SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
