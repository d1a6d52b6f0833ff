#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The options of `aclprof export`, and what it makes of captures with nothing in them. Environment:
# ACLPROF_TOOL, ACLPROF_SRC.
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
# is CODE COMMAND...: the command ends with that code; its output is in $tmp/out and $tmp/err
is() {
    local code=$1 got=0
    shift
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || got=$?
    [ "$got" -eq "$code" ] || fail "exit code $got instead of $code: $* ($(head -c 300 "$tmp/err"))"
}
says() {
    grep -q -- "$1" "$tmp/out" "$tmp/err" || fail "no '$1' in $(head -c 300 "$tmp/out" "$tmp/err")"
}
# made DIR PATTERN COUNT
made() {
    local n
    n=$(find "$1" -name "$2" | wc -l)
    [ "$n" -eq "$3" ] || fail "$n files $2 instead of $3 in $1"
}

tar -xJf "${ACLPROF_SRC:?}/tests/data/golden.tar.xz" -C "$tmp" || exit 1
name=PROF_000001_20250101000000000_00004242CPNEIILO
prof=$tmp/device_910b/$name
out=mindstudio_profiler_output

# ---- where things go, and which ----

mkdir "$tmp/a" "$tmp/b" "$tmp/c" "$tmp/d"
is 0 "$tool" export --output "$tmp/a" --type all "$prof"
made "$tmp/a/$out" 'msprof_2*.json' 1
made "$tmp/a/$out" 'msprof_tx_*.json' 1
made "$tmp/a/$out" 'step_trace_*.json' 1
made "$tmp/a/$out" 'op_summary_*.csv' 1
made "$tmp/a/$out" '*.pftrace' 1
made "$tmp/a" 'msprof_*.db' 1
made "$tmp/a" '*.part' 0
grep -q '^1\.msprof\.json:' "$tmp/a/$out/README.txt" || fail "README.txt"
grep -q '\.op_summary\.csv:' "$tmp/a/$out/README.txt" || fail "README.txt without op_summary"
for type in $(ls "$tmp/a/$out" | sed -n 's/_[0-9]*\.csv$//p'); do
    grep -q "\.$type\.csv:" "$tmp/a/$out/README.txt" || fail "README.txt without $type"
done
[ "$(wc -l <"$tmp/out")" -eq "$(find "$tmp/a" -type f | wc -l)" ] || fail "not every file is named"
grep -q '\[' "$tmp/err" && fail "a progress bar without a terminal"
is 0 "$tool" export --output "$tmp/b" --summary "$prof"
made "$tmp/b/$out" '*.json' 0
made "$tmp/b/$out" 'op_summary_*.csv' 1
is 0 "$tool" export --output "$tmp/c" --timeline=on --clear=on "$prof"
made "$tmp/c/$out" '*.csv' 0
made "$tmp/c/$out" 'msprof_2*.json' 1
is 0 "$tool" export --output "$tmp/d" --type=db "$prof"
made "$tmp/d" 'msprof_*.db' 1
made "$tmp/d" '*.csv' 0
is 2 "$tool" export --type=text --summary=maybe "$prof"
says "can be on or off"
is 2 "$tool" export

# as `msprof --export=on --output=PROF` is called
cp -r "$tmp/host_api/$name" "$tmp/given"
is 0 "$tool" export --export=on --output="$tmp/given"
made "$tmp/given/$out" 'api_statistic_*.csv' 1

# ---- layers ----

mkdir "$tmp/l"
echo '{"json_process": {"hbm": false, "cann": false, "msproftx": false, "llc": true}}' >"$tmp/reports"
is 0 "$tool" export --type json --reports "$tmp/reports" --output "$tmp/l" "$prof"
timeline=$(echo "$tmp/l/$out"/msprof_2*.json)
grep -q '"name":"Ascend Hardware"' "$timeline" || fail "a layer that was not named is gone"
grep -q '"name":"NIC"' "$timeline" || fail "NIC is gone"
grep -q '"name":"HBM"' "$timeline" && fail "HBM is there"
grep -q '"name":"CANN"' "$timeline" && fail "CANN is there"
made "$tmp/l/$out" 'msprof_tx_*' 0
echo '{"json_process": {"hbm": false, "nonsense": false}}' >"$tmp/reports"
is 0 "$tool" export --type json --replace --reports "$tmp/reports" --output "$tmp/l" "$prof"
grep -q '"name":"HBM"' "$tmp/l/$out"/msprof_2*.json || fail "an unknown layer did not bring all"
echo '[]' >"$tmp/reports"
is 2 "$tool" export --reports "$tmp/reports" "$prof"
says "json_process"
is 2 "$tool" export --reports "$tmp/no such file" "$prof"
ln -s reports "$tmp/link"
is 2 "$tool" export --reports "$tmp/link" "$prof"

# ---- a part ----

mkdir "$tmp/p" "$tmp/q"
is 0 "$tool" export --device 0 --output "$tmp/p" "$prof"
cmp -s "$tmp/a/$out"/op_summary_*.csv "$tmp/p/$out"/op_summary_*.csv || fail "device 0 is not the same"
is 1 "$tool" export --device 3 --output "$tmp/p" "$prof"
says "no such device"
is 2 "$tool" export --device x "$prof"
is 0 "$tool" export --model-id 1 --iteration-id 1 --output "$tmp/q" "$prof"
# the iteration ends at 11100 µs: what began later is not in it
grep -q 'hcom_allReduce' "$tmp/q/$out"/op_summary_*.csv || fail "the operator at the end is gone"
grep -q ',NOTIFY_WAIT,' "$tmp/a/$out"/task_time_*.csv || fail "no task behind the iteration"
grep -q ',NOTIFY_WAIT,' "$tmp/q/$out"/task_time_*.csv && fail "a task behind the iteration is in it"
grep -q 'acl_push_outer' "$tmp/a/$out"/msprof_tx_*.csv || fail "no stamp before the iteration"
made "$tmp/q/$out" 'msprof_tx_*' 0
is 1 "$tool" export --model-id 1 --iteration-id 9 --output "$tmp/q" "$prof"
is 2 "$tool" export --model-id 1 --output "$tmp/q" "$prof"
says "want each other"

# ---- sets of counters ----

# set NAME: op_summary of a capture with that set, the line of MatMul_2 (cube) and of Add_1 (vector)
set_of() {
    rm -rf "$tmp/set"
    cp -r "$prof" "$tmp/set"
    sed -i "s/\"ai_core_metrics\": \"PipeUtilization\"/\"ai_core_metrics\": \"$1\"/" \
        "$tmp"/set/device_0/sample.json
    is 0 "$tool" export --summary "$tmp/set"
    head -n 1 "$tmp/set/$out"/op_summary_*.csv >"$tmp/header"
    cube=$(grep ',MatMul_2,' "$tmp/set/$out"/op_summary_*.csv)
    vector=$(grep ',Add_1,' "$tmp/set/$out"/op_summary_*.csv)
    fields=$(($(tr -cd , <"$tmp/header" | wc -c) + 1))
    # commas within the quoted shapes are none between fields
    for line in "$cube" "$vector"; do
        n=$(echo "$line" | sed 's/"""[^"]*"""/x/g' | tr -cd , | wc -c)
        [ $((n + 1)) -eq "$fields" ] || fail "$1: $((n + 1)) fields instead of $fields"
    done
}
# 55 µs on 20 cores, 30 µs on 8: cycles and counters are known shares of each other
set_of ResourceConflictRatio
grep -q 'aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,aiv_vec_bankgroup_cflt_ratio,aiv_vec_bank_cflt_ratio,aiv_vec_resc_cflt_ratio$' "$tmp/header" || fail "header of conflicts"
case $vector in *,0.0,0,*,356400,0.125,0.25,0.063) ;; *) fail "conflicts: $vector" ;; esac
case $cube in *,0.0,0,0.0,0.0,0.0) ;; *) fail "conflicts of a cube kernel: $cube" ;; esac
set_of ArithmeticUtilization
grep -q 'aic_mac_fp16_ratio,aic_mac_int8_ratio,aic_cube_fops,aiv_time(us),aiv_total_cycles,aiv_vec_fp32_ratio,aiv_vec_fp16_ratio,aiv_vec_int32_ratio,aiv_vec_misc_ratio,aiv_vector_fops$' "$tmp/header" || fail "header of arithmetic"
case $cube in *,0.125,0.25,N/A,0.0,0,0.0,0.0,0.0,0.0,N/A) ;; *) fail "arithmetic: $cube" ;; esac
case $vector in *,0.0,0.0,N/A,*,356400,0.062,0.231,0.111,0.0,N/A | *,0.063,0.231,0.111,0.0,N/A) ;; *) fail "arithmetic: $vector" ;; esac
set_of L2Cache
grep -q 'aic_r1_read_cache_miss_allocate,aiv_time(us),aiv_total_cycles,aiv_write_cache_hit,.*,aiv_r1_read_cache_miss_allocate$' "$tmp/header" || fail "header of L2"
case $vector in *,356400,44550,89100,22275,11137,71280,39600) ;; *) fail "L2: $vector" ;; esac
set_of Memory # what its counts stand for is not known
grep -q 'aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles$' "$tmp/header" || fail "header of Memory"

# ---- several, of which one is bad ----

mkdir "$tmp/many"
cp -r "$tmp/host_api/$name" "$tmp/many/PROF_000001_a"
cp -r "$tmp/host_stamps_counter/$name" "$tmp/many/PROF_000002_b"
mkdir "$tmp/many/PROF_000003_c"
is 1 "$tool" export "$tmp/many"
says "PROF_000003_c"
made "$tmp/many" 'msprof_2*.json' 2
is 1 "$tool" export "$tmp/nothing" "$tmp/many/PROF_000001_a" --replace
made "$tmp/many/PROF_000001_a" 'msprof_2*.json' 1

# a file that cannot be read is named, and stops no other
cp -r "$prof" "$tmp/hurt"
rm "$tmp/hurt/host/data/aging.compact.task_track.slice_0"
mkfifo "$tmp/hurt/host/data/aging.compact.task_track.slice_0"
is 0 "$tool" export "$tmp/hurt"
says "task_track"
made "$tmp/hurt/$out" 'api_statistic_*.csv' 1
made "$tmp/hurt/$out" 'task_time_*.csv' 1

# a file that cannot be written is named, and stops no other
cp -r "$prof" "$tmp/full"
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$tmp/full/$out"
    chmod 555 "$tmp/full/$out"
    is 1 "$tool" export --type all "$tmp/full"
    says "op_summary_.*Permission denied"
    made "$tmp/full" 'msprof_*.db' 1
    chmod 755 "$tmp/full/$out"
fi

# ---- nothing in it ----

for from in host_stamps_monotonic device_910b; do
    cp -r "$tmp/$from/$name" "$tmp/empty_$from"
    find "$tmp/empty_$from" -path '*/data/*' -delete
    is 0 "$tool" export --type all "$tmp/empty_$from"
    [ "$(cat "$tmp/empty_$from/$out"/msprof_2*.json)" = "[]" ] || fail "$from: no empty list"
    made "$tmp/empty_$from" 'msprof_*.db' 1
    made "$tmp/empty_$from/$out" '*.pftrace' 1
    for table in api_statistic msprof_tx; do
        head -n 1 "$tmp/$from/exported_so/$table"_*.csv >"$tmp/header" 2>/dev/null ||
            head -n 1 "$tmp/device_910b/exported_so/$table"_*.csv >"$tmp/header"
        cmp -s "$tmp/header" "$tmp/empty_$from/$out/$table"_*.csv || fail "$from: $table"
    done
done
made "$tmp/empty_host_stamps_monotonic/$out" '*.csv' 2
made "$tmp/empty_device_910b/$out" '*.csv' 3
case $(cat "$tmp/empty_device_910b/$out"/op_summary_*.csv) in
"Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"*"Block Num,"*) ;;
*) fail "op_summary without rows" ;;
esac
if command -v sqlite3 >/dev/null; then
    tables=$(sqlite3 "$tmp"/empty_device_910b/msprof_*.db \
        "SELECT count(*) FROM sqlite_master WHERE name IN ('META_DATA', 'SESSION_TIME_INFO',
         'HOST_INFO', 'NPU_INFO', 'RANK_DEVICE_MAP', 'STRING_IDS') OR name LIKE 'ENUM_%'")
    [ "$tables" -eq 15 ] || fail "$tables base tables instead of 15"
fi

# on a terminal there is a bar
if command -v script >/dev/null; then
    script -qec "'$tool' export --replace --type csv '$tmp/given'" "$tmp/typed" >/dev/null 2>&1 </dev/null
    grep -q '%' "$tmp/typed" || fail "no progress bar on a terminal"
fi

exit $bad
