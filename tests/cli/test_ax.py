#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""rheo ax from outside: programs from the line and from files, values, groups, folders, messages, exit codes, nothing half-written.

usage: test_ax.py RHEO SOURCE_DIR AX_DATA [unittest options]
"""
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import harness  # noqa: E402
from harness import Case  # noqa: E402

AX_DATA = None  # turns text into .vdb files and back


class Files(Case):
    def setUp(self):
        super().setUp()
        for kind in ("points", "volumes"):
            self.data("make", harness.SOURCE / "tests/lang/golden" / f"{kind}_input.txt", f"{kind}.vdb")

    def data(self, *words):
        return subprocess.run([AX_DATA, *map(str, words)], cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def column(self, path, name):
        """Values of an attribute of points, in the order of ids; None when there is none."""
        rows = [line.split() for line in self.data("dump", path).splitlines()]
        found = [row for row in rows if row[0] == name]
        if not found:
            return None
        return [float.fromhex(v) if "x" in v else v if v.startswith('"') else int(v) for v in found[0][2:]]

    def refused(self, *words, code=2):
        """The message; nothing may be written."""
        _, err = self.rheo("ax", *words, code=code)
        self.assertFalse((self.folder / "o.vdb").exists())
        self.assertEqual([path for path in self.folder.rglob("*.tmp-*")], [])
        return err


class Running(Files):
    def test_code_on_the_line(self):
        out, err = self.rheo("ax", "int@r = int@id * 2;", "points.vdb", "-o", "o.vdb")
        self.assertEqual(out, "")
        self.assertEqual(err, "o.vdb  points 6\n")
        self.assertEqual(self.column("o.vdb", "r"), [0, 2, 4, 6, 8, 10])
        self.assertEqual(self.column("o.vdb", "j"), self.column("points.vdb", "j"))

    def test_code_from_a_file(self):
        (self.folder / "double.ax").write_text("// twice\nint@r = int@id * 2;\n")
        for option in (["-f", "double.ax"], ["--file=double.ax"]):
            self.rheo("ax", *option, "points.vdb", "--out", "o.vdb")
            self.assertEqual(self.column("o.vdb", "r"), [0, 2, 4, 6, 8, 10])

    def test_output_may_be_the_input(self):
        self.rheo("ax", "int@id += 10;", "points.vdb", "-o", "points.vdb")
        self.assertEqual(self.column("points.vdb", "id"), [10, 11, 12, 13, 14, 15])

    def test_values(self):
        self.rheo("ax", "f@r = $scale * int@id + int$shift; v@w = v$wind; s@name = s$word; double@d = external(\"loose\");", "points.vdb", "-o", "o.vdb", "--set", "scale=0.5",
                  "--set", "shift=-3", "--set", "wind=[1, 2.5, -3]", "--set", "word=a b", "--set", "loose=7")
        self.assertEqual(self.column("o.vdb", "r"), [-3, -2.5, -2, -1.5, -1, -0.5])
        self.assertEqual(self.column("o.vdb", "w")[:3], [1, 2.5, -3])
        self.assertIn('name string "a b"', self.data("dump", "o.vdb"))
        self.assertEqual(self.column("o.vdb", "d"), [7] * 6)

    def test_wrong_values(self):
        code = "f@r = $scale + int$count + length(v$wind);"
        cases = {"scale=abc": "expected one number", "count=1.5": "a whole number", "count=99999999999": "a whole number", "wind=1": "3 numbers", "wind=[1, 2]": "3 numbers",
                 "sclae=1": "did you mean scale?", "scale": "expected NAME=VALUE", "=3": "expected NAME=VALUE"}
        for setting, message in cases.items():
            self.assertIn(message, self.refused(code, "points.vdb", "-o", "o.vdb", "--set", setting))

    def test_group(self):
        self.rheo("ax", "int@r = 1;", "points.vdb", "-o", "some.vdb", "--group", "wet")
        self.assertEqual(self.column("some.vdb", "r"), [1, 0, 1, 0, 1, 0])
        self.assertIn('did you mean "wet"?', self.refused("int@r = 1;", "points.vdb", "-o", "o.vdb", "--group", "wat"))

    def test_points_and_volumes(self):
        code = "f@f = 3;"
        self.rheo("ax", code, "points.vdb", "volumes.vdb", "-o", "both.vdb")
        self.assertEqual(self.column("both.vdb", "f"), [3] * 6)
        dump = self.data("dump", "both.vdb")
        self.assertIn("grid f float", dump)  # the missing volume, made empty
        self.assertIn("grid tiled float", dump)
        self.rheo("ax", code, "points.vdb", "volumes.vdb", "-o", "some.vdb", "--points")
        self.assertNotIn("grid f float", self.data("dump", "some.vdb"))
        self.assertIn("expected points", self.refused(code, "volumes.vdb", "-o", "o.vdb", "--points"))
        self.assertIn("expected volumes", self.refused(code, "points.vdb", "-o", "o.vdb", "--volumes"))

    def test_iterate(self):
        _, on = self.rheo("ax", "@a = 1;", "volumes.vdb", "-o", "on.vdb")
        _, off = self.rheo("ax", "@a = 1;", "volumes.vdb", "-o", "off.vdb", "--iterate", "off")
        _, all_ = self.rheo("ax", "@a = 1;", "volumes.vdb", "-o", "all.vdb", "--iterate", "all")
        number = [int(re.sub(r"\D", "", re.search(r"voxels ([\d ]+)", text).group(1))) for text in (on, off, all_)]
        self.assertEqual(number[0], 8)
        self.assertEqual(number[0] + number[1], number[2])
        self.assertIn("expected on, off or all", self.refused("@a = 1;", "volumes.vdb", "-o", "o.vdb", "--iterate", "maybe"))

    def test_folder(self):
        self.data("make", harness.SOURCE / "tests/lang/golden/points_input.txt", "other.vdb")
        self.rheo("ax", "int@r = 4;", "points.vdb", "other.vdb", "-o", "made/")
        for name in ("points.vdb", "other.vdb"):
            self.assertEqual(self.column(f"made/{name}", "r"), [4] * 6)
        # A mistake in the second leaves the first, which is whole.
        (self.folder / "broken.vdb").write_text("no volume at all")
        self.rheo("ax", "int@r = 4;", "points.vdb", "broken.vdb", "-o", "half/", code=2)
        self.assertEqual([path.name for path in (self.folder / "half").iterdir()], ["points.vdb"])
        self.assertIn("would both become points.vdb", self.refused("int@r = 4;", "points.vdb", "made/points.vdb", "-o", "again/"))

    def test_bind(self):
        self.rheo("ax", "f@speed = 3;", "points.vdb", "-o", "o.vdb", "--bind", "speed=f")
        self.assertEqual(set(self.column("o.vdb", "f")), {3.0})
        self.assertIsNone(self.column("o.vdb", "speed"))
        (self.folder / "o.vdb").unlink()
        self.assertIn("expected NAME=DATA", self.refused("@r = 1;", "points.vdb", "-o", "o.vdb", "--bind", "speed"))
        self.assertIn("P cannot be bound", self.refused("@r = 1;", "points.vdb", "-o", "o.vdb", "--bind", "r=P"))
        self.assertIn('both mean "f"', self.refused("@r = f@f;", "points.vdb", "-o", "o.vdb", "--bind", "r=f"))
        self.assertIn("P cannot be bound", self.refused("@r = 1;", "--check", "--bind", "P=r"))

    def test_tiles_and_levels(self):
        for words in (["--tiles", "on"], ["--tiles", "off"], ["--levels", "0"], ["--levels", "0-3"]):
            self.rheo("ax", "@f += 1;", "volumes.vdb", "-o", "o.vdb", *words)
        (self.folder / "o.vdb").unlink()
        self.assertIn("expected auto, on or off", self.refused("@f += 1;", "volumes.vdb", "-o", "o.vdb", "--tiles", "often"))
        (self.folder / "tiles.txt").write_text("grid f float 1 0\nvoxel 0 0 0 1\ntile 8 0 0 8 1\ntile 128 0 0 128 1\n")
        self.data("make", "tiles.txt", "tiles.vdb")
        for levels, changed in (("0", "222"), ("1", "122"), ("2", "112"), ("0-0", "211"), ("1-1", "121"), ("0:1", "221")):
            self.rheo("ax", "@f = 2;", "tiles.vdb", "-o", "o.vdb", "--levels", levels, "--tiles", "off")
            rows = [line.split() for line in self.data("dump", "o.vdb").splitlines() if not line.startswith("grid")]
            self.assertEqual("".join(str(int(float.fromhex(row[-1]))) for row in rows), changed, levels)
        (self.folder / "o.vdb").unlink()
        for wrong in ("4", "2-1", "0-", "a", "0-12"):
            self.assertIn("expected a level from 0", self.refused("@f += 1;", "volumes.vdb", "-o", "o.vdb", "--levels", wrong))

    def test_facts_of_a_frame(self):
        """$frame and so on are what a frame of ours says, unless they are set; other files have none."""
        self.rheo("run", harness.SOURCE / "tests/cli/tiny2d.yaml", "--out", "run", "--frames", "1-3", "--quiet")
        code = "if (int64@id < 1l) { print(i$frame); print($fps); print($cell > 0.0f ? 1 : 0); print(double$time > 0.0 ? 1 : 0); }"
        out, _ = self.rheo("ax", code, "run/points/points.0002.vdb", "run/points/points.0003.vdb", "-o", "both/")
        self.assertEqual(out.split(), ["2", "24", "1", "1", "3", "24", "1", "1"])
        out, _ = self.rheo("ax", code, "run/points/points.0003.vdb", "--dry", "--set", "frame=9")
        self.assertEqual(out.split(), ["9", "24", "1", "1"])
        self.rheo("ax", "f@r = $frame;", "points.vdb", "-o", "o.vdb")
        self.assertEqual(set(self.column("o.vdb", "r")), {0.0})

    def test_control_c(self):
        """Ends at the next block, with exit code 3 and without a file."""
        code = "for (int64 i = 0l; i < int64$n; i++) f@r = f@r * 0.99f + 1.0f;"
        process = self.start("ax", code, "points.vdb", "-o", "o.vdb", "--set", "n=1000000000", "--budget", "2000000000", "--threads", "1")
        try:
            time.sleep(1.5)
            self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
            ended, err = self.finish(process)
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
        self.assertEqual(ended, 3, err)
        self.assertIn("stopping after this block", err)
        self.assertEqual([path for path in self.folder.glob("o.vdb*")], [])

    def test_the_bytes_of_the_library(self):
        """Points are packed by us; OpenVDB's own writer gives the same file but for its identity and our seal."""
        self.rheo("ax", "f@drawn = float(rand()); v@place = v@P;", "points.vdb", "-o", "o.vdb")
        self.rheo("run", harness.SOURCE / "tests/cli/tiny3d.yaml", "--out", "run", "--frames", "1-1", "--quiet")
        for name in ("o.vdb", "run/points/points.0001.vdb"):
            self.data("copy", name, "copy.vdb")
            ours, theirs = (self.folder / name).read_bytes(), (self.folder / "copy.vdb").read_bytes()
            self.assertEqual(ours[-16:-8], b"rheosum2")
            identity = slice(21, 57)
            self.assertEqual(ours[:identity.start] + ours[identity.stop:-16], theirs[:identity.start] + theirs[identity.stop:], name)

    def test_print(self):
        out, _ = self.rheo("ax", "print(int@id);", "points.vdb", "--dry", "--quiet")
        self.assertEqual(sorted(out.split()), list("012345"))
        again, _ = self.rheo("ax", "print(int@id);", "points.vdb", "--dry", "--quiet", "--threads", "1")
        self.assertEqual(out, again)

    def test_threads(self):
        code = "v@P += {rand() * 20, 0, 0}; if (rand() < 0.3) deletepoint(); s@r = s@name + \"!\";"
        for n in (1, 2, 5):
            self.rheo("ax", code, "points.vdb", "-o", f"t{n}.vdb", "--threads", n)
        self.assertEqual((self.folder / "t1.vdb").read_bytes(), (self.folder / "t2.vdb").read_bytes())
        self.assertEqual((self.folder / "t1.vdb").read_bytes(), (self.folder / "t5.vdb").read_bytes())


class Telling(Files):
    def test_listing(self):
        out, _ = self.rheo("ax", "v@v += v$wind; if (ingroup(\"wet\")) deletepoint();", "--check", "--print")
        for row in ("on points", "reads and writes vec3f@v", "takes            vec3f$wind", 'looks into       group "wet"', "deletes points"):
            self.assertIn(row, out)
        out, _ = self.rheo("ax", "f@a = f@b * 2; float c = f@d; if (c > 1) f@e = 3;", "--check", "--print")
        self.assertRegex(out, r"(?m)^  writes +float@a, from b$")
        self.assertRegex(out, r"(?m)^  writes +float@e, from( e)? d$")
        self.assertRegex(out, r"(?m)^  reads +float@b$")
        out, _ = self.rheo("ax", "f@a = 1 + 2 * 3;", "--check", "--tree")
        self.assertIn("(+ 1 (* 2 3))", out)
        out, _ = self.rheo("ax", "@a = getcoordx();", "--check", "--print", "--volumes")
        self.assertIn("asks where the voxel is", out)

    def test_functions(self):
        out, _ = self.rheo("ax", "--list")
        self.assertIn("curlnoise:", out)
        some, _ = self.rheo("ax", "--list", "noise")
        self.assertIn("simplexnoise:", some)
        self.assertNotIn("deletepoint", some)

    def test_times(self):
        _, err = self.rheo("ax", "@r = 1;", "points.vdb", "-o", "o.vdb", "-v")
        self.assertRegex(err, r"compile [\d.]+ s  read [\d.]+ s  execute [\d.]+ s  write [\d.]+ s")

    def test_help(self):
        out, _ = self.rheo("help", "ax")
        self.assertIn("-o, --out FILE", out)


class Refusing(Files):
    def test_mistakes_in_a_program(self):
        err = self.refused("float a = legnth(v@v);\nint b = c;", "points.vdb", "-o", "o.vdb")
        self.assertIn("code:1:11: error: ", err)
        self.assertIn("did you mean length?", err)
        self.assertRegex(err, r"\n    float a = legnth\(v@v\);\n {14}\^~")
        self.assertIn("code:2:9: error: ", err)
        self.assertIn("found 2 mistakes, nothing was written", err)
        err = self.refused("int a = b;\nint c = d;", "points.vdb", "-o", "o.vdb", "--max-errors", "1")
        self.assertNotIn("2:9", err)
        self.assertIn("1 more message", err)

    def test_warnings(self):
        _, err = self.rheo("ax", "int@r = 1.5 / 0;", "points.vdb", "-o", "fine.vdb")
        self.assertIn("warning", err)
        self.assertIn("warning", self.refused("int@r = 1.5 / 0;", "points.vdb", "-o", "o.vdb", "--werror"))

    def test_data_that_do_not_fit(self):
        self.assertIn("write float@f", self.refused("int@f = 2;", "points.vdb", "-o", "o.vdb"))
        err = self.refused("f@r = f@missing;", "points.vdb", "-o", "o.vdb", "--create-missing", "off")
        self.assertIn('there is no attribute "missing"', err)
        self.assertIn("vec2f", self.refused("vec2f@a = 1;", "volumes.vdb", "-o", "o.vdb"))
        self.refused("deletepoint();", "volumes.vdb", "-o", "o.vdb")

    def test_budget(self):
        err = self.refused("while (true) f@r += 1;", "points.vdb", "-o", "o.vdb", "--budget", "1000")
        self.assertIn("1:1: an element took more than 1000 steps", err)

    def test_usage(self):
        self.assertIn("expected 'CODE' or --file", self.refused())
        self.assertIn("expected a .vdb file", self.refused("@r = 1;", "-o", "o.vdb"))
        self.assertIn("expected the name of the file to write", self.refused("@r = 1;", "points.vdb"))
        self.assertIn("expected a program before the files", self.refused("points.vdb", "-o", "o.vdb"))
        self.assertIn("no such file", self.refused("@r = 1;", "gone.vdb", "-o", "o.vdb", code=1))
        self.assertIn("no such file", self.refused("-f", "gone.ax", "points.vdb", "-o", "o.vdb", code=1).lower())
        self.assertIn("unknown option -q", self.refused("@r = 1;", "points.vdb", "-q"))

    def test_damaged_file(self):
        whole = (self.folder / "points.vdb").read_bytes()
        (self.folder / "cut.vdb").write_bytes(whole[:len(whole) // 2])
        self.refused("@r = 1;", "cut.vdb", "-o", "o.vdb")
        (self.folder / "text.vdb").write_text("no volume at all")
        self.refused("@r = 1;", "text.vdb", "-o", "o.vdb")

    def test_cannot_write(self):
        self.refused("@r = 1;", "points.vdb", "-o", "/nowhere/at/all/o.vdb", code=1)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    harness.RHEO = pathlib.Path(sys.argv.pop(1)).resolve()
    harness.SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    AX_DATA = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
