#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Windows from outside: aclprof start, stop, snapshot and status on the control socket of processes that
# were started with ACLPROF_CONTROL=1.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
unset ACLPROF_RESULTS ACLPROF_DRIVER ACLPROF_SIM ACLPROF_CONTROL
stamper=$helpers/stamper
out=$tmp/out
export XDG_RUNTIME_DIR=$tmp
sockets=$tmp/aclprof
children=()
trap 'kill -KILL "${children[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# begin NAME WHAT…: a program in the background, its number in $pid; ready when it has got to `touch`
begin() {
    local name=$1
    shift
    rm -f "$tmp"/{ready,go,one,two,three,four}
    ACLPROF_CONTROL=1 LD_PRELOAD=$lib "$stamper" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
    pid=$!
    children+=($pid)
    await "$tmp/ready"
}
await() {
    for _ in $(seq 1000); do [ -e "$1" ] && return; sleep 0.01; done
    bad "$1 does not come"
}
# ask CODE VERB…: what it prints is in $tmp/said
ask() {
    local want=$1 got=0
    shift
    "$tool" "$@" >"$tmp/said" 2>&1 </dev/null || got=$?
    [ "$got" = "$want" ] || bad "aclprof $*: exit code $got: $(cat "$tmp/said")"
}
said() {
    if grep -q -- "$2" "$tmp/said"; then good "$1"; else bad "$1: $(cat "$tmp/said")"; fi
}
# ended: the program goes on, and its end is awaited
ended() {
    touch "$tmp/go"
    wait $pid
    equal "$1: exit code" $? "${2:-0}"
    equal "$1: the socket has gone" "$(ls "$sockets" 2>/dev/null | grep -c "^$pid\.")" 0
}
# becomes STATE: a window gets there by itself
becomes() {
    for _ in $(seq 1000); do
        "$tool" status $pid 2>/dev/null | grep -q ": $1" && { good "$2"; return; }
        sleep 0.01
    done
    bad "$2: $("$tool" status $pid 2>&1)"
}

# ---- nobody ----

ask 1 status
said "nobody listens" "no process of this user listens"
ask 1 start
ask 1 stop 1999999999
said "no such process" "it has no control socket"
LD_PRELOAD=$lib "$stamper" stamps 1 >/dev/null
equal "without the variable: no socket" "$(ls -A "$tmp" | grep -c aclprof)" 0
ACLPROF_CONTROL=1 LD_PRELOAD=$lib "$stamper" print x >/dev/null
equal "without use: no socket" "$(ls -A "$tmp" | grep -c aclprof)" 0
ACLPROF_CONTROL=yes LD_PRELOAD=$lib "$stamper" stamps 1 >/dev/null
equal "another value: no socket" "$(ls -A "$tmp" | grep -c aclprof)" 0
for verb in start stop snapshot status; do
    ask 0 $verb --help
    said "$verb --help" "Usage: aclprof $verb"
    ask 2 $verb --nonsense
done
for bad in "--device 64" "--at x" "--at 25:00:00" "--duration 0" "--steps 0" "--steps x" "--at +x"; do
    # shellcheck disable=SC2086
    ask 2 start $bad
done

# ---- a window, a snapshot ----

begin one create marks 5 touch "$tmp/ready" until "$tmp/one" marks 10 touch "$tmp/two" \
    until "$tmp/three" marks 20 touch "$tmp/four" until "$tmp/go" marks 40
equal "mode of the socket" "$(stat -c '%a %F' "$sockets/$pid.sock")" "600 socket"
equal "mode of its directory" "$(stat -c %a "$sockets")" 700
ask 0 status
said "idle" "^$pid stamper: idle$"
ask 1 stop
said "nothing to stop" "no window is open from outside"
ask 1 snapshot
ask 0 start --output "$out"
first=$(cat "$tmp/said")
equal "start tells the directory" "$(ls -d "$out"/PROF_*)" "$first"
ask 1 start
said "only one window" "a window is open already"
touch "$tmp/one"
await "$tmp/two"
ask 0 status "$first"
said "by its directory" "^$pid stamper: recording, emitted 10,"
ask 0 snapshot "$sockets/$pid.sock"
equal "snapshot tells what it has ended" "$(cat "$tmp/said")" "$first"
equal "snapshot is whole" "$("$tool" check "$first" 2>&1 | tail -1)" whole
touch "$tmp/three"
await "$tmp/four"
ask 0 stop $pid
second=$(cat "$tmp/said")
[ "$second" != "$first" ] || bad "the same directory"
ended one
equal "its output" "$(xargs <"$tmp/one.out")" "created 5 failed 0 failed 0 failed 40 failed"
for pair in "$first:10" "$second:20"; do
    mkdir "$tmp/alone" && mv "${pair%:*}" "$tmp/alone"
    holds "window of ${pair#*:}" "$tmp/alone" "${pair#*:}" kept
    rm -rf "$tmp/alone"
done
equal "no other directory" "$(ls -A "$out")" ""

# ---- duration, steps, an agreed time ----

rm -rf "$out"
begin timed create touch "$tmp/ready" until "$tmp/go" marks 1
ask 0 start --duration 0.05 --output "$out" $pid
becomes idle "ends by itself"
equal "after its duration" "$("$tool" check "$out" 2>&1 | tail -1)" whole
ended timed

rm -rf "$out"
begin steps create touch "$tmp/ready" until "$tmp/one" steps 3 touch "$tmp/two" until "$tmp/go" steps 4
ask 0 start --steps 3 --output "$out"
said "steps: the directory" "$out/PROF_"
touch "$tmp/one"
becomes idle "steps: ends by itself"
ended steps
holds "three steps" "$out" 3 kept

rm -rf "$out"
begin agreed create touch "$tmp/ready" until "$tmp/one" marks 7 touch "$tmp/two" until "$tmp/go" marks 9
ask 0 start --at +1.5 --output "$out"
ask 0 status
said "waits for its time" "^$pid stamper: waiting"
touch "$tmp/one"
await "$tmp/two"
becomes recording "begins at the agreed time"
ended agreed
equal "valid before it" "$(xargs <"$tmp/agreed.out")" "created 0 failed 0 failed"
holds "ends with the program" "$out" 9 kept
begin far create touch "$tmp/ready" until "$tmp/go"
ask 1 start --at +100000000
said "too far ahead" "out of range"
ask 1 start --output "$tmp/no/such/$(printf 'x%.0s' $(seq 300))"
ask 0 start --at 1000 --output "$out.past"
ask 0 status
said "a time that has passed" ": recording"
ask 0 stop
ended far

# ---- devices ----

rm -rf "$out"
export ACLPROF_DRIVER=sim
begin device device 0 touch "$tmp/ready" until "$tmp/one" device 0 touch "$tmp/two" until "$tmp/go"
ask 0 start --device all --output "$out"
touch "$tmp/one"
await "$tmp/two"
ask 0 stop
ended device
unset ACLPROF_DRIVER
equal "device: whole" "$("$tool" check "$out" 2>&1 | tail -1)" whole
equal "device: tasks" "$("$tool" summary "$out" 2>/dev/null | grep -c matmul)" 1

# ---- the program's own captures ----

rm -rf "$out"
begin own create touch "$tmp/ready" until "$tmp/one" api "$tmp/own" touch "$tmp/two" until "$tmp/go"
ask 0 start --output "$out"
touch "$tmp/one"
await "$tmp/two"
ask 0 stop
ended own
equal "its calls are refused meanwhile" "$(xargs <"$tmp/own.out")" \
    "created init 100042 start 100042 0 failed stop 100042 finalize 100042"
holds "and its stamps go here" "$out" 10 mark

# ---- several ----

rm -rf "$out"
pids=()
for i in 1 2 3; do
    begin "several$i" create touch "$tmp/ready" until "$tmp/go" marks 5
    pids+=($pid)
done
ask 2 start
said "several" "3 processes listen"
ask 0 status
equal "status of all" "$(grep -c ': idle$' "$tmp/said")" 3
ask 0 start --all --output "$out"
for pid in "${pids[@]}"; do becomes recording "several: $pid"; done
ask 0 stop "${pids[0]}" "${pids[1]}"
equal "stopped" "$(grep -c "^$out/PROF_" "$tmp/said")" 2
ask 1 stop --all
equal "stopped, and two have none" "$(grep -c "^$out/PROF_" "$tmp/said"):$(
    grep -c 'no window' "$tmp/said")" 1:2
{
    kill -KILL "${pids[0]}"
    wait "${pids[0]}"
} 2>/dev/null
ask 0 status
equal "a killed one's socket is taken away" "$(ls "$sockets" | wc -l):$(wc -l <"$tmp/said")" 2:2
for pid in "${pids[1]}" "${pids[2]}"; do ended "several: $pid"; done

# ---- children; a first thread that ends ----

rm -rf "$out"
begin parent create fork touch "$tmp/ready" stamps 1 until "$tmp/go"
await "$tmp/ready"
for _ in $(seq 500); do [ "$(ls "$sockets" | wc -l)" = 2 ] && break; sleep 0.01; done
ask 0 status
equal "a forked child has its own" "$(grep -c ': idle$' "$tmp/said")" 2
ended parent
equal "and takes it with it" "$(ls "$sockets")" ""
begin leaves create touch "$tmp/ready" until "$tmp/go" leave
ask 0 start --output "$out"
ended "the first thread ends"
equal "the first thread ends: whole" "$("$tool" check "$out" 2>&1 | tail -1)" whole
begin leaves create touch "$tmp/ready" until "$tmp/go" leave
ended "the first thread ends, idle"

# ---- hostile ----

begin hostile create touch "$tmp/ready" until "$tmp/go"
if have python3; then
    cat >"$tmp/hostile.py" <<'END'
import os, socket, sys

def ask(data, answer=True):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.settimeout(20)
    try:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        return s.recv(100) if answer else b""
    except OSError:
        return b""
    finally:
        s.close()

if len(sys.argv) > 2:  # as somebody else
    os.setgroups([])
    os.setuid(65534)
    sys.exit(0 if ask(b"status\n") == b"" else 1)
for line in (b"\n", b"nonsense\n", b"start\n", b"start nothing\n", b"start stamps devices=xyz\n", b"stop\n",
             b"start stamps output=relative\n", b"start stamps output=/x\x01y\n", b"\xff\xfe\n",
             b"start stamps duration=99999999999999999999\n", b"start %n%n%s\n", b"START\n"):
    assert ask(line).startswith(b"error "), line
for line in (b"", b"status", b"a" * 100000 + b"\n", b"sta\0tus\n", b"start " + b"stamps " * 5000 + b"\n"):
    assert ask(line) == b"", line
for i in range(50):
    ask(b"status\n", False)
assert ask(b"status\nstop\n").startswith(b"ok\n")
END
    if python3 "$tmp/hostile.py" "$sockets/$pid.sock"; then good hostile; else bad hostile; fi
    if [ "$(id -u)" = 0 ]; then
        chmod 755 "$tmp" "$sockets" && chmod 666 "$sockets/$pid.sock"
        if python3 "$tmp/hostile.py" "$sockets/$pid.sock" other; then
            good "another user gets no answer"
        else
            bad "another user gets an answer"
        fi
        chmod 700 "$sockets" && chmod 600 "$sockets/$pid.sock"
    fi
    ask 0 status
    said "goes on" ": idle$"
fi
ended hostile
chmod 777 "$sockets"
begin open create touch "$tmp/ready" until "$tmp/go"
equal "a directory that others may write is not used" "$(ls "$sockets")" ""
ask 1 status
ended open
rm -rf "$sockets"
ln -s "$tmp/elsewhere" "$sockets"
begin link create touch "$tmp/ready" until "$tmp/go"
equal "nor a link" "$(ls -A "$tmp/elsewhere" 2>/dev/null)" ""
ended link

finish
