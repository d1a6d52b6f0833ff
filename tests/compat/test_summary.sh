#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `aclprof summary` of a capture whose every value is known. Environment: ACLPROF_TOOL, ACLPROF_SRC,
# ACLPROF_BUILD.
set -u
export LC_ALL=C

tool=${ACLPROF_TOOL:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}
tar -xJf "${ACLPROF_SRC:?}/tests/data/golden.tar.xz" -C "$tmp" device_910b || exit 1
prof=$tmp/device_910b/PROF_000001_20250101000000000_00004242CPNEIILO

summary() {
    "$tool" summary "$@" "$prof" >"$tmp/out" 2>"$tmp/err" </dev/null || fail "exit code of summary $*"
}
# rows EXPECTED OPTIONS…: names of the rows of --format csv, in order, joined with commas
rows() {
    local expected=$1 got
    shift
    summary --format csv --limit 0 "$@"
    got=$(tail -n +2 "$tmp/out" | cut -d, -f1,2 | tr '\n' ' ')
    [ "$got" = "$expected" ] || fail "summary $*: '$got' instead of '$expected'"
}
line() {
    grep -qxF -- "$1" "$tmp/out" || fail "no line '$1' in: $(cat "$tmp/out")"
}

# ---- numbers: count, total, average, least, median, p90, p99, most in µs ----

summary --format csv --limit 0
line "table,name,count,total(us),avg(us),min(us),median(us),p90(us),p99(us),max(us)"
line "tasks,k_AiCpuOp_3,1,80.000,80.000,80.000,80.000,80.000,80.000,80.000"
line "tasks,MEMCPY_ASYNC,2,60.000,30.000,20.000,20.000,40.000,40.000,40.000"
line "calls,node: launch,5,240.000,48.000,40.000,40.000,80.000,80.000,80.000"
line "calls,acl: aclnnAdd,4,240.000,60.000,60.000,60.000,60.000,60.000,60.000"
line "ranges,acl_range,1,6000.000,6000.000,6000.000,6000.000,6000.000,6000.000,6000.000"

# ---- filters ----

rows "tasks,k_Add_4 tasks,k_Add_1 " --name 'k_Add*'
rows "ranges,mstx_range " --domain mydomain --name '*_range'
rows "ranges,acl_range " --thread 4244 --name 'a*'
rows "" --thread 1 --device 7
rows "tasks,k_MatMul_2 " --device 0 --name 'k_Mat*'
rows "tasks,k_AiCpuOp_3 tasks,k_Add_4 tasks,MEMCPY_ASYNC calls,acl: aclrtMemcpyAsync calls,runtime: MemCopyAsync " \
    --from 10.5 --to 11 --name '[kM]*' --name '[akMr]*' --thread 4243 --max 80
rows "tasks,k_AiCpuOp_3 tasks,k_MatMul_2 tasks,AI_CORE " --device 0 --min 50 --max 80 --thread 1
rows "tasks,NOTIFY_WAIT " --max 15 --min 15

# ---- order, limit ----

rows "tasks,k_AiCpuOp_3 tasks,k_MatMul_2 tasks,k_Add_4 tasks,k_Add_1 " --name 'k_*'
rows "tasks,k_Add_1 tasks,k_Add_4 tasks,k_AiCpuOp_3 tasks,k_MatMul_2 " --name 'k_*' --sort name
rows "tasks,MEMCPY_ASYNC tasks,AIC tasks,AI_CORE tasks,NOTIFY_WAIT " --name '[AMN]*' --sort count
rows "tasks,AI_CORE tasks,MEMCPY_ASYNC tasks,AIC tasks,NOTIFY_WAIT " --name '[AMN]*' --sort average
rows "tasks,AI_CORE tasks,MEMCPY_ASYNC tasks,AIC tasks,NOTIFY_WAIT " --name '[AMN]*' --sort max
summary --limit 2 --name 'k_*'
grep -q "… 2 more" "$tmp/out" || fail "--limit does not tell of the rest"
"$tool" summary --limit x "$prof" >/dev/null 2>&1
[ $? -eq 2 ] || fail "--limit x"
"$tool" summary --from -1 "$prof" >/dev/null 2>&1
[ $? -eq 2 ] || fail "--from -1"

# ---- devices ----

summary
line "device 0: 9 tasks in 1.050 ms, 30.6 % busy, longest gap 0.170 ms"
grep -q "^4 marks" "$tmp/out" || fail "marks: $(grep marks "$tmp/out")"
grep -q "$(printf '\033')" "$tmp/out" && fail "colour without a terminal"

# ---- JSON ----

summary --format json --limit 0
grep -qF '{"table":"devices","device":0,"simulated":false,"tasks":9,"span_ns":1050000,"busy_ns":321000,"longest_gap_ns":170000}' \
    "$tmp/out" || fail "the device in JSON"
grep -qF '{"table":"tasks","name":"MEMCPY_ASYNC","count":2,"total_ns":60000,"min_ns":20000,"median_ns":20000,"p90_ns":40000,"p99_ns":40000,"max_ns":40000}' \
    "$tmp/out" || fail "a row in JSON"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; l = json.load(open(sys.argv[1])); assert len(l) > 10 and all("table" in r for r in l)' \
        "$tmp/out" || fail "no JSON list"
fi

# ---- losses and cost, of a capture of ours ----

example=${ACLPROF_BUILD:?}/examples/inference_loop
if [ -x "$example" ]; then
    ACLPROF_DRIVER=sim "$example" --loops 1 --output "$tmp/o" >"$tmp/example" 2>&1 ||
        fail "the example: $(tail -n 3 "$tmp/example")"
    "$tool" summary "$tmp/o" >"$tmp/out" 2>"$tmp/err"
    grep -Eq '^records: [0-9]+ emitted = [0-9]+ written \+ 0 lost' "$tmp/out" || fail "no losses"
    grep -Eq '^cost: calls about [0-9.]+ ms, writer [0-9.]+ ms of CPU' "$tmp/out" || fail "no cost"
    "$tool" summary --format json "$tmp/o" 2>/dev/null | grep -Eq '"table":"account","emitted":[1-9]' ||
        fail "no account in JSON"
fi

# ---- colour on a terminal only, and not where it is not wanted ----

if command -v script >/dev/null; then
    script -qec "'$tool' summary '$prof'" "$tmp/typed" >/dev/null 2>&1 </dev/null
    grep -q "$(printf '\033\\[1m')" "$tmp/typed" || fail "no colour on a terminal"
    NO_COLOR=1 script -qec "'$tool' summary '$prof'" "$tmp/typed" >/dev/null 2>&1 </dev/null
    grep -q "$(printf '\033\\[1m')" "$tmp/typed" && fail "colour in spite of NO_COLOR"
fi

exit $bad
