#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""Each check in tools/ must pass a clean tree and find a planted violation.

usage: test_tools.py SOURCE_DIR
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = None
SPDX = "// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The Rheo authors\n"


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="scratch-tools-", dir=".")
        self.root = pathlib.Path(self.folder.name).resolve()

    def tearDown(self):
        self.folder.cleanup()

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def check(self, tool, argument=None):
        command = [sys.executable, str(SOURCE / "tools" / tool), str(argument or self.root)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def assert_found(self, tool, *words, argument=None):
        code, text = self.check(tool, argument)
        self.assertEqual(code, 1, text)
        for word in words:
            self.assertIn(word, text)

    def assert_clean(self, tool, argument=None):
        code, text = self.check(tool, argument)
        self.assertEqual(code, 0, text)


class Format(Planted):
    def setUp(self):
        super().setUp()
        self.put(".clang-format", (SOURCE / ".clang-format").read_text())
        self.put("src/base/one.c", "int one(void) { return 1; }\n")

    def test_clean(self):
        self.assert_clean("check-format")

    def test_too_wide(self):
        self.put("src/base/two.c", "int two;  // " + "x" * 120 + "\n")
        self.assert_found("check-format", "two.c:1:", "120 are allowed")

    def test_layout(self):
        if not shutil.which("clang-format-14"):
            self.skipTest("no clang-format")
        self.put("src/base/two.c", "int two( void ) {\nreturn 2; }\n")
        self.assert_found("check-format", "two.c:1:")

    def test_no_sources(self):
        (self.root / "src/base/one.c").unlink()
        self.assert_found("check-format", "no sources")


class Layers(Planted):
    def setUp(self):
        super().setUp()
        self.put("src/physics/registry.c", '#include "physics/one/one.h"\n#include "physics/physics.h"\n')
        self.put("src/physics/one/one.c", '#include "physics/one/one.h"\n#include "physics/physics.h"\n#include "grid/x.h"\n')

    def test_clean(self):
        self.assert_clean("check-layers")

    def test_upward_include(self):
        self.put("src/grid/tile.c", '#include "base/status.h"\n  #  include "world/world.h"\n')
        self.assert_found("check-layers", "src/grid/tile.c:2:", "world/world.h")

    def test_method_includes_method(self):
        self.put("src/physics/two/two.c", '#include "physics/one/one.h"\n')
        self.assert_found("check-layers", "two.c:1:", "physics/two includes physics/one")

    def test_include_without_room(self):
        self.put("src/base/a.c", '#include "b.h"\n')
        self.assert_found("check-layers", "a.c:1:", "names its room")

    def test_file_outside_rooms(self):
        self.put("src/misc/a.c", "int a;\n")
        self.assert_found("check-layers", "a.c:1:", "outside the rooms")

    def test_empty_tree(self):
        self.assert_found("check-layers", "no sources", argument=self.root / "src" / "physics")


class Meshes(Planted):
    """What tools/make-mesh writes is closed and faces outwards, and the meshes beside the scenes are what it writes."""

    def make(self, kind):
        path = self.root / "mesh.obj"
        subprocess.run([sys.executable, str(SOURCE / "tools" / "make-mesh"), kind, str(path)], check=True)
        rows = [line.split() for line in path.read_text().splitlines()]
        vertices = [tuple(map(float, r[1:])) for r in rows if r[0] == "v"]
        return path.read_bytes(), vertices, [tuple(int(i) - 1 for i in r[1:]) for r in rows if r[0] == "f"]

    def test_closed_and_outward(self):
        volumes = {"torus-knot": 0.0066, "sphere": 0.52, "cone": 0.26, "city": 4.2e5, "terrain": 2545, "hourglass": 0.0669, "rabbit": 0.1089,
                   "gear": 0.1455, "dipper": 0.01105, "strawberry": 0.0423, "sieve": 0.045, "tumbler": 0.0958}
        for kind, expected in volumes.items():
            _, v, faces = self.make(kind)
            edges = [(f[i], f[(i + 1) % 3]) for f in faces for i in range(3)]
            self.assertEqual(len(edges), len(set(edges)), kind)
            self.assertEqual(set(edges), {(b, a) for a, b in edges}, kind)
            volume = sum(v[a][0] * (v[b][1] * v[c][2] - v[b][2] * v[c][1]) + v[a][1] * (v[b][2] * v[c][0] - v[b][0] * v[c][2])
                         + v[a][2] * (v[b][0] * v[c][1] - v[b][1] * v[c][0]) for a, b, c in faces) / 6
            self.assertAlmostEqual(volume / expected, 1, delta=0.02, msg=f"{kind}: {volume}")

    def test_neck(self):
        """The narrowest ring of an hourglass is as wide as asked for, and the axis lies inside all the way."""
        path = self.root / "mesh.obj"
        for neck in (0.04, 0.1):
            subprocess.run([sys.executable, str(SOURCE / "tools" / "make-mesh"), "hourglass", str(path), "--neck", str(neck)], check=True)
            rows = [line.split() for line in path.read_text().splitlines()]
            radii = [(float(r[1]) ** 2 + float(r[3]) ** 2) ** 0.5 for r in rows if r[0] == "v" and abs(float(r[2])) < 0.3]
            self.assertAlmostEqual(2 * min(radii), neck, delta=0.02 * neck)
        for words in (["cone", str(path), "--neck", "0.1"], ["hourglass", str(path), "--neck", "2"]):
            done = subprocess.run([sys.executable, str(SOURCE / "tools" / "make-mesh"), *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--neck", done.stderr)

    def test_committed(self):
        meshes = sorted((SOURCE / "scenes" / "meshes").glob("*.obj"))
        self.assertGreaterEqual(len(meshes), 4)
        for mesh in meshes:
            self.assertEqual(self.make(mesh.stem.replace("_", "-"))[0], mesh.read_bytes(), mesh.name)


class Prefix(Planted):
    def archive(self, text):
        source = self.put("a.c", text)
        subprocess.run(["cc", "-c", str(source), "-o", str(self.root / "a.o")], check=True)
        archive = self.root / "liba.a"
        subprocess.run(["ar", "rc", str(archive), str(self.root / "a.o")], check=True)
        return archive

    def test_clean(self):
        text = "int rh_a(void); int rh_a(void) { return 1; }\nint rheo_b = 2; static int c; int *rh_c(void) { return &c; }\n"
        self.assert_clean("check-prefix", self.archive(text))

    def test_function(self):
        self.assert_found("check-prefix", "a.o: leaked:", argument=self.archive("int rh_a; int leaked(void) { return 1; }\n"))

    def test_variable(self):
        self.assert_found("check-prefix", "a.o: shared:", argument=self.archive("int rh_a = 1; int shared = 3;\n"))

    def test_no_archive(self):
        self.assert_found("check-prefix", argument=self.root / "missing.a")


class Slowest(Planted):
    def test_order(self):
        cases = "".join(f'<testcase name="unit/t{n}" time="{n % 7}.5"/>' for n in range(13))
        path = self.put("t.xml", f'<?xml version="1.0"?>\n<testsuite name="x" tests="13">{cases}</testsuite>\n')
        code, text = self.check("slowest-tests", path)
        self.assertEqual(code, 0, text)
        lines = text.splitlines()
        self.assertEqual(len(lines), 11)
        self.assertIn("13 tests", lines[0])
        times = [float(line.split()[0]) for line in lines[1:]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertIn("unit/t6", lines[1])

    def test_no_file(self):
        self.assert_found("slowest-tests", "missing.xml", argument=self.root / "missing.xml")


class Tree(Planted):
    def setUp(self):
        super().setUp()
        self.put("src/base/fine.c", SPDX + "//\n// What it is.\nint rh_x;\n// a ratio m/work and https://example.org/home are not paths\n")

    def test_clean(self):
        self.put("tests/unit/t.c", SPDX + '//\n// writes under "/' + 'tmp/x"\n')
        self.assert_clean("check-tree")

    def test_machine_path(self):
        for room in ("home", "root", "work", "tmp"):
            with self.subTest(room=room):
                self.put("docs/page.md", f"first\nsee /{room}/someone/file\n")
                self.assert_found("check-tree", "docs/page.md:2:", f"/{room}")

    def test_home_in_tests(self):
        self.put("tests/unit/t.c", SPDX + '//\n// "/' + 'home/someone"\n')
        self.assert_found("check-tree", "tests/unit/t.c:4:")

    def test_long_file(self):
        self.put("src/base/long.c", SPDX + "//\n" * 999)
        self.assert_found("check-tree", "src/base/long.c:1001:", "1001 lines")

    def test_missing_spdx(self):
        self.put("src/base/bare.h", "#pragma once\n")
        self.assert_found("check-tree", "src/base/bare.h:1:", "SPDX")

    def test_missing_opening(self):
        for text in ("#include <stdio.h>\n", "\n// late\nint x;\n", "//\n#include <stdio.h>\n"):
            with self.subTest(text=text):
                self.put("src/base/silent.c", SPDX + text)
                self.assert_found("check-tree", "src/base/silent.c:3:", "expected a comment")

    def test_page_that_the_contents_do_not_link(self):
        self.put("docs/README.md", "[one](one.md)\n")
        self.put("docs/one.md", "one\n")
        self.assert_clean("check-tree")
        self.put("docs/theory/two.md", "two\n")
        self.assert_found("check-tree", "docs/README.md:1:", "theory/two.md")

    def test_long_function(self):
        body = "{\n" + "    x();\n" * 119 + "}\n"
        self.put("src/base/f.c", SPDX + "//\n// What it is.\nstatic void f(int a,\n              int b)\n" + body)
        self.assert_found("check-tree", "src/base/f.c:5:", "function of 123 lines")

    def test_excused_function(self):
        body = "{\n" + "    x();\n" * 200 + "}\n"
        self.put("src/base/f.c", SPDX + "//\n// What it is.\n\n// Long because it is one table.\nstatic void f(void)\n" + body)
        self.assert_clean("check-tree")

    def test_code_of_a_specification(self):
        for code in ("SPL" + "-4", "O" + "-20", "FLIP" + "-3", "AX" + "-17"):
            with self.subTest(code=code):
                self.put("src/base/coded.h", SPDX + f"// The limit ({code}) on fillings.\n")
                self.assert_found("check-tree", "src/base/coded.h:3:", code)

    def test_code_in_a_page_and_a_test(self):
        self.put("docs/page.md", "first\nas SND" + "-6 has it\n")
        self.put("tests/unit/t.c", SPDX + "// t" + "3: mass stays\n")
        self.assert_found("check-tree", "docs/page.md:2:", "tests/unit/t.c:3:")

    def test_real_names_are_no_codes(self):
        self.put("src/base/names.h", SPDX + "// UTF-8, FNV-1a, CRC-32, AVX-2, RK-2, ISO-8601; x-1, N-1-k, 1e-3, -O2, EPS-2D\n")
        self.assert_clean("check-tree")

    def test_folder_that_the_readme_does_not_name(self):
        self.put("README.md", "| `src/base` | status |\n")
        self.put("src/lang/a.c", SPDX + "//\n// What it is.\n")
        self.assert_found("check-tree", "README.md:1:", "src/lang")
        self.put("README.md", "| `src/base` | status |\n| `src/lang` | expressions |\n")
        self.assert_clean("check-tree")

    def test_short_function_passes(self):
        body = "{\n" + "    x();\n" * 117 + "}\n"
        self.put("src/base/f.c", SPDX + "//\n// What it is.\n\nstatic void f(void)\n" + body)
        self.assert_clean("check-tree")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
