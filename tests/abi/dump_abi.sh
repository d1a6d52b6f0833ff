# SPDX-License-Identifier: Apache-2.0
# How the library's interface is written down. Sourced by bash.

# dump_abi LIBRARY HEADERS FILE: exported functions and the types that they reach as the directory of
# public headers tells them, without paths of the machine and without anything that a move of code
# within the library would change.
dump_abi() {
    local library=$1 headers=$2 file=$3
    abidw --headers-dir "$headers" --drop-private-types --exported-interfaces-only \
        --type-id-style hash --no-show-locs --no-comp-dir-path --no-corpus-path \
        --out-file "$file.part" "$library" || return 1
    sed -E "s,^(  <abi-instr .*path=')[^']*/((src|drivers)/[^']*'),\1\2," "$file.part" >"$file" &&
        rm "$file.part"
}
