#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `aclprof doctor` as a person uses it: exit codes, text and JSON. Environment: ACLPROF_TOOL,
# ACLPROF_LIB.
set -u
export LC_ALL=C
unset LD_LIBRARY_PATH ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_WORK_PATH ACLPROF_DRIVER \
    PROFILING_MODE PROFILER_SAMPLECONFIG

tool=${ACLPROF_TOOL:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}
is() {
    local code=$1 got=0
    shift
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code: $* ($(head -c 600 "$tmp/out" "$tmp/err"))"
}
has() {
    grep -q -- "$1" "$tmp/out" "$tmp/err" || fail "no '$1' in: $(head -c 900 "$tmp/out" "$tmp/err")"
}

is 0 "$tool" doctor --help
has "Exit codes"
is 2 "$tool" doctor --nonsense
is 2 "$tool" doctor more
is 2 "$tool" doctor --space lots
is 2 "$tool" doctor --space 99999999999G
is 1 "$tool" doctor --root "$tmp/nothing"

# a machine that is in order
root=$tmp/root
mkdir -p "$root"/usr/lib64 "$root"/dev/shm "$root"/proc/self "$root"/results \
    "$root"/sys/devices/system/clocksource/clocksource0
cp "${ACLPROF_LIB:?}" "$root/usr/lib64/libacl_prof.so"
printf 'Max open files            65536                65536                files\n' \
    >"$root/proc/self/limits"
printf 'flags : constant_tsc nonstop_tsc x\n' >"$root/proc/cpuinfo"
# a small /dev/shm of the machine that tests is a warning
case $(df --output=avail -B1M "$root" | tail -n 1) in
[0-9] | [12][0-9] | 3[01]) exit 77 ;;
esac
is 0 "$tool" doctor --root "$root" --output /results --space 1K
has "^ok .*libacl_prof.so is this project's"
has "^note .*no CANN toolkit"
is 0 "$tool" doctor --root "$root" --output /results --space 1K --quiet
[ ! -s "$tmp/out" ] || fail "--quiet tells: $(cat "$tmp/out")"
is 3 "$tool" doctor --root "$root" --output /results --space 1000000G
has "^warning .*are asked for"
has "^  *-> free space"
PROFILING_MODE=dynamic is 4 "$tool" doctor --root "$root" --output /results --space 1K --quiet
has "^problem .*PROFILING_MODE"
PROFILING_MODE=dynamic is 4 "$tool" doctor --root "$root" --output /results --json
has '"worst":"problem"'
has '"id":"others.environment","grade":"problem"'
if command -v python3 >/dev/null; then
    python3 - "$tmp/out" <<'PY' || fail "the JSON"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["version"] == 1 and len(d["findings"]) > 5
assert all(set(f) == {"id", "grade", "text", "advice"} and f["text"] for f in d["findings"])
assert all(f["advice"] for f in d["findings"] if f["grade"] in ("warning", "problem"))
PY
fi

# this machine, whatever it is: it answers, and leaves nothing behind
mkdir "$tmp/here"
"$tool" doctor --output "$tmp/here" >"$tmp/out" 2>"$tmp/err"
code=$?
case $code in 0 | 3 | 4) ;; *) fail "exit code $code" ;; esac
[ ! -s "$tmp/err" ] || fail "it prints $(cat "$tmp/err")"
has "$tmp/here can be written"
[ -z "$(ls -A "$tmp/here")" ] || fail "it leaves $(ls -A "$tmp/here")"

[ "$bad" -eq 0 ] && echo "doctor: ok"
exit $bad
