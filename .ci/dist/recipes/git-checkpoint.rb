class GitCheckpoint < Formula
  desc "<<.Summary>>"
  homepage "<<.Homepage>>"
  version "<<.Version>>"
  license "<<.License>>"

  depends_on "git"

  on_macos do
    on_arm do
      url "<<url "darwin-arm64">>"
      sha256 "<<sum "darwin-arm64">>"
    end
    on_intel do
      url "<<url "darwin-amd64">>"
      sha256 "<<sum "darwin-amd64">>"
    end
  end

  on_linux do
    on_arm do
      url "<<url "linux-arm64">>"
      sha256 "<<sum "linux-arm64">>"
    end
    on_intel do
      url "<<url "linux-amd64">>"
      sha256 "<<sum "linux-amd64">>"
    end
  end

  def install
    bin.install "git-checkpoint"
    man1.install "man/man1/git-checkpoint.1"
    bash_completion.install "completions/git-checkpoint"
    zsh_completion.install "completions/_git-checkpoint"
    (share/"fish/vendor_conf.d").install "completions/git-checkpoint.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/git-checkpoint version")
  end
end
