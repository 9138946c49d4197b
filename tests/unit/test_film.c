// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Films: every picture becomes a frame, colours survive, odd sizes work, and an encoder that is missing or fails leaves
// a message and no file.
#include "support.h"
#include <stdlib.h>
#include "io/film.h"
#include "unit/scratch.h"

enum { W = 64, H = 48 };

static bool has(const char *program)
{
    char line[64];
    snprintf(line, sizeof line, "command -v %s >/dev/null 2>&1", program);
    return system(line) == 0;
}

static void ask(const char *path, const char *what, char *answer, int room)
{
    char line[700];
    snprintf(line, sizeof line,
             "ffprobe -v error -count_frames -select_streams v -show_entries stream=%s -of csv=p=0 %s", what, path);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(answer, room, pipe));
    pclose(pipe);
    answer[strcspn(answer, "\n")] = 0;
}

static void make(const char *path, int width, int height, int frames)
{
    rh_status status = {0};
    rh_film *film;
    uint8_t *rgb = test_malloc((size_t)(3 * width * height));
    assert_ok(rh_film_open(path, width, height, 25, &film, &status));
    for (int i = 0; i < frames; i++) {
        for (int k = 0; k < width * height; k++)
            rgb[3 * k] = 200, rgb[3 * k + 1] = (uint8_t)(10 * i), rgb[3 * k + 2] = 40;
        assert_ok(rh_film_add(film, rgb, &status));
    }
    assert_ok(rh_film_finish(film, &status));
    test_free(rgb);
}

static void every_picture_is_a_frame(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "film.mp4");
    char answer[128];
    make(path.text, W, H, 7);
    assert_int_equal(scratch_count(&s), 1);
    ask(path.text, "codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames", answer, sizeof answer);
    assert_string_equal(answer, "h264,64,48,yuv420p,25/1,7");
    make(path.text, 33, 17, 3);  // over the old one
    ask(path.text, "width,height,nb_read_frames", answer, sizeof answer);
    assert_string_equal(answer, "34,18,3");
    scratch_remove(&s);
}

static void colours_survive(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "film.mp4");
    make(path.text, W, H, 10);
    char line[700];
    snprintf(line, sizeof line, "ffmpeg -nostdin -v error -i %s -f rawvideo -pix_fmt rgb24 -", path.text);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    static uint8_t frame[3 * W * H];
    for (int i = 0; i < 10; i++) {
        assert_int_equal(fread(frame, 1, sizeof frame, pipe), sizeof frame);
        const uint8_t *middle = frame + 3 * (W * H / 2 + W / 2);
        assert_near(middle[0], 200, 4);
        assert_near(middle[1], 10 * i, 4);
        assert_near(middle[2], 40, 4);
    }
    pclose(pipe);
    scratch_remove(&s);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "film.mp4"), nowhere = scratch_at(&s, "no/film.mp4");
    rh_status status = {0};
    rh_film *film;
    static uint8_t rgb[3 * W * H];
    assert_ok(rh_film_open(path.text, W, H, 24, &film, &status));
    assert_ok(rh_film_add(film, rgb, &status));
    rh_film_discard(film);
    assert_int_equal(scratch_count(&s), 0);

    // A folder that is not there: known when the encoder tries, at a picture or at the end.
    rh_code code = rh_film_open(nowhere.text, W, H, 24, &film, &status);
    for (int i = 0; code == RH_OK && i < 200; i++) code = rh_film_add(film, rgb, &status);
    if (code == RH_OK) code = rh_film_finish(film, &status);
    else rh_film_discard(film);
    assert_int_equal(code, RH_IO);
    assert_non_null(strstr(status.message, "ffmpeg failed"));
    assert_non_null(strstr(status.message, "No such file"));

    char *path_before = strdup(getenv("PATH"));
    setenv("PATH", s.folder, 1);
    rh_status_clear(&status);
    assert_int_equal(rh_film_open(path.text, W, H, 24, &film, &status), RH_USER);
    assert_non_null(strstr(status.message, "package ffmpeg"));
    setenv("PATH", path_before, 1);
    free(path_before);
    assert_null(film);

    rh_memory_fail_after(0);
    assert_int_equal(rh_film_open(path.text, W, H, 24, &film, NULL), RH_MEMORY);
    rh_memory_fail_after(-1);
    assert_int_equal(scratch_count(&s), 0);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_picture_is_a_frame), cmocka_unit_test(colours_survive),
                                       cmocka_unit_test(failures_leave_nothing)};
    if (!has("ffmpeg") || !has("ffprobe")) return 77;
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
