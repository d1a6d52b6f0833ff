#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of digits_net.c and writes data/digits_data.h and data/digits_weights.h.

Needs nothing but Python 3.8 or newer and a few minutes. The seed is fixed, so that a second run
gives the same weights. The network is that of digits_net.h:

    8x8 image -> convolution 3x3, 16 filters, zero padding -> ReLU -> max pooling 2x2
              -> dense 32 -> ReLU -> dense 10 -> softmax

The last 400 of the 1797 digits are only used for the accuracy that is printed at the end.
"""
import argparse
import gzip
import math
import os
import random
from operator import mul

HERE = os.path.dirname(os.path.abspath(__file__))
SIDE = 8
PIXELS = SIDE * SIDE
MAX_PIXEL = 16
HELD_OUT = 400
FILTERS = 16
POOLED = (SIDE // 2) ** 2 * FILTERS
HIDDEN = 32
CLASSES = 10

CREDIT = """\
 * Digits: "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998),
 * UCI Machine Learning Repository, test part; licence CC BY 4.0."""


def read_digits(path):
    """[(64 pixels of 0..16, label)]"""
    digits = []
    with gzip.open(path, "rt", encoding="ascii") as lines:
        for line in lines:
            *pixels, label = map(int, line.split(","))
            if len(pixels) != PIXELS or not all(0 <= p <= MAX_PIXEL for p in pixels):
                raise ValueError(f"{path}: not a digit: {line!r}")
            digits.append((pixels, label))
    return digits


def patches(pixels):
    """The 3x3 neighbourhood of each pixel, zeros beyond the edge, scaled to 0..1."""
    def at(y, x):
        inside = 0 <= y < SIDE and 0 <= x < SIDE
        return pixels[y * SIDE + x] / MAX_PIXEL if inside else 0.0

    return [[at(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
            for y in range(SIDE) for x in range(SIDE)]


def warped(pixels, rng):
    """The image turned, stretched, slanted and moved a little, as another hand might write it."""
    angle, slant = rng.gauss(0.0, 0.18), rng.gauss(0.0, 0.18)
    wide, high = 1.0 + rng.gauss(0.0, 0.12), 1.0 + rng.gauss(0.0, 0.12)
    right, down = rng.gauss(0.0, 0.6), rng.gauss(0.0, 0.4)
    cos, sin, middle = math.cos(angle), math.sin(angle), (SIDE - 1) / 2

    def at(y, x):
        return pixels[y * SIDE + x] if 0 <= y < SIDE and 0 <= x < SIDE else 0

    image = []
    for row in range(SIDE):
        for column in range(SIDE):
            v, u = row - middle, column - middle
            x = wide * (cos * u - sin * v) + slant * v + middle + right
            y = high * (sin * u + cos * v) + middle + down
            x0, y0 = math.floor(x), math.floor(y)
            fx, fy = x - x0, y - y0
            image.append((1.0 - fy) * ((1.0 - fx) * at(y0, x0) + fx * at(y0, x0 + 1)) +
                         fy * ((1.0 - fx) * at(y0 + 1, x0) + fx * at(y0 + 1, x0 + 1)))
    return image


# The four pixels of each pooling window.
WINDOWS = [[(2 * y + dy) * SIDE + 2 * x + dx for dy in (0, 1) for dx in (0, 1)]
           for y in range(SIDE // 2) for x in range(SIDE // 2)]


def dot(a, b):
    return sum(map(mul, a, b))


class Network:
    """Weights by name, each a list of rows; a bias is one row."""

    def __init__(self, rng):
        def he(rows, columns):
            scale = math.sqrt(2.0 / columns)
            return [[rng.gauss(0.0, scale) for _ in range(columns)] for _ in range(rows)]

        self.weights = {
            "conv_weight": he(FILTERS, 9), "conv_bias": [[0.0] * FILTERS],
            "dense1_weight": he(HIDDEN, POOLED), "dense1_bias": [[0.0] * HIDDEN],
            "dense2_weight": he(CLASSES, HIDDEN), "dense2_bias": [[0.0] * CLASSES],
        }

    def forward(self, image):
        """(probabilities, what backward needs); image is what patches() returns."""
        w = self.weights
        pooled, winners = [], []
        for kernel, bias in zip(w["conv_weight"], w["conv_bias"][0]):
            plane = [dot(kernel, patch) for patch in image]
            for window in WINDOWS:
                winner = max(window, key=plane.__getitem__)
                value = plane[winner] + bias
                # max(relu(x)) is relu(max(x)): one ReLU per window is enough here
                pooled.append(value if value > 0.0 else 0.0)
                winners.append(winner)
        hidden = [max(0.0, dot(row, pooled) + bias)
                  for row, bias in zip(w["dense1_weight"], w["dense1_bias"][0])]
        logits = [dot(row, hidden) + bias
                  for row, bias in zip(w["dense2_weight"], w["dense2_bias"][0])]
        top = max(logits)
        exps = [math.exp(z - top) for z in logits]
        total = sum(exps)
        return [e / total for e in exps], (pooled, winners, hidden)

    def backward(self, image, label, gradient):
        """Adds the gradient of the cross entropy of one image to `gradient`."""
        w = self.weights
        probabilities, (pooled, winners, hidden) = self.forward(image)
        d_logits = probabilities
        d_logits[label] -= 1.0

        def dense(name, d_out, inputs):
            """Gradient of a dense layer's weights; returns that of its inputs."""
            d_in = [0.0] * len(inputs)
            for i, d in enumerate(d_out):
                if d != 0.0:
                    rows = gradient[name + "_weight"]
                    rows[i] = [g + d * x for g, x in zip(rows[i], inputs)]
                    gradient[name + "_bias"][0][i] += d
                    d_in = [g + d * v for g, v in zip(d_in, w[name + "_weight"][i])]
            return [d if x > 0.0 else 0.0 for d, x in zip(d_in, inputs)]

        d_hidden = dense("dense2", d_logits, hidden)
        d_pooled = dense("dense1", d_hidden, pooled)
        for i, d in enumerate(d_pooled):
            if d != 0.0:
                rows = gradient["conv_weight"]
                kernel = i // len(WINDOWS)
                rows[kernel] = [g + d * x for g, x in zip(rows[kernel], image[winners[i]])]
                gradient["conv_bias"][0][kernel] += d

    def zeros(self):
        return {name: [[0.0] * len(row) for row in rows] for name, rows in self.weights.items()}

    def right(self, images):
        """How many of the images are classified as labelled."""
        right = 0
        for image, label in images:
            probabilities, _ = self.forward(image)
            right += probabilities.index(max(probabilities)) == label
        return right


class Adam:
    """The optimiser of Kingma and Ba, with decoupled weight decay."""

    def __init__(self, network, decay):
        self.network, self.decay, self.step = network, decay, 0
        self.mean, self.square = network.zeros(), network.zeros()

    def update(self, gradient, count, rate):
        self.step += 1
        b1, b2 = 0.9, 0.999
        scale = rate / (1.0 - b1 ** self.step)
        correct = 1.0 / (1.0 - b2 ** self.step)
        for name, rows in self.network.weights.items():
            keep = 1.0 if name.endswith("bias") else 1.0 - rate * self.decay
            for r, row in enumerate(rows):
                g = [x / count for x in gradient[name][r]]
                m = [b1 * a + (1.0 - b1) * b for a, b in zip(self.mean[name][r], g)]
                s = [b2 * a + (1.0 - b2) * b * b for a, b in zip(self.square[name][r], g)]
                rows[r] = [keep * v - scale * a / (math.sqrt(correct * b) + 1e-8)
                           for v, a, b in zip(row, m, s)]
                self.mean[name][r], self.square[name][r] = m, s


def train(network, digits, epochs, rng):
    batch = 32
    variants = [[(patches(pixels if i == 0 else warped(pixels, rng)), label) for i in range(8)]
                for pixels, label in digits]
    adam = Adam(network, decay=0.02)
    for epoch in range(epochs):
        rate = 0.004 * 0.5 * (1.0 + math.cos(math.pi * epoch / epochs))
        images = [rng.choice(variant) for variant in variants]
        rng.shuffle(images)
        for first in range(0, len(images), batch):
            part = images[first:first + batch]
            gradient = network.zeros()
            for image, label in part:
                network.backward(image, label, gradient)
            adam.update(gradient, len(part), rate)
        print(f"epoch {epoch + 1} of {epochs}", flush=True)


def write_digits(path, digits):
    """An image a line: 64 letters 'A' (0) to 'Q' (16), row by row, then the label."""
    with open(path, "w", encoding="ascii") as out:
        out.write(f"""\
/* SPDX-License-Identifier: CC-BY-4.0 */
/* Written by train_digits.py: an image a line, 64 pixels from 'A' (0) to 'Q' (16), row by row, and
 * the label.
{CREDIT} */
static const char digits_data[{len(digits)}][{PIXELS + 2}] = {{
""")
        for pixels, label in digits:
            letters = "".join(chr(ord("A") + p) for p in pixels)
            out.write(f'    "{letters}{label}",\n')
        out.write("};\n")


def write_weights(path, network, epochs):
    with open(path, "w", encoding="ascii") as out:
        out.write(f"""\
/* SPDX-License-Identifier: Apache-2.0 */
/* Written by train_digits.py ({epochs} epochs).
{CREDIT} */
#define DIGITS_HELD_OUT {HELD_OUT} /* the last ones of the file: not trained on */
""")
        for name, rows in network.weights.items():
            values = [f"{v:.7g}" for row in rows for v in row]
            values = [(v if "." in v or "e" in v else v + ".0") + "f" for v in values]
            out.write(f"\nstatic const float {name}[{len(values)}] = {{\n")
            line = "   "
            for value in values:
                if len(line) + len(value) + 2 > 100:
                    out.write(line + "\n")
                    line = "   "
                line += f" {value},"
            out.write(f"{line}\n}};\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1998)
    parser.add_argument("--data", default=os.path.join(HERE, "data"),
                        help="directory of digits.csv.gz and of the headers")
    parser.add_argument("--validate", type=int, metavar="FIRST",
                        help="for trying things out: hold back 300 digits of the training part "
                        "from number FIRST on instead, and write nothing")
    args = parser.parse_args()

    digits = read_digits(os.path.join(args.data, "digits.csv.gz"))
    learn, test = digits[:-HELD_OUT], digits[-HELD_OUT:]
    if args.validate is not None:
        first, last = args.validate, args.validate + 300
        learn, test = learn[:first] + learn[last:], learn[first:last]
    rng = random.Random(args.seed)
    network = Network(rng)
    train(network, learn, args.epochs, rng)
    for what, part in (("training", learn), ("held-out", test)):
        right = network.right([(patches(pixels), label) for pixels, label in part])
        print(f"{right} of {len(part)} {what} digits right ({100.0 * right / len(part):.2f} %)")
    if args.validate is None:
        write_digits(os.path.join(args.data, "digits_data.h"), digits)
        write_weights(os.path.join(args.data, "digits_weights.h"), network, args.epochs)


if __name__ == "__main__":
    main()
