package clearance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/guard"
	"git-checkpoint/internal/name"
)

// Secret is one finding as `guard` answers it. Its value is nowhere in it.
type Secret struct {
	Path        checkpoint.Path `json:"path"`
	Line        int             `json:"line"`
	Rule        string          `json:"rule"`
	What        string          `json:"what"`
	Fingerprint string          `json:"fingerprint"`
	Blob        name.OID        `json:"blob"`
	Checkpoint  string          `json:"checkpoint"` // the label of one that holds it
	Allowed     string          `json:"allowed"`    // the reason; empty: it is not allowed
}

// Answer is the answer of `guard`.
type Answer struct {
	Secrets []Secret
	Gaps    []string // what was not looked at, and why
	Looked  int      // objects
}

// ListRequest is what `guard` was asked for.
type ListRequest struct {
	Ref     string // empty: every checkpoint of the session, or of all
	Session string
	All     bool // all sessions
}

// List looks through checkpoints, and what only they hold of the history below them.
func List(ctx context.Context, s *checkpoint.Service, req ListRequest) (*Answer, error) {
	what := Sending{}
	if req.Ref != "" {
		found, err := s.Resolve(ctx, req.Session, req.Ref)
		if err != nil {
			return nil, err
		}
		commit := found.Entry.Event().Commit
		what.Tips, what.Labels = []name.OID{commit}, []Holder{{commit, found.Entry.Label}}
	} else if err := everyCheckpoint(ctx, s, req, &what); err != nil {
		return nil, err
	}
	desk, err := desk(s)
	if err != nil {
		return nil, err
	}
	report, err := desk.Sent(ctx, what.Tips, nil)
	if err = errors.Join(err, desk.Close()); err != nil {
		return nil, checkpoint.Classify(err)
	}
	return guarded(ctx, s, report, what.Labels), nil
}

// everyCheckpoint adds the live checkpoints of a session, or of all.
func everyCheckpoint(ctx context.Context, s *checkpoint.Service, req ListRequest, what *Sending) error {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot)
	if err != nil {
		return checkpoint.Classify(err)
	}
	only := name.Session("")
	if !req.All {
		if only, err = s.ChooseSession(ctx, req.Session); err != nil {
			return err
		}
	}
	for _, r := range refs {
		session, _, ok := name.SplitCheckpointRef(r.Ref)
		if ok && (only == "" || session == only) {
			what.Tips = append(what.Tips, r.OID)
		}
	}
	sessions := []name.Session{only}
	if only == "" {
		infos, _, err := s.Store.Sessions(ctx)
		if err != nil {
			return checkpoint.Classify(err)
		}
		sessions = nil
		for _, info := range infos {
			sessions = append(sessions, info.Session)
		}
	}
	for _, session := range sessions {
		if log, err := s.Store.Log(ctx, session); err == nil {
			what.Labels = append(what.Labels, Holders(log)...)
		}
	}
	return nil
}

func guarded(ctx context.Context, s *checkpoint.Service, report *Report, labels []Holder) *Answer {
	out := &Answer{Looked: report.Looked}
	for _, f := range report.Found {
		out.Secrets = append(out.Secrets, Secret{
			Path: checkpoint.Path(f.Path), Line: f.Line, Rule: f.Rule, What: whatIs(f.Rule), Fingerprint: f.Fingerprint,
			Blob: f.OID, Checkpoint: holder(ctx, s, f, labels), Allowed: f.Allowed,
		})
	}
	slices.SortStableFunc(out.Secrets, func(a, b Secret) int {
		if c := strings.Compare(string(a.Path), string(b.Path)); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	for _, g := range report.Gaps {
		out.Gaps = append(out.Gaps, g.Path+": "+g.Why)
	}
	return out
}

// Files looks through files, wherever they are.
func Files(ctx context.Context, s *checkpoint.Service, files []string) (*Answer, error) {
	desk, err := desk(s)
	if err != nil {
		return nil, err
	}
	out := &Answer{}
	for _, file := range files {
		report, err := checkFile(desk, file)
		if err != nil {
			return nil, err
		}
		one := guarded(ctx, s, report, nil)
		for i := range one.Secrets {
			one.Secrets[i].Checkpoint = ""
		}
		out.Secrets, out.Gaps, out.Looked = append(out.Secrets, one.Secrets...), append(out.Gaps, one.Gaps...), out.Looked+1
	}
	return out, nil
}

func checkFile(desk *Desk, file string) (*Report, error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return nil, checkpoint.Usage("give the names of files", "%q is no file", file)
	}
	if err != nil {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	defer f.Close()
	report, err := desk.Bytes(filepath.ToSlash(file), f)
	return report, checkpoint.Classify(err)
}

// Allowance is the answer of `guard allow`.
type Allowance struct {
	Allowed []Secret
	Key     string // of the configuration
	Scope   string // local or global
}

// Allow lets the secrets of a file or a blob leave, by their fingerprints: what
// changes in the file later does not go with them.
func Allow(ctx context.Context, s *checkpoint.Service, target, reason string) (*Allowance, error) {
	if strings.TrimSpace(reason) == "" || strings.ContainsAny(reason, "\n\x00") {
		return nil, checkpoint.Usage("--reason 'a key of the test server'", "--reason has to say in a line why it may leave")
	}
	desk, err := desk(s)
	if err != nil {
		return nil, err
	}
	found, err := findingsOf(ctx, s, desk, target)
	if err != nil {
		return nil, err
	}
	if err := desk.Close(); err != nil {
		return nil, checkpoint.Classify(err)
	}
	out := &Allowance{Key: "checkpoint.guard.allow", Scope: "local"}
	seen := map[string]bool{}
	for _, one := range found {
		if one.Allowed != "" || seen[one.Fingerprint] {
			continue
		}
		seen[one.Fingerprint] = true
		if _, err := s.Repo.Output(ctx, "config", "--local", "--add", out.Key, one.Fingerprint+" "+reason); err != nil {
			return nil, checkpoint.Classify(err)
		}
		one.Allowed = reason
		out.Allowed = append(out.Allowed, one)
	}
	if len(out.Allowed) == 0 {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNothing, Message: fmt.Sprintf("everything that was found in %q is allowed already", target)}
	}
	return out, nil
}

// findingsOf are the findings in a blob, or in every version of a file that checkpoints
// hold and in the one that is there now.
func findingsOf(ctx context.Context, s *checkpoint.Service, desk *Desk, target string) ([]Secret, error) {
	all, err := List(ctx, s, ListRequest{All: true})
	if err != nil {
		return nil, err
	}
	path := target
	if below, err := s.Repo.Below(target); err == nil {
		path = below
	}
	var found []Secret
	for _, one := range all.Secrets {
		if string(one.Path) == path || string(one.Path) == target || len(target) >= 7 && strings.HasPrefix(string(one.Blob), target) {
			found = append(found, one)
		}
	}
	if report, err := checkFile(desk, target); err == nil {
		found = append(found, guarded(ctx, s, report, nil).Secrets...)
	}
	if len(found) == 0 {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no secret was found in %q", target), Hints: []string{"`git checkpoint guard --all` lists what was found, with paths and blobs"}}
	}
	return found, nil
}

// Rule is one rule as `guard --rules` answers it.
type Rule struct {
	ID     string `json:"id"`
	What   string `json:"what"`
	Source string `json:"source"`
}

// Rules lists the rules.
func Rules() []Rule {
	var out []Rule
	for _, r := range guard.Rules() {
		out = append(out, Rule{r.ID, r.What, r.Source})
	}
	return out
}
