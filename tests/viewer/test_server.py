#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Rheo authors
"""The server of `rheo view` from outside: what it serves, and what it does when it is attacked.

usage: test_server.py RHEO SOURCE_DIR [unittest options]
"""
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

RHEO = SOURCE = None
PATIENCE = 60  # s; longer than anything takes on a loaded machine, no measure of speed

SCENE = """rheo: 1
title: Attacked
cell: 0.1
frames: {last: 3, fps: 10}
physics: {liquid: {}}
bodies: [{name: water, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]
solids: [{name: tank, inside_out: true, shape: {box: {min: [0, 0, 0], max: [2, 2, 1]}}}]
probes: [{name: P, where: {point: {position: [0.5, 0.1, 0.5]}}}]
"""

# A square of two triangles as `rheo surface` writes them: one quad.
PLY = (b"ply\nformat binary_little_endian 1.0\nelement vertex 4\n" +
       b"".join(b"property float %s\n" % name for name in (b"x", b"y", b"z", b"nx", b"ny", b"nz")) +
       b"element face 1\nproperty list uchar uint vertex_indices\nend_header\n" +
       b"".join(struct.pack("<6f", x, 0, z, 0, 1, 0) for x, z in ((0, 0), (0, 1), (1, 1), (1, 0))) + struct.pack("<B4I", 4, 0, 1, 2, 3))


class Server:
    """A `rheo view` that is running; its address."""

    def __init__(self, run, *options):
        self.process = subprocess.Popen([RHEO, "view", str(run), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})\n", line)
        if not match:
            raise AssertionError(f"found {line!r}, expected the address\n{self.process.stderr.read()}")
        self.port = int(match.group(1))
        self.token = match.group(2)
        self.cookie = f"rheo_{self.port}={self.token}"

    def stop(self, number=signal.SIGINT):
        """Returns exit code and what was said on stderr."""
        self.process.send_signal(number)
        try:
            _, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, err

    def get(self, path, headers=None, method="GET", host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", f"127.0.0.1:{self.port}" if host is None else host)
            for name, value in {"Cookie": self.cookie, **(headers or {})}.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def raw(self, data, limit=1 << 16):
        """Sends bytes as they are; returns what came back until the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as s:
            got = b""
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                while len(got) < limit and (part := s.recv(4096)):
                    got += part
            except TimeoutError:
                raise
            except OSError:  # hung up on us, which is one of the right answers
                pass
            return got

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="viewer-", dir=".", ignore_cleanup_errors=True)
        cls.folder = pathlib.Path(cls.holder.name).resolve()
        (cls.folder / "scene.yaml").write_text(SCENE)
        (cls.folder / "secret.txt").write_text("root:secret")
        cls.run_folder = cls.folder / "run"
        subprocess.run([RHEO, "run", cls.folder / "scene.yaml", "--out", cls.run_folder, "--quiet"], check=True, timeout=PATIENCE)
        (cls.run_folder / "surface").mkdir()
        (cls.run_folder / "surface" / "surface.0002.ply").write_bytes(PLY)
        cls.server = Server(cls.run_folder, "--quiet")

    @classmethod
    def tearDownClass(cls):
        code, err = cls.server.stop()
        cls.holder.cleanup()
        assert code == 0 and err == "", (code, err)

    def assert_alive(self):
        answer, body = self.server.get("/api/run")
        for _ in range(50):
            if answer.status != 429:
                break
            time.sleep(0.1)
            answer, body = self.server.get("/api/run")
        self.assertEqual(answer.status, 200)
        self.assertEqual(json.loads(body)["title"], "Attacked")
        self.assertIsNone(self.server.process.poll())


def unpack(body, kind):
    """Description and data of a message (src/view/wire.h)."""
    assert body[:4] == kind, body[:16]
    length, = struct.unpack("<I", body[4:8])
    return json.loads(body[8:8 + length]), body[8 + length:]


class Serves(Case):
    def test_page(self):
        for path, kind in (("/", "text/html"), ("/viewer.js", "text/javascript"), ("/viewer.css", "text/css"), ("/decode.js", "text/javascript"),
                           ("/licenses.txt", "text/plain")):
            with self.subTest(path=path):
                answer, body = self.server.get(path)
                self.assertEqual(answer.status, 200)
                self.assertTrue(answer.headers["Content-Type"].startswith(kind))
                name = "index.html" if path == "/" else path[1:]
                self.assertEqual(body, (SOURCE / "viewer" / "dist" / name).read_bytes())
        page = self.server.get("/")[1].decode()
        self.assertNotRegex(page, r"<script(?![^>]*\bsrc=\"/)|\bon\w+=\"|\bstyle=\"|https?://(?!www\.w3\.org)")

    def test_headers(self):
        for path in ("/", "/api/run", "/nothing"):
            headers = self.server.get(path)[0].headers
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("*", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertIsNone(headers["Access-Control-Allow-Origin"])

    def test_state(self):
        state = json.loads(self.server.get("/api/run")[1])
        self.assertEqual([frame for frame, _, _ in state["frames"]], [1, 2, 3])
        self.assertEqual([bool(surface) for _, _, surface in state["frames"]], [False, True, False])
        self.assertEqual((state["last"], state["fps"], state["dimension"]), (3, 10, 3))
        self.assertGreater(state["log"]["bytes"], 100)

    def test_points(self):
        answer, plain = self.server.get("/api/points?frame=2&attribute=v")
        self.assertEqual(answer.status, 200)
        facts, data = unpack(plain, b"RHP1")
        self.assertEqual((facts["frame"], facts["attribute"]), (2, "v"))
        self.assertEqual(facts["count"], facts["total"])
        self.assertEqual(len(data), 8 * facts["count"])
        self.assertEqual({"P", "v", "id"} - {a["name"] for a in facts["attributes"]}, set())
        answer, packed = self.server.get("/api/points?frame=2&attribute=v", {"Accept-Encoding": "gzip"})
        self.assertEqual(answer.headers["Content-Encoding"], "gzip")
        self.assertLess(len(packed), len(plain))
        self.assertEqual(gzip.decompress(packed), plain)
        answer, refused = self.server.get("/api/points?frame=2&attribute=v", {"Accept-Encoding": "br, gzip;q=0"})
        self.assertEqual(refused, plain)
        facts, data = unpack(self.server.get("/api/points?frame=2&limit=100")[1], b"RHP1")
        self.assertTrue(50 < facts["count"] <= 100)
        self.assertIsNone(facts["attribute"])

    def test_surface_solids_scene_log(self):
        facts, _ = unpack(self.server.get("/api/surface?frame=2")[1], b"RHM1")
        self.assertEqual((facts["vertices"], facts["triangles"]), (4, 2))
        facts, data = unpack(self.server.get("/api/solids")[1], b"RHS1")
        self.assertEqual([s["role"] for s in facts["solids"]], ["container"])
        self.assertEqual(len(data), 24 * 12 + 12 * 12 + 48)
        self.assertEqual(self.server.get("/api/scene")[1], (self.run_folder / "scene.yaml").read_bytes())
        head, *lines = self.server.get("/api/log")[1].decode().splitlines()
        self.assertEqual(lines, (self.run_folder / "log.jsonl").read_text().splitlines())
        head = json.loads(head)
        more = self.server.get(f"/api/log?version={head['version']}&offset={head['next']}")[1].decode().splitlines()
        self.assertEqual(len(more), 1)

    def test_probes(self):
        head, *lines = self.server.get("/api/probes")[1].decode().splitlines()
        self.assertEqual(lines, (self.run_folder / "probes.csv").read_text().splitlines())
        self.assertTrue(lines[0].startswith("time [s],P.pressure [Pa],"))
        head = json.loads(head)
        more = self.server.get(f"/api/probes?version={head['version']}&offset={head['next']}")[1].decode().splitlines()
        self.assertEqual(len(more), 1)

    def test_head(self):
        answer, body = self.server.get("/api/scene", method="HEAD")
        self.assertEqual((answer.status, body), (200, b""))

    def test_missing_frames(self):
        for path in ("/api/points?frame=4", "/api/surface?frame=1", "/api/points?frame=999999999999999999"):
            answer, body = self.server.get(path)
            self.assertEqual(answer.status, 404)
            self.assertIn("error", json.loads(body))


class Attacked(Case):
    def test_traversal(self):
        targets = ["scene.yaml", "../secret.txt", "etc/passwd", "secret.txt", "run/scene.yaml", "log.jsonl", "points/points.0001.vdb"]
        ways = ["/{}", "/../{}", "/../../{}", "/api/../{}", "//{}", "/./{}", "/%2e%2e/{}", "/%2e%2e%2f{}", "/%252e%252e%252f{}", "/..%5c{}", "/..%c0%af{}",
                "/api/scene/../{}", "/api/points?frame=../{}", "/api/points?frame=1&attribute=../../{}", "/viewer.js/../{}", "/{}%00.js", "{}",
                "/api/points/..;/{}", "/api/log?offset=/{}", "/file:///{}", "/api/scene%00/{}", "/%2fetc%2fpasswd?{}"]
        scene = (self.run_folder / "scene.yaml").read_bytes()
        for target in targets:
            for way in ways:
                path = way.format(target)
                got = self.server.raw(f"GET {path} HTTP/1.1\r\nHost: localhost:{self.server.port}\r\nCookie: {self.server.cookie}\r\nConnection: close\r\n\r\n".encode())
                status = int(got.split()[1]) if got.startswith(b"HTTP/1.") else 400
                self.assertNotIn(b"root:", got, path)
                self.assertNotIn(scene[:40], got, path)
                if "attribute=" in way:
                    self.assertIn(status, (200, 400), path)  # no such attribute
                else:
                    self.assertIn(status, (400, 404, 429), path)
                if status == 429:
                    time.sleep(0.3)
        self.assert_alive()

    def test_wrong_numbers(self):
        for query in ("frame=", "frame=-1", "frame=1.5", "frame=1e3", "frame=0x1", "frame= 1", "frame=9" + "9" * 30, "frame=abc", "frame=1&limit=0",
                      "frame=1&limit=99999999999", "frame=1&limit=-5", "frame=1&attribute=" + "a" * 40, "limit=5", ""):
            answer, body = self.server.get("/api/points?" + query.replace(" ", "%20"))
            self.assertEqual(answer.status, 400, query)
            self.assertIn("expected", json.loads(body)["error"])
        answer, body = self.server.get("/api/points?frame=1&attribute=%22%5c%0a%00%ff")
        self.assertEqual(answer.status, 200)
        self.assertIsNone(unpack(body, b"RHP1")[0]["attribute"])

    def test_methods(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "FOO"):
            answer, body = self.server.get("/api/run", method=method)
            self.assertEqual(answer.status, 405, method)
            self.assertIn("error", json.loads(body))
            self.assertEqual(answer.headers["Allow"], "GET, HEAD")
        # A body, large and announced larger, is not read.
        got = self.server.raw(b"POST / HTTP/1.1\r\nHost: localhost:%d\r\nCookie: %s\r\nContent-Length: 1000000000\r\n\r\n" % (self.server.port, self.server.cookie.encode()) + b"x" * 200000)
        self.assertTrue(got == b"" or got.startswith(b"HTTP/1.1 405"), got[:80])
        got = self.server.raw(b"GET /api/run HTTP/1.1\r\nHost: localhost:%d\r\nCookie: %s\r\nContent-Length: 100000\r\n\r\n" % (self.server.port, self.server.cookie.encode()) + b"x" * 100000)
        self.assertNotIn(b"200 OK", got)
        self.assert_alive()

    def test_host(self):
        port = self.server.port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}", f"[::1]:{port}"):
            self.assertEqual(self.server.get("/api/run", host=host)[0].status, 200, host)
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost", f"localhost:{port + 1}", f"127.0.0.1.evil.example:{port}",
                     f"localhost:{port}.evil.example", f"xlocalhost:{port}", f"0.0.0.0:{port}", f"127.0.0.1:{port}@evil", f"localhost:0{port}", "", " "):
            answer, body = self.server.get("/api/run", host=host)
            self.assertIn(answer.status, (400, 403, 421), host)
            self.assertNotIn(b"Attacked", body)
        self.assertNotIn(b"200 OK", self.server.raw(b"GET /api/run HTTP/1.1\r\n\r\n"))
        self.assertNotIn(b"200 OK", self.server.raw(b"GET /api/run HTTP/1.0\r\n\r\n"))
        got = self.server.raw(b"GET http://evil.example/api/run HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
        self.assertNotIn(b"Attacked", got)

    def test_other_sites(self):
        for headers in ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
                        {"Sec-Fetch-Site": "cross-site"}):
            self.assertEqual(self.server.get("/api/run", headers)[0].status, 403)
        self.assertEqual(self.server.get("/", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"})[0].status, 200)
        self.assertEqual(self.server.get("/api/run", {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"})[0].status, 200)

    def test_origin(self):
        port = self.server.port
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port}.evil.example", ""):
            self.assertEqual(self.server.get("/api/run", {"Origin": origin})[0].status, 403, origin)
        for origin in (f"http://127.0.0.1:{port}", f"http://localhost:{port}"):
            self.assertEqual(self.server.get("/api/run", {"Origin": origin})[0].status, 200, origin)

    def test_token(self):
        """Who was not told the address sees nothing; the page then has the token in a cookie, which no script can read."""
        port, token = self.server.port, self.server.token
        other = ("0" if token[0] != "0" else "1") + token[1:]
        for path in ("/", "/viewer.js", "/api/run", "/api/scene", "/api/points?frame=1", "/nothing"):
            for cookie in ("", f"rheo_{port}=", f"rheo_{port}={other}", f"rheo_{port + 1}={token}", f"rheo_{port}={token}0", f"rheo_{port}={token[:-1]}"):
                answer, body = self.server.get(path, {"Cookie": cookie})
                self.assertEqual(answer.status, 403, (path, cookie))
                self.assertNotIn(token.encode(), body)
                self.assertIsNone(answer.headers["Set-Cookie"])
            self.assertEqual(self.server.get(path + ("&" if "?" in path else "?") + f"token={other}", {"Cookie": ""})[0].status, 403)
        answer, _ = self.server.get(f"/?token={token}", {"Cookie": ""})
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Set-Cookie"], f"rheo_{port}={token}; HttpOnly; SameSite=Strict; Path=/")
        self.assertEqual(self.server.get(f"/api/run?token={token}", {"Cookie": ""})[0].status, 200)
        another = Server(self.run_folder, "--quiet")
        another.stop()
        self.assertNotEqual(another.token, token)

    def test_links_and_pipes(self):
        """Nothing outside of the run folder is served, whatever links are put into it; nothing that could wait for ever is opened."""
        run = self.folder / "linked"
        shutil.copytree(self.run_folder, run)
        secret = self.folder / "secret.txt"
        (run / "log.jsonl").unlink()
        (run / "log.jsonl").symlink_to(secret)
        (run / "points/points.0002.vdb").unlink()
        (run / "points/points.0002.vdb").symlink_to(self.run_folder / "points/points.0002.vdb")
        (run / "points/points.0003.vdb").unlink()
        os.mkfifo(run / "points/points.0003.vdb")
        shutil.rmtree(run / "surface")
        (run / "surface").symlink_to(self.run_folder / "surface")
        server = Server(run)
        try:
            state = json.loads(server.get("/api/run")[1])
            self.assertEqual([frame[0] for frame in state["frames"]], [1])
            self.assertIsNone(state["log"])
            self.assertNotIn(b"secret", server.get("/api/log")[1])
            self.assertEqual(server.get("/api/points?frame=1")[0].status, 200)
            for path in ("/api/points?frame=2", "/api/points?frame=3", "/api/surface?frame=2"):
                self.assertEqual(server.get(path)[0].status, 404, path)
            text = (run / "scene.yaml").read_text()
            for replacement in ("link", "fifo", "include"):
                (run / "scene.yaml").unlink()
                if replacement == "link":
                    (run / "scene.yaml").symlink_to(secret)
                elif replacement == "fifo":
                    os.mkfifo(run / "scene.yaml")
                else:
                    (run / "scene.yaml").write_text(f"include: {secret}\n" + text)
                for path in ("/api/scene", "/api/run", "/api/solids"):
                    self.assertNotIn(b"root:secret", server.get(path)[1], (replacement, path))
            self.assertIn("complete scene", json.loads(server.get("/api/run")[1])["problem"])
        finally:
            code, err = server.stop()
        self.assertEqual(code, 0)
        self.assertIn("log.jsonl is a link", err)
        for setup in (lambda p: p.symlink_to(secret), os.mkfifo):
            (run / "scene.yaml").unlink()
            setup(run / "scene.yaml")
            done = subprocess.run([RHEO, "view", run], capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            self.assertNotIn(b"root:", done.stderr)

    def test_long_requests(self):
        for length in (1100, 5000, 12000):
            answer, _ = self.server.get("/api/run?" + "a" * length)
            self.assertEqual(answer.status, 414, length)
        host = b"Host: localhost:%d\r\nCookie: %s\r\n" % (self.server.port, self.server.cookie.encode())
        for request in (b"GET /" + b"a" * 1000000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                        b"GET /api/run HTTP/1.1\r\n" + host + b"X-Long: " + b"a" * 1000000 + b"\r\n\r\n",
                        b"GET /api/run HTTP/1.1\r\n" + host + b"".join(b"X-%d: y\r\n" % i for i in range(20000)) + b"\r\n",
                        b"A" * 1000000):
            got = self.server.raw(request)
            self.assertNotIn(b"200 OK", got)
        self.assert_alive()

    def test_garbage(self):
        chance = random.Random(5)
        for _ in range(150):
            data = chance.randbytes(chance.randrange(1, 3000))
            if chance.random() < 0.5:
                data = b"GET /api/run" + data
            if chance.random() < 0.3:
                data += b"\r\n\r\n"
            self.server.raw(data)
        for data in (b"\r\n" * 1000, b"\0" * 5000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 300,
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"):
            self.server.raw(data)
        self.assert_alive()

    def test_slow_clients(self):
        """Connections that send a letter now and then: others are served all the time, and in the end they are cut off."""
        slow = []
        try:
            for _ in range(120):
                s = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
                s.sendall(b"GET /api/run HTTP/1.1\r\nX-Slow: ")
                slow.append(s)
            limit = time.monotonic() + PATIENCE
            alive = len(slow)
            while alive and time.monotonic() < limit:
                self.assert_alive()
                alive = 0
                for s in slow:
                    try:
                        s.sendall(b"a")
                        s.setblocking(False)
                        alive += s.recv(1) != b""
                    except BlockingIOError:
                        alive += 1
                    except OSError:
                        pass
                    finally:
                        s.settimeout(PATIENCE)
                time.sleep(0.5)
            self.assertEqual(alive, 0, "slow clients were never cut off")
        finally:
            for s in slow:
                s.close()

    def test_readers_that_do_not_read(self):
        idle = []
        try:
            for _ in range(30):
                s = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                s.sendall(b"GET /viewer.js HTTP/1.1\r\nHost: localhost:%d\r\nCookie: %s\r\n\r\n" % (self.server.port, self.server.cookie.encode()))
                idle.append(s)
            for _ in range(10):
                self.assert_alive()
        finally:
            for s in idle:
                s.close()

    def test_many_connections(self):
        before = self.server.open_files()
        crowd = []
        try:
            for _ in range(400):
                s = socket.socket()
                s.settimeout(2)
                try:
                    s.connect(("127.0.0.1", self.server.port))
                except OSError:
                    s.close()
                    break
                crowd.append(s)
            self.assertLess(self.server.open_files(), before + 160)
            self.assert_alive()
        finally:
            for s in crowd:
                s.close()
        limit = time.monotonic() + PATIENCE
        while self.server.open_files() > before + 8 and time.monotonic() < limit:
            time.sleep(0.1)
        self.assertLessEqual(self.server.open_files(), before + 8)
        self.assert_alive()

    def test_rate(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        seen = set()
        for _ in range(5000):
            connection.request("GET", "/nothing", headers={"Cookie": self.server.cookie})
            answer = connection.getresponse()
            answer.read()
            seen.add(answer.status)
            if answer.status == 429:
                self.assertEqual(answer.headers["Retry-After"], "1")
                break
        connection.close()
        self.assertEqual(seen, {404, 429})
        time.sleep(1)
        self.assert_alive()

    def test_loopback_only(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))
                address = s.getsockname()[0]
            except OSError:
                self.skipTest("this machine has no address but loopback")
        if address.startswith("127."):
            self.skipTest("this machine has no address but loopback")
        with self.assertRaises(OSError):
            socket.create_connection((address, self.server.port), timeout=3).close()


class Program(Case):
    def refused(self, *arguments, code=2):
        done = subprocess.run([RHEO, "view", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_mistakes(self):
        self.assertIn("expected the folder of a run", self.refused(self.folder / "nowhere"))
        self.assertIn("found a file", self.refused(self.folder / "scene.yaml"))
        (self.folder / "empty").mkdir(exist_ok=True)
        self.assertIn("found no scene.yaml", self.refused(self.folder / "empty"))
        self.assertIn("expected 1 to 65535", self.refused(self.run_folder, "--port", 70000))
        self.assertIn("whole number from 1", self.refused(self.run_folder, "--port", 0))
        self.assertIn("found no RUN", self.refused())
        self.assertIn("--port", self.refused(self.run_folder, "--prot", 1))
        (self.folder / "broken").mkdir(exist_ok=True)
        (self.folder / "broken" / "scene.yaml").write_text("rheo: 1\ncell: fast\n")
        self.assertRegex(self.refused(self.folder / "broken"), r"scene\.yaml:2:7: ")
        self.assertIn("in use", self.refused(self.run_folder, "--port", self.server.port, code=1))

    def test_stops_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = Server(self.run_folder)
            self.assertEqual(server.get("/api/points?frame=1")[0].status, 200)
            # Neither a half request nor a half answer holds it up.
            with socket.create_connection(("127.0.0.1", server.port)) as slow, socket.create_connection(("127.0.0.1", server.port)) as idle:
                slow.sendall(b"GET / HT")
                idle.sendall(b"GET /viewer.js HTTP/1.1\r\nHost: localhost:%d\r\nCookie: %s\r\n\r\n" % (server.port, server.cookie.encode()))
                code, err = server.stop(number)
            self.assertEqual(code, 0, err)
            self.assertIn("Control-C", err)

    def test_points_as_ply_and_a_real_surface(self):
        run = self.folder / "ply"
        subprocess.run([RHEO, "run", self.folder / "scene.yaml", "--out", run, "--quiet", "--set", "output.vdb=false", "--set", "output.ply=true"], check=True, timeout=PATIENCE)
        subprocess.run([RHEO, "surface", self.run_folder, "--frames", "1-1", "--mesh", "--quiet", "--out", run / "surface"], check=True, timeout=PATIENCE)
        server = Server(run, "--quiet")
        try:
            state = json.loads(server.get("/api/run")[1])
            self.assertEqual([(frame, bool(points), bool(surface)) for frame, points, surface in state["frames"]], [(1, True, True), (2, True, False), (3, True, False)])
            facts, data = unpack(server.get("/api/points?frame=2&attribute=v")[1], b"RHP1")
            other, same = unpack(self.server.get("/api/points?frame=2&attribute=v")[1], b"RHP1")
            self.assertEqual((facts["total"], len(data)), (other["total"], len(same)))
            facts, _ = unpack(server.get("/api/surface?frame=1")[1], b"RHM1")
            self.assertGreater(facts["triangles"], 1000)
        finally:
            server.stop()

    def test_a_run_that_changes(self):
        run = self.folder / "changing"
        shutil.copytree(self.run_folder, run)
        server = Server(run, "--quiet")
        try:
            first = unpack(server.get("/api/points?frame=2")[1], b"RHP1")[0]["total"]
            before = json.loads(server.get("/api/run")[1])
            subprocess.run([RHEO, "run", self.folder / "scene.yaml", "--out", run, "--force", "--quiet", "--set", "cell=0.2"], check=True, timeout=PATIENCE)
            after = json.loads(server.get("/api/run")[1])
            self.assertNotEqual(before["scene"], after["scene"])
            self.assertEqual(after["cell"], 0.2)
            self.assertLess(unpack(server.get("/api/points?frame=2")[1], b"RHP1")[0]["total"], first)
            (run / "points" / "points.0003.vdb").write_bytes(b"not a frame")
            answer, body = server.get("/api/points?frame=3")
            self.assertEqual(answer.status, 500)
            self.assertIn("frame 3: ", json.loads(body)["error"])
            shutil.rmtree(run)
            self.assertEqual(json.loads(server.get("/api/run")[1])["frames"], [])
            self.assertEqual(server.get("/api/points?frame=2")[0].status, 404)
            self.assertEqual(server.get("/api/scene")[0].status, 500)
        finally:
            code, err = server.stop()
        self.assertEqual((code, err), (0, ""))


class Materials(unittest.TestCase):
    """Surfaces of a run with several materials are shown together, or of one alone."""

    def test_surfaces(self):
        with tempfile.TemporaryDirectory(prefix="viewer-", dir=".", ignore_cleanup_errors=True) as holder:
            folder = pathlib.Path(holder).resolve()
            scene = SCENE.replace("physics: {liquid: {}}", "materials: [{name: water, physics: {liquid: {}}}, {name: drops, physics: {ballistic: {}}}]")
            scene = scene.replace("}]\nsolids", "}, {material: drops, shape: {box: {min: [1.2, 1, 0], max: [1.6, 1.4, 1]}}}]\nsolids").replace("probes:", "#")
            (folder / "scene.yaml").write_text(scene)
            subprocess.run([RHEO, "run", folder / "scene.yaml", "--out", folder / "run", "--quiet"], check=True, timeout=PATIENCE)
            (folder / "run/surface").mkdir()
            (folder / "run/surface/surface.water.0002.ply").write_bytes(PLY)
            (folder / "run/surface/surface.drops.0002.ply").write_bytes(PLY)
            (folder / "run/surface/surface.drops.0003.ply").write_bytes(PLY)
            counts = {}
            for only in (None, "water", "drops"):
                server = Server(folder / "run", "--quiet", *(("--material", only) if only else ()))
                try:
                    frames = {frame: surface for frame, _, surface in json.loads(server.get("/api/run")[1])["frames"]}
                    self.assertEqual([frame for frame in frames if frames[frame]], [2] if only == "water" else [2, 3])
                    facts, _ = unpack(server.get("/api/surface?frame=2")[1], b"RHM1")
                    self.assertEqual((facts["vertices"], facts["triangles"]), (4, 2) if only else (8, 4))
                    self.assertEqual(server.get("/api/surface?frame=3")[0].status, 404 if only == "water" else 200)
                    counts[only] = unpack(server.get("/api/points?frame=2")[1], b"RHP1")[0]["total"]
                    # Several at once can be told apart by colour.
                    facts, _ = unpack(server.get("/api/points?frame=2&attribute=material")[1], b"RHP1")
                    self.assertEqual((facts["attribute"], facts.get("range")), (None, facts.get("range")) if only else ("material", [0, 1]))
                    self.assertEqual(json.loads(server.get("/api/run")[1]).get("materials"), None if only else ["water", "drops"])
                finally:
                    self.assertEqual(server.stop(), (0, ""))
            self.assertEqual(counts[None], counts["water"] + counts["drops"])
            done = subprocess.run([RHEO, "view", folder / "run", "--material", "watr"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--material: unknown material 'watr'; did you mean 'water'?", done.stderr)


class Sequences(unittest.TestCase):
    """Solids that change their form are sent anew for each frame."""

    def test_vertices(self):
        with tempfile.TemporaryDirectory(prefix="viewer-", dir=".", ignore_cleanup_errors=True) as holder:
            folder = pathlib.Path(holder).resolve()
            for n in (1, 2, 3):  # a tetrahedron whose tip rises by a tenth of a metre a frame
                (folder / f"tip.000{n}.obj").write_text(f"v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 {0.5 + 0.1 * n} 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
            scene = SCENE.replace("solids: [", "solids: [{name: tip, shape: {mesh_sequence: {files: tip.####.obj, fps: 10}}}, ")
            (folder / "scene.yaml").write_text(scene)
            subprocess.run([RHEO, "run", folder / "scene.yaml", "--out", folder / "run", "--quiet"], check=True, timeout=PATIENCE)
            server = Server(folder / "run", "--quiet")
            try:
                facts, _ = unpack(server.get("/api/solids")[1], b"RHS1")
                self.assertEqual([solid["deforms"] for solid in facts["solids"]], [True, False])
                for frame in (1, 2, 3, 9):
                    facts, data = unpack(server.get(f"/api/vertices?frame={frame}")[1], b"RHV1")
                    self.assertEqual(facts["solids"], [{"index": 0, "vertices": 4}])
                    self.assertAlmostEqual(struct.unpack("<12f", data)[10], 0.5 + 0.1 * min(frame, 3), places=5)
                self.assertEqual(server.get("/api/vertices")[0].status, 400)
                (folder / "tip.0002.obj").unlink()
                facts, data = unpack(server.get("/api/vertices?frame=4")[1], b"RHV1")
                self.assertEqual((facts["solids"], data), ([], b""))
            finally:
                self.assertEqual(server.stop(), (0, ""))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    RHEO = str(pathlib.Path(sys.argv[1]).resolve())
    SOURCE = pathlib.Path(sys.argv[2]).resolve()
    probe = subprocess.run([RHEO, "view", "/"], capture_output=True, text=True)
    if "built without its viewer" in probe.stderr:
        print("skipped: the program was built without its viewer")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
