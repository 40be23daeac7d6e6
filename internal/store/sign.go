package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	if how.Asking == AskNever {
		done, err := s.silence(&cmd, how)
		if err != nil {
			return "", err
		}
		defer done()
	}
	res, err := s.Repo.Run(ctx, cmd)
	if err != nil {
		return "", fmt.Errorf("sign commit: %w", err)
	}
	return name.ParseOID(string(bytes.TrimSpace(res.Stdout)))
}

// silence keeps the programs that sign from asking anybody: ssh-keygen would open the
// terminal itself, and gpg's agent a window.
func (s *Store) silence(cmd *git.Cmd, how Signer) (done func(), err error) {
	cmd.Env = append(cmd.Env, "SSH_ASKPASS_REQUIRE=force", "SSH_ASKPASS=/nonexistent/askpass", "GPG_TTY=", "DISPLAY=", "WAYLAND_DISPLAY=")
	format := how.Format
	if format == "" {
		if format, _ = s.Repo.Config.Get("gpg.format"); format == "" {
			format = "openpgp"
		}
	}
	key, program := "gpg."+format+".program", map[string]string{"openpgp": "gpg", "x509": "gpgsm"}[format]
	if format == "openpgp" {
		if v, ok := s.Repo.Config.Get("gpg.program"); ok {
			program = v
		}
	}
	if v, ok := s.Repo.Config.Get(key); ok {
		program = v
	}
	if !strings.HasPrefix(filepath.Base(program), "gpg") {
		return func() {}, nil // it takes other options, or is ssh-keygen
	}
	dir, err := s.Repo.Dir()
	if err != nil {
		return nil, err
	}
	wrapper, err := writeTemp(filepath.Join(dir, "sign"), []byte("#!/bin/sh\nexec "+quoted(program)+" --batch --pinentry-mode=error \"$@\"\n"))
	if err != nil {
		return nil, fmt.Errorf("sign commit: %w", err)
	}
	if err := os.Chmod(wrapper, 0o700); err != nil {
		return nil, fmt.Errorf("sign commit: %w", err)
	}
	cmd.Config = append(cmd.Config, "gpg.program="+wrapper, key+"="+wrapper)
	return func() { os.Remove(wrapper) }, nil //nolint:errcheck // swept later
}

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
