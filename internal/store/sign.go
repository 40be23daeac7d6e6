package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Signer says how checkpoint commits and events are signed, by git itself.
type Signer struct {
	Format  string // openpgp, ssh or x509; empty: what gpg.format says
	Asking  Asking
	Invalid error // what is wrong with the configuration; nothing can be signed then
}

// Asking says whether a person can be asked for a passphrase.
type Asking int

// The choices; the zero value never asks.
const (
	AskNever Asking = iota
	AskOnTerminal
)

// sign writes a commit with a signature.
func (s *Store) sign(ctx context.Context, c git.Commit, how Signer) (name.OID, error) {
	if how.Invalid != nil {
		return "", how.Invalid
	}
	args := []string{"commit-tree", "-S", string(c.Tree)}
	for _, p := range c.Parents {
		args = append(args, "-p", string(p))
	}
	date := func(g git.Signature) string { return fmt.Sprintf("@%d %s", g.When.Unix(), g.When.Format("-0700")) }
	cmd := git.Cmd{
		Args: args, Config: []string{"i18n.commitEncoding=UTF-8"}, Stdin: bytes.NewReader([]byte(c.Message)),
		Env: []string{
			"GIT_AUTHOR_NAME=" + c.Author.Name, "GIT_AUTHOR_EMAIL=" + c.Author.Email, "GIT_AUTHOR_DATE=" + date(c.Author),
			"GIT_COMMITTER_NAME=" + c.Committer.Name, "GIT_COMMITTER_EMAIL=" + c.Committer.Email, "GIT_COMMITTER_DATE=" + date(c.Committer),
		},
	}
	if how.Format != "" {
		cmd.Config = append(cmd.Config, "gpg.format="+how.Format)
	}
	reason, done, err := s.wrap(&cmd, how)
	if err != nil {
		return "", err
	}
	defer done()
	res, err := s.Repo.Run(ctx, cmd)
	if err != nil {
		return "", fmt.Errorf("sign commit: %w%s", err, reason())
	}
	return name.ParseOID(string(bytes.TrimSpace(res.Stdout)))
}

// wrap keeps the programs that sign from asking anybody where nobody can be asked:
// ssh-keygen would open the terminal itself, and gpg's agent a window. It also keeps what
// they complain about, which git of before 2.41 drops.
func (s *Store) wrap(cmd *git.Cmd, how Signer) (reason func() string, done func(), err error) {
	if how.Asking == AskNever {
		cmd.Env = append(cmd.Env, "SSH_ASKPASS_REQUIRE=force", "SSH_ASKPASS=/nonexistent/askpass", "GPG_TTY=", "DISPLAY=", "WAYLAND_DISPLAY=")
	}
	key, program := s.signingProgram(how)
	if program == "" {
		return func() string { return "" }, func() {}, nil // ssh-keygen, whose complaints git passes on
	}
	line := quoted(program)
	if how.Asking == AskNever && strings.HasPrefix(filepath.Base(program), "gpg") { // another may take other options
		line += " --batch --pinentry-mode=error"
	}
	dir, err := s.Repo.Dir()
	if err != nil {
		return nil, nil, err
	}
	said, err := writeTemp(filepath.Join(dir, "signing"), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("sign commit: %w", err)
	}
	script := "#!/bin/sh\n" + line + ` "$@" 2>` + quoted(said) + "\ncode=$?\ncat " + quoted(said) + " >&2\nexit $code\n"
	wrapper, err := writeTemp(filepath.Join(dir, "sign"), []byte(script))
	if err == nil {
		err = os.Chmod(wrapper, 0o700)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sign commit: %w", err)
	}
	cmd.Config = append(cmd.Config, "gpg.program="+wrapper, key+"="+wrapper)
	return func() string { return complaint(said) }, func() {
		os.Remove(wrapper) //nolint:errcheck // swept later
		os.Remove(said)    //nolint:errcheck // as above
	}, nil
}

// signingProgram is the program that git would start, and the key that names it; "" for
// ssh.
func (s *Store) signingProgram(how Signer) (key, program string) {
	format := how.Format
	if format == "" {
		if format, _ = s.Repo.Config.Get("gpg.format"); format == "" {
			format = "openpgp"
		}
	}
	key, program = "gpg."+format+".program", map[string]string{"openpgp": "gpg", "x509": "gpgsm"}[format]
	if format == "openpgp" {
		if v, ok := s.Repo.Config.Get("gpg.program"); ok {
			program = v
		}
	}
	if v, ok := s.Repo.Config.Get(key); ok && format != "ssh" {
		program = v
	}
	return key, program
}

// complaint is what a program wrote for people, on one line.
func complaint(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var out []string
	for line := range strings.Lines(string(data[:min(len(data), maxComplaint)])) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[GNUPG:]") {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(slices.Compact(out), "; ")
}

// maxComplaint bounds what is passed on of it.
const maxComplaint = 4096

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
