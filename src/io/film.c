// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// ffmpeg stays a program of its own: its licence and its crashes stay out of this process. Pictures go through a socket
// instead of a pipe because writing to a socket can be told not to raise SIGPIPE when the encoder is gone; its words go
// to a temporary file, which never fills up and blocks it.
#include "io/film.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/memory.h"
#include "io/file.h"

extern char **environ;

struct rh_film {
    char path[RH_PATH_MAX], temporary[RH_PATH_MAX];
    size_t frame_bytes;
    int feed;     // our end of the socket, -1 when closed
    FILE *words;  // what the encoder complains about
    pid_t encoder;
};

static rh_code spawn(rh_film *film, int width, int height, double fps, int their_end, rh_status *status)
{
    char size[32], rate[32];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6f", fps);
    // Threads are fixed because the stream depends on their number. 4:2:0 colour needs even sides: odd ones get a line
    // more.
    char *arguments[] = {"ffmpeg",
                         "-nostdin",
                         "-v",
                         "error",
                         "-f",
                         "rawvideo",
                         "-pix_fmt",
                         "rgb24",
                         "-s",
                         size,
                         "-framerate",
                         rate,
                         "-i",
                         "pipe:0",
                         "-vf",
                         "scale=out_color_matrix=bt709:out_range=tv,pad=ceil(iw/2)*2:ceil(ih/2)*2",
                         "-c:v",
                         "libx264",
                         "-threads",
                         "4",
                         "-preset",
                         "medium",
                         "-crf",
                         "17",
                         "-pix_fmt",
                         "yuv420p",
                         "-colorspace",
                         "bt709",
                         "-color_primaries",
                         "bt709",
                         "-color_trc",
                         "bt709",
                         "-movflags",
                         "+faststart",
                         "-map_metadata",
                         "-1",
                         "-metadata",
                         "comment=made by rheo",
                         "-fflags",
                         "+bitexact",
                         "-f",
                         "mp4",
                         "-y",
                         film->temporary,
                         NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    // Control-C on the terminal is for us alone: we finish the picture first, and the encoder must still be there for
    // it.
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, their_end, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(film->words), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(film->words), 2);
    int error = posix_spawnp(&film->encoder, "ffmpeg", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error == 0) return RH_OK;
    film->encoder = 0;
    if (error == ENOENT)
        return rh_fail(
            status, RH_USER,
            "%s: a film needs the program ffmpeg (package ffmpeg), which was not found; pictures need nothing",
            film->path);
    return rh_fail(status, RH_IO, "%s: cannot start ffmpeg: %s", film->path, strerror(error));
}

static rh_code start(rh_film *film, int width, int height, double fps, rh_status *status)
{
    int ends[2];
    RH_TRY(rh_file_temporary(film->path, film->temporary, status));
    film->words = tmpfile();
    if (!film->words) return rh_fail(status, RH_IO, "cannot create a temporary file: %s", strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return rh_fail(status, RH_IO, "cannot create a socket: %s", strerror(errno));
    film->feed = ends[0];
    rh_code code = spawn(film, width, height, fps, ends[1], status);
    close(ends[1]);
    return code;
}

rh_code rh_film_open(const char *path, int width, int height, double fps, rh_film **out, rh_status *status)
{
    *out = NULL;
    rh_film *film = rh_alloc_zero(sizeof *film, "io.film", status);
    if (!film) return RH_MEMORY;
    film->feed = -1;
    film->frame_bytes = (size_t)3 * (size_t)width * (size_t)height;
    rh_code code = RH_OK;
    if (snprintf(film->path, sizeof film->path, "%s", path) >= RH_PATH_MAX)
        code = rh_fail(status, RH_USER, "%.200s ...: path too long", path);
    if (code == RH_OK) code = start(film, width, height, fps, status);
    if (code == RH_OK) *out = film;
    else rh_film_discard(film);
    return code;
}

static rh_code encoder_failed(rh_film *film, rh_status *status)
{
    char words[512] = "";
    rewind(film->words);
    size_t count = fread(words, 1, sizeof words - 1, film->words);
    while (count > 0 && (unsigned char)words[count - 1] <= ' ') count--;
    words[count] = 0;
    return rh_fail(status, RH_IO, "%s: ffmpeg failed%s%s", film->path, count ? ": " : "", words);
}

// Closes the feed and waits; true when the encoder ended well.
static bool encoder_done(rh_film *film)
{
    int result = -1;
    if (film->feed >= 0) close(film->feed);
    film->feed = -1;
    while (film->encoder > 0 && waitpid(film->encoder, &result, 0) < 0 && errno == EINTR) continue;
    film->encoder = 0;
    return result == 0;
}

rh_code rh_film_add(rh_film *film, const uint8_t *rgb, rh_status *status)
{
    for (size_t sent = 0; sent < film->frame_bytes;) {
        ssize_t count = send(film->feed, rgb + sent, film->frame_bytes - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            encoder_done(film);
            return encoder_failed(film, status);
        }
        sent += (size_t)count;
    }
    return RH_OK;
}

rh_code rh_film_finish(rh_film *film, rh_status *status)
{
    rh_code code = encoder_done(film) ? RH_OK : encoder_failed(film, status);
    if (code == RH_OK) {
        code = rh_file_commit(film->temporary, film->path, status);
        film->temporary[0] = 0;
    }
    rh_film_discard(film);
    return code;
}

void rh_film_discard(rh_film *film)
{
    if (!film) return;
    if (film->encoder > 0) kill(film->encoder, SIGTERM);
    encoder_done(film);
    if (film->temporary[0]) rh_file_discard(film->temporary);
    if (film->words) fclose(film->words);
    rh_free(film);
}
