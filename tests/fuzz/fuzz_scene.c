// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target for the scene reader. Any bytes must give a scene or a message, never a crash or a lost block; a
// scene that was read must survive being written and read again with the same hash. An input that begins with "--set "
// gives one setting in its first line.
//   fuzz_scene -dict=tests/fuzz/scene.dict tests/fuzz/corpus/scene
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "scene/scene.h"
#include "target.h"

static void check_round_trip(const rh_scene *scene)
{
    rh_scene back;
    rh_status status = {0};
    char *text = rh_scene_print(scene, &status);
    require(text != NULL);
    require(rh_scene_load_text("back.yaml", text, strlen(text), NULL, 0, &back, &status) == RH_OK);
    char *again = rh_scene_print(&back, &status);
    require(again && strcmp(text, again) == 0 && back.hash == scene->hash);
    rh_free(again);
    rh_free(text);
    rh_scene_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char setting[256] = "";
    const char *set = setting, *text = (const char *)data;
    size_t prefix = 0;
    if (size >= 6 && memcmp(text, "--set ", 6) == 0) {
        const char *end = memchr(text, '\n', size);
        prefix = end ? (size_t)(end - text) + 1 : size;
        size_t length = prefix - 6 < sizeof setting ? prefix - 6 : sizeof setting - 1;
        memcpy(setting, text + 6, length);
        setting[strcspn(setting, "\n")] = 0;
    }
    rh_scene scene;
    rh_status status = {0};
    rh_code code = rh_scene_load_text("fuzz.yaml", text + prefix, size - prefix, &set, prefix ? 1 : 0, &scene, &status);
    if (code == RH_OK) {
        check_round_trip(&scene);
        rh_scene_free(&scene);
    } else {
        require(code == RH_USER && status.message[0]);
    }
    require(rh_memory_bytes() == 0);
    return 0;
}
