// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parts of the viewer's server that need no network: answers that are kept, clients that are cut off, the rate, and
// what is said of a run folder. The server as a whole is attacked by tests/viewer/test_server.py.
#include "support.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "io/file.h"
#include "view/server_cache.h"
#include "view/server_guard.h"
#include "view/server_run.h"

static rh_message message_of(size_t bytes)
{
    rh_message m = {.bytes = rh_alloc_zero(bytes, "test", NULL), .count = bytes, .room = bytes};
    return m;
}

static rh_response_key key_of(int64_t frame)
{
    rh_response_key key;
    memset(&key, 0, sizeof key);
    key.frame = frame;
    return key;
}

static void put(rh_response_cache *answers, int64_t frame, size_t bytes)
{
    rh_message m = message_of(bytes);
    rh_response_key key = key_of(frame);
    rh_response_release(rh_response_cache_add(answers, &key, &m, NULL));
}

static bool is_kept(rh_response_cache *answers, int64_t frame)
{
    rh_response_key key = key_of(frame);
    rh_response *found = rh_response_cache_find(answers, &key);
    rh_response_release(found);
    return found != NULL;
}

static void answers_are_bounded(void **state)
{
    (void)state;
    rh_response_cache answers;
    rh_response_cache_init(&answers, 1000);
    put(&answers, 1, 400);
    put(&answers, 2, 400);
    assert_true(is_kept(&answers, 1));  // used after number 2
    put(&answers, 3, 400);
    assert_true(is_kept(&answers, 1));
    assert_false(is_kept(&answers, 2));
    assert_true(is_kept(&answers, 3));
    assert_true(answers.bytes <= 1000);
    put(&answers, 4, 2000);  // more than all: handed out, not kept
    assert_false(is_kept(&answers, 4));
    for (int64_t i = 0; i < 3 * RH_RESPONSE_CACHE_MOST; i++) put(&answers, i, 0);
    assert_true(answers.count <= RH_RESPONSE_CACHE_MOST);
    rh_response_cache_free(&answers);
}

// An answer that is being sent outlives its place in the list.
static void a_held_answer_stays(void **state)
{
    (void)state;
    rh_response_cache answers;
    rh_response_cache_init(&answers, 1000);
    put(&answers, 1, 600);
    rh_response_key key = key_of(1);
    rh_response *held = rh_response_cache_find(&answers, &key);
    put(&answers, 2, 600);
    assert_false(is_kept(&answers, 1));
    memset(held->message.bytes, 7, held->message.count);
    rh_response_release(held);
    rh_response_cache_free(&answers);
}

static bool is_cut(int other_end)
{
    char byte;
    return recv(other_end, &byte, 1, MSG_DONTWAIT) == 0;
}

static void the_longest_waiting_goes_first(void **state)
{
    (void)state;
    rh_guard guard;
    static int pairs[RH_GUARD_FULL + 1][2];
    rh_guard_slot *slots[RH_GUARD_FULL + 1];
    rh_guard_init(&guard);
    for (int i = 0; i < RH_GUARD_FULL + 1; i++) assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]), 0);
    for (int i = 0; i < RH_GUARD_FULL; i++) slots[i] = rh_guard_enter(&guard, pairs[i][0], 100 + i);
    rh_guard_mark(&guard, slots[0], true, 100);  // being answered: not to be cut off for room
    slots[RH_GUARD_FULL] = rh_guard_enter(&guard, pairs[RH_GUARD_FULL][0], 300);
    for (int i = 0; i <= RH_GUARD_FULL; i++) assert_int_equal(is_cut(pairs[i][1]), i == 1);
    rh_guard_cut_off(&guard, 113 + guard.wait);  // numbers 2 to 12 have waited too long, and 13 just not
    for (int i = 0; i <= RH_GUARD_FULL; i++) assert_int_equal(is_cut(pairs[i][1]), i >= 1 && i < 13);
    rh_guard_cut_off(&guard, 101 + guard.answer);
    assert_true(is_cut(pairs[0][1]));
    for (int i = 0; i <= RH_GUARD_FULL; i++) {
        rh_guard_leave(&guard, slots[i]);
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
    assert_int_equal(guard.count, 0);
    rh_guard_free(&guard);
}

static void the_rate_is_bounded(void **state)
{
    (void)state;
    rh_guard guard;
    rh_guard_init(&guard);
    int allowed = 0;
    for (int i = 0; i < 10000; i++) allowed += rh_guard_allows(&guard, 50);
    assert_int_equal(allowed, (int)guard.burst);
    allowed = 0;
    for (int i = 0; i < 10000; i++)
        allowed += rh_guard_allows(&guard, 51 + 1e-4 * i);  // a second at ten thousand a second
    assert_in_range(allowed, (int)(2 * guard.rate) - 2, (int)(2 * guard.rate) + 2);  // one second's worth was saved up
    rh_guard_free(&guard);
}

// --- run folders -----------------------------------------------------------------------------------------------------

static const char scene_text[] =
    "rheo: 1\ntitle: 'A \"quoted\" title'\ncell: 0.1\nframes: {last: 9}\nphysics: {liquid: {}}\n"
    "bodies: [{name: water, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n";

static void write_file(const char *folder, const char *name, const char *text)
{
    rh_status status = {0};
    char path[RH_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(rh_file_write(path, text, strlen(text), &status));
}

static const char *text_of(rh_message *m)
{
    rh_status status = {0};
    assert_ok(rh_message_append(m, "", 1, &status));
    return (const char *)m->bytes;
}

static void make_folder(char folder[64])
{
    rh_status status = {0};
    char path[RH_PATH_MAX];
    strcpy(folder, "scratch-served-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/points", folder);
    assert_ok(rh_folder_make(path, &status));
    snprintf(path, sizeof path, "%s/surface", folder);
    assert_ok(rh_folder_make(path, &status));
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void the_state_of_a_folder(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_served_run served;
    rh_message m;
    char folder[64];
    make_folder(folder);
    assert_int_equal(rh_served_open(&served, folder, NULL, NULL, &status), RH_USER);
    assert_non_null(strstr(status.message, "scene.yaml"));
    write_file(folder, "scene.yaml", scene_text);
    static const char *const names[] = {
        "points/points.0001.vdb", "points/points.0002.vdb", "points/points.12345.vdb", "points/points.0003.vdb.tmp-7",
        "points/points.3.vdb",    "points/other.0004.vdb",  "points/points.0005.ply",  "surface/surface.0002.ply"};
    for (int i = 0; i < 8; i++) write_file(folder, names[i], "x");
    rh_status_clear(&status);
    assert_ok(rh_served_open(&served, folder, NULL, NULL, &status));
    assert_ok(rh_served_state(&served, &m, &status));
    const char *text = text_of(&m), *frames = strstr(text, "\"frames\":[");
    assert_non_null(strstr(text, "\"title\":\"A \\\"quoted\\\" title\""));
    assert_non_null(strstr(text, "\"log\":null"));
    unsigned long long versions[6];
    assert_int_equal(sscanf(frames, "\"frames\":[[1,%llu,%llu],[2,%llu,%llu],[12345,%llu,%llu]]}", &versions[0],
                            &versions[1], &versions[2], &versions[3], &versions[4], &versions[5]),
                     6);
    assert_true(versions[0] && !versions[1] && versions[2] && versions[3] && versions[4] && !versions[5]);
    assert_int_equal(versions[2], rh_served_points_version(&served, 2));
    assert_int_equal(versions[4], rh_served_points_version(&served, 12345));
    assert_int_equal(versions[3], rh_served_surface_version(&served, 2));
    rh_message_free(&m);
    // What is no frame is told as such, and leaves nothing behind.
    assert_true(rh_served_points(&served, 1, &(rh_wire_view){"v", 10}, &m, &status) != RH_OK);
    rh_status_clear(&status);
    assert_true(rh_served_surface(&served, 2, &m, &status) != RH_OK);
    // A scene that breaks is reported; the old one stays in use. One that is whole again is taken.
    write_file(folder, "scene.yaml", "rheo: [");
    rh_status_clear(&status);
    assert_ok(rh_served_state(&served, &m, &status));
    assert_non_null(strstr(text_of(&m), "\"problem\":"));
    assert_non_null(strstr((char *)m.bytes, "quoted"));
    rh_message_free(&m);
    write_file(folder, "scene.yaml", scene_text);
    assert_ok(rh_served_state(&served, &m, &status));
    assert_null(strstr(text_of(&m), "\"problem\":"));
    rh_message_free(&m);
    rh_served_close(&served);
    remove_folder(folder);
}

static void the_log_in_parts(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_served_run served;
    rh_message m;
    char folder[64];
    unsigned long long version;
    long long offset, next, bytes;
    make_folder(folder);
    write_file(folder, "scene.yaml", scene_text);
    assert_ok(rh_served_open(&served, folder, NULL, NULL, &status));
    assert_ok(rh_served_log(&served, 0, 0, &m, &status));
    assert_non_null(strstr(text_of(&m), "\"bytes\":0"));
    rh_message_free(&m);
    write_file(folder, "log.jsonl", "{\"step\":1}\n{\"step\":2}\n{\"st");
    assert_ok(rh_served_log(&served, 0, 99, &m, &status));
    const char *text = text_of(&m);
    assert_int_equal(sscanf(text, "{\"version\":%llu,\"offset\":%lld,\"next\":%lld,\"bytes\":%lld}", &version, &offset,
                            &next, &bytes),
                     4);
    assert_int_equal(offset, 0);
    assert_int_equal(next, 22);  // the torn line waits
    assert_string_equal(strchr(text, '\n') + 1, "{\"step\":1}\n{\"step\":2}\n");
    rh_message_free(&m);
    assert_ok(rh_served_log(&served, version, 11, &m, &status));
    assert_string_equal(strchr(text_of(&m), '\n') + 1, "{\"step\":2}\n");
    rh_message_free(&m);
    assert_ok(rh_served_log(&served, version, 22, &m, &status));
    assert_string_equal(strchr(text_of(&m), '\n') + 1, "");
    rh_message_free(&m);
    rh_served_close(&served);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_bounded),
        cmocka_unit_test(a_held_answer_stays),
        cmocka_unit_test(the_longest_waiting_goes_first),
        cmocka_unit_test(the_rate_is_bounded),
        cmocka_unit_test(the_state_of_a_folder),
        cmocka_unit_test(the_log_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
