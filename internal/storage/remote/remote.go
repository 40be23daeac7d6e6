// Package remote talks to another repository through git push, git fetch and git ls-remote. It owns
// the mapping of ref names, the meaning of git's answers, and the decision what one push sends. It
// reads no journal and of checkpoints it uses only the refs. Package travel builds on it.
//
// Remote is the address with its options. Remote.List returns a Listing, Remote.Fetch fetches into
// a Quarantine, and Remote.Push sends Updates. PlanPush is a pure function that compares two
// Listings.
//
// It never forces a ref, except for a replacement with a lease on the value that was read
// (Update.Lease). It never fetches into a ref that somebody reads, never brings tags along, and
// never lets git ask for a credential where there is no terminal.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/lazy"
)

// Remote is another repository, given by the name of a configured remote or by an address.
type Remote struct {
	Repo    *git.Repo
	Name    string
	Place   string // the address to use in place of Name; empty: let git resolve the name
	Mapping Mapping
	MayAsk  bool // a person is at the terminal, so git may prompt for a credential
	Now     func() time.Time
	Random  func() uint32
}

// Check refuses a name that git would not take for a remote, such as an option.
func (r *Remote) Check() error {
	if r.Name == "" || strings.HasPrefix(r.Name, "-") || strings.ContainsAny(r.Name, "\n\x00") {
		return fmt.Errorf("%q is not a remote", name.Clip(r.Name, name.Said))
	}
	// Such a file may name several addresses, which no configuration shows.
	if _, err := os.Lstat(filepath.Join(r.Repo.CommonDir, "remotes", r.Name)); err == nil && !strings.Contains(r.Name, "/") && !r.Configured() {
		return fmt.Errorf("%q is a remote of git's old kind, in the directory remotes; `git remote rename %s %s` moves it to the configuration", r.Name, r.Name, r.Name)
	}
	return nil
}

// Configured reports whether the name is one of git's configured remotes and not an address. Only
// configured ones get tracking refs.
func (r *Remote) Configured() bool {
	_, url := r.Repo.Config.Get("remote." + r.Name + ".url")
	_, push := r.Repo.Config.Get("remote." + r.Name + ".pushurl")
	return url || push
}

// address returns what is passed to git as the repository.
func (r *Remote) address() string { return cmp.Or(r.Place, r.Name) }

// Destinations returns the addresses to which a push goes, if they differ from the one that git
// fetches from: with pushurl, with several urls, or with url.*.pushInsteadOf. Each of them has to
// be listed and sent to separately. It returns nil in the usual case of a single address.
func (r *Remote) Destinations(ctx context.Context) ([]string, error) {
	urls, pushed := r.Repo.Config.All("remote."+r.Name+".url"), r.Repo.Config.All("remote."+r.Name+".pushurl")
	rewritten := slices.ContainsFunc(r.Repo.Config.Keys("url."), func(key string) bool { return strings.HasSuffix(strings.ToLower(key), ".pushinsteadof") })
	if len(urls) < 2 && len(pushed) == 0 && !rewritten {
		return nil, nil
	}
	read, places, err := r.places(ctx)
	if err != nil || slices.Equal(places, []string{read}) {
		return nil, err
	}
	// From here on each place is given to git as an address. git would rewrite it once more, and
	// what is listed could be a repository other than the one that is pushed to.
	for _, place := range places {
		read, again, err := (&Remote{Repo: r.Repo, Name: place}).places(ctx)
		if err != nil {
			return nil, err
		}
		if read != place || !slices.Equal(again, []string{place}) {
			return nil, fmt.Errorf("git rewrites the push address %q of %q once more if it is used as such; change its url, or the rules url.*.insteadOf", Redact(place), Redact(r.Name))
		}
	}
	return places, nil
}

// places returns the address that git fetches from and those that it pushes to, after insteadOf,
// pushInsteadOf and pushurl. git rewrites an address like the url of a remote, so one that is
// not configured gets a name for this call.
func (r *Remote) places(ctx context.Context) (read string, pushed []string, err error) {
	c := git.Cmd{Args: []string{"remote", "-v"}}
	named := r.Name
	if !r.Configured() {
		named = "checkpoint-address"
		c.Config = []string{"remote." + named + ".url=" + r.Name}
	}
	res, err := r.Repo.Run(ctx, c)
	for line := range strings.Lines(string(res.Stdout)) {
		place, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), named+"\t")
		if !ok {
			continue
		}
		if to, ok := strings.CutSuffix(place, " (push)"); ok {
			pushed = append(pushed, to)
		} else if i := strings.LastIndex(place, " (fetch)"); i >= 0 {
			read = place[:i] // git 2.38 and later append the filter of a partial clone
		}
	}
	return read, pushed, err
}

// PushURL returns the (first) address to which a push goes, after insteadOf and pushurl.
func (r *Remote) PushURL(ctx context.Context) (string, error) {
	if r.Place != "" {
		return r.Place, nil
	}
	_, pushed, err := r.places(ctx)
	if err == nil && len(pushed) == 0 {
		err = fmt.Errorf("git names no address to push to for %q", Redact(r.Name))
	}
	return strings.Join(pushed[:min(len(pushed), 1)], ""), err
}

// Error is a failure that git or the remote reported in place of doing what was asked.
type Error struct {
	Remote string
	Verb   string // "list", "fetch from", "push to"
	Text   string // git's words without credentials, a few lines

	stderr string // everything that git and the remote printed
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %s", e.Verb, e.Remote, e.Text) }

// run starts a git command that talks to the remote. The configuration is set so that the user's
// own cannot add refs to a push or change the output. A cancelled context returns its cause.
func (r *Remote) run(ctx context.Context, verb string, c git.Cmd) (git.Result, error) {
	c.Config = append(c.Config, "fetch.writeCommitGraph=false", "fetch.output=full")
	if !strings.Contains(r.Name, "=") { // -c splits at the first "=", so such a name cannot be in a key
		c.Config = append(c.Config, "remote."+r.Name+".mirror=false")
	}
	c.Env = append(c.Env, r.environment()...)
	res, err := r.Repo.Run(ctx, c)
	var ended *git.Error
	if err != nil && ctx.Err() != nil { // we killed git, so its exit code means nothing
		return res, context.Cause(ctx)
	}
	if errors.As(err, &ended) {
		err = &Error{Remote: Redact(r.Name), Verb: verb, Text: messageOf(ended), stderr: ended.Stderr}
	}
	return res, err
}

// environment returns variables that keep git and ssh from prompting when nobody could answer. A
// user's own ssh command is left as it is.
func (r *Remote) environment() []string {
	if r.MayAsk {
		return []string{"GIT_TERMINAL_PROMPT=1"}
	}
	env := []string{"GIT_TERMINAL_PROMPT=0"}
	_, configured := r.Repo.Config.Get("core.sshCommand")
	if !configured && r.Repo.Getenv("GIT_SSH_COMMAND") == "" && r.Repo.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}

// messageOf returns what git and the remote printed, without hints and progress, at most eight lines.
func messageOf(e *git.Error) string {
	var lines []string
	for line := range strings.Lines(e.Stderr) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "hint:"), strings.HasPrefix(line, "To "), strings.HasPrefix(line, "Everything up-to-date"):
			continue
		case strings.HasPrefix(line, "warning: Skipping unknown msg id"), strings.HasPrefix(line, "warning: object "): // rules in harmless
			continue
		case strings.HasPrefix(line, "Please make sure you have the correct access rights"), strings.HasPrefix(line, "and the repository exists."):
			continue
		}
		lines = append(lines, strings.TrimPrefix(line, "fatal: "))
		if len(lines) == 8 {
			break
		}
	}
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("git exited with code %d", e.Code)}
	}
	return Redact(strings.Join(lines, "; "))
}

// userInfo matches the user name and password of a URL.
var userInfo = lazy.Pattern(`://[^/@\s]*@`)

// Redact removes user names and passwords from URLs in a text.
func Redact(text string) string { return userInfo().ReplaceAllString(text, "://") }
