#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Directories that somebody has tampered with, and every verb that reads one: an answer, no crash, no
# hanging, nothing written but into the output. Environment: ACLPROF_TOOL, ACLPROF_SRC.
set -u
export LC_ALL=C

tool=${ACLPROF_TOOL:?} src=${ACLPROF_SRC:?}
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+rwx "$tmp" 2>/dev/null; rm -rf "$tmp"' EXIT
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}

# One finished directory of the vendor's with devices, and one of ours that was killed.
tar -xJf "$src/tests/data/golden.tar.xz" -C "$tmp" || exit 1
vendor=$(ls -d "$tmp"/*/device_910b/PROF_* "$tmp"/device_910b/PROF_* 2>/dev/null | head -n 1)
[ -d "$vendor/host" ] || { echo "no device_910b in the archive"; exit 1; }
export TZ=UTC

# What must stay as it is, whatever a directory's links say.
outside=$tmp/outside
mkdir "$outside"
echo precious >"$outside/file"
echo '{"a":1}' >"$outside/info.json"
print_outside() {
    (cd "$outside" && find . -printf '%p %y %m %s %T@\n' | sort && md5sum file info.json)
}
before=$(print_outside)

# run NAME DIR: all verbs on a directory; each may succeed or fail, with words.
run() {
    local name=$1 dir=$2 code words begin=$SECONDS
    shift 2
    for words in summary "summary --format json" check "export --type text" "export --type db" \
        "export --type pftrace" "merge --type all --output $tmp/work/merged" recover \
        "export --type all --replace" "check --json"; do
        code=0
        # shellcheck disable=SC2086 # words are options
        timeout 20 "$tool" $words "$dir" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
        case $code in
        0 | 3 | 4 | 5) ;;
        1) [ -s "$tmp/err" ] || fail "$name: $words says nothing" ;;
        *) fail "$name: $words ends with $code: $(tail -c 400 "$tmp/err")" ;;
        esac
        if grep -q $'[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]' "$tmp/out" "$tmp/err"; then
            fail "$name: $words prints control characters: $(grep -ah $'[\x01-\x08\x0b-\x1f\x7f]' "$tmp/out" "$tmp/err" | head -n 2 | cat -v)"
        fi
    done
    [ "$before" = "$(print_outside)" ] || fail "$name: something outside has changed"
    before=$(print_outside)
    [ -z "${HOSTILE_TIMES:-}" ] || echo "$name: $((SECONDS - begin)) s"
    if [ -n "$(find "$tmp/work" -type f -name '*.part' 2>/dev/null)" ]; then
        fail "$name: a part is left: $(find "$tmp/work" -type f -name '*.part')"
    fi
}

# fresh: a new copy in $prof. fresh killed: without end_info, and with a directory of ours.
fresh() {
    chmod -R u+rwx "$tmp/work" 2>/dev/null
    rm -rf "$tmp/work"
    mkdir "$tmp/work"
    cp -r "$vendor" "$tmp/work/"
    prof=$(ls -d "$tmp"/work/PROF_*)
    if [ "${1:-}" = killed ]; then
        rm -f "$prof"/host/end_info* "$prof"/device_0/end_info*
        mkdir -p "$prof/host/.aclprof"
        printf '{"version":1}' >"$prof/host/.aclprof/account.json"
    fi
}

# ---- what is no directory of results ----

mkfifo "$tmp/fifo"
ln -s loop "$tmp/loop"
ln -s nothing "$tmp/dangling"
mkdir "$tmp/empty" "$tmp/two"
cp -r "$vendor" "$tmp/two/PROF_000001_20250101000000000_00000001AAAAAAAA"
cp -r "$vendor" "$tmp/two/PROF_000001_20250101000000000_00000002AAAAAAAA"
mkdir -p "$tmp/hostfile"
echo x >"$tmp/hostfile/host"
for path in "$tmp/fifo" "$tmp/loop" "$tmp/dangling" "$tmp/empty" "$tmp/two" "$tmp/hostfile" \
    /dev/null /dev/zero /proc/self/mem "$outside/file" "$tmp/$(printf '%0300d' 0)" ""; do
    for verb in summary check export recover; do
        [ "$verb:$path" != "export:$tmp/two" ] || continue # that takes several
        code=0
        timeout 20 "$tool" $verb "$path" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
        [ "$code" -eq 1 ] || fail "$verb $path ends with $code"
        [ -s "$tmp/err" ] || fail "$verb $path says nothing"
    done
done
[ "$before" = "$(print_outside)" ] || fail "no directory: something outside has changed"

# ---- links ----

fresh
ln -s "$outside" "$prof/mindstudio_profiler_output"
run "output is a link" "$prof"

fresh
mkdir "$prof/mindstudio_profiler_output"
for name in op_summary task_time api_statistic msprof_tx op_statistic msprof; do
    for second in $(seq 0 3); do
        stamp=$(date -u -d "+$second seconds" +%Y%m%d%H%M%S)
        for end in csv json pftrace db; do
            ln -s "$outside/file" "$prof/mindstudio_profiler_output/${name}_$stamp.$end"
            ln -s "$outside/file" "$prof/mindstudio_profiler_output/.${name}_$stamp.$end.part"
            ln -s "$outside/file" "$prof/${name}_$stamp.$end"
            ln -s "$outside/file" "$prof/.${name}_$stamp.$end.part"
        done
    done
done
run "files of the output are links" "$prof"

for part in host host/data device_0 device_0/data; do
    fresh
    mv "$prof/$part" "$tmp/work/real"
    ln -s ../real "$prof/$part" 2>/dev/null
    run "$part is a link" "$prof"
done

fresh killed
rm -rf "$prof/host/.aclprof"
ln -s "$outside" "$prof/host/.aclprof"
run ".aclprof is a link" "$prof"

fresh killed
for name in end_info end_info.done info.json.done sample.json.done start_info.done \
    .aclprof/account.json .aclprof/names.dic .aclprof/stamp_ext .aclprof/arena.path .aclprof/reserve; do
    rm -f "$prof/host/$name"
    ln -s "$outside/file" "$prof/host/$name"
done
for file in "$prof"/host/data/*.slice_0 "$prof"/device_0/data/*.slice_0; do
    rm -f "$file.done"
    ln -s "$outside/file" "$file.done"
done
ln -s "$outside/file" "$prof/device_0/end_info.0"
run "what recovery writes is a link" "$prof"

fresh killed
printf '%s' "$outside/file" >"$prof/host/.aclprof/arena.path"
run "the rings are elsewhere" "$prof"
[ -f "$outside/file" ] || fail "recovery has removed what arena.path names"

fresh
for file in "$prof"/host/*.json "$prof"/host/data/*.slice_0 "$prof"/device_0/*.0 \
    "$prof"/device_0/data/*.slice_0; do
    rm "$file"
    ln -s "$outside/info.json" "$file"
done
run "all files are links" "$prof"

# ---- pipes, devices, directories, huge files, foreign bytes, cuts ----

# each_file COMMAND...: for all files, with the file's name in place of {}.
each_file() {
    local file
    find "$prof" -type f -print0 | while IFS= read -r -d '' file; do
        "$@" "$file"
    done
}
to_fifo() { rm "$1" && mkfifo "$1"; }
to_directory() { rm "$1" && mkdir "$1"; }
to_zero() { rm "$1" && ln -s /dev/zero "$1"; }
to_device() { rm "$1" && mknod "$1" c 1 5; }
to_huge() { truncate -s 1T "$1" 2>/dev/null || truncate -s 8G "$1"; }
to_noise() { head -c 5000 /dev/urandom >"$1"; }
to_text() { printf '<html>%s\n\0\xff\xfe"' "$1" >"$1"; }
to_half() { truncate -s $(($(stat -c %s "$1") / 2)) "$1"; }
to_nothing() { truncate -s 0 "$1"; }
to_odd() { truncate -s $(($(stat -c %s "$1") * 3 / 4 + 1)) "$1"; }
to_unreadable() { chmod 000 "$1"; }
changes="to_fifo to_directory to_zero to_huge to_noise to_text to_half to_nothing to_odd to_unreadable"
if mknod "$tmp/zero" c 1 5 2>/dev/null; then
    changes="$changes to_device"
fi
for change in $changes; do
    fresh
    each_file $change
    run "all files: $change" "$prof"
    fresh killed
    each_file $change
    run "all files of a killed one: $change" "$prof"
    # the control files are as they should be
    fresh killed
    find "$prof" -type f -name '*slice_*' ! -name '*.done' -print0 | while IFS= read -r -d '' file; do
        $change "$file"
    done
    run "all slices: $change" "$prof"
done

# ---- names ----

fresh
for name in $'a\033[31mb.slice_0' $'new\nline.slice_0' 'unaging.additional.hash_dic.slice_4294967296' \
    'aging.additional.msproftx.slice_-1' 'aging.additional.msproftx.slice_4294967295' \
    $'aging.additional.\xff\xfe.slice_0' "aging.compact.$(printf '%0200d' 0).slice_0"; do
    head -c 700 /dev/urandom >"$prof/host/data/$name" 2>/dev/null
    head -c 700 /dev/urandom >"$prof/device_0/data/$name" 2>/dev/null
done
ln -s "$outside/file" "$prof/host/data/"$'link\033[2J.slice_1'
mkdir "$prof/device_4294967296" "$prof/device_-1" "$prof/device_"$'\033[1m' "$prof/device_99"
run "names" "$prof"

mkdir "$tmp/work/"$'esc\033[31m'
mv "$prof" "$tmp/work/"$'esc\033[31m/'
code=0
"$tool" check "$tmp/work/"$'esc\033[31m/none' >"$tmp/out" 2>"$tmp/err" || code=$?
[ "$code" -eq 1 ] || fail "a path with control characters: $code"

[ "$bad" -eq 0 ] && echo "hostile directories: ok"
exit $bad
