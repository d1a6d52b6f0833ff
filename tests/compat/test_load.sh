#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every way in which a program that was made for the vendor's library comes by its profiler, in every
# set-up that brings ours in. A row is: set-up/way.
# Environment: ACLPROF_LIB, ACLPROF_BUILD, ACLPROF_TOOL, ACLPROF_SRC, ACLPROF_SANITIZE, CC.
. "${ACLPROF_SRC:?}/tests/compat/vendor/check.sh"
. "$vendor/build.sh"
export ACLPROF_DRIVER=none

build_vendor "$tmp/cann" || { echo "cannot build the vendor's libraries"; exit 1; }
cann=$tmp/cann/lib64
for name in libacl_prof libmsprofiler libprofapi; do
    [ -f "$build/$name.so" ] || { echo "no $name.so"; exit 1; }
done
mkdir "$tmp/ours"
cp "$build"/lib{acl_prof,msprofiler,profapi}.so "$tmp/ours"
for all in "" --all; do
    cp -R "$tmp/cann" "$tmp/installed$all"
    "$tool" install --prefix "$tmp/installed$all" --from "$tmp/ours" $all >/dev/null ||
        bad "install $all"
done
build loader "$vendor/clients/loader.c" -ldl
build shared "$vendor/clients/shared.c" -ldl
# The layer below libmsprofiler.so is ours as a whole: the vendor's front ends lead here, too.
nm -D --defined-only "$lib" | awk '{ print $3 }' | sort >"$tmp/exported"
equal "ProfAcl* is whole" "$(nm -D --undefined-only "$cann/libmsprofiler.so" |
    awk '/ ProfAcl/ { print $2 }' | sort | comm -23 - "$tmp/exported" | xargs)" ""

# in_setup NAME COMMAND...
in_setup() {
    local setup=$1
    shift
    case $setup in
    nothing) env LD_LIBRARY_PATH="$cann" "$@" ;;
    preload-core) env LD_LIBRARY_PATH="$cann" LD_PRELOAD="$build/libacl_prof.so" "$@" ;;
    preload-msprofiler) env LD_LIBRARY_PATH="$cann" LD_PRELOAD="$build/libmsprofiler.so" "$@" ;;
    preload-profapi) env LD_LIBRARY_PATH="$cann" LD_PRELOAD="$build/libprofapi.so" "$@" ;;
    preload-core+msprofiler)
        env LD_LIBRARY_PATH="$cann" \
            LD_PRELOAD="$build/libacl_prof.so:$build/libmsprofiler.so" "$@" ;;
    preload-msprofiler+core)
        env LD_LIBRARY_PATH="$cann" \
            LD_PRELOAD="$build/libmsprofiler.so:$build/libacl_prof.so" "$@" ;;
    preload-all)
        env LD_LIBRARY_PATH="$cann" \
            LD_PRELOAD="$build/libacl_prof.so:$build/libmsprofiler.so:$build/libprofapi.so" "$@" ;;
    preload-all-reversed)
        env LD_LIBRARY_PATH="$cann" \
            LD_PRELOAD="$build/libprofapi.so:$build/libmsprofiler.so:$build/libacl_prof.so" "$@" ;;
    library-path) env LD_LIBRARY_PATH="$tmp/ours:$cann" "$@" ;;
    install) env LD_LIBRARY_PATH="$tmp/installed/lib64" "$@" ;;
    install-all) env LD_LIBRARY_PATH="$tmp/installed--all/lib64" "$@" ;;
    install+preload)
        env LD_LIBRARY_PATH="$tmp/installed/lib64" LD_PRELOAD="$build/libacl_prof.so" "$@" ;;
    run) env LD_LIBRARY_PATH="$cann" "$tool" run -- "$@" ;;
    esac
}
path_in() {
    case $1 in
    install-all) echo "$tmp/installed--all/lib64/libmsprofiler.so" ;;
    install*) echo "$tmp/installed/lib64/libmsprofiler.so" ;;
    *) echo "$cann/libmsprofiler.so" ;;
    esac
}

# row SETUP WAY WHOSE: whose aclprofInit is found, and where a capture through it goes: "front" is
# the vendor's front end over our layer.
row() {
    local setup=$1 way=$2 want=$3 as=$2 whose dir name="$1/$2"
    dir=$tmp/out/$setup-$way
    [ "$way" != path ] || as=$(path_in "$setup")
    mkdir -p "$tmp/out"
    whose=$(in_setup "$setup" "$tmp/loader" whose "$as" aclprofInit 2>"$tmp/err")
    if [ "$want" = front ]; then
        equal "$name, aclprofInit" "$whose" vendor
        if ! in_setup "$setup" "$tmp/loader" capture "$as" "$dir" >"$tmp/log" 2>&1; then
            bad "$name: the capture fails: $(tail -n 3 "$tmp/log")"
        fi
        equal "$name, front and below" "$(grep -c 'vendor aclprof' "$tmp/log"):$(
            grep -c 'vendor ProfAcl' "$tmp/log")" 7:0
        holds "$name, capture" "$dir" 1000 loader
        return
    fi
    equal "$name, aclprofInit" "$whose" "$want"
    if ! in_setup "$setup" "$tmp/loader" capture "$as" "$dir" >"$tmp/log" 2>&1; then
        bad "$name: the capture fails: $(tail -n 3 "$tmp/log")"
    elif [ "$want" = ours ]; then
        holds "$name, capture" "$dir" 1000 loader
        equal "$name, the vendor's are not called" "$(grep -c 'vendor aclprof' "$tmp/log")" 0
    else
        equal "$name, capture" "$(grep -c 'vendor ProfAclStart' "$tmp/log"):$(ls "$dir" 2>&1 |
            grep -c PROF)" 1:0
    fi
}

# users.md 1.1, second table, and api.md 4.8, second table (first two columns).
for way in ascendcl msprofiler path default; do
    row nothing $way vendor
done
for way in ascendcl msprofiler path; do
    row preload-core $way front
done
row preload-core default ours
for setup in preload-msprofiler preload-core+msprofiler preload-msprofiler+core preload-all \
    preload-all-reversed library-path; do
    row $setup ascendcl ours
    row $setup msprofiler ours
    row $setup default ours
    row $setup path front
done
row preload-profapi msprofiler front
row preload-profapi path front
for setup in install install-all install+preload; do
    for way in ascendcl msprofiler path default; do
        row $setup $way ours
    done
done

# users.md 1.1, first table: RTLD_LOCAL and dlclose at the end (akg).
for setup in preload-core+msprofiler library-path install install-all; do
    row $setup ascendcl-local ours
    row $setup ascendcl-global ours
    for way in ascendcl-local msprofiler path; do
        as=$way
        [ $way != path ] || as=$(path_in install)
        [ $setup = install ] || [ $way != path ] || continue
        dir=$tmp/out/closed-$setup-$way
        if in_setup $setup "$tmp/loader" closed "$as" "$dir" >"$tmp/log" 2>&1; then
            holds "$setup/dlclose $way" "$dir" 500 closed
            holds "$setup/dlclose and again $way" "$dir-again" 500 again
        else
            bad "$setup/dlclose $way: $(tail -n 3 "$tmp/log")"
        fi
    done
done

# Reporters: whose function is behind dlopen("libprofapi.so") (api.md 4.8, second table).
profapi() {
    equal "$1/dlopen libprofapi.so" \
        "$(in_setup "$1" "$tmp/loader" whose profapi MsprofReportApi 2>&1)" "$2"
}
profapi nothing vendor
profapi preload-core vendor
profapi preload-msprofiler vendor
profapi preload-profapi ours
profapi preload-all ours
profapi preload-all-reversed ours
profapi install vendor
profapi install-all ours
profapi library-path ours

# Everything at once: every name that there is, one state.
all() {
    local setup=$1
    shift
    rm -rf "$tmp/out/all"
    if in_setup "$setup" "$tmp/shared" "$tmp/out/all" "$@" >"$tmp/log" 2>&1; then
        holds "$setup/all at once: ${*//*\//…/}" "$tmp/out/all" 1000 shared
    else
        bad "$setup/all at once $*: $? $(tail -n 3 "$tmp/log")"
    fi
}
all preload-all acl_prof msprofiler profapi default ascendcl
all preload-all-reversed profapi msprofiler acl_prof ascendcl
all preload-core+msprofiler acl_prof msprofiler default ascendcl
all library-path msprofiler acl_prof profapi ascendcl default
all install-all "$tmp/installed--all/lib64/libmsprofiler.so" acl_prof \
    "$tmp/installed--all/lib64/libprofapi.so" ascendcl default
all install+preload "$tmp/installed/lib64/libmsprofiler.so" acl_prof ascendcl default
all nothing "$build/libacl_prof.so" "$build/libmsprofiler.so" "$build/libprofapi.so"
all nothing "$build/libprofapi.so" "$build/libmsprofiler.so" "$build/libacl_prof.so"

finish
