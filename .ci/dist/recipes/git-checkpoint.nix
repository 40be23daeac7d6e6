# Use it with: nix-build -E 'with import <nixpkgs> {}; callPackage ./git-checkpoint.nix {}'
{ lib, stdenvNoCC, fetchurl, installShellFiles }:

let
  archives = {
    x86_64-linux = { url = "<<url "linux-amd64">>"; sha256 = "<<sum "linux-amd64">>"; };
    aarch64-linux = { url = "<<url "linux-arm64">>"; sha256 = "<<sum "linux-arm64">>"; };
    x86_64-darwin = { url = "<<url "darwin-amd64">>"; sha256 = "<<sum "darwin-amd64">>"; };
    aarch64-darwin = { url = "<<url "darwin-arm64">>"; sha256 = "<<sum "darwin-arm64">>"; };
  };
in
stdenvNoCC.mkDerivation {
  pname = "<<.Name>>";
  version = "<<.Version>>";
  src = fetchurl archives.${stdenvNoCC.hostPlatform.system};
  nativeBuildInputs = [ installShellFiles ];
  dontBuild = true;
  installPhase = ''
    install -D -m 755 git-checkpoint $out/bin/git-checkpoint
    installManPage man/man1/git-checkpoint.1
    installShellCompletion --bash --name git-checkpoint completions/git-checkpoint
    installShellCompletion --zsh --name _git-checkpoint completions/_git-checkpoint
    install -D -m 644 completions/git-checkpoint.fish $out/share/fish/vendor_conf.d/git-checkpoint.fish
  '';
  meta = {
    description = "<<.Summary>>";
    homepage = "<<.Homepage>>";
    mainProgram = "git-checkpoint";
    platforms = builtins.attrNames archives;
  };
}
