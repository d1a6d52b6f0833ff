#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `aclprof run`: programs that never call aclprofStart are captured, from their first stamp or device on;
# what they print, return and die of is their own; where the library does not get in, it is said.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
unset ACLPROF_RESULTS ACLPROF_DRIVER ACLPROF_SIM
stamper=$helpers/stamper
out=$tmp/out

# run CODE OPTIONS… -- PROGRAM…: stdout in $tmp/stdout, stderr in $tmp/stderr, results in $out
run() {
    local want=$1 got=0
    shift
    rm -rf "$out"
    "$tool" run --output "$out" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || got=$?
    equal "exit code of run ${*##*/}" "$got" "$want"
}
said() {
    if grep -q -- "$2" "$tmp/stderr"; then good "$1"; else bad "$1: $(cat "$tmp/stderr")"; fi
}
# results ROW NUMBER: so many directories, all whole, and each is named
results() {
    local row=$1 number=$2 prof
    equal "$row: results" "$(ls -A "$out" 2>/dev/null | grep -c '^PROF_')" "$number"
    [ "$number" != 0 ] || return 0
    for prof in "$out"/PROF_*; do
        equal "$row: whole" "$("$tool" check "$prof" 2>&1 | grep -cx whole)" 1
        equal "$row: named with its account" \
            "$(grep -c "^aclprof run: $prof: emitted [0-9]* = written [0-9]* + lost 0; " \
                "$tmp/stderr")" 1
    done
}

# ---- stamps of a program that never begins a capture ----

run 0 --stamps -- "$stamper" stamps 100 print done
equal "its output" "$(cat "$tmp/stdout")" "0 failed
done"
holds "stamps" "$out" 100 mark
results "stamps" 1

run 0 -- "$stamper" stamps 100
equal "without --stamps" "$(cat "$tmp/stdout")" "100 failed"
results "without --stamps" 0
said "without --stamps" "no result: the program has begun no capture"

run 0 --stamps -- "$stamper" print hello
results "no use" 0
said "no use" "no result: the program has used nothing of what was asked for"

# A program that profiles itself does so.
run 0 --stamps -- "$stamper" api "$tmp/own"
equal "its own capture" "$(xargs <"$tmp/stdout")" "init 0 start 0 0 failed stop 0 finalize 0"
holds "its own capture" "$tmp/own" 10 mark
results "its own capture" 0
said "its own capture is named" "^aclprof run: $tmp/own/PROF_.*: emitted 10 = written 10"
rm -rf "$tmp/own"
# One that has stamped before is told that it is profiled already.
run 0 --stamps -- "$stamper" stamps 5 api "$tmp/own"
equal "both" "$(xargs <"$tmp/stdout")" "0 failed init 100042 start 100042 0 failed stop 100042 finalize 100042"
holds "both" "$out" 15 mark
equal "both: only one" "$(ls -d "$tmp/own" 2>/dev/null)" ""

# ---- delay, duration ----

run 0 --stamps --delay 0.6 -- "$stamper" stamps 10 sleep 1200 stamps 20
equal "delay: stamps are valid before it" "$(xargs <"$tmp/stdout")" "0 failed 0 failed"
holds "delay" "$out" 20 mark
run 0 --stamps --duration 0.3 -- "$stamper" stamps 10 sleep 1200 stamps 20
equal "duration" "$(xargs <"$tmp/stdout")" "0 failed 20 failed"
holds "duration" "$out" 10 mark
run 0 --stamps --delay 0.3 --duration 0.5 -- "$stamper" stamps 1 sleep 500 stamps 2 sleep 1000 stamps 4
holds "delay and duration" "$out" 2 mark
run 0 --stamps --duration 100 -- "$stamper" stamps 10
holds "ended before" "$out" 10 mark
run 0 --stamps --delay 100 -- "$stamper" stamps 10
equal "never recorded" "$(cat "$tmp/stdout")" "0 failed"
results "never recorded" 1

# ---- children ----

run 0 --stamps -- sh -c "'$stamper' stamps 10; '$stamper' print idle; '$stamper' stamps 20; true"
results "children: those that stamp" 2
run 0 --stamps --first-only -- sh -c "'$stamper' stamps 10; true"
results "first only: not a child" 0
run 0 --stamps --first-only -- sh -c "exec '$stamper' stamps 10"
holds "first only: what it becomes" "$out" 10 mark
run 0 --stamps -- "$stamper" fork stamps 10
holds "forked, stamps in the child only" "$out" 10 mark
run 0 --stamps -- "$stamper" stamps 5 fork stamps 10
results "forked, stamps in both" 2
run 0 --stamps --first-only -- "$stamper" fork stamps 10
equal "first only, forked" "$(cat "$tmp/stdout")" "10 failed"
results "first only, forked" 0
run 0 --stamps -- "$stamper" stamps 5 exec print again
equal "replaced: $(ls "$out" | wc -l)" "$(grep -c "not finished, .*: aclprof recover $out/PROF_" \
    "$tmp/stderr")" 1
"$tool" recover "$out"/PROF_* >/dev/null 2>&1 || bad "recover"
equal "replaced: recovered" "$("$tool" check "$out"/PROF_* 2>&1 | tail -1)" whole

# ---- devices ----

export ACLPROF_SIM=devices=2
run 0 --driver sim --device 0 -- "$stamper" device 0
results "device" 1
equal "device: tasks" "$("$tool" summary "$out" 2>/dev/null | grep -c 'matmul')" 1
run 0 --driver sim --device 0 -- "$stamper" device 1
results "another device" 0
run 0 --driver sim --device all --stamps -- "$stamper" stamps 10 device 0 device 1
results "all devices" 1
equal "all devices" "$(cd "$out"/PROF_* && ls -d device_* | xargs)" "device_0 device_1"
run 0 --driver sim --device 0,1 --duration 0.5 -- "$stamper" device 1 sleep 1000 device 0
results "list, duration" 1
equal "list, duration" "$(cd "$out"/PROF_* && ls -d device_* | xargs)" "device_1"
unset ACLPROF_SIM

# ---- the program's own ----

run 41 --stamps -- "$stamper" stamps 1 exit 41
results "exit code" 1
run 143 --stamps -- bash -c "'$stamper' stamps 1; kill -TERM \$\$"
said "killed: the result is named all the same" "^aclprof run: $out/PROF_"
"$tool" run --stamps --output "$out" -- "$stamper" trap print up wait >"$tmp/up" 2>/dev/null \
    < <(sleep 20) &
job=$!
for _ in $(seq 100); do [ -s "$tmp/up" ] && break; sleep 0.1; done
kill -TERM $job
wait $job
equal "a signal is passed on" "$?" 44
run 127 -- "$tmp/no such program"
run 126 -- "$tmp"
run 2 --duration 5 -- true
said "duration alone" "go with --stamps or --device"
for bad in "--device 64" "--device x" "--device 1,,2" "--delay -1" "--delay x" "--duration 0" \
    "--stand-in other" "--nonsense"; do
    # shellcheck disable=SC2086
    run 2 --stamps $bad -- true
done

mkdir "$tmp/elsewhere"
(cd "$tmp" && "$tool" run --stamps --quiet --output relative -- \
    sh -c "cd '$tmp/elsewhere' && exec '$stamper' stamps 10") >/dev/null 2>"$tmp/stderr"
holds "relative output" "$tmp/relative" 10 mark
equal "quiet" "$(cat "$tmp/stderr")" ""
equal "nothing beside it" "$(ls -A "$tmp/elsewhere")" ""
equal "no temporary file is left" "$(mkdir "$tmp/t" && TMPDIR=$tmp/t "$tool" run -- true 2>/dev/null
    ls -A "$tmp/t")" ""

# The environment: what was there stays, ours comes first.
equal "environment" "$(LD_PRELOAD=libm.so.6 LD_LIBRARY_PATH=/a:/b "$tool" run --quiet -- \
    sh -c 'echo "$LD_PRELOAD|$LD_LIBRARY_PATH|${ACLPROF_AUTOSTART-none}"')" \
    "$build/libacl_prof.so:$build/libmsprofiler.so:libm.so.6|/a:/b|none"
equal "opened by name" "$("$tool" run --quiet -- "$stamper" open libmsprofiler.so)" \
    "libmsprofiler.so: libacl_prof.so"
equal "opened by name, both" "$("$tool" run --quiet --stand-in msprofiler,profapi -- "$stamper" \
    open libmsprofiler.so open libprofapi.so)" \
    "libmsprofiler.so: libacl_prof.so
libprofapi.so: libacl_prof.so"
equal "no stand-in" "$("$tool" run --quiet --stand-in none -- sh -c 'echo "$LD_PRELOAD"')" \
    "$build/libacl_prof.so"
equal "inside another run" "$("$tool" run --quiet --stamps -- "$tool" run --quiet -- \
    sh -c 'echo "${ACLPROF_AUTOSTART-none}"')" none

# ---- where it does not get in ----

cat >"$tmp/hello.c" <<'END'
int main(void)
{
    return 9;
}
END
if ${CC:-cc} -static -o "$tmp/static" "$tmp/hello.c" 2>/dev/null; then
    run 9 --stamps -- "$tmp/static"
    said "static" "does not get into the program: it is static"
    printf '#!%s\n' "$tmp/static" >"$tmp/script"
    chmod +x "$tmp/script"
    run 9 --stamps -- "$tmp/script"
    said "script of a static interpreter" "it is static"
fi
build setuid "$tmp/hello.c"
if [ "$(id -u)" = 0 ] && have setpriv; then
    chmod 4755 "$tmp/setuid" && chmod 755 "$tmp"
    setpriv --reuid 65534 --clear-groups "$tool" run -- "$tmp/setuid" 2>"$tmp/stderr"
    equal "setuid: exit code" $? 9
    said "setuid" "does not get into the program: it runs with more rights"
fi
run 0 --stamps -- env -i PATH="$PATH" sleep 1
run 0 --stamps -- sh -c "exec env -u LD_PRELOAD '$stamper' print x"

# Hostile variables do nothing but say so.
for text in "" "," stamps,delay=x devices= devices=0 "stamps,only=-1" "stamps,nonsense" \
    "$(printf 'a%.0s' $(seq 300))"; do
    equal "ACLPROF_AUTOSTART='${text:0:20}'" "$(cd "$tmp/elsewhere" && env ACLPROF_AUTOSTART="$text" \
        LD_PRELOAD="$lib" "$stamper" stamps 3; ls -A "$tmp/elsewhere")" "3 failed"
done
equal "hostile variable: said" "$(ACLPROF_AUTOSTART=x ACLPROF_LOG=error LD_PRELOAD=$lib \
    "$stamper" print x 2>&1 | grep -c 'ACLPROF_AUTOSTART is not understood')" 1
ln -s "$tmp/hello.c" "$tmp/link"
before=$(cksum <"$tmp/hello.c")
for target in "$tmp/link" "$tmp/none" "$tmp/elsewhere" /dev/full; do
    equal "results to ${target##*/}" "$(cd "$tmp/elsewhere" && env ACLPROF_RESULTS="$target" \
        ACLPROF_AUTOSTART=stamps ASCEND_WORK_PATH="$tmp/w" LD_PRELOAD="$lib" "$stamper" stamps 3)" \
        "0 failed"
done
equal "results through a link: untouched" "$(cksum <"$tmp/hello.c")" "$before"

# Before the first use: no thread, no file, no fork handler.
equal "idle under the variable" "$(ACLPROF_AUTOSTART=stamps,delay=5 LD_PRELOAD=$lib \
    "$helpers/idle_host" 2>&1 | grep '^Threads:')" "$("$helpers/idle_host" | grep '^Threads:')"

finish
