#!/usr/bin/env bash
# steno: the installed tree serves people and programs. SPDX-License-Identifier: MIT
#
# Installs STENO_BUILD into a fresh folder and moves that; runs the installed program; builds the examples of the documentation against what
# was installed, with the very command that they give for it, once more statically, and through CMake's find_package; and runs one of each.
# Last, a small build folder with several configurations.
set -euo pipefail

: "${STENO_BUILD:?}" "${STENO_SOURCE:?}" "${STENO_LIBDIR:=lib}"
CMAKE=${CMAKE:-cmake}
CC=${CC:-cc}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/prefix
lib=$prefix/$STENO_LIBDIR

"$CMAKE" --install "$STENO_BUILD" --prefix "$tmp/first" >/dev/null
mv "$tmp/first" "$prefix"

for path in bin/steno include/steno/steno.h include/steno/media.h include/steno/output.h include/steno/live.h \
    share/man/man1/steno.1 share/man/man1/steno-vad.1 share/steno/models \
    share/bash-completion/completions/steno share/zsh/site-functions/_steno share/fish/vendor_completions.d/steno.fish \
    "$STENO_LIBDIR/libsteno.a" "$STENO_LIBDIR/libsteno.so" "$STENO_LIBDIR/libsteno-media.a" "$STENO_LIBDIR/libsteno-media.so" \
    "$STENO_LIBDIR/libsteno-output.a" "$STENO_LIBDIR/libsteno-output.so" \
    "$STENO_LIBDIR/libsteno-live.a" "$STENO_LIBDIR/libsteno-live.so"; do
    if [ ! -e "$prefix/$path" ]; then
        echo "not installed: $path"
        exit 1
    fi
done

"$prefix/bin/steno" --version
# It starts with libraries of the system alone. What is large, or may be absent, is loaded on first use.
needs=$(ldd "$prefix/bin/steno" | awk '{ print $1 }')
grep -q 'libc\.so' <<<"$needs"
others='python|torch|blas|onnx|omp\.so|stdc\+\+|avcodec|avformat|swresample|curl|ssl|crypto|microhttpd|asound|steno'
if grep -iE "$others" <<<"$needs"; then
    echo "the program does not start without these libraries"
    exit 1
fi
demo=$("$prefix/bin/steno" --demo tests/data/demo.wav)
if [ -z "$demo" ]; then
    echo "the installed program finds no installed model: steno --demo printed nothing"
    exit 1
fi

# The .pc files say where they lie themselves.
export PKG_CONFIG_PATH=$lib/pkgconfig
for module in steno steno-media steno-output steno-live; do
    for variable in prefix libdir includedir; do
        value=$(pkg-config --variable=$variable $module)
        case $(realpath "$value") in
        "$(realpath "$prefix")"*) ;;
        *) echo "$module.pc: $variable is $value, which is not below $prefix"; exit 1 ;;
        esac
    done
done
# Headers come from the installed folder only: examples are compiled outside the source folder.
cp "$STENO_SOURCE"/doc/examples/*.c "$tmp"
n=0
for source in "$tmp"/*.c; do
    name=$(basename "$source" .c)
    command=$(sed -n 's|^ \*   cc |$CC -std=c17 -Wl,-rpath,"$lib" |p' "$source")
    if [ -z "$command" ]; then
        echo "doc/examples/$name.c does not say how it is built"
        exit 1
    fi
    (cd "$tmp" && eval "$command")
    $CC -std=c17 "$source" -o "$tmp/$name.static" $(pkg-config --cflags steno-media steno-output steno-live steno) \
        "$lib/libsteno-media.a" "$lib/libsteno-output.a" "$lib/libsteno-live.a" "$lib/libsteno.a" \
        $(pkg-config --static --libs steno-media steno-output steno-live steno) -lm
    n=$((n + 1))
    if [ -f "$STENO_SOURCE/doc/examples/$name.args" ]; then
        args=$(cat "$STENO_SOURCE/doc/examples/$name.args")
        "$tmp/$name" $args >"$tmp/$name.out"
        "$tmp/$name.static" $args >"$tmp/$name.static.out"
        cmp "$tmp/$name.out" "$tmp/$name.static.out"
    fi
done
"$prefix/bin/steno" -q $(sed 's/^/-m /' "$STENO_SOURCE/doc/examples/subtitles.args") --style netflix -f srt >"$tmp/program.srt"
cmp "$tmp/program.srt" "$tmp/subtitles.out"
if [ $n = 0 ]; then
    echo "no examples in doc/examples"
    exit 77
fi

cat >"$tmp/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(steno 0.1 REQUIRED)
file(GLOB sources ${CMAKE_SOURCE_DIR}/*.c)
foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    add_executable(user_${name} ${source})
    target_link_libraries(user_${name} PRIVATE steno::media steno::output steno::live steno::steno m pthread)
endforeach()
END
"$CMAKE" -S "$tmp" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" >/dev/null
"$CMAKE" --build "$tmp/build" >/dev/null

# What is not built yet is built in the configuration that is installed.
mkdir "$tmp/small"
printf 'int main(void) { return 0; }\n' >"$tmp/small/one.c"
printf 'cmake_minimum_required(VERSION 3.22)\nproject(small LANGUAGES C)\nadd_executable(one one.c)\n' >"$tmp/small/CMakeLists.txt"
"$CMAKE" -G "Ninja Multi-Config" -S "$tmp/small" -B "$tmp/small/build" -DCMAKE_C_COMPILER="$CC" >/dev/null
for config in Release Debug; do
    "$CMAKE" -Dnames=one "-Dfiles=$tmp/small/build/$config/one" "-Dbuild=$tmp/small/build" -DCMAKE_INSTALL_CONFIG_NAME=$config \
        -P "$STENO_SOURCE/cmake/InstallBuilds.cmake" >/dev/null
    "$tmp/small/build/$config/one"
done
echo "installed tree: $n examples built through pkg-config and find_package"
