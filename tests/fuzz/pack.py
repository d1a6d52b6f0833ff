#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack.py PROF_DIR OUT [BYTES]: a result directory as an input of fuzz_directory, fuzz_export and
fuzz_recover, files cut to BYTES. pack.py -x INPUT DIR: the directory that an input stands for.
pack.py -a ARENA OUT: an arena as an input of fuzz_arena."""
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "tree.c"), encoding="utf-8") as source:
    FILES = re.findall(r'^    "((?:host|device_0)/[^"]+)",$', source.read(), re.M)


def squeeze(content):
    """As fuzz_sparse of tree.c wants it."""
    content += bytes(-len(content) % 8)
    words = [content[i : i + 8] for i in range(0, len(content), 8)]
    out, at, zero = b"", 0, bytes(8)
    while at < len(words):
        begin = at
        while at < len(words) and words[at] == zero and at - begin < 65535:
            at += 1
        gap, begin = at - begin, at
        while at < len(words) and words[at] != zero and at - begin < 255:
            at += 1
        out += gap.to_bytes(2, "little") + bytes([at - begin]) + b"".join(words[begin:at])
    return out


def stretch(data):
    out, at = b"", 0
    while at + 3 <= len(data):
        size = data[at + 2] * 8
        out += bytes(8 * int.from_bytes(data[at : at + 2], "little"))
        out += data[at + 3 : at + 3 + size]
        at += 3 + size
    return out


def pack(directory, out, most):
    data = b""
    for number, name in enumerate(FILES):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                content = file.read()[:most]
            if name.endswith("/arena"):
                content = squeeze(content)
            data += bytes([number]) + len(content).to_bytes(3, "little") + content
    with open(out, "wb") as file:
        file.write(data)


def unpack(path, directory):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 4 <= len(data):
        name = os.path.join(directory, FILES[data[at] % len(FILES)])
        length = int.from_bytes(data[at + 1 : at + 4], "little")
        at += 4
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            content = data[at : at + length]
            file.write(stretch(content) if name.endswith("/arena") else content)
        at += length
    for name in ("host/data", "host/.aclprof"):
        os.makedirs(os.path.join(directory, name), exist_ok=True)


if len(sys.argv) == 4 and sys.argv[1] == "-x":
    unpack(sys.argv[2], sys.argv[3])
elif len(sys.argv) == 4 and sys.argv[1] == "-a":
    with open(sys.argv[2], "rb") as arena_file, open(sys.argv[3], "wb") as out_file:
        out_file.write(squeeze(arena_file.read()))
elif len(sys.argv) in (3, 4):
    pack(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 1 << 23)
else:
    sys.exit(__doc__)
