#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Seconds and peak memory of `aclprof summary` and `aclprof export` for a large capture.
#
#   ACLPROF_BUILD=<build directory> tests/bench/export_speed.sh [STAMPS [TASKS]]
set -eu
build=${ACLPROF_BUILD:?set ACLPROF_BUILD to a build directory}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/aclprof_speed.XXXXXX")
trap 'rm -rf "$dir"' EXIT
prof=$(python3 "$here/make_prof.py" "$dir" "${1:-1000000}" "${2:-1000000}")

# measure NAME COMMAND...
measure() {
    name=$1
    shift
    python3 - "$name" "$@" <<'EOF'
import resource, subprocess, sys, time
begin = time.monotonic()
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL).returncode
seconds = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{sys.argv[1]:12} {seconds:6.2f} s  {used.ru_utime:6.2f} s user  {used.ru_maxrss / 1024:6.0f} MiB"
      f"{'' if code == 0 else '  exit ' + str(code)}")
sys.exit(code)
EOF
}
mkdir "$dir/out"
measure summary "$build/aclprof" summary "$prof"
for type in csv json; do
    measure "$type" "$build/aclprof" export --type "$type" --output "$dir/out" "$prof"
done
