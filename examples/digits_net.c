/* SPDX-License-Identifier: Apache-2.0 */
#include "digits_net.h"

#include <math.h>
#include <string.h>

#include "data/digits_data.h"
#include "data/digits_weights.h"

#define SIDE 8
#define FILTERS 16
#define PLANE (SIDE * SIDE)
#define POOLED_SIDE (SIDE / 2)
#define POOLED_PLANE (POOLED_SIDE * POOLED_SIDE)
#define POOLED (FILTERS * POOLED_PLANE)
#define HIDDEN 32
#define MAX_PIXEL 16
#define DIGITS ((int)(sizeof(digits_data) / sizeof(digits_data[0])))

_Static_assert(PLANE == DIGITS_PIXELS, "an image is a plane");
_Static_assert(FILTERS *PLANE == DIGITS_WIDEST, "the convolution is the widest layer");
_Static_assert(sizeof(digits_data[0]) == PLANE + 2, "pixels, label, NUL");
_Static_assert(sizeof(conv_weight) == sizeof(float) * FILTERS * 9, "conv weights");
_Static_assert(sizeof(dense1_weight) == sizeof(float) * HIDDEN * POOLED, "dense1 weights");
_Static_assert(sizeof(dense2_weight) == sizeof(float) * DIGITS_CLASSES * HIDDEN, "dense2 weights");

/* 3x3, one input plane, FILTERS output planes, zeros beyond the edge. */
static void conv(const float *in, float *out, int images)
{
    float padded[SIDE + 2][SIDE + 2] = {{0}};

    for (int image = 0; image < images; image++, in += PLANE) {
        for (int y = 0; y < SIDE; y++) {
            memcpy(&padded[y + 1][1], in + y * SIDE, SIDE * sizeof(float));
        }
        for (int filter = 0; filter < FILTERS; filter++, out += PLANE) {
            const float *kernel = conv_weight + filter * 9;

            for (int y = 0; y < SIDE; y++) {
                for (int x = 0; x < SIDE; x++) {
                    float sum = conv_bias[filter];

                    for (int k = 0; k < 9; k++) {
                        sum += kernel[k] * padded[y + k / 3][x + k % 3];
                    }
                    out[y * SIDE + x] = sum;
                }
            }
        }
    }
}

static void relu(const float *in, float *out, int count)
{
    for (int i = 0; i < count; i++) {
        out[i] = in[i] > 0.0f ? in[i] : 0.0f;
    }
}

static void conv_relu(const float *in, float *out, int images)
{
    relu(in, out, images * FILTERS * PLANE);
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

/* The largest of each 2x2 window. */
static void pool(const float *in, float *out, int images)
{
    for (int plane = 0; plane < images * FILTERS; plane++, in += PLANE) {
        for (int y = 0; y < SIDE; y += 2) {
            for (int x = 0; x < SIDE; x += 2) {
                const float *window = in + y * SIDE + x;

                *out++ =
                    larger(larger(window[0], window[1]), larger(window[SIDE], window[SIDE + 1]));
            }
        }
    }
}

static void dense(const float *weight, const float *bias, int inputs, int outputs, const float *in,
                  float *out, int images)
{
    for (int image = 0; image < images; image++, in += inputs) {
        for (int i = 0; i < outputs; i++) {
            const float *row = weight + i * inputs;
            float sum[4] = {bias[i], 0.0f, 0.0f, 0.0f}; /* four chains of additions at a time */

            for (int k = 0; k < inputs; k += 4) {
                sum[0] += row[k] * in[k];
                sum[1] += row[k + 1] * in[k + 1];
                sum[2] += row[k + 2] * in[k + 2];
                sum[3] += row[k + 3] * in[k + 3];
            }
            *out++ = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
}

static void dense1(const float *in, float *out, int images)
{
    dense(dense1_weight, dense1_bias, POOLED, HIDDEN, in, out, images);
}

static void dense1_relu(const float *in, float *out, int images)
{
    relu(in, out, images * HIDDEN);
}

static void dense2(const float *in, float *out, int images)
{
    dense(dense2_weight, dense2_bias, HIDDEN, DIGITS_CLASSES, in, out, images);
}

const digits_layer digits_layers[DIGITS_LAYERS] = {
    {"conv 3x3x16", FILTERS *PLANE, FILTERS *PLANE * 9, true, conv},
    {"relu 16x8x8", FILTERS *PLANE, FILTERS *PLANE, false, conv_relu},
    {"maxpool 2x2", POOLED, POOLED * 4, false, pool},
    {"dense 256-32", HIDDEN, HIDDEN *POOLED, true, dense1},
    {"relu 32", HIDDEN, HIDDEN, false, dense1_relu},
    {"dense 32-10", DIGITS_CLASSES, DIGITS_CLASSES *HIDDEN, true, dense2},
};

int digits_count(void)
{
    return DIGITS;
}

int digits_label(int index)
{
    return digits_data[index][PLANE] - '0';
}

bool digits_held_out(int index)
{
    return index >= DIGITS - DIGITS_HELD_OUT;
}

void digits_load(int index, float *pixels)
{
    for (int i = 0; i < PLANE; i++) {
        pixels[i] = (float)(digits_data[index][i] - 'A') / MAX_PIXEL;
    }
}

int digits_classify(float *values)
{
    int best = 0;
    float top = 0.0f;
    float sum = 0.0f;

    for (int i = 1; i < DIGITS_CLASSES; i++) {
        best = values[i] > values[best] ? i : best;
    }
    top = values[best]; /* the largest exponent is 0: no overflow */
    for (int i = 0; i < DIGITS_CLASSES; i++) {
        values[i] = expf(values[i] - top);
        sum += values[i];
    }
    for (int i = 0; i < DIGITS_CLASSES; i++) {
        values[i] /= sum;
    }
    return best;
}
