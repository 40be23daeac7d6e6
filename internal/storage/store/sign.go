package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Signer says how checkpoint commits and events are signed. git does the signing, with the user's
// key and programs.
type Signer struct {
	Format  string // "openpgp", "ssh" or "x509"; empty: gpg.format decides
	MayAsk  bool   // the user can be asked for a passphrase on the terminal
	Invalid error  // if not nil, the configuration is wrong and every attempt to sign fails with this error
}

// sign writes a signed commit with `git commit-tree -S` and returns its id.
func (s *composer) sign(ctx context.Context, c git.Commit, how Signer) (name.OID, error) {
	if how.Invalid != nil {
		return "", how.Invalid
	}
	args := []string{"commit-tree", "-S", string(c.Tree)}
	for _, p := range c.Parents {
		args = append(args, "-p", string(p))
	}
	// git takes the dates from the environment; "@" marks seconds since 1970.
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
	res, err := s.repo.Run(ctx, cmd)
	if err != nil {
		return "", fmt.Errorf("sign commit: %w%s", err, reason())
	}
	return name.ParseOID(string(bytes.TrimSpace(res.Stdout)))
}

// wrap prepares cmd for two problems with signing programs. First, they ask for passphrases in
// their own ways: ssh-keygen opens the terminal itself, and gpg-agent opens a window. Without
// MayAsk that must not happen, because nobody may be there to answer. Second, git before 2.41 drops what
// they print to stderr.
//
// So git starts a small shell script instead of gpg, which adds options and keeps the output in a
// file. reason returns that output as the end of an error message; done removes the files. ssh
// needs no script.
func (s *composer) wrap(cmd *git.Cmd, how Signer) (reason func() string, done func(), err error) {
	// An askpass program that does not exist makes ssh-keygen fail instead of asking. Without
	// GPG_TTY and a display, gpg-agent cannot ask either.
	if !how.MayAsk {
		cmd.Env = append(cmd.Env, "SSH_ASKPASS_REQUIRE=force", "SSH_ASKPASS=/nonexistent/askpass", "GPG_TTY=", "DISPLAY=", "WAYLAND_DISPLAY=")
	}
	format, program := s.SigningProgram(how)
	if format == "ssh" || program == "" {
		return func() string { return "" }, func() {}, nil // ssh-keygen: git shows its errors
	}
	line := quoted(program)
	// A program other than gpg may not know these options.
	if !how.MayAsk && strings.HasPrefix(filepath.Base(program), "gpg") {
		line += " --batch --pinentry-mode=error"
	}
	dir, err := s.repo.Dir()
	if err != nil {
		return nil, nil, err
	}
	var made []string
	done = func() {
		for _, path := range made {
			os.Remove(path) //nolint:errcheck // swept later
		}
	}
	said, err := writeTemp(filepath.Join(dir, "signing"), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("sign commit: %w", err)
	}
	made = append(made, said)
	script := "#!/bin/sh\n" + line + ` "$@" 2>` + quoted(said) + "\ncode=$?\ncat " + quoted(said) + " >&2\nexit $code\n"
	wrapper, err := writeTemp(filepath.Join(dir, "sign"), []byte(script))
	if err == nil {
		made = append(made, wrapper)
		err = os.Chmod(wrapper, 0o700)
	}
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("sign commit: %w", err)
	}
	cmd.Config = append(cmd.Config, "gpg.program="+wrapper, "gpg."+format+".program="+wrapper)
	return func() string { return complaint(said) }, done, nil
}

// SigningProgram returns the format of signatures, and the program that git would start for it, or
// "" for a format that git does not know.
func (s *composer) SigningProgram(how Signer) (format, program string) {
	if format = how.Format; format == "" {
		if format, _ = s.repo.Config.Get("gpg.format"); format == "" {
			format = "openpgp"
		}
	}
	program = map[string]string{"openpgp": "gpg", "ssh": "ssh-keygen", "x509": "gpgsm"}[format]
	for _, key := range []string{"gpg.program", "gpg." + format + ".program"} {
		if v, ok := s.repo.Config.Get(key); ok && (key != "gpg.program" || format == "openpgp") {
			program = v
		}
	}
	return format, program
}

// complaint returns what a program printed to stderr, on one line and with ": " before it, or "".
func complaint(path string) string {
	const maxComplaint = 4096 // limits how many bytes of the output are used
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

// quoted quotes a word for the shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
