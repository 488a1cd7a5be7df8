# steno: the recipe for Nix, as a flake. SPDX-License-Identifier: MIT
{
  description = "Speech recognition on the CPU";
  inputs.nixpkgs.url = "nixpkgs";
  outputs = { nixpkgs, ... }: {
    packages = nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: {
      default = nixpkgs.legacyPackages.${system}.callPackage ./package.nix { };
    });
  };
}
