#!/usr/bin/env bash
# steno: completes the tree of a Debian package: finish.sh TREE PACKAGE VERSION CONTACT STRIP. SPDX-License-Identifier: MIT
#
# Policy's copyright and changelog, compressed manual pages, zsh's folder of Debian, no debug information, and the times of the commit, so that two runs give the same bytes.
set -euo pipefail
tree=$1 package=$2 version=$3 contact=$4 strip=$5
here=$(dirname "$0")
when=${SOURCE_DATE_EPOCH:?SOURCE_DATE_EPOCH is not set: build packages by script/package}
share=$tree/usr/share
doc=$share/doc/$package

rm -rf "$share/doc"
mkdir -p "$doc"
cp "$here/copyright" "$doc/copyright"
[ "$package" != steno ] || cp NOTICE "$doc/NOTICE"
gzip -9nc NEWS.md >"$doc/changelog.gz"
printf 'steno (%s) unstable; urgency=medium\n\n  * Release %s.\n\n -- %s  %s\n' "$version" "${version%-*}" "$contact" \
    "$(LC_ALL=C date -u -R -d "@$when")" | gzip -9nc >"$doc/changelog.Debian.gz"
if [ -f "$here/$package.lintian-overrides" ]; then
    mkdir -p "$share/lintian/overrides"
    cp "$here/$package.lintian-overrides" "$share/lintian/overrides/$package"
fi
if [ -d "$share/zsh/site-functions" ]; then
    mv "$share/zsh/site-functions" "$share/zsh/vendor-completions"
fi
if [ -d "$share/man" ]; then
    find "$share/man" -type f -exec gzip -9n {} +
    find "$share/man" -type l | while IFS= read -r link; do
        ln -s "$(readlink "$link").gz" "$link.gz"
        rm "$link"
    done
fi
drop="--remove-section=.comment --remove-section=.note"
find "$tree" -name '*.a' -exec "$strip" --strip-debug --enable-deterministic-archives $drop {} +
find "$tree" -type f -name '*.so.*' -exec "$strip" --strip-unneeded $drop {} +
find "$tree" -type f -path '*/bin/*' -exec "$strip" $drop {} +
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f ! -path '*/bin/*' -exec chmod 644 {} +
find "$tree" -exec touch -h -d "@$when" {} +
