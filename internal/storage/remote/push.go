package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Update is one ref to send. An empty New deletes the ref.
type Update struct {
	Ref   name.Ref // by our name
	New   name.OID
	Lease name.OID // replace by force, but only this old value; empty: fast-forward or create only
}

// Verdict is the result of one ref of a push. Their order matters: from Stale on the ref was not
// updated, and from Refused on trying again does not help.
type Verdict int

// The verdicts.
const (
	Sent     Verdict = iota
	Held             // the remote had this value already
	Stale            // the remote has moved on, so plan again
	Refused          // the remote refused it
	Withheld         // an atomic push failed because of another ref
)

// Outcome is the result of one update, with git's reason where it failed.
type Outcome struct {
	Update
	Verdict Verdict
	Reason  string
}

// ErrNotAtomic is returned for an AllOrNone push to a remote that does not support atomic pushes.
var ErrNotAtomic = errors.New("the remote has no atomic push")

// Unity says whether a push is all or nothing (git push --atomic).
type Unity int

// With EachAlone the remote accepts or refuses each ref by itself.
const (
	EachAlone Unity = iota
	AllOrNone
)

// Chunk is how many refs one push sends. Hosts limit the refs of a push, and operating systems the
// length of a command line.
const Chunk = 2000

// Push sends the updates with one git push and returns a result for each ref on which git reported.
// An error means that the result is unknown for all of them, as after a broken connection.
func (r *Remote) Push(ctx context.Context, updates []Update, unity Unity) ([]Outcome, error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed", "--no-progress"}
	if unity == AllOrNone {
		args = append(args, "--atomic")
	}
	for _, u := range updates {
		if u.Lease != "" {
			args = append(args, "--force-with-lease="+string(r.Mapping.ToRemote(u.Ref))+":"+string(u.Lease))
		}
	}
	args = append(args, "--", r.address())
	byName := gather.Map(updates, func(u Update) (name.Ref, Update) { return r.Mapping.ToRemote(u.Ref), u })
	// A refspec has no "+". Only a lease lets git replace a value.
	specs, many := r.specs(updates)
	args = append(args, specs...)
	dir, env, err := r.separateDir(ctx, many)
	defer os.RemoveAll(dir) // what stays is swept
	if err != nil {
		return nil, err
	}
	res, err := r.run(ctx, "push to", git.Cmd{Args: args, Env: env})
	outcomes := parsePorcelain(string(res.Stdout), byName)
	var said *Error
	switch {
	case err == nil:
		return outcomes, nil
	case errors.As(err, &said) && unity == AllOrNone && strings.Contains(said.Text, "not support") && strings.Contains(said.Text, "atomic"):
		return nil, ErrNotAtomic
	// The remote rejected a ref. git's exit code says so, and does not mean that the connection broke.
	case slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Verdict >= Stale }):
		r.explain(outcomes, said)
		return outcomes, nil
	}
	return nil, err
}

// specs returns the refspecs of a push, and those of its checkpoints that one pattern sends if they are many, as input
// of `git update-ref --stdin`.
func (r *Remote) specs(updates []Update) (specs []string, many string) {
	var create strings.Builder
	room := r.room() + "-out/" // a git that saw other refs than those of apart would send none of them by this name
	for _, u := range updates {
		if session, leaf, ok := name.SplitCheckpointRef(u.Ref); ok && u.New != "" && u.Lease == "" && session != "" && leaf != "" && len(updates) > explicit {
			fmt.Fprintf(&create, "create %s%s %s\n", room, strings.TrimPrefix(string(u.Ref), name.CheckpointRoot), u.New)
			continue
		}
		specs = append(specs, string(u.New)+":"+string(r.Mapping.ToRemote(u.Ref)))
	}
	if create.Len() > 0 {
		specs = append(specs, room+"*:"+string(r.Mapping.ToRemote(name.CheckpointRoot+"*")))
	}
	return specs, create.String()
}

// separateDir makes a git directory that has no refs but these and shares the rest with the repository, and returns it and
// the environment for git to use it. git compares each ref that it sends with all refs here, by name, and its helper
// for HTTP does so for each ref of a pattern, too: among 10,000 checkpoints and their tags, a push of 2,000 took 15 s.
// It makes no remote-tracking branches there, either, of checkpoints that are branches at the remote.
func (r *Remote) separateDir(ctx context.Context, create string) (dir string, env []string, err error) {
	own, err := os.ReadFile(filepath.Join(r.Repo.GitDir, "config.worktree"))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		dir, err = r.Repo.Dir()
	}
	if err == nil {
		dir, err = os.MkdirTemp(dir, "tmp-push-")
	}
	if err != nil {
		return "", nil, err
	}
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "config.worktree"), own, 0o600),
		os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600),
		os.Mkdir(filepath.Join(dir, "refs"), 0o700),
		os.Mkdir(filepath.Join(dir, "reftable"), 0o700),
	)
	env = []string{"GIT_DIR=" + dir, "GIT_COMMON_DIR=" + r.Repo.CommonDir}
	if err == nil && create != "" {
		_, err = r.Repo.Run(ctx, git.Cmd{Args: []string{"update-ref", "--stdin"}, Env: env, Stdin: strings.NewReader(create)})
	}
	return dir, env, err
}

// explain appends the remote's own output to reasons that say nothing by themselves, such as
// "pre-receive hook declined" or "unpacker error" (often a full disk).
func (r *Remote) explain(outcomes []Outcome, said *Error) {
	if said == nil {
		return
	}
	all, own := remoteWords(said.stderr)
	for i, o := range outcomes {
		words := own[r.Mapping.ToRemote(o.Ref)]
		if words == nil {
			words = all
		}
		if len(words) > 0 && (strings.Contains(o.Reason, "declined") || strings.Contains(o.Reason, "unpacker error")) {
			outcomes[i].Reason += ": " + strings.Join(words[:min(len(words), maxWords)], "; ")
		}
	}
}

// maxWords and maxWord bound how many lines of the remote's output are repeated per ref, and how
// many bytes of each.
const maxWords, maxWord = 3, 200

// remoteWords returns the lines that a remote printed (all), and those that concern one ref (own).
// The update hook runs once per ref, and git prints a line with the ref after each one that it
// declined, so the lines before it belong to that ref.
func remoteWords(stderr string) (all []string, own map[name.Ref][]string) {
	own = map[name.Ref][]string{}
	from := 0
	for line := range strings.Lines(stderr) {
		told, ok := strings.CutPrefix(line, "remote:")
		if told = strings.TrimSpace(told); !ok || told == "" {
			continue
		}
		if ref, ends := strings.CutPrefix(told, "error: hook declined to update "); ends {
			own[name.Ref(ref)] = all[from:]
			from = len(all)
			continue
		}
		told = strings.ToValidUTF8(told[:min(len(told), maxWord)], "")
		all = append(all, strings.TrimPrefix(Redact(told), "fatal: "))
	}
	return all, own
}

// parsePorcelain parses the output of git push --porcelain. Each line is <flag> TAB <from>:<to> TAB
// <summary> (<reason>). Lines about unknown refs are ignored.
func parsePorcelain(text string, byName map[name.Ref]Update) []Outcome {
	var all []Outcome
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(fields) != 3 || len(fields[0]) != 1 {
			continue
		}
		_, to, _ := strings.Cut(fields[1], ":")
		u, known := byName[name.Ref(to)]
		if !known {
			continue
		}
		o := Outcome{Update: u, Reason: reasonOf(fields[2])}
		switch fields[0] {
		case "!":
			o.Verdict = verdictOf(fields[2])
		case "=":
			o.Verdict = Held
		}
		all = append(all, o)
	}
	return all
}

// reasonOf returns the text in the parentheses of a summary, or the whole summary without them.
func reasonOf(summary string) string {
	if i := strings.Index(summary, " ("); i >= 0 && strings.HasSuffix(summary, ")") {
		return summary[i+2 : len(summary)-1]
	}
	return summary
}

// verdictOf tells a ref that has moved at the remote, where a new plan helps, from one that the
// remote refuses. It goes by git's own messages in the C locale. Unknown messages, as from a server
// that is not git, count as refused.
func verdictOf(summary string) Verdict {
	reason := reasonOf(summary)
	switch {
	case strings.Contains(reason, "atomic push failed"), strings.Contains(reason, "atomic transaction failed"), strings.Contains(reason, "atomic push failure"):
		return Withheld
	case strings.HasPrefix(summary, "[rejected]"), strings.HasPrefix(summary, "[remote failure]"):
		return Stale // not a fast-forward, or there already
	}
	for _, moved := range []string{"fetch first", "non-fast-forward", "stale info", "failed to update ref", "cannot lock ref", "incorrect old value",
		"reference already exists", "failed to lock", "is at ", "unable to lock"} {
		if strings.Contains(reason, moved) {
			return Stale
		}
	}
	return Refused
}
