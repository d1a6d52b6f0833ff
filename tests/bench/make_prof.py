#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a large PROF_* directory of a 910B: stamps, calls, and device tasks with operators and counters.

usage: make_prof.py OUT [STAMPS [TASKS]]      (a million of each; prints the PROF_* path)

The control files are those of tests/data/golden.tar.xz.
"""
import os
import struct
import sys
import tarfile

HOST, DEVICE, STEP = 5_000_000_000, 9_000_000_000, 10  # counters at the start; µs between tasks
CHUNK = 200_000


def hash_of(text):
    high = low = 0
    for c in text.encode():
        high = (high * 29 + c) & 0xFFFFFFFF
        low = (low * 131 + c) & 0xFFFFFFFF
    return high << 32 | low


def write(directory, name, count, make):
    """slices of CHUNK records each"""
    for k, first in enumerate(range(0, count, CHUNK)):
        with open(os.path.join(directory, "data", f"{name}.slice_{k}"), "wb") as f:
            f.write(b"".join(make(i) for i in range(first, min(first + CHUNK, count))))


def control_files(out):
    here = os.path.dirname(os.path.abspath(__file__))
    with tarfile.open(os.path.join(here, "..", "data", "golden.tar.xz")) as tar:
        for member in tar:
            parts = member.name.split("/", 2)
            if parts[0] == "device_910b" and len(parts) > 2 and parts[1].startswith("PROF"):
                root = os.path.join(out, parts[1])
                target = os.path.join(root, parts[2])
                if member.isfile() and "/data/" not in member.name:
                    os.makedirs(os.path.dirname(target), exist_ok=True)
                    with open(target, "wb") as f:
                        f.write(tar.extractfile(member).read())
    for part in ("host", "device_0"):
        os.makedirs(os.path.join(root, part, "data"), exist_ok=True)
    return root


def main():
    out = sys.argv[1]
    stamps = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    tasks = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    root = control_files(out)
    host, device = os.path.join(root, "host"), os.path.join(root, "device_0")
    names = [f"Op_{i}" for i in range(200)]
    types = [f"Type_{i}" for i in range(20)]
    name_ids = [hash_of(n) for n in names]
    type_ids = [hash_of(t) for t in types]

    def stamp(i):
        start = HOST + i * STEP * 100
        return struct.pack("=HHIIIQHHIHHIIIIiQQQQQi156s", 0x5A5A, 20500, 0, 4243, 232, start, 0, 0, 0,
                           0x5A5A, 0, 4242, 4243 + i % 4, i % 3, 1, 0, i, start, start + 100 + i % 900,
                           0, 0, 0, b"step %d" % (i % 1000))

    def call(i):
        begin = HOST + i // 2 * STEP * 100 + (20 if i % 2 else 10)
        end = begin + (20 if i % 2 else 60)
        level, kind = ((5000, 1003), (10000, 5))[i % 2 == 0]
        item = name_ids[i // 2 % 200] if i % 2 == 0 else 0
        return struct.pack("=HHIIIQQQ", 0x5A5A, level, kind, 4243, 0, begin, end, item)

    def compact(level, kind, time, payload):
        return struct.pack("=HHIIIQ40s", 0x5A5A, level, kind, 4243, len(payload), time, payload)

    def track(i):
        return compact(5000, 802, HOST + i * STEP * 100 + 25,
                       struct.pack("=HHHHQQ", 0, i % 8, i // 8 & 0xFFFF, 0, 66, name_ids[i % 200]))

    def node(i):
        return compact(10000, 0, HOST + i * STEP * 100 + 50,
                       struct.pack("=QIQII", name_ids[i % 200], 2, type_ids[i % 20], 8, 0))

    def log(i):
        task, end = i // 2, i % 2
        time = DEVICE + task * STEP * 50 + 200 + (100 + task % 300 if end else 0)
        return struct.pack("=4HQ48s", end, 0x6BD3, task % 8, task // 8 & 0xFFFF, time, b"")

    def pmu(i):
        start = DEVICE + i * STEP * 50 + 200
        return struct.pack("=4HQ4HQQQ8QQQ", 0x28, 0x6BD3, i % 8, i // 8 & 0xFFFF, 0, 0, 0, 1 << 13, 0, 0,
                           9000 + i % 1000, 0, 1000, 2000, 500, 250, 1500, 900, 100, 3, start, start + 100)

    write(host, "aging.additional.msproftx", stamps, stamp)
    write(host, "aging.api_event.data", tasks * 2, call)
    write(host, "aging.compact.task_track", tasks, track)
    write(host, "aging.compact.node_basic_info", tasks, node)
    write(device, "stars_soc.data.0", tasks * 2, log)
    write(device, "ffts_profile.data.0", tasks, pmu)
    with open(os.path.join(host, "data", "unaging.additional.hash_dic.slice_0"), "w") as f:
        f.writelines(f"{hash_of(t)}:{t}\n" for t in names + types)
    with open(os.path.join(host, "data", "unaging.additional.type_info_dic.slice_0"), "w") as f:
        f.write("5000_1003:KernelLaunch\n10000_5:launch\n5000_66:KERNEL_AIVEC\n20500_0:msproftx\n")
    print(root)


main()
