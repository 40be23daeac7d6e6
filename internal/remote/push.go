package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Update is one ref to be sent. An empty New deletes it.
type Update struct {
	Ref   name.Ref // by our name
	New   name.OID
	Lease name.OID // replaces this value, and no other, whatever it is; empty: forward only
}

// Verdict is what became of one ref of a push.
type Verdict int

// The verdicts.
const (
	Sent     Verdict = iota
	Held             // it is there already
	Stale            // the remote has moved on: plan again
	Refused          // the remote does not take it
	Withheld         // it would have been taken, but another one of an atomic push was not
)

// Outcome is a verdict with the remote's own words.
type Outcome struct {
	Update
	Verdict Verdict
	Reason  string
}

// ErrNotAtomic says that the remote cannot take all of a push or none of it.
var ErrNotAtomic = errors.New("the remote has no atomic push")

// Unity says whether a push is all or nothing.
type Unity int

// The choices.
const (
	EachAlone Unity = iota
	AllOrNone
)

// Chunk is how many refs are sent at once. Hosts limit how many a push may have, and
// systems how long a command line may be.
const Chunk = 500

// Push sends refs. An error is that nothing is known of any of them.
func (r *Remote) Push(ctx context.Context, updates []Update, unity Unity) ([]Outcome, error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed", "--no-progress"}
	if unity == AllOrNone {
		args = append(args, "--atomic")
	}
	for _, u := range updates {
		if u.Lease != "" {
			args = append(args, "--force-with-lease="+string(r.Mapping.There(u.Ref))+":"+string(u.Lease))
		}
	}
	args = append(args, "--", r.address())
	byName := make(map[name.Ref]Update, len(updates))
	for _, u := range updates {
		byName[r.Mapping.There(u.Ref)] = u
	}
	specs, staged, err := r.specs(ctx, updates)
	if err != nil {
		return nil, err
	}
	defer staged.Close(ctx)
	args = append(args, specs...)
	res, err := r.run(ctx, "push to", git.Cmd{Args: args})
	outcomes := parsePorcelain(string(res.Stdout), byName)
	var said *Error
	switch {
	case err == nil:
		return outcomes, nil
	case errors.As(err, &said) && unity == AllOrNone && strings.Contains(said.Text, "not support") && strings.Contains(said.Text, "atomic"):
		return nil, ErrNotAtomic
	case len(outcomes) > 0 && judged(outcomes):
		r.explain(outcomes, said)
		return outcomes, nil
	}
	return nil, err
}

// specs are the refspecs of a push. git compares each that it is given by name with all
// refs of the remote: many checkpoints are put beside each other here, and sent by one
// pattern.
func (r *Remote) specs(ctx context.Context, updates []Update) ([]string, *Quarantine, error) {
	var specs []string
	var many []Update
	for _, u := range updates {
		if session, leaf, ok := name.SplitCheckpointRef(u.Ref); ok && u.New != "" && u.Lease == "" && session != "" && leaf != "" && len(updates) > explicit {
			many = append(many, u)
			continue
		}
		specs = append(specs, string(u.New)+":"+string(r.Mapping.There(u.Ref)))
	}
	if len(many) == 0 {
		return specs, nil, nil
	}
	room := fmt.Sprintf("%s%x-%08x-out/", IncomingRoot, r.Now().Unix(), r.Random())
	staged := &Quarantine{repo: r.Repo}
	var write []git.Update
	for _, u := range many {
		ref := name.Ref(room + strings.TrimPrefix(string(u.Ref), name.CheckpointRoot))
		write = append(write, git.Update{Ref: ref, New: u.New})
		staged.refs = append(staged.refs, git.Update{Ref: ref, Old: u.New})
	}
	if err := r.Repo.UpdateRefs(ctx, write); err != nil {
		return nil, nil, err
	}
	return append(specs, room+"*:"+string(r.Mapping.There(name.CheckpointRoot+"*"))), staged, nil
}

// explain adds what the remote printed to a reason that tells nothing by itself: "hook
// declined", or "unpacker error" where a disk is full.
func (r *Remote) explain(outcomes []Outcome, said *Error) {
	if said == nil {
		return
	}
	all, own := remoteWords(said.stderr)
	for i, o := range outcomes {
		words := own[r.Mapping.There(o.Ref)]
		if words == nil {
			words = all
		}
		if len(words) > 0 && (strings.Contains(o.Reason, "declined") || strings.Contains(o.Reason, "unpacker error")) {
			outcomes[i].Reason += ": " + strings.Join(words[:min(len(words), maxWords)], "; ")
		}
	}
}

// maxWords and maxWord bound how many lines of a remote are repeated for one ref, and how
// much of each.
const maxWords, maxWord = 3, 200

// remoteWords are the lines that a remote printed, and those among them that were about
// one ref: git runs the update hook for one ref after the other, and says so after each
// that is declined.
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

// judged reports whether the remote has said no to something: then git's exit code
// means that, and not a connection that broke.
func judged(outcomes []Outcome) bool {
	for _, o := range outcomes {
		if o.Verdict >= Stale {
			return true
		}
	}
	return false
}

// parsePorcelain reads the lines of git push --porcelain:
// <flag> TAB <from>:<to> TAB <summary> (<reason>).
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

// reasonOf is the text in brackets, or all of it.
func reasonOf(summary string) string {
	if i := strings.Index(summary, " ("); i >= 0 && strings.HasSuffix(summary, ")") {
		return summary[i+2 : len(summary)-1]
	}
	return summary
}

// verdictOf tells a remote that has moved on from one that says no. The words are
// git's own, in the C locale; those of a server of another make count as a no.
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

// String is the verdict in a word.
func (v Verdict) String() string {
	return [...]string{"sent", "held", "stale", "refused", "withheld"}[v]
}

func (o Outcome) String() string { return fmt.Sprintf("%s %s: %s", o.Ref, o.Verdict, o.Reason) }
