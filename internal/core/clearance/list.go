package clearance

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Secret is one finding in the answer of `guard`. The value of the secret is not in it.
type Secret struct {
	Path        checkpoint.Path    `json:"path"`
	Line        int                `json:"line"`
	Rule        string             `json:"rule"`
	What        string             `json:"what"`
	Fingerprint string             `json:"fingerprint"`
	Blob        name.OID           `json:"blob"`
	Checkpoint  string             `json:"checkpoint"` // label of a checkpoint that holds it
	Allowed     string             `json:"allowed"`    // the reason; empty: not allowed
	Public      bool               `json:"public"`     // a remote-tracking ref had it before the first checkpoint was made
	Holder      checkpoint.Mention `json:"-"`          // how people see the checkpoint; the zero value where none holds it

	user string // fingerprint by the user's key
	age  int    // counts the checkpoints from the oldest; 0: in none
}

// Answer is the answer of `guard`.
type Answer struct {
	Secrets []Secret
	Gaps    []string // what was not scanned, with the reason
	Looked  int      // number of objects
}

// ListRequest holds the options of `guard`.
type ListRequest struct {
	Ref     string // empty: every checkpoint of the session, or of all
	Session string
	All     bool // all sessions
}

// List scans checkpoints and the history below them that no branch holds.
func List(ctx context.Context, s *checkpoint.Service, req ListRequest) (*Answer, error) {
	what := Sending{}
	if req.Ref != "" {
		found, err := s.Sessions.Resolve(ctx, req.Session, req.Ref)
		if err != nil {
			return nil, err
		}
		commit := found.Entry.Event().Commit
		what.Tips, what.Labels, what.firsts = []name.OID{commit}, []Holder{{commit, found.Entry.Label}}, []name.OID{commit}
	} else if err := everyCheckpoint(ctx, s.Sessions, req, &what); err != nil {
		return nil, err
	}
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	report, err := scanner.ScanOutgoing(ctx, what.Tips, nil)
	copies := &Report{}
	if err == nil && req.All {
		var all []Copy
		if all, err = Copies(s.Repo); err == nil {
			copies, err = scanner.ScanCopies(ctx, slices.DeleteFunc(all, func(c Copy) bool { return c.Kind != talkCopies && !c.Forked() }))
		}
	}
	if err == nil {
		var named []lfs.Named
		if named, err = scanner.outsideOf(ctx, what.Tips); err == nil {
			err = scanner.outside(ctx, report, named)
		}
	}
	scanner.closeOrWarn(s)
	if err != nil {
		return nil, refusedByScanner(err, "what it did not scan is unknown")
	}
	out := guarded(ctx, s.Store, report, what.Labels)
	if n := len(report.missing); n > 0 {
		out.Gaps = append(out.Gaps, fmt.Sprintf("%d missing objects; one is %s", n, slices.Min(report.missing)))
	}
	newestFirst(out.Secrets)
	if err := markPublic(ctx, s.Repo, out.Secrets, what.firsts); err != nil {
		return nil, err
	}
	beside := listed(copies)
	return &Answer{append(out.Secrets, beside.Secrets...), append(out.Gaps, beside.Gaps...), out.Looked + beside.Looked}, nil
}

// newestFirst sorts secrets by file. First comes the file with what the newest checkpoint brought.
func newestFirst(secrets []Secret) {
	newest := map[checkpoint.Path]int{}
	for _, one := range secrets {
		newest[one.Path] = max(newest[one.Path], one.age)
	}
	slices.SortStableFunc(secrets, func(a, b Secret) int {
		return cmp.Or(cmp.Compare(newest[b.Path], newest[a.Path]), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
}

// markPublic marks the secrets that are in commits below the first checkpoints and that a
// remote-tracking ref holds, too.
func markPublic(ctx context.Context, repo *git.Repo, secrets []Secret, firsts []name.OID) error {
	refs, err := repo.Refs.List(ctx, "refs/remotes/")
	if err != nil || len(refs) == 0 || len(secrets) == 0 {
		return err
	}
	var heads, remote []name.OID
	for _, first := range firsts {
		if c, err := repo.Commits.Read(ctx, string(first)); err == nil && len(c.Parents) == 2 {
			heads = append(heads, c.Parents[0])
		}
	}
	remote = append(remote, gather.List(refs, func(r git.RefValue) name.OID { return r.OID })...)
	// The newest commits that both have: a head that is not listed, and what is at the boundary.
	res, err := repo.Run(ctx, git.Cmd{Args: []string{"rev-list", "--boundary", "--ignore-missing", "--stdin"}, Stdin: git.Revisions(heads, remote)})
	if err != nil {
		return err
	}
	listed := strings.Fields(string(res.Stdout))
	tips := slices.DeleteFunc(heads, func(head name.OID) bool { return slices.Contains(listed, string(head)) })
	for _, commit := range listed {
		if oid, is := strings.CutPrefix(commit, "-"); is {
			tips = append(tips, name.OID(oid))
		}
	}
	if len(tips) == 0 {
		return nil
	}
	public := map[name.OID]bool{}
	err = Reachable(ctx, repo, tips, nil, func(oid name.OID, _ string) { public[oid] = true })
	for i := range secrets {
		secrets[i].Public = public[secrets[i].Blob]
	}
	return err
}

// everyCheckpoint adds the checkpoints of a session, or of all sessions.
func everyCheckpoint(ctx context.Context, s *checkpoint.Sessions, req ListRequest, what *Sending) error {
	refs, err := s.Repo.Refs.List(ctx, name.CheckpointRoot)
	if err != nil {
		return err
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
		var err error
		if sessions, err = s.Store.Sessions(ctx); err != nil {
			return err
		}
	}
	for _, session := range sessions {
		if log, err := s.Store.Log(ctx, session); err == nil {
			holders := Holders(log)
			if what.Labels = append(what.Labels, holders...); len(holders) > 0 {
				what.firsts = append(what.firsts, holders[0].Commit)
			}
		}
	}
	return nil
}

// guarded converts a report to an answer, sorted by path and line, with the checkpoints that hold what was found.
func guarded(ctx context.Context, s *store.Store, report *Report, labels []Holder) *Answer {
	out := listed(report)
	for i, f := range report.Found {
		in, one := holder(ctx, s, f, labels), &out.Secrets[i]
		one.Path, one.Checkpoint, one.Holder, one.age = checkpoint.Path(in.path), in.label, in.mention, in.age
	}
	return out
}

// Staged scans what the next commit would bring: the files in the index that differ from HEAD, and not those of the
// worktree. git tells a hook which index that is.
func Staged(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	list := git.Cmd{Args: []string{"diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-relative", "--diff-filter=AMTU"}}
	if index := s.Settings.Getenv("GIT_INDEX_FILE"); index != "" {
		list.Env = []string{"GIT_INDEX_FILE=" + index}
	}
	told, err := s.Repo.Run(ctx, list)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	var objects []met
	fields := strings.Split(string(told.Stdout), "\x00") // alternating: ":modes ids status", path
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(fields[i])
		switch before, after := name.OID(meta[2]), name.OID(meta[3]); {
		case meta[4] == "U":
			report.Gaps = append(report.Gaps, Gap{"", fields[i+1], "it is in conflict"})
		case meta[1] != "160000" && before != after: // a submodule has its own index, and a mode is no content
			objects = append(objects, met{after, fields[i+1]})
		}
	}
	if err := scanner.scanObjects(ctx, report, objects, math.MaxInt64); err != nil {
		return nil, refusedByScanner(err, "it is unknown what is staged")
	}
	scanner.closeOrWarn(s)
	return listed(report), nil
}

// listed returns the answer for findings that are in no checkpoint.
func listed(report *Report) *Answer {
	slices.SortStableFunc(report.Found, byPlace)
	out := &Answer{Looked: report.Looked}
	for _, f := range report.Found {
		out.Secrets = append(out.Secrets, Secret{Path: checkpoint.Path(f.Path), Line: f.Line, Rule: f.Rule, What: whatIs(f.Rule), Fingerprint: f.Fingerprint, Blob: f.OID, Allowed: f.Allowed, user: f.User})
	}
	for _, g := range report.Gaps {
		out.Gaps = append(out.Gaps, g.where()+": "+g.Why)
	}
	return out
}

// Files scans files, which need not be in the repository, and what in gives for the name "-". Without a repository, s is
// nil: the built-in rules look, nothing is allowed, and there is no key for fingerprints.
func Files(ctx context.Context, s *checkpoint.Service, files []string, in io.Reader) (*Answer, error) {
	scanner := &Scanner{rules: guard.New(nil, nil)}
	if s != nil {
		var err error
		if scanner, err = OpenScanner(ctx, s); err != nil {
			return nil, err
		}
	}
	all := &Report{}
	for _, file := range files {
		report, err := checkFile(ctx, scanner, file, in)
		if err != nil {
			return nil, err
		}
		all.Found, all.Gaps, all.Looked = append(all.Found, report.Found...), append(all.Gaps, report.Gaps...), all.Looked+1
	}
	if s == nil { // anybody could try passwords on a fingerprint without a key
		for i := range all.Found {
			all.Found[i].Fingerprint = ""
		}
	}
	return listed(all), nil
}

// checkFile scans one regular file, or what in gives.
func checkFile(ctx context.Context, scanner *Scanner, file string, in io.Reader) (*Report, error) {
	what := "the standard input"
	if file != "-" || in == nil {
		info, err := os.Stat(file)
		if err == nil && !info.Mode().IsRegular() {
			return nil, checkpoint.Usage("name regular files", "%q is not a regular file", file)
		}
		if err != nil {
			return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
		}
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		what, in = file, f
	}
	report, err := scanner.File(ctx, filepath.ToSlash(file), in)
	if err != nil {
		return nil, refusedByScanner(err, "it is unknown what is in "+what)
	}
	return report, nil
}

// Rule is one rule in the answer of `guard --rules`.
type Rule struct {
	ID     string `json:"id"`
	What   string `json:"what"`
	Source string `json:"source"`
}

// Rules returns the built-in rules.
func Rules() []Rule {
	return gather.List(guard.Rules(), func(r guard.Rule) Rule { return Rule{r.ID, r.What, r.Source} })
}
