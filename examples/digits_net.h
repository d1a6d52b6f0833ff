/* SPDX-License-Identifier: Apache-2.0 */
/* A small convolutional network that reads handwritten digits, and 1797 digits to read.
 * Weights and digits are compiled in; train_digits.py makes them. Nothing here knows of profiling,
 * and everything may be called from any number of threads. */
#ifndef DIGITS_NET_H_
#define DIGITS_NET_H_

#include <stdbool.h>

#define DIGITS_PIXELS 64  /* an image, 8 x 8 */
#define DIGITS_CLASSES 10 /* the last layer's outputs for an image */
#define DIGITS_LAYERS 6
#define DIGITS_WIDEST 1024 /* outputs of the widest layer for an image */

typedef struct digits_layer {
    const char *name;
    int outputs;    /* floats for an image */
    int multiplies; /* for an image, or other operations where it has none */
    bool matrix;    /* a matrix product, else element by element */
    /* in and out hold `images` images one after the other and do not overlap */
    void (*run)(const float *in, float *out, int images);
} digits_layer;

/* The network, in order: pixels go in, and one value for each class comes out. */
extern const digits_layer digits_layers[DIGITS_LAYERS];

int digits_count(void);
int digits_label(int index);

/* Was the network trained without this digit? Only these tell how good it is. */
bool digits_held_out(int index);

/* Pixels of a digit, normalised to 0 (paper) ... 1 (ink). */
void digits_load(int index, float *pixels);

/* Turns what the last layer says of an image into probabilities; returns the likeliest class. */
int digits_classify(float *values);

#endif
