package clearance

// A tag is public: `git push --tags` sends it, with everything that it reaches, and asks nobody. So a
// step has a tag only if nothing in it is private. What a remote has, and what somebody agreed to send
// to one, makes no difference: a tag may go to any remote.

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// What is private, in words that follow "it holds".
const (
	HoldsUntracked  = "untracked files"
	HoldsPrompt     = "prompts to a coding agent"
	HoldsTranscript = "transcripts of a coding agent"
	HoldsSecret     = "what looks like a secret"
	HoldsUnscanned  = "what was not scanned for secrets"
)

// Bounds of what is scanned of the history below a checkpoint, which has not been scanned before. A
// repository without a remote may have all of it to scan, and somebody waits for the save.
const (
	maxCommits = 5_000
	maxBlobs   = 20_000
	maxBytes   = 64 << 20
)

// TagRule returns the rule for the tags of a repository: a function that says what a checkpoint
// commit holds that is private, or "". It scans whatever checkpoint.guard says. What it cannot read
// counts as not scanned. The function is safe for concurrent use.
func TagRule(s *checkpoint.Service) func(context.Context, name.OID) (string, error) {
	var one sync.Mutex
	var j *privacy
	return func(ctx context.Context, commit name.OID) (string, error) {
		one.Lock()
		defer one.Unlock()
		if j == nil {
			var err error
			if j, err = newPrivacy(ctx, s); err != nil {
				return HoldsUnscanned, ended(ctx)
			}
		}
		why, err := j.private(ctx, commit)
		if closeErr := j.close(); closeErr != nil {
			s.Warn(closeErr.Error()) // all of it is scanned again next time
		}
		return why, err
	}
}

// Thorough makes the rule of this run scan the history below a checkpoint however long it is.
func Thorough(s *checkpoint.Service) {
	if s.Store.Private == nil {
		return
	}
	s.Store.Private = func(ctx context.Context, commit name.OID) (string, error) {
		j, err := newPrivacy(ctx, s)
		if err != nil {
			return HoldsUnscanned, ended(ctx)
		}
		j.thorough = true
		why, err := j.private(ctx, commit)
		return why, errors.Join(err, j.close())
	}
}

// ended returns the error of a context that has ended. Nothing else may stop a transaction: files may
// have moved already.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// privacy decides which checkpoints are private.
type privacy struct {
	s        *checkpoint.Service
	scanner  *Scanner
	memory   *tagMemory
	thorough bool              // no bound on the history
	public   []name.OID        // what anybody may have already: see held
	pending  map[name.OID]bool // checkpoints that are being judged; the history of one may hold others
}

func newPrivacy(ctx context.Context, s *checkpoint.Service) (*privacy, error) {
	scanner, err := OpenScanner(ctx, s)
	if err != nil {
		return nil, err
	}
	return &privacy{s: s, scanner: scanner, memory: readTagMemory(s.Repo, scanner.digest(s)), pending: map[name.OID]bool{}}, nil
}

func (j *privacy) close() error { return errors.Join(j.scanner.Close(), j.memory.save()) }

// private says what a checkpoint commit holds that is private. Only the end of the context is an
// error.
func (j *privacy) private(ctx context.Context, commit name.OID) (string, error) {
	why, err := j.decide(ctx, commit)
	if err != nil {
		return HoldsUnscanned, ended(ctx)
	}
	return why, nil
}

func (j *privacy) decide(ctx context.Context, commit name.OID) (string, error) {
	got, err := j.s.Store.Stored(ctx, commit)
	if err != nil {
		return "", err
	}
	rec, m := got.Record, got.Commit
	if why := Talks(rec); why != "" {
		return why, nil
	}
	c, err := j.s.Repo.Commits.Read(ctx, string(commit))
	if err != nil {
		return "", err
	}
	var head git.Commit
	if len(c.Parents) == 2 {
		if head, err = j.s.Repo.Commits.Read(ctx, string(c.Parents[0])); err != nil {
			return "", err
		}
	}
	changed, err := j.s.Repo.Trees.Diff(ctx, head.Tree, c.Tree)
	if err != nil {
		return "", err
	}
	if untracked, err := j.untracked(ctx, rec, m, c.Tree, changed); err != nil || untracked {
		return HoldsUntracked, err
	}
	objects := []met{{commit, ""}, {m, ""}}
	recorded, err := j.recorded(ctx, m, head.Tree)
	if err != nil {
		return "", err
	}
	for _, ch := range append(changed, recorded...) {
		if ch.New.Mode != 0 && ch.New.Mode != git.ModeGitlink {
			objects = append(objects, met{ch.New.OID, ch.Path})
		}
	}
	if why, err := j.scan(ctx, objects); err != nil || why != "" || len(c.Parents) < 2 {
		return why, err
	}
	j.pending[commit] = true
	return j.history(ctx, c.Parents[0])
}

// Talks says what a record has of a conversation with a coding agent, or "".
func Talks(r *record.Record) string {
	a, _ := r.Agent()
	_, lines := r.Outputs[record.TranscriptOutput]
	switch {
	case r.HasPrompt():
		return HoldsPrompt
	case lines || a.Transcript != nil:
		return HoldsTranscript
	}
	return ""
}

// untracked reports whether the tree has a file that was in neither the index nor HEAD. changed is
// what differs from HEAD. The tree of what was staged lacks files in conflict, and those of which only
// the name was added.
func (j *privacy) untracked(ctx context.Context, rec *record.Record, m, tree name.OID, changed []git.Change) (bool, error) {
	var added []string
	for _, ch := range changed {
		if ch.Old.Mode == 0 && !slices.Contains(rec.Git.Unmerged, record.Path(ch.Path)) && !slices.Contains(rec.Git.IntentToAdd, record.Path(ch.Path)) {
			added = append(added, ch.Path)
		}
	}
	if len(added) == 0 {
		return false, nil
	}
	index, err := j.s.Store.IndexTree(ctx, m)
	if err != nil || index == "" {
		return true, err
	}
	since, err := j.s.Repo.Trees.Diff(ctx, index, tree)
	return slices.ContainsFunc(since, func(ch git.Change) bool {
		_, in := slices.BinarySearch(added, ch.Path) // Trees.Diff sorts by path
		return ch.Old.Mode == 0 && in
	}), err
}

// recorded returns the files of a record commit: of what was staged those that HEAD does not have.
func (j *privacy) recorded(ctx context.Context, m, headTree name.OID) (files []git.Change, err error) {
	made, err := j.s.Repo.Commits.Read(ctx, string(m))
	if err != nil {
		return nil, err
	}
	index, err := j.s.Store.IndexTree(ctx, m)
	if err != nil {
		return nil, err
	}
	entries, err := j.s.Repo.Trees.Read(ctx, made.Tree)
	for _, e := range entries {
		if !e.IsTree() {
			files = append(files, git.Change{Path: e.Name, New: e})
			continue
		}
		base := name.OID("")
		if e.OID == index {
			base = headTree
		}
		below, err := j.s.Repo.Trees.Diff(ctx, base, e.OID)
		if err != nil {
			return nil, err
		}
		for _, ch := range below {
			ch.Path = e.Name + "/" + ch.Path
			files = append(files, ch)
		}
	}
	return files, err
}

// fewObjects is how many small objects are scanned without looking up what is remembered of them.
// That takes less time than reading the file of verdicts, and keeps the file from growing with each
// record.
const fewObjects = 50

// scan says what objects hold. Large ones that no push or save has scanned stay unscanned: somebody
// waits for the save.
func (j *privacy) scan(ctx context.Context, objects []met) (string, error) {
	infos, err := j.infos(ctx, objects)
	if err != nil {
		return "", err
	}
	d, report := j.scanner, &Report{}
	var open []met
	var openInfos []git.Object
	for i, one := range objects {
		info := infos[i]
		small := info.Size <= atSave
		var v verdict
		var known bool
		switch {
		case d.expunged.Objects[one.oid]:
			return HoldsSecret, nil
		case info.Type == "":
			return HoldsUnscanned, nil
		case small && d.external == nil && len(objects) <= fewObjects:
			said, err := d.scannable(ctx, one.oid, info)
			if err != nil {
				return "", err
			}
			result := d.rules.Bytes(said)
			v, known = verdict{findings: result.Findings, gap: result.Gap}, true
		default:
			v, known = d.verdicts.of(one.oid)
		}
		switch {
		case known:
			d.report(report, one.oid, one.path, v)
		case small:
			open, openInfos = append(open, one), append(openInfos, info)
		default:
			report.Gaps = append(report.Gaps, Gap{OID: one.oid, Path: one.path})
		}
	}
	if why := reasonOf(report); why == HoldsSecret || len(open) == 0 {
		return why, nil
	}
	err = d.scanAll(ctx, report, open, openInfos)
	return reasonOf(report), err
}

// reasonOf says what a report found.
func reasonOf(r *Report) string {
	switch {
	case len(r.Stopped()) > 0:
		return HoldsSecret
	case len(r.Gaps) > 0:
		return HoldsUnscanned
	}
	return ""
}

// infos returns type and size of objects; a zero value stands for one that is missing.
func (j *privacy) infos(ctx context.Context, objects []met) ([]git.Object, error) {
	specs, infos := make([]string, len(objects)), make([]git.Object, len(objects))
	for i, one := range objects {
		specs[i] = string(one.oid)
	}
	err := j.s.Repo.Objects.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err == nil {
			infos[i] = o
		} else if !errors.Is(err, git.ErrMissing) {
			return err
		}
		return nil
	})
	return infos, err
}

// history says what the commits up to HEAD's hold that neither a remote-tracking ref nor a tag of
// the user reaches. The answer is remembered for each commit, so that a save under the same HEAD
// scans nothing, and one after a commit scans only that commit.
func (j *privacy) history(ctx context.Context, head name.OID) (string, error) {
	if why, known := j.memory.history[head]; known && (why == "" || !j.thorough) {
		return why, nil
	}
	held, err := j.held(ctx)
	if err != nil || slices.Contains(held, head) {
		return "", err
	}
	for oid, why := range j.memory.history {
		if why == "" {
			held = append(held, oid)
		}
	}
	var more []string
	if !j.thorough {
		more = []string{"--max-count=" + strconv.Itoa(maxCommits+1)}
	}
	var objects []met
	err = Reachable(ctx, j.s.Repo, []name.OID{head}, held, func(oid name.OID, path string) { objects = append(objects, met{oid, path}) }, more...)
	if err != nil {
		return "", err
	}
	why, err := j.scanHistory(ctx, objects)
	if err == nil {
		j.memory.remember(head, why)
	}
	return why, err
}

// scanHistory says what the objects of commits hold. A commit may be a checkpoint itself, for example
// under a detached HEAD, and is judged as one then.
func (j *privacy) scanHistory(ctx context.Context, objects []met) (string, error) {
	infos, err := j.infos(ctx, objects)
	if err != nil {
		return "", err
	}
	report := &Report{}
	var open []met
	var openInfos []git.Object
	commits, size := 0, int64(0)
	for i, one := range objects {
		if j.scanner.expunged.Objects[one.oid] {
			return HoldsSecret, nil
		}
		switch infos[i].Type {
		case "", "tree": // what is missing cannot be sent
			continue
		case "commit":
			commits++
			if why, err := j.checkpointAt(ctx, one.oid); err != nil || why != "" {
				return why, err
			}
		}
		if v, known := j.scanner.verdicts.of(one.oid); known {
			j.scanner.report(report, one.oid, one.path, v)
			continue
		}
		open, openInfos = append(open, one), append(openInfos, infos[i])
		size += infos[i].Size
	}
	if why := reasonOf(report); why == HoldsSecret {
		return why, nil
	}
	if !j.thorough && (commits > maxCommits || len(open) > maxBlobs || size > maxBytes) {
		return HoldsUnscanned, nil
	}
	err = j.scanner.scanAll(ctx, report, open, openInfos)
	return reasonOf(report), err
}

// checkpointAt says what a commit holds if it is a checkpoint, and "" for any other.
func (j *privacy) checkpointAt(ctx context.Context, oid name.OID) (string, error) {
	c, err := j.s.Repo.Commits.Read(ctx, string(oid))
	if err != nil || j.pending[oid] {
		return "", err
	}
	if _, err := record.ParseMessage(c.Message); err != nil {
		return "", nil //nolint:nilerr // it is not a checkpoint
	}
	if _, err := j.s.Store.Record(ctx, oid); err != nil {
		return "", ended(ctx) // a commit of land has the message only
	}
	j.pending[oid] = true
	return j.decide(ctx, oid)
}

// held lists what anybody may have already: remote-tracking refs, and tags that are the user's.
func (j *privacy) held(ctx context.Context) ([]name.OID, error) {
	if j.public != nil {
		return slices.Clone(j.public), nil
	}
	refs, err := j.s.Repo.Refs.List(ctx, "refs/remotes/", "refs/tags/")
	if err != nil {
		return nil, err
	}
	j.public = []name.OID{}
	for _, r := range refs {
		if !strings.HasPrefix(string(r.Ref), name.TagRoot) {
			j.public = append(j.public, r.OID)
		}
	}
	return slices.Clone(j.public), nil
}
