#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""`rheo render` from outside: pictures, options, mistakes, surfaces, films.

usage: test_render.py RHEO SOURCE_DIR
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

import harness
from harness import Case

SIZE = ("--size", "96x64")
SURFACE = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 4
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
"""


def header(path):
    """(width, height, bits a channel, colour type) of a PNG."""
    return struct.unpack(">IIBB", path.read_bytes()[16:26])


def channels(path):
    """The values of all channels of a PNG, rows from the top."""
    data, at, packed = path.read_bytes(), 8, b""
    width, height, depth, _ = header(path)
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    raw, step = zlib.decompress(packed), 3 * depth // 8
    above, values = bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        how, row = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for i in range(len(row)):
            a, b, c = (row[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]  # Paeth
            row[i] = (row[i] + (0, a, b, (a + b) // 2, near)[how]) & 255
        above = row
        values += struct.unpack(f">{3 * width}{'H' if depth == 16 else 'B'}", row)
    return values


class Render(Case):
    def setUp(self):
        super().setUp()
        self.rheo("run", pathlib.Path(harness.SOURCE) / "tests/cli/tiny3d.yaml", "--out", "a", "--frames", "1-3")
        self.traced = "Embree" not in self.rheo("render", "a", "--frames", "1", *SIZE)[1]
        self.first = (self.folder / "a/picture/picture.0001.png").read_bytes()

    def draw(self, *options):
        self.rheo("render", "a", "--frames", "1", "--out", "p", *SIZE, *options)
        return (self.folder / "p/picture.0001.png").read_bytes()

    def test_pictures(self):
        out, _ = self.rheo("render", "a", "--frames", "1-2", *SIZE)
        self.assertEqual(out.split(), ["a/picture/picture.0001.png", "a/picture/picture.0002.png"])
        self.assertEqual(header(self.folder / "a/picture/picture.0002.png"), (96, 64, 8, 2))
        self.draw("--depth", "16")
        self.assertEqual(header(self.folder / "p/picture.0001.png"), (96, 64, 16, 2))
        deep = channels(self.folder / "p/picture.0001.png")
        self.draw("--depth", "8")
        plain = channels(self.folder / "p/picture.0001.png")
        self.assertLessEqual(max(abs(d / 257 - b) for d, b in zip(deep, plain)), 1)
        quick = self.draw("--quick")
        self.assertEqual(quick != self.first, self.traced)

    def test_same_bytes(self):
        bytes_of = [self.draw("--threads", str(n)) for n in (1, 2, 8)]
        self.assertTrue(bytes_of[0] == bytes_of[1] == bytes_of[2])

    def test_options_change_the_picture(self):
        if not self.traced:
            self.skipTest("built without Embree")
        same = self.draw("--frames", "1")
        for options in (["--camera", "3,2,4,0.5,0.2,0.5"], ["--camera", "3,2,4,0.5,0.2,0.5,10"], ["--attribute", "id"], ["--samples", "3"]):
            self.assertNotEqual(self.draw(*options), same, options)

    def test_mistakes(self):
        for options, words in ((["--camera", "1,2,3"], "x,y,z,tx,ty,tz"), (["--camera", "1,2,3,1,2,3"], "not the same"),
                               (["--camera", "1,2,3,4,5,6,7,8"], "x,y,z"), (["--camera", "1,2,3,4,5,nan"], "x,y,z"),
                               (["--what", "water"], "surface, points or both"),
                               (["--material", "hony"], "did you mean honey?"), (["--depth", "12"], "8 or 16"),
                               (["--frames", "9"], "1 to 3"), (["--quick", "--what", "surface"], "particles only"),
                               (["--quick", "--attribute", "P.q"], "P.x, P.y, P.z"), (["--quick", "--attribute", "radius.x"], "has no parts"),
                               (["--quick", "--bands", "3", "--palette", "sands"], "did you mean sand?"), (["--quick", "--range", "2,1"], "LOW,HIGH"),
                               (["--quick", "--range", "2"], "LOW,HIGH"), (["--quick", "--bands", "0"], "--bands")):
            _, err = self.rheo("render", "a", "--out", "wrong", *SIZE, *options, code=2)
            self.assertIn(words, err)
        if self.traced:
            self.assertIn("did you mean speed?", self.rheo("render", "a", "--out", "wrong", *SIZE, "--attribute", "sped", code=2)[1])
            self.assertIn("--attribute NAME", self.rheo("render", "a", "--out", "wrong", *SIZE, "--bands", "4", code=2)[1])
            self.assertIn("did you mean", self.rheo("render", "a", "--out", "wrong", *SIZE, "--what", "surface", "--attribute", "radus", code=2)[1])
        self.assertFalse((self.folder / "wrong").exists())

    def test_surface(self):
        if not self.traced:
            self.skipTest("built without Embree")
        folder = self.folder / "a/surface"
        points = self.draw("--what", "points")
        self.assertNotEqual(points, self.first)
        self.assertEqual(self.draw("--attribute", "speed"), points, "an attribute is one of particles")
        # A surface made on the spot is the one that would be written; only the box that the ground is fitted to comes from points or from a mesh.
        pictures = []
        for made in (True, False):
            self.draw("--camera", "3,2,4,0.5,0.2,0.5")
            pictures.append(channels(self.folder / "p/picture.0001.png"))
            self.rheo("surface", "a", "--mesh", "--quiet")
        difference = [abs(a - b) for a, b in zip(*pictures)]
        self.assertLess(sum(difference) / len(difference), 1)
        (folder / "surface.0001.ply").write_text(SURFACE)
        water = self.draw("--what", "surface")
        self.assertNotEqual(water, self.first)
        self.assertEqual(self.draw(), water, "a surface that is there is drawn")
        self.assertEqual(self.draw("--what", "points"), points)
        self.assertNotEqual(self.draw("--what", "both"), water)
        self.assertNotEqual(self.draw("--material", "chocolate"), water)
        shutil.rmtree(self.folder / "a/points")
        self.draw()  # surfaces alone are enough
        (folder / "surface.0001.ply").write_text(SURFACE.replace("3 1 2 3", "3 1 2 9"))
        self.assertIn("surface.0001.ply:17", self.rheo("render", "a", *SIZE, code=2)[1])

    def colours(self, path, least=8):
        """Colours of a picture in steps of 32, those of more than `least` pixels."""
        values = channels(path)
        counts = {}
        for i in range(0, len(values), 3):
            key = tuple(v // 32 for v in values[i:i + 3])
            counts[key] = counts.get(key, 0) + 1
        return {key for key, count in counts.items() if count > least}

    def test_layers(self):
        """Bands of a part of a vector, on particles with and without paths and on a surface, from a file and made on the spot."""
        rest = pathlib.Path(harness.SOURCE) / "tests/cli/tiny3d.yaml"
        self.rheo("run", rest, "--out", "a", "--frames", "1-3", "--force", "--quiet", "--set", "rest_position=true")
        layers = ["--attribute", "rest.y", "--bands", "6", "--palette", "strata", "--range", "0,0.5"]
        warm = lambda colours: {c for c in colours if c[0] > c[2] + 1}
        for how in (["--quick"], []) + ((["--what", "surface"],) if self.traced else ()):
            with self.subTest(how=how):
                smooth = self.draw(*how, "--attribute", "rest.y")
                self.assertNotEqual(self.draw(*how, *layers), smooth)
                self.assertGreaterEqual(len(warm(self.colours(self.folder / "p/picture.0001.png"))), 4)
        if not self.traced:
            return
        # The file of the surface has what paints it; the picture is that of one made on the spot but for the ground, which is fitted to another box.
        camera = ["--camera", "3,2,4,0.5,0.2,0.5"]
        self.draw("--what", "surface", *layers, *camera)
        made = channels(self.folder / "p/picture.0001.png")
        self.rheo("surface", "a", "--mesh", "--quiet")
        self.draw("--what", "surface", *layers, *camera)
        read = channels(self.folder / "p/picture.0001.png")
        self.assertLess(sum(abs(a - b) for a, b in zip(made, read)) / len(made), 1)
        # The section look of the scene says the same for good.
        scene = self.folder / "a/scene.yaml"
        text = scene.read_text()
        start = text.index("  paint:")
        wanted = "  paint: {attribute: rest.y, low: 0, high: 0.5, bands: 6, palette: strata}\n"
        scene.write_text(text[:start] + wanted + "\n".join(line for line in text[start:].splitlines()[1:] if not line.startswith("    ")) + "\n")
        self.draw(*camera)
        self.assertEqual(channels(self.folder / "p/picture.0001.png"), read)
        # Without an attribute particles have the colour of the material.
        self.draw("--what", "points", "--attribute", "none", "--material", "sand")
        self.assertTrue(warm(self.colours(self.folder / "p/picture.0001.png")))

    def test_layers_with_z_up(self):
        """rest.y is the height of the scene, whichever axis of the files points up."""
        pictures = []
        for up in "yz":
            self.rheo("run", pathlib.Path(harness.SOURCE) / "tests/cli/tiny3d.yaml", "--out", "a", "--frames", "1-1", "--force", "--quiet",
                      "--set", "rest_position=true", "--set", f"output.up={up}")
            self.draw("--quick", "--attribute", "rest.y", "--bands", "5", "--palette", "strata")
            pictures.append(channels(self.folder / "p/picture.0001.png"))
        # The files have their points in another order, and of spheres that are equally near the first is seen. rest.z would differ everywhere.
        differ = [abs(a - b) > 8 for a, b in zip(*pictures)]
        self.assertLess(sum(differ) / len(differ), 0.02)

    def test_film(self):
        if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
            self.skipTest("no ffmpeg")
        out, _ = self.rheo("render", "a", "--quick", "--film", "--out", "p", *SIZE)
        self.assertEqual(out.split()[-1], "p/film.mp4")
        asked = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0",
                                str(self.folder / "p/film.mp4")], capture_output=True, text=True, check=True)
        self.assertEqual(asked.stdout.strip(), "3")
        self.assertEqual(sorted(os.listdir(self.folder / "p")), ["film.mp4"] + [f"picture.000{i}.png" for i in (1, 2, 3)])

    def test_no_ffmpeg(self):
        done = subprocess.run([str(harness.RHEO), "render", "a", "--quick", "--film", "--out", "p", *SIZE], cwd=self.folder,
                              env={**os.environ, "PATH": "."}, capture_output=True, text=True, timeout=harness.TIMEOUT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("package ffmpeg", done.stderr)


if __name__ == "__main__":
    harness.RHEO, harness.SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
