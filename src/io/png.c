// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// PNG by libpng. Its errors leave by longjmp: they land in encode(), which keeps no local variable that changes between
// setjmp and the jump, and everything that must be released is owned by the caller's frame.
#include "io/png.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "io/file.h"

typedef struct picture {
    const char *path;
    FILE *file;
    int width, height;
    const void *rgb;
    int depth;  // bits a channel, 8 or 16
    rh_status *status;
} picture;

static png_voidp take(png_structp png, png_alloc_size_t bytes)
{
    (void)png;
    return rh_alloc(bytes, "io.png", NULL);
}

static void give(png_structp png, png_voidp block)
{
    (void)png;
    rh_free(block);
}

static void on_error(png_structp png, png_const_charp message)
{
    const picture *p = png_get_error_ptr(png);
    rh_fail(p->status, RH_IO, "%s: cannot write the picture: %s%s%s", p->path, message, errno ? ": " : "",
            errno ? strerror(errno) : "");
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static rh_code encode(png_structp png, png_infop info, const picture *p)
{
    if (setjmp(png_jmpbuf(png))) return RH_IO;
    png_init_io(png, p->file);
    png_set_compression_level(png, 4);  // 6 takes twice as long for 3 % smaller preview pictures
    png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, p->depth, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    // By this a picture is known to be ours (io/provenance.h). Without a version: the same picture shall be the same
    // bytes.
    png_text software = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = (char *)"Software", .text = (char *)"rheo"};
    png_set_text(png, info, &software, 1);
    png_write_info(png, info);
    if (p->depth == 16) png_set_swap(png);  // the file is big endian, we are not
    size_t row = (size_t)3 * (size_t)p->width * (size_t)(p->depth / 8);
    for (int y = 0; y < p->height; y++) png_write_row(png, (const uint8_t *)p->rgb + row * (size_t)y);
    png_write_end(png, info);
    return RH_OK;
}

static rh_code write_file(picture *p)
{
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning, NULL, take, give);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    rh_code code = RH_MEMORY;
    if (info) code = encode(png, info, p);
    else rh_fail(p->status, RH_MEMORY, "%s: out of memory while writing the picture", p->path);
    png_destroy_write_struct(&png, &info);
    return code;
}

static rh_code write_picture(const char *path, int width, int height, const void *rgb, int depth, rh_status *status)
{
    if (width < 1 || height < 1)
        return rh_fail(status, RH_USER, "%s: a picture of %d x %d pixels cannot be written", path, width, height);
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    errno = 0;
    picture p = {path, fopen(temporary, "wbe"), width, height, rgb, depth, status};
    if (!p.file) return rh_fail(status, RH_IO, "%s: cannot create: %s", path, strerror(errno));
    rh_code code = write_file(&p);
    if (fclose(p.file) != 0 && code == RH_OK)
        code = rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

rh_code rh_png_write(const char *path, int width, int height, const uint8_t *rgb, rh_status *status)
{
    return write_picture(path, width, height, rgb, 8, status);
}

rh_code rh_png_write_deep(const char *path, int width, int height, const uint16_t *rgb, rh_status *status)
{
    return write_picture(path, width, height, rgb, 16, status);
}
