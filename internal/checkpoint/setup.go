package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// Setting is one key of the configuration and where it comes from.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // environment, config, committed or default
}

// notesGlob makes `git log` show notes. A glob, because a literal ref warns on
// every log until the first note is there.
const notesGlob = "refs/notes/checkpoint*"

// Init sets the repository up: notes of checkpoints in `git log`, and on request
// no decoration of commits by our refs.
func (s *Service) Init(ctx context.Context, req InitRequest) ([]string, error) {
	set := []string{}
	for _, kv := range ours {
		if kv[0] == "log.excludeDecoration" && !req.ExcludeDecoration || slices.Contains(s.repo.Config.All(kv[0]), kv[1]) {
			continue
		}
		if _, err := s.repo.Output(ctx, "config", "--local", "--add", kv[0], kv[1]); err != nil {
			return set, classify(err)
		}
		set = append(set, kv[0]+" = "+kv[1])
	}
	if req.Hooks {
		hooks, err := s.setHooks()
		return append(set, hooks...), err
	}
	return set, nil
}

// ours are the entries of git's own settings that init adds.
var ours = [...][2]string{{"notes.displayRef", notesGlob}, {"log.excludeDecoration", name.CheckpointRoot}}

// PlanDeinit says which refs `deinit --all` would remove.
func (s *Service) PlanDeinit(ctx context.Context, _ DeinitRequest) (*Removed, error) {
	updates, err := s.allRefs(ctx)
	out := &Removed{Removed: []Labelled{}}
	for _, u := range updates {
		out.Removed = append(out.Removed, Labelled{Label: string(u.Ref)})
	}
	return out, err
}

// allRefs are the deletions of everything that this program keeps in refs.
func (s *Service) allRefs(ctx context.Context) ([]git.Update, error) {
	refs, err := s.repo.Refs(ctx, name.CheckpointRoot, name.TagRoot, string(name.NotesRef), "refs/checkpoint-remotes/")
	if err != nil {
		return nil, classify(err)
	}
	var updates []git.Update
	for _, r := range refs {
		updates = append(updates, git.Update{Ref: r.Ref, Old: r.OID})
	}
	return updates, nil
}

// Deinit takes the configuration out, and with All every session, note and tag.
func (s *Service) Deinit(ctx context.Context, req DeinitRequest) ([]string, error) {
	gone, err := s.unsetHooks()
	if err != nil {
		return gone, err
	}
	if req.All {
		updates, err := s.allRefs(ctx)
		if err != nil {
			return nil, err
		}
		if len(updates) > 0 {
			if err := s.repo.UpdateRefs(ctx, updates); err != nil {
				return nil, classify(err)
			}
		}
		for _, u := range updates {
			gone = append(gone, string(u.Ref))
		}
		if err := os.RemoveAll(filepath.Join(s.repo.GitDir, "checkpoint")); err != nil {
			return gone, classify(err)
		}
	}
	for _, kv := range ours {
		if slices.Contains(s.repo.Config.All(kv[0]), kv[1]) {
			if err := s.unset(ctx, "--fixed-value", "--unset-all", kv[0], kv[1]); err != nil {
				return gone, err
			}
			gone = append(gone, kv[0]+" = "+kv[1])
		}
	}
	keys, err := s.repo.Output(ctx, "config", "--local", "--name-only", "--get-regexp", "^checkpoint\\.")
	if err != nil && git.ExitCode(err) != 1 { // 1: there are none
		return gone, classify(err)
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(strings.Fields(keys)))) {
		if err := s.unset(ctx, "--unset-all", key); err != nil {
			return gone, err
		}
		gone = append(gone, key)
	}
	return gone, nil
}

func (s *Service) unset(ctx context.Context, args ...string) error {
	_, err := s.repo.Output(ctx, append([]string{"config", "--local"}, args...)...)
	if git.ExitCode(err) == 5 { // it stands in an included file or another scope
		return nil
	}
	return classify(err)
}

// Setting looks up a key of git's own configuration.
func (s *Service) Setting(key string) (string, bool) { return s.repo.Config.Get(key) }

// knownKeys are the keys with the value they have when nothing is set; empty where
// the workflow or the branch decides, or nothing does.
var knownKeys = [...][2]string{
	{"checkpoint.enabled", "true"}, {"checkpoint.auto", "true"}, {"checkpoint.session", ""}, {"checkpoint.workflow", "default"},
	{"checkpoint.tag", "true"}, {"checkpoint.sign", "false"}, {"checkpoint.maxFileSize", "100m"}, {"checkpoint.maxNew", "1g"}, {"checkpoint.maxRecordSize", "50m"},
	{"checkpoint.maxSize", ""}, {"checkpoint.expire", ""}, {"checkpoint.failedExpire", ""}, {"checkpoint.autoPrune", ""},
	{"checkpoint.remote", ""}, {"checkpoint.refPrefix", ""}, {"checkpoint.autoPush", "false"}, {"checkpoint.autoPack", "true"},
}

// Config lists the configuration in force.
func (s *Service) Config(context.Context) ([]Setting, error) {
	out := []Setting{}
	seen := map[string]bool{}
	for _, kv := range knownKeys {
		st := Setting{kv[0], kv[1], "default"}
		if v, ok := s.where.get(kv[0]); ok {
			st.Value, st.Origin = v, s.where.origin(kv[0])
		}
		seen[strings.ToLower(kv[0])] = true
		out = append(out, st)
	}
	more := append(s.where.config.Keys("checkpoint."), s.where.committed.Keys("checkpoint.")...)
	sort.Strings(more)
	for _, key := range more {
		if !seen[strings.ToLower(key)] {
			seen[strings.ToLower(key)] = true
			if v, ok := s.where.get(key); ok {
				out = append(out, Setting{key, v, s.where.origin(key)})
			}
		}
	}
	return out, nil
}

func (c *settings) origin(key string) string {
	if lookupEnv(c.env, variable(key)) != "" {
		return "environment"
	}
	if _, ok := c.config.Get(key); ok {
		return "config"
	}
	return "committed"
}

// Candidates are completions: kind is "ref", "session" or "workflow".
func (s *Service) Candidates(ctx context.Context, kind, prefix string) []string {
	var out []string
	add := func(c string) {
		if strings.HasPrefix(c, prefix) {
			out = append(out, c)
		}
	}
	switch kind {
	case "session":
		sessions, _, err := s.store.Sessions(ctx)
		if err != nil {
			return nil
		}
		for _, info := range sessions {
			add(string(info.Session))
		}
	case "workflow":
		for _, n := range workflow.Names() {
			add(n)
		}
	case "ref":
		session, err := s.chooseSession(ctx, "")
		if err != nil {
			return nil
		}
		st, err := s.store.State(ctx, session)
		if err != nil {
			return nil
		}
		for i, c := range st.Standings() {
			if c.Live {
				add(st.At(i).Label)
			}
		}
		add("latest")
	}
	return out
}

// ownBranch makes and switches to the branch of a new session, at HEAD.
func (s *Service) ownBranch(ctx context.Context, def *workflow.Definition, session name.Session) (string, error) {
	branch := "refs/heads/" + def.Branch(string(session))
	if _, err := s.repo.Output(ctx, "check-ref-format", branch); err != nil {
		return "", usage("", "%q is no branch name", branch)
	}
	if s.repo.Head.OID == "" {
		return "", &Error{Kind: KindRefused, Message: "there is no commit yet that a branch could start from"}
	}
	if op := s.repo.Operation(); op != "" {
		return "", &Error{Kind: KindRefused, Message: "a " + op + " is in progress, so HEAD cannot switch to another branch"}
	}
	oid, err := s.repo.Batch().Resolve(ctx, name.Ref(branch))
	switch {
	case errors.Is(err, git.ErrMissing):
	case err != nil:
		return "", classify(err)
	case oid != s.repo.Head.OID:
		return "", &Error{
			Kind: KindRefused, Message: fmt.Sprintf("branch %s exists already, at another commit", strings.TrimPrefix(branch, "refs/heads/")),
			Hints: []string{"switch to it and start the session without --branch"},
		}
	default:
		if err := s.branchIsFree(ctx, name.Ref(branch)); err != nil {
			return "", err
		}
	}
	if err := s.repo.MoveHead(ctx, git.HeadMove{Branch: name.Ref(branch), To: s.repo.Head.OID, Reason: "session start " + string(session)}); err != nil {
		return "", classify(err)
	}
	s.repo.Head.Branch = name.Ref(branch)
	return branch, nil
}

// situation is a checkpoint as its workflow looks at it.
func (s *Service) situation(st *journal.State, b base) workflow.Situation {
	rec := b.record
	in := workflow.Situation{
		Session: string(st.Session), State: rec.State, Status: rec.Status, Error: rec.Error, Age: s.now().Sub(rec.CreatedAt),
		Place: workflow.Place{Step: rec.Step, Name: rec.StepName, Iteration: rec.Iteration, Milestone: rec.Milestone},
	}
	last := st.Len()
	if e := st.Entry(rec.ID); e != nil {
		last = e.Place // what came later was not done there
	}
	in.Live, in.Named = steps(st, func(i int, c journal.Standing) bool { return c.Live && i <= last })
	for n := range st.Skipped {
		in.Skipped = append(in.Skipped, n)
	}
	return in
}

// steps are those that checkpoints which are done have finished, and what a step is called.
func steps(st *journal.State, done func(int, journal.Standing) bool) (finished []int, named func(int) string) {
	type place struct{ step, at int }
	var places []place
	for i, c := range st.Standings() {
		if c.Milestone && done(i, c) {
			finished, places = append(finished, c.Step), append(places, place{c.Step, i})
		}
	}
	byStep := func(a, b place) int { return cmp.Compare(a.step, b.step) }
	if !slices.IsSortedFunc(places, byStep) {
		slices.SortStableFunc(places, byStep)
	}
	return finished, func(step int) string {
		next, _ := slices.BinarySearchFunc(places, step+1, func(p place, step int) int { return cmp.Compare(p.step, step) })
		if next == 0 || places[next-1].step != step {
			return ""
		}
		return st.StepName(places[next-1].at) // that of the newest
	}
}
