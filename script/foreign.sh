# shellcheck shell=bash
# steno: Debian's packages of another machine, to build for it; use ". script/foreign.sh" after portable.sh. SPDX-License-Identifier: MIT
#
# foreign_root WORK     Debian's development packages of $portable_machine, unpacked in WORK/root. WORK/root/dpkg is their database, by
#                       which dpkg-query finds the package of a file. WORK/bin/dpkg-shlibdeps finds their libraries first.
# foreign_cmake WORK    prints options of cmake, a line each, for programs of $portable_machine that link with these packages
# foreign_runner WORK   prints the option by which cmake runs such programs, under qemu
#
# Nothing of this system changes, and no rights of root are needed.

# With the libraries that these are linked with; of the others, which are loaded on first use, the headers are enough.
foreign_linked="libc6-dev zlib1g-dev libpcre2-dev libutf8proc-dev libyaml-dev libunistring-dev libedit-dev libjansson-dev"
foreign_loaded="libavformat-dev libavcodec-dev libavutil-dev libswresample-dev libcurl4-openssl-dev libmicrohttpd-dev libwslay-dev"

foreign_download() # WORK FOLDER PACKAGE...: these packages and all that they need, whatever this system has
{
    local work=$1 folder=$2
    shift 2
    mkdir -p "$folder/partial"
    : >"$folder/none"
    portable_apt "$work" -q -y --no-install-recommends --download-only -o Dir::State::status="$folder/none" \
        -o Dir::Cache::archives="$folder" install "$@"
}

foreign_unpack() # ARCHIVE ROOT: with an entry in ROOT/dpkg
{
    local archive=$1 root=$2 name control file
    name=$(dpkg-deb -f "$archive" Package)
    [ "$(dpkg-deb -f "$archive" Multi-Arch)" != same ] || name=$name:$(dpkg-deb -f "$archive" Architecture)
    control=$root/dpkg/info/$name
    mkdir -p "$control.all"
    dpkg-deb --fsys-tarfile "$archive" | tar -x --keep-directory-symlink --no-same-owner -C "$root" || return 1
    dpkg-deb --fsys-tarfile "$archive" | tar -t | sed -n "s|^\.\(/.*[^/]\)\$|$root\1|p" >"$control.list"
    dpkg-deb -e "$archive" "$control.all" || return 1
    { sed '/^Description:/,$d' "$control.all/control" && printf 'Status: install ok installed\nDescription: for another machine\n\n'; } \
        >>"$root/dpkg/status"
    for file in symbols shlibs; do [ ! -f "$control.all/$file" ] || mv "$control.all/$file" "$control.$file"; done
    rm -rf "$control.all"
}

foreign_shlibdeps() # WORK: prints the program
{
    local multiarch=$portable_machine-linux-gnu
    cat <<END
#!/bin/sh
export DEB_HOST_ARCH=$(portable_debian)
exec $(command -v dpkg-shlibdeps) --admindir=$1/root/dpkg -l$1/root/lib/$multiarch -l$1/root/usr/lib/$multiarch "\$@"
END
}

foreign_root()
{
    local work=$1 root=$1/root archive to link
    portable_need dpkg-shlibdeps dpkg-dev
    portable_need "$portable_machine-linux-gnu-gcc" "gcc-${portable_machine/_/-}-linux-gnu"
    portable_need "qemu-$portable_machine" qemu-user
    [ ! -f "$root/done" ] || return 0
    rm -rf "$root" "$work/archives"
    mkdir -p "$root/dpkg/info" "$root/dpkg/updates" "$root/usr/lib" "$work/archives" "$work/bin"
    ln -s usr/lib "$root/lib" # as in Debian
    : >"$root/dpkg/status"
    echo 1 >"$root/dpkg/info/format" # names of its files have machines
    echo "packages of $(portable_debian)" >&2
    {
        # shellcheck disable=SC2086
        portable_lists "$work" && foreign_download "$work" "$work/archives" $foreign_linked &&
            (cd "$work/archives" && portable_apt "$work" -q download $foreign_loaded) &&
            for archive in "$work"/archives/*.deb; do foreign_unpack "$archive" "$root" || return 1; done
        find "$root" -type l -lname '/*' -printf '%l %p\n' | while read -r to link; do ln -sfr "$root$to" "$link"; done
    } >"$work/root.log" 2>&1 || { tail -n 30 "$work/root.log" >&2; return 1; }
    foreign_shlibdeps "$work" >"$work/bin/dpkg-shlibdeps" && chmod +x "$work/bin/dpkg-shlibdeps"
    touch "$root/done"
}

foreign_cmake()
{
    local kind
    portable_cross cmake | tr ' ' '\n'
    printf '%s\n' "-DCMAKE_C_COMPILER=$portable_machine-linux-gnu-gcc" "-DCMAKE_SYSROOT=$1/root" \
        "-DCMAKE_INSTALL_LIBDIR=lib/$portable_machine-linux-gnu"
    for kind in LIBRARY INCLUDE PACKAGE; do echo "-DCMAKE_FIND_ROOT_PATH_MODE_$kind=ONLY"; done
}

foreign_runner()
{
    echo "-DCMAKE_CROSSCOMPILING_EMULATOR=$(command -v "qemu-$portable_machine");-L;$1/root"
}
