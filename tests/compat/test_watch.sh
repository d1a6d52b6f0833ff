#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# aclprof watch: what is in the rings and on disk of a running capture, without a word to its process.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
unset ACLPROF_RESULTS ACLPROF_DRIVER ACLPROF_SIM ACLPROF_CONTROL
stamper=$helpers/stamper
out=$tmp/out
children=()
trap 'kill -KILL "${children[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# begin WHAT…: a captured program in the background, its number in $pid, its directory in $prof
begin() {
    rm -rf "$tmp"/{ready,go,one,two} "$out"
    env ASCEND_WORK_PATH="$out" LD_PRELOAD="$lib" "$stamper" "$@" >"$tmp/program" 2>&1 </dev/null &
    pid=$!
    children+=($pid)
    await "$tmp/ready"
    prof=$(ls -d "$out"/PROF_*)
}
await() {
    for _ in $(seq 1000); do [ -e "$1" ] && return; sleep 0.01; done
    bad "$1 does not come"
}
# watch CODE OPTIONS…: what it prints is in $tmp/said
watch() {
    local want=$1 got=0
    shift
    timeout 60 "$tool" watch --plain "$@" >"$tmp/said" 2>&1 </dev/null || got=$?
    [ "$got" = "$want" ] || bad "watch $*: exit code $got: $(cat "$tmp/said")"
}
# shows ROW PATTERN: before long, it does
shows() {
    for _ in $(seq 100); do
        timeout 60 "$tool" watch --plain --interval 0.02 --count 2 "$prof" >"$tmp/said" 2>&1 </dev/null
        grep -q -- "$2" "$tmp/said" && { good "$1"; return; }
        kill -0 $pid 2>/dev/null || break
    done
    bad "$1: $(cat "$tmp/said")"
}
ended() {
    touch "$tmp/go"
    wait $pid
    equal "$1: exit code" $? 0
}

watch 0 --help
for bad in "" "--interval 0 x" "--interval x x" "--count 0 x" "--top 1000 x" "--nonsense x" "x y"; do
    # shellcheck disable=SC2086
    watch 2 $bad
done
watch 1 "$tmp/nothing"

export ACLPROF_AUTOSTART=stamps
begin stamps 1000 name other stamps 10 touch "$tmp/ready" until "$tmp/one" stamps 5000 touch "$tmp/two" \
    until "$tmp/go"
shows "events" '[0-9]* events/s, 1010 in all; lost: rings 0, disk 0, storage limit 0; 1 threads'
shows "a name" '^mark  *[0-9]* *1000 '
shows "another name" '^other  *[0-9]* *10 '
watch 0 --interval 0.01 --count 1 --top 1 "$out"
equal "the top one only, by the directory above" "$(grep -c '^mark\|^other' "$tmp/said")" 1
watch 0 --interval 0.01 --count 1 --top 0 "$prof"
equal "none" "$(grep -c '^mark\|^other\|^stamp' "$tmp/said")" 0
timeout 60 "$tool" watch --plain --interval 0.05 "$prof" >"$tmp/live" 2>&1 &
watcher=$!
touch "$tmp/one"
await "$tmp/two"
shows "more of it" '^other  *[0-9]* *5010 '
before=$(find "$prof" | sort)
watch 0 --interval 0.01 --count 3 "$prof"
equal "it leaves nothing there" "$(find "$prof" | sort)" "$before"
ended stamps
wait $watcher
equal "it ends with the capture" "$?:$(tail -n 1 "$tmp/live")" \
    "0:the capture has ended: aclprof summary $prof"
equal "it has followed" "$(grep -c '6010 in all' "$tmp/live" | sed 's/^[1-9].*/some/')" some
equal "no harm done" "$("$tool" check "$prof" 2>&1 | tail -1)" whole
watch 1 "$prof"
grep -q 'not being written' "$tmp/said" && good "over" || bad "over: $(cat "$tmp/said")"

# Names that would command the terminal.
begin name "$(printf 'a\033[2Jb\tc\302\233d\303\251\377')" stamps 50 touch "$tmp/ready" until "$tmp/go"
shows "control characters" '^a?\[2Jb?c?dé.* 50 '
equal "no escape" "$(grep -c "$(printf '\033\|\302\233')" "$tmp/said")" 0
ended names

# Rings in the process's own memory.
ACLPROF_ARENA=anonymous begin stamps 100 touch "$tmp/ready" until "$tmp/go"
shows "anonymous rings" "the rings are in the process's own memory"
ended anonymous
[ ! -d /dev/shm ] || {
    ACLPROF_ARENA=shm begin stamps 100 touch "$tmp/ready" until "$tmp/go"
    shows "rings in shared memory" ' 100 in all'
    ended shm
}

# What is lost.
ACLPROF_RING_SIZE=64K begin name "$(printf 'x%.0s' $(seq 120))" stamps 20000 touch "$tmp/ready" \
    until "$tmp/go"
shows "small rings" ' 20000 in all'
said_lost=$(grep -o 'rings [0-9]*' "$tmp/said" | tail -n 1)
ended lost
equal "what is lost is told" "$said_lost" "rings $(sed -n 's/.*"total":.*"lost_total":\([0-9]*\).*/\1/p' \
    "$prof/host/.aclprof/account.json" | head -n 1)"

# The directory changes under its eyes.
begin stamps 100 touch "$tmp/ready" until "$tmp/go"
mv "$prof/host/data" "$prof/host/kept" && mkdir "$prof/host/data"
mkfifo "$prof/host/data/aging.additional.msproftx.slice_0"
ln -s /dev/zero "$prof/host/data/aging.additional.msproftx.slice_1"
mkdir -p "$prof/device_3/data" "$prof/device_999"
mkfifo "$prof/device_3/info.json.3"
watch 0 --interval 0.01 --count 3 "$prof"
good "hostile files"
{
    kill -KILL $pid
    wait $pid
} 2>/dev/null

# A killed one.
begin stamps 100 touch "$tmp/ready" until "$tmp/go"
timeout 60 "$tool" watch --plain --interval 0.05 "$prof" >"$tmp/live" 2>&1 &
watcher=$!
for _ in $(seq 1000); do [ -s "$tmp/live" ] && break; sleep 0.01; done
{
    kill -KILL $pid
    wait $pid
} 2>/dev/null
wait $watcher
equal "killed: it ends" "$?" 0

# Devices.
export ACLPROF_DRIVER=sim ACLPROF_AUTOSTART=devices=1
begin device 0 device 0 touch "$tmp/ready" until "$tmp/go"
shows "device" '^device 0 (simulated): [0-9]* tasks/s, 40 in all, busy [0-9.]*%, 0 under way'
ended device

finish
