#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A preload for a whole job: 200 children that have nothing to do with it (shells, compilers, python,
# static and setuid programs) print, return and leave behind what they do without it.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"

cat >"$tmp/hello.c" <<'END'
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    printf("hello %d\n", geteuid() == 0);
    return 9;
}
END
build dynamic "$tmp/hello.c"
build setuid "$tmp/hello.c"
build static "$tmp/hello.c" -static 2>/dev/null
privileged=no
if [ "$(id -u)" = 0 ] && have setpriv && chmod u+s "$tmp/setuid" && chmod 755 "$tmp" &&
    setpriv --reuid 65534 --clear-groups "$tmp/setuid" 2>/dev/null | grep -q 'hello 1'; then
    privileged=yes
else
    echo "no setuid program without root, or on this file system: without that part"
fi
python=no
if have python3 && python3 -c pass 2>/dev/null; then python=yes; fi

# Each line of a job is one child: what it is, its exit code, its output.
cat >"$tmp/job.sh" <<'END'
tell() {
    local name=$1 out code
    shift
    out=$("$@" 2>&1)
    code=$?
    echo "$name: $code: $out"
}
for i in $(seq 40); do
    tell "sh $i" sh -c "echo $i; exit $((i % 7))"
    tell "true" true
    tell "dynamic" "$BIN/dynamic"
done
for i in $(seq 16); do
    tell "killed" sh -c 'kill -TERM $$'
    tell "pipe" sh -c 'seq 1000 | grep -c 7 | cat'
    [ $PRIVILEGED = no ] || tell setuid setpriv --reuid 65534 --clear-groups "$BIN/setuid"
    [ ! -x "$BIN/static" ] || tell static "$BIN/static"
done
for i in $(seq 8); do
    tell "gcc" $COMPILER -O1 -o "hello$i" "$BIN/hello.c"
    tell "compiled" "./hello$i"
    rm -f "hello$i"
    [ $PYTHON = no ] || tell "python" python3 -c "
import os, sys, threading
print($i, threading.active_count(), len(os.listdir('/proc/self/task')), os.listdir('.'))
sys.exit($i)"
done
tell "gcc fails" sh -c "$COMPILER -c no_such_file.c 2>/dev/null"
END

# job WAY PRELOAD
job() {
    rm -rf "$tmp/cwd" "$tmp/scratch"
    mkdir "$tmp/cwd" "$tmp/scratch"
    (
        cd "$tmp/cwd" || exit 1
        export BIN=$tmp PRIVILEGED=$privileged PYTHON=$python COMPILER=${CC:-cc} TMPDIR=$tmp/scratch
        export ASCEND_WORK_PATH=$tmp/scratch
        [ -z "$2" ] || export LD_PRELOAD=$2
        exec bash "$tmp/job.sh"
    ) >"$tmp/job.$1" 2>"$tmp/err.$1"
    echo "job: $?" >>"$tmp/job.$1"
    find "$tmp/cwd" "$tmp/scratch" | sort >>"$tmp/job.$1"
    ls /dev/shm 2>/dev/null | grep -i aclprof >>"$tmp/job.$1"
}
job without ""
children=$(grep -c ': [0-9]*: ' "$tmp/job.without")
if [ "$children" -ge 200 ]; then good "$children children"; else bad "only $children children"; fi
grep -q '^gcc fails: 1' "$tmp/job.without" || bad "the compiler: $(grep '^gcc' "$tmp/job.without")"
for preload in "$lib" "$lib:$build/libmsprofiler.so" \
    "$build/libprofapi.so:$build/libmsprofiler.so:$lib"; do
    name=$(sed "s,$build/,,g" <<<"$preload")
    LD_PRELOAD=$preload "$helpers/idle_host" mapped libacl_prof.so || bad "$name does not get in"
    job with "$preload"
    equal "$name: $children children as without it" \
        "$(diff "$tmp/job.without" "$tmp/job.with" | head -n 10)" ""
    equal "$name: nothing on stderr" "$(cat "$tmp/err.with")" "$(cat "$tmp/err.without")"
done

finish
