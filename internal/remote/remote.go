// Package remote talks to another repository through git push, git fetch and git
// ls-remote: it lists what is there, brings refs into a quarantine, and sends refs. It
// owns the mapping of our names to the remote's, what each of git's answers means, and
// the pure plan of a push. It holds no journal and decides nothing about checkpoints.
//
// It refuses to force anything (no "+", no --force), to fetch straight into a ref that
// somebody reads, to bring tags along, and to ask for a credential off a terminal.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Asking says whether git may ask a person for a credential.
type Asking int

// The choices.
const (
	NeverAsk Asking = iota
	MayAsk          // there is a terminal
)

// Remote is another repository, by the name of a remote or by its address.
type Remote struct {
	Repo    *git.Repo
	Name    string
	Place   string // one address to talk to in place of the name; empty: what git takes for it
	Mapping Mapping
	Asking  Asking
	Now     func() time.Time
	Random  func() uint32
}

// Check refuses a name that git would take for something else.
func (r *Remote) Check() error {
	if r.Name == "" || strings.HasPrefix(r.Name, "-") || strings.ContainsAny(r.Name, "\n\x00") {
		return fmt.Errorf("%q is no remote", name.Clip(r.Name, name.Said))
	}
	return nil
}

// Configured reports whether the name is one of git's configured remotes, and not an
// address: only these are remembered.
func (r *Remote) Configured() bool {
	_, url := r.Repo.Config.Get("remote." + r.Name + ".url")
	_, push := r.Repo.Config.Get("remote." + r.Name + ".pushurl")
	return url || push
}

// address is what git is given.
func (r *Remote) address() string { return cmp.Or(r.Place, r.Name) }

// Destinations are the addresses that a push of this remote goes to, where git would
// list another one, or more than one: each has to be read, and sent to, by itself.
func (r *Remote) Destinations(ctx context.Context) ([]string, error) {
	urls, pushed := r.Repo.Config.All("remote."+r.Name+".url"), r.Repo.Config.All("remote."+r.Name+".pushurl")
	rewritten := slices.ContainsFunc(r.Repo.Config.Keys("url."), func(key string) bool { return strings.HasSuffix(strings.ToLower(key), ".pushinsteadof") })
	if !r.Configured() || len(urls) < 2 && len(pushed) == 0 && !rewritten {
		return nil, nil
	}
	ask := func(args ...string) ([]string, error) {
		args = append(append([]string{"remote", "get-url"}, args...), "--", r.Name)
		res, err := r.Repo.Run(ctx, git.Cmd{Args: args})
		return strings.Split(strings.TrimSuffix(string(res.Stdout), "\n"), "\n"), err
	}
	places, err := ask("--push", "--all")
	if err != nil {
		return nil, err
	}
	if read, err := ask(); err == nil && slices.Equal(read, places) {
		return nil, nil
	}
	return places, nil
}

// PushURL is the address that a push goes to, after what git's configuration makes of it.
func (r *Remote) PushURL(ctx context.Context) (string, error) {
	if r.Place != "" {
		return r.Place, nil
	}
	if len(r.Repo.Config.Keys("url.")) > 0 { // insteadOf
		if !r.Configured() {
			return r.Repo.Output(ctx, "ls-remote", "--get-url", "--", r.Name)
		}
		return r.Repo.Output(ctx, "remote", "get-url", "--push", "--", r.Name)
	}
	for _, key := range []string{".pushurl", ".url"} {
		if url, set := r.Repo.Config.Get("remote." + r.Name + key); set {
			return url, nil
		}
	}
	return r.Name, nil
}

// Error is what a remote, or the way to it, answered instead of doing what was asked.
type Error struct {
	Remote string
	Verb   string // "list", "fetch from", "push to"
	Text   string // git's own words, without credentials

	stderr string // all that git and the other side printed
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %s", e.Verb, e.Remote, e.Text) }

// run starts a git process that talks to the remote.
func (r *Remote) run(ctx context.Context, verb string, c git.Cmd) (git.Result, error) {
	c.Config = append(c.Config, "remote."+r.Name+".mirror=false", "push.followTags=false", "push.gpgSign=false",
		"fetch.writeCommitGraph=false", "fetch.output=full")
	if strings.Contains(r.Name, "=") { // -c would cut it in two
		c.Config = c.Config[:len(c.Config)-5]
	}
	c.Env = append(c.Env, r.environment()...)
	res, err := r.Repo.Run(ctx, c)
	var ended *git.Error
	if err != nil && ctx.Err() != nil { // git was ended by us, and says nothing of its own
		return res, context.Cause(ctx)
	}
	if errors.As(err, &ended) {
		err = &Error{Remote: Redact(r.Name), Verb: verb, Text: said(ended), stderr: ended.Stderr}
	}
	return res, err
}

// environment keeps git and ssh from asking where nobody could answer.
func (r *Remote) environment() []string {
	if r.Asking == MayAsk {
		return []string{"GIT_TERMINAL_PROMPT=1"}
	}
	env := []string{"GIT_TERMINAL_PROMPT=0"}
	_, configured := r.Repo.Config.Get("core.sshCommand")
	if !configured && r.Repo.Getenv("GIT_SSH_COMMAND") == "" && r.Repo.Getenv("GIT_SSH") == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return env
}

// said is what git and the other side printed, without what is no reason.
func said(e *git.Error) string {
	var lines []string
	for line := range strings.Lines(e.Stderr) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "hint:"), strings.HasPrefix(line, "To "), strings.HasPrefix(line, "Everything up-to-date"):
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
		lines = []string{fmt.Sprintf("git ended with %d", e.Code)}
	}
	return Redact(strings.Join(lines, "; "))
}

var userInfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/@\s]*@`) })

// Redact takes user names and passwords out of addresses.
func Redact(text string) string { return userInfo().ReplaceAllString(text, "://") }

// namespaces are the refs that this program keeps at a remote.
func isOurs(ref name.Ref) bool {
	return strings.HasPrefix(string(ref), name.CheckpointRoot) || ref == name.NotesRef || strings.HasPrefix(string(ref), name.TagRoot)
}
