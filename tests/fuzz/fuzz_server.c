// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes sent to the viewer's server as a request. It must answer or hang up, and be there for the
// next one. Where the first line is followed by no Host header the right one is put in, for without it every request
// ends at the door; "!" as the first byte leaves the bytes as they are. The server's source is part of this file, so
// that the bound on the rate of requests (200 a second, the rest answered without a look at them) can be taken away: it
// has a test of its own.
//   fuzz_server -dict=tests/fuzz/server.dict tests/fuzz/corpus/server
#include "view/server.c"

#include <poll.h>
#include "io/file.h"
#include "io/vdb.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static rh_server *server;
static char folder[64];

static void require(bool condition)
{
    if (condition) return;
    perror("fuzz_server");  // a fault of the machine (no more ports) is none of the server
    abort();
}

static void remove_run(void)
{
    static const char *const names[] = {"scene.yaml", "log.jsonl", "points/points.0001.vdb", "points", ""};
    rh_server_stop(server);
    for (int i = 0; i < 5; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (unlink(path) != 0) rmdir(path);
    }
}

// A run of three particles.
static void make_run(void)
{
    static const char scene[] =
        "rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {center: [0, 0, 0], radius: 1}}}]\n"
        "solids: [{inside_out: true, shape: {box: {min: [-1, -1, -1], max: [1, 1, 1]}}}]\n";
    char path[128];
    rh_points points;
    rh_points_init(&points);
    snprintf(folder, sizeof folder, "/tmp/fuzz_server.%ld", (long)getpid());
    snprintf(path, sizeof path, "%s/points", folder);
    require(rh_folder_make(path, NULL) == RH_OK);
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    require(rh_file_write(path, scene, strlen(scene), NULL) == RH_OK);
    snprintf(path, sizeof path, "%s/log.jsonl", folder);
    require(rh_file_write(path, "{\"step\":1}\n", 11, NULL) == RH_OK);
    require(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL) == RH_OK &&
            rh_points_add(&points, "v", RH_POINT_VEC3F, NULL) == RH_OK);
    require(rh_points_add(&points, "id", RH_POINT_I64, NULL) == RH_OK && rh_points_resize(&points, 3, NULL) == RH_OK);
    snprintf(path, sizeof path, "%s/points/points.0001.vdb", folder);
    require(rh_vdb_write_points(path, &points, &(rh_frame_info){.frame = 1, .fps = 24, .cell = 0.1}, NULL) == RH_OK);
    rh_points_free(&points);
    require(rh_server_start(folder, NULL, 0, NULL, &server, NULL) == RH_OK);
    server->guard.rate = server->guard.burst = server->guard.tokens = 1e9;
    atexit(remove_run);
}

static int connect_to(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (;;) {
        int line = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool connected = line >= 0 && connect(line, (struct sockaddr *)&address, sizeof address) == 0;
        if (connected) return line;
        require(errno == EINTR);  // the fuzzer's own alarm, which does not restart calls
        close(line);
    }
}

static void send_all(int line, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t sent = send(line, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0) return;  // the server has hung up
        at += sent;
        bytes -= (size_t)sent;
    }
}

// What comes back, until the server hangs up or is silent for a while.
static void read_answer(int line)
{
    char part[4096], start[5];
    size_t known = 0;
    for (struct pollfd wait = {line, POLLIN, 0}; poll(&wait, 1, 2000) > 0;) {
        ssize_t got = recv(line, part, sizeof part, 0);
        if (got <= 0) break;
        for (ssize_t i = 0; i < got && known < sizeof start; i++) start[known++] = part[i];
    }
    if (known == sizeof start) require(memcmp(start, "HTTP/", sizeof start) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (!server) make_run();
    bool raw = bytes > 0 && data[0] == '!';
    const uint8_t *end = bytes && !raw ? memchr(data, '\n', bytes) : NULL;
    size_t head = end ? (size_t)(end - data) + 1 : 0;
    char host[160];  // and the token, without which there is little to try
    int port = rh_server_port(server), line = connect_to(port);
    int length = snprintf(host, sizeof host, "Host: 127.0.0.1:%d\r\nCookie: rheo_%d=%s\r\n", port, port,
                          rh_server_token(server));
    if (head) {
        send_all(line, data, head);
        send_all(line, host, (size_t)length);
    }
    send_all(line, data + head + raw, bytes - head - raw);
    shutdown(line, SHUT_WR);
    read_answer(line);
    close(line);
    rh_server_cut_off(server);
    return 0;
}
