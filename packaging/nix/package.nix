# steno: the recipe for Nix. SPDX-License-Identifier: MIT
#
#   nix-build packaging/nix                         in the folder of the sources; or, where flakes are enabled,
#   nix build 'git+file:.?dir=packaging/nix'
{ lib, stdenv, cmake, ninja, pkg-config, alsa-lib, curl, ffmpeg, jansson, libedit, libmicrohttpd, libunistring, libyaml, openssl, pcre2
, utf8proc, wslay, zlib, src ? lib.cleanSource ../.. }:
let
  loaded = [ alsa-lib curl ffmpeg libmicrohttpd openssl wslay ]; # on first use, by name
  lines = builtins.filter builtins.isString (builtins.split "\n" (builtins.readFile (src + "/CMakeLists.txt")));
  versions = builtins.filter (found: found != null) (map (builtins.match "project\\(steno VERSION ([0-9.]+) .*") lines);
in stdenv.mkDerivation {
  pname = "steno";
  version = builtins.head (builtins.head versions);
  inherit src;
  nativeBuildInputs = [ cmake ninja pkg-config ];
  buildInputs = [ jansson libedit libunistring libyaml pcre2 utf8proc zlib ] ++ loaded;
  cmakeFlags = [ "-DSTENO_TESTS=OFF" "-DSTENO_BENCH=OFF" ];
  postFixup = ''
    for file in $out/bin/steno $(find $out/lib -type f -name '*.so.*'); do
      patchelf --add-rpath ${lib.makeLibraryPath loaded} $file
    done
  '';
  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/steno -q --demo $out/share/steno/demo.wav | grep -qx 'zero nine one eight.'
  '';
  meta = {
    description = "Speech recognition on the CPU";
    license = [ lib.licenses.mit lib.licenses.cc-by-sa-40 ];
    mainProgram = "steno";
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
}
