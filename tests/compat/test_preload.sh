#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The library in programs that know nothing of it: preloaded, nothing of them changes; and with hosts
# that have a libuv and a cJSON of their own, or where neither is installed, captures work.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_SRC, ACLPROF_DEPS, ACLPROF_SANITIZE, CC.
set -u
export LC_ALL=C
unset LD_PRELOAD ACLPROF_LOG ACLPROF_STRICT ACLPROF_ARENA ACLPROF_RING_SIZE ASCEND_WORK_PATH

if [ -n "${ACLPROF_SANITIZE:-}" ]; then
    echo "the sanitizers' runtime must come first: not with them"
    exit 77
fi
lib=${ACLPROF_LIB:?} src=${ACLPROF_SRC:?}
helpers=${ACLPROF_BUILD:?}/tests/compat
hosts=$src/tests/compat/hosts
cc=${CC:-cc}
checks=0
failed=0

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

good() {
    checks=$((checks + 1))
}
bad() {
    checks=$((checks + 1))
    failed=$((failed + 1))
    echo "FAIL $*"
}
have() {
    command -v "$1" >/dev/null || { echo "no $1: without that part"; return 1; }
}
build() {
    local program=$1 source=$2
    shift 2
    $cc -Wall -Wextra -O1 -o "$tmp/$program" "$source" "$@" ||
        { echo "cannot compile $source"; exit 1; }
}

# ---- programs that never profile ----

# same NAME COMMAND...: alike with and without the preload: output, errors, exit code, and nothing is
# left in the current directory.
same() {
    local name=$1 way code
    shift
    for way in without with; do
        rm -rf "$tmp/cwd"
        mkdir "$tmp/cwd"
        {
            (
                cd "$tmp/cwd" || exit 1
                [ $way = without ] || export LD_PRELOAD=$lib
                exec "$@"
            ) >"$tmp/$way.out" 2>"$tmp/$way.err" </dev/null
            code=$?
        } 2>/dev/null # where bash tells of a signal
        echo "code $code" >>"$tmp/$way.out"
        (cd "$tmp/cwd" && find . | sort) >>"$tmp/$way.out"
    done
    if cmp -s "$tmp/without.out" "$tmp/with.out" && cmp -s "$tmp/without.err" "$tmp/with.err"; then
        good
    else
        bad "$name is not the same with the preload:"
        diff "$tmp/without.out" "$tmp/with.out"
        diff "$tmp/without.err" "$tmp/with.err"
    fi
}

# The comparison proves something only if the library gets in.
if LD_PRELOAD=$lib "$helpers/idle_host" mapped libacl_prof.so; then good; else bad "not loaded"; fi
if "$helpers/idle_host" mapped libacl_prof.so; then bad "loaded without being asked"; else good; fi

same "a program that looks at itself" "$helpers/idle_host"
[ "$(grep -c '^code 43$' "$tmp/with.out")" = 1 ] || bad "idle_host: $(tail -3 "$tmp/with.out")"
grep -q '^Threads:.1$' "$tmp/with.out" || bad "idle_host has not looked at its threads"
grep -q '^SigCgt:.0000000000000000$' "$tmp/with.out" || bad "idle_host: $(grep SigCgt "$tmp/with.out")"
same true true
same false false
same echo /bin/echo a b c
same ls ls -la /usr
same "bash" bash -c 'echo out; echo err >&2; (exit 3); echo $?; x=$(echo sub | tr a-z A-Z); echo $x; exit 7'
same "bash killed" bash -c 'kill -TERM $$'
same "sh -c with a job" sh -c 'sleep 0 & wait; true | false; exit 5'
same "200 children" bash -c 'n=0; for i in $(seq 200); do /bin/true && n=$((n + 1)); done; echo $n'
cat >"$tmp/hello.c" <<'END'
#include <stdio.h>

int main(void)
{
    printf("hello\n");
    return 9;
}
END
same "the compiler" bash -c "$cc -O2 -o hello '$tmp/hello.c' && ./hello; echo \$?; rm hello"
if $cc -static -o "$tmp/static" "$tmp/hello.c" 2>/dev/null; then
    same "a static program" "$tmp/static"
    [ "$(tail -2 "$tmp/with.out" | head -1)" = "code 9" ] || bad "static: $(cat "$tmp/with.out")"
fi
if have python3 && python3 -c pass 2>/dev/null; then
    cat >"$tmp/life.py" <<'END'
import ctypes, json, multiprocessing, os, random, signal, subprocess, sys, threading

def child(n):
    sys.exit(n)

print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, threading.active_count())
print(len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), os.listdir("."))
random.seed(42)
print(random.random(), json.dumps({"a": [1, None]}))
threads = [threading.Thread(target=lambda: None) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
for method in ("fork", "spawn"):
    p = multiprocessing.get_context(method).Process(target=child, args=(11,)) if method == "fork" else None
    if p:
        p.start()
        p.join()
        print(method, p.exitcode)
print(subprocess.run(["sh", "-c", "echo from sh; exit 4"], stdout=subprocess.PIPE))
print(ctypes.CDLL(None).getpid() == os.getpid())
sys.exit(12)
END
    same python python3 "$tmp/life.py"
    grep -q '^code 12$' "$tmp/with.out" || bad "python: $(cat "$tmp/with.out" "$tmp/with.err")"
fi
if have perl; then
    same perl perl -e 'print join(",", map { $_ * 2 } 1 .. 3), "\n"; system("exit 3"); print $? >> 8, "\n"; exit 6'
fi
if have node; then
    cat >"$tmp/life.js" <<'END'
const fs = require('fs'), child = require('child_process');
const { Worker } = require('worker_threads');
const dir = fs.readdirSync('.');
console.log('files', dir.length);
setTimeout(() => {
    console.log('timer', child.spawnSync('sh', ['-c', 'echo sync; exit 3']).status);
    fs.readFile('/proc/self/status', 'utf8', (error, text) => {
        console.log('read', error, /SigCgt:\s*(\w+)/.exec(text)[1]);
        const w = new Worker('require("worker_threads").parentPort.postMessage(6 * 7)', { eval: true });
        w.on('message', (m) => console.log('worker', m));
        w.on('exit', () => child.exec('echo async; exit 5', (e, out) => {
            console.log('exec', e.code, out.trim());
            process.exitCode = 13;
        }));
    });
}, 20);
END
    same node node "$tmp/life.js"
    grep -q '^code 13$' "$tmp/with.out" || bad "node: $(cat "$tmp/with.out" "$tmp/with.err")"
fi

# What a start costs in system calls: mapping the library, and no more.
calls() {
    strace -f -qq -o "$tmp/strace" ${2:+-E LD_PRELOAD="$2"} "$helpers/idle_host" mapped x
    [ -s "$tmp/strace" ] || return 1
    # after the loader has mapped the last library nothing may differ
    sed 's/^[0-9]* *//; s/0x[0-9a-f]*/ADDR/g; s/ = .*//' "$tmp/strace" |
        grep -vE '^(mmap|mprotect|munmap|brk|pread64|close|fstat|newfstatat|read|openat|access)\(' |
        grep -vE '^(execve|arch_prctl|set_tid_address|set_robust_list|rseq|prlimit64|getrandom)\(' \
        >"$tmp/calls.$1"
    grep -oE '^[0-9]* *(clone3?|fork|vfork|rt_sigaction|rt_sigprocmask|socket|pipe2?|eventfd2|epoll_create1|memfd_create|mkdir|mkdirat|unlink|write|prctl|membarrier)\(' \
        "$tmp/strace" | sed 's/^[0-9]* *//' | sort | uniq -c >"$tmp/kinds.$1"
    grep -E 'openat?\(.*(O_CREAT|O_WRONLY|O_RDWR)' "$tmp/strace" >>"$tmp/kinds.$1"
    return 0
}
if have strace && { calls without "" && calls with "$lib"; } 2>/dev/null; then
    if cmp -s "$tmp/calls.without" "$tmp/calls.with" &&
        cmp -s "$tmp/kinds.without" "$tmp/kinds.with"; then
        good
    else
        bad "system calls at start and end:"
        diff "$tmp/calls.without" "$tmp/calls.with"
        diff "$tmp/kinds.without" "$tmp/kinds.with"
    fi
fi

# ---- programs that profile ----

# holds NAME DIRECTORY MESSAGE: exactly one finished result, with 1000 of these.
holds() {
    local name=$1 dir=$2 message=$3 out
    if ! out=$("$helpers/show_prof" "$dir" 2>&1) ||
        [ "$out" != "finished, 1000 events, balanced
1000 $message" ]; then
        bad "$name: $out"
    elif [ "$(ls -A "$dir" | grep -vc '^PROF_')" != 0 ] || [ "$(ls -A "$dir" | wc -l)" != 1 ]; then
        bad "$name has left $(ls -A "$dir")"
    else
        good
    fi
}

# captures NAME DIRECTORY MESSAGE COMMAND...: goes well without a word, and holds.
captures() {
    local name=$1 dir=$2 message=$3 out
    shift 3
    if ! out=$("$@" 2>&1) || [ -n "$out" ]; then
        bad "$name ends with an error: $out"
    else
        holds "$name" "$dir" "$message"
    fi
}

build plain "$hosts/plain.c" -ldl
captures "a preloaded capture" "$tmp/r1" plain env LD_PRELOAD="$lib" "$tmp/plain" "$tmp/r1"
captures "a capture by dlopen" "$tmp/r2" plain "$tmp/plain" "$tmp/r2" "$lib"

# -rdynamic: everything of the host comes before the library's own
build clash "$hosts/clash.c" -rdynamic -ldl
nm -D "$tmp/clash" | grep -q ' T uv_run' || bad "clash does not export its uv_run"
if [ "${ACLPROF_DEPS:-bundled}" = bundled ]; then
    captures "own libuv and cJSON, preload" "$tmp/r3" clash \
        env LD_PRELOAD="$lib" "$tmp/clash" "$tmp/r3"
    build clash_linked "$hosts/clash.c" -rdynamic -ldl -Wl,--no-as-needed \
        -L"$(dirname "$lib")" -lacl_prof -Wl,-rpath,"$(dirname "$lib")"
    captures "own libuv and cJSON, linked" "$tmp/r4" clash "$tmp/clash_linked" "$tmp/r4"
fi

# With another preload, before ours and behind it.
build interposer.so "$hosts/interposer.c" -shared -fPIC -ldl
for order in "$tmp/interposer.so:$lib" "$lib:$tmp/interposer.so"; do
    rm -rf "$tmp/r5"
    out=$(LD_PRELOAD=$order "$tmp/plain" "$tmp/r5" 2>&1)
    want="interposer: 1000 marks"
    [ "$order" = "$tmp/interposer.so:$lib" ] || want="interposer: 0 marks"
    if [ "$out" = "$want" ]; then good; else bad "preload $order: $out"; fi
    holds "preload $order" "$tmp/r5" plain
done

# Inside of node, whose loop runs meanwhile.
if have node; then
    build addon.node "$hosts/addon.c" -shared -fPIC -ldl
    cat >"$tmp/addon.js" <<'END'
let ticks = 0;
const timer = setInterval(() => ticks++, 1);
setTimeout(() => {
    require(process.argv[2]);
    require('fs').readFile('/proc/self/status', () => setTimeout(() => {
        clearInterval(timer);
        console.log(ticks > 2 ? 'alive' : 'dead');
    }, 30));
}, 20);
END
    out=$(ADDON_DIR=$tmp/r6 LD_PRELOAD=$lib node "$tmp/addon.js" "$tmp/addon.node" 2>&1)
    if [ "$out" = alive ]; then good; else bad "node with the addon: $out"; fi
    holds "node with the addon" "$tmp/r6" addon
fi

# ---- a tree with the C library only ----

if [ "${ACLPROF_DEPS:-bundled}" != bundled ]; then
    echo "shared libuv and cJSON: no bare tree"
elif ! have chroot || ! chroot / /bin/true 2>/dev/null; then
    echo "no permission to chroot: no bare tree"
else
    tree=$tmp/tree
    mkdir -p "$tree/out"
    mkdir -p "$tree$(dirname "$lib")"
    cp "$tmp/plain" "$tree/"
    cp "$lib" "$tree$lib" # where chroot itself finds it before it goes in
    for file in $(ldd "$tmp/plain" "$lib" |
        grep -o '/[^ ]*\(libc\|libm\|libpthread\|libdl\|ld-linux[^ ]*\)\.so\.[0-9]*' | sort -u); do
        mkdir -p "$tree$(dirname "$file")"
        cp -L "$file" "$tree$file"
    done
    [ -z "$(find "$tree" -name '*uv*' -o -name '*cjson*')" ] || bad "the tree is not bare"
    captures "in a bare tree, dlopen" "$tree/out/a" plain \
        chroot "$tree" /plain /out/a "$lib"
    captures "in a bare tree, preload" "$tree/out/b" plain \
        env LD_PRELOAD="$lib" chroot "$tree" /plain /out/b
fi

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
