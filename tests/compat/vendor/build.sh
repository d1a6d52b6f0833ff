# SPDX-License-Identifier: Apache-2.0
# Builds the stand-ins of the vendor's libraries. Sourced by bash.

# build_vendor DIRECTORY: a tree like $ASCEND_HOME_PATH there. Environment: CC, ACLPROF_SRC.
build_vendor() {
    local from=$ACLPROF_SRC/tests/compat/vendor to=$1/lib64
    local flags=(-Wall -Wextra -O1 -fPIC -shared -Wl,-Bsymbolic -Wl,-z,now -Wl,--no-as-needed)
    mkdir -p "$to" || return 1
    # build_one NAME NEEDED...
    build_one() {
        local name=$1 needs=()
        shift
        needs=("${@/#/-l}")
        ${CC:-cc} "${flags[@]}" -Wl,-soname,"lib$name.so" -o "$to/lib$name.so" "$from/$name.c" \
            -L"$to" "${needs[@]}" -ldl
    }
    build_one profapi && build_one msprofiler profapi && build_one runtime profapi &&
        build_one ascendcl msprofiler runtime profapi && build_one hccl
}
