#!/usr/bin/env bash
# steno: recipes of package managers, for a source archive. SPDX-License-Identifier: MIT
#
# packaging/recipes.sh VERSION ARCHIVE: writes PKGBUILD, .SRCINFO (Arch Linux) and steno.rb (Homebrew) beside the archive.
set -euo pipefail
[ $# = 2 ] || { echo "usage: packaging/recipes.sh VERSION ARCHIVE" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
version=$1 folder=$(dirname "$2")
sum=$(sha256sum "$2")
of_release() { sed -n "s/^$1=//p" "$here/release"; }

for recipe in arch/PKGBUILD homebrew/steno.rb; do
    sed -e "s/@VERSION@/$version/g" -e "s/@SHA256@/${sum%% *}/g" -e "s|@CONTACT@|$(of_release contact)|" \
        -e "s|@HOMEPAGE@|$(of_release homepage)|" "$here/$recipe.in" >"$folder/$(basename "$recipe")"
done

# The fields of a recipe in the order of makepkg --printsrcinfo
(
    # shellcheck disable=SC1091,SC2154
    . "$folder/PKGBUILD"
    fields() # NAME VALUE...
    {
        local name=$1 value
        shift
        for value; do printf '\t%s = %s\n' "$name" "$value"; done
    }
    echo "pkgbase = $pkgname"
    fields pkgdesc "$pkgdesc"
    fields pkgver "$pkgver"
    fields pkgrel "$pkgrel"
    fields url "$url"
    fields arch "${arch[@]}"
    fields license "${license[@]}"
    fields makedepends "${makedepends[@]}"
    fields depends "${depends[@]}"
    fields optdepends "${optdepends[@]}"
    fields options "${options[@]}"
    fields source "${source[@]}"
    fields sha256sums "${sha256sums[@]}"
    printf '\npkgname = %s\n' "$pkgname"
) >"$folder/.SRCINFO"
