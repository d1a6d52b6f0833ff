# SPDX-License-Identifier: Apache-2.0
# What examples/run, tests/run and .ci/run have in common. Sourced by bash with set -eu.

# quietly LOG COMMAND...: the output goes to LOG and is shown only when the command fails.
quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        echo "failed: $*" >&2
        tail -n 60 "$log" >&2
        return 1
    fi
}

# install_packages NAME...: installs those of the Debian packages that are missing.
install_packages() {
    local name missing=() as_root=()
    if ! command -v dpkg-query >/dev/null; then
        echo "This is no Debian system; what is needed is called there: $*" >&2
        return 0
    fi
    for name; do
        if ! dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed; then
            missing+=("$name")
        fi
    done
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Please install as root: apt-get install ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing ${missing[*]}"
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    local log
    log=$(mktemp)
    if ! { "${as_root[@]}" update && "${as_root[@]}" install --no-install-recommends \
        "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        echo "apt-get could not install ${missing[*]}" >&2
        return 1
    fi
    rm -f "$log"
}

# What a build needs, and what the tests need beyond it.
build_packages=(build-essential cmake pkg-config ca-certificates dpkg-dev libsqlite3-dev)
test_packages=(libcmocka-dev valgrind abigail-tools)
