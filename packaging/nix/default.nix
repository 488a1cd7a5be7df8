# steno: the recipe for Nix, with the packages of this system's channel. SPDX-License-Identifier: MIT
{ pkgs ? import <nixpkgs> { } }: pkgs.callPackage ./package.nix { }
