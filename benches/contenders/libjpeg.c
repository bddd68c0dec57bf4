/* Decode an image with libjpeg(-turbo) to RGB: all of it, or a window by skipping rows and cropping columns.
   cc -O2 -shared -fPIC -o libjpeg_calls.so libjpeg.c -ljpeg */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* Number of columns decoded on each side of a window, because fancy upsampling needs neighboring pixels. */
#define MARGIN 2

struct fault {
    struct jpeg_error_mgr manager;
    jmp_buf back;
};

static void leave(j_common_ptr info) { longjmp(((struct fault *)info->err)->back, 1); }

static void copy_rows(struct jpeg_decompress_struct *info, unsigned first, unsigned width, unsigned end,
                      unsigned char *row, unsigned char *out) {
    while (info->output_scanline < end) {
        jpeg_read_scanlines(info, &row, 1);
        memcpy(out, row + 3 * first, 3 * width);
        out += 3 * width;
    }
}

/* Decode a window to `out`, or the whole image if `width` is 0. `row` is a buffer for one row of the image.
   Return the number of bytes written, or -1 after an error. */
long decode(const unsigned char *data, unsigned long length, unsigned x, unsigned y, unsigned width, unsigned height,
            unsigned char *row, unsigned char *out) {
    struct jpeg_decompress_struct info;
    struct fault fault;
    info.err = jpeg_std_error(&fault.manager);
    fault.manager.error_exit = leave;
    if (setjmp(fault.back)) {
        jpeg_destroy_decompress(&info);
        return -1;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, length);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    if (width == 0) {
        width = info.output_width;
        height = info.output_height;
    }
    JDIMENSION left = x > MARGIN ? x - MARGIN : 0;
    JDIMENSION columns = x + width + MARGIN - left;
    if (left + columns > info.output_width) columns = info.output_width - left;
    if (columns < info.output_width) jpeg_crop_scanline(&info, &left, &columns);
    if (y > 0) jpeg_skip_scanlines(&info, y);
    copy_rows(&info, x - left, width, y + height, row, out);
    jpeg_abort_decompress(&info);
    jpeg_destroy_decompress(&info);
    return 3L * width * height;
}
