package attempt

// A comparison has one row per attempt, session or checkpoint. Each row is measured against
// a base: the tree with which an attempt began, or the oldest of several checkpoints of one
// session, or the commit on which a checkpoint was made.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
)

// CompareRequest holds the options of `compare`.
type CompareRequest struct {
	Session string
	// Attempts, sessions or checkpoints; empty: the attempts of the newest fork.
	Names   []string
	Metrics []string // empty: all
	Where   string   // an expression over the record. Only rows for which it holds are compared
	Sort    string   // a metric, or step, files, lines, age or name; empty: in the order of Names
}

// Compared is one row of a comparison.
type Compared struct {
	// Name of the attempt, else of the session, else what was typed.
	Name      string                     `json:"name"`
	Session   name.Session               `json:"session"`
	ID        name.ID                    `json:"id"`
	Label     string                     `json:"label"`
	Called    string                     `json:"-"` // what people type for it
	Step      int                        `json:"step"`
	Steps     int                        `json:"steps"` // live checkpoints since the fork
	Status    string                     `json:"status"`
	Metrics   map[string]json.RawMessage `json:"metrics"`
	Files     int                        `json:"files"` // files changed since the base
	Added     int                        `json:"added"` // lines
	Deleted   int                        `json:"deleted"`
	CreatedAt checkpoint.Time            `json:"created_at"`
	Message   string                     `json:"message"`
	Code      *int                       `json:"code,omitempty"` // exit code of the command that fork ran
	Best      []string                   `json:"best"`           // Metrics in which no other row is better, sorted

	found *checkpoint.Found
	tree  name.OID
	base  name.OID        // tree to compare with; empty: the commit it was made on
	raw   json.RawMessage // the record as JSON, for Where
	marks map[string]any  // what a list says of it, for Where, too
	// Tree of the copy with which an attempt began, and the checkpoint that was forked; empty for
	// others.
	first  name.OID
	from   name.ID
	better map[string]workflow.Better // which direction is better, by metric, from the workflow
}

// Is reports whether no other row is better in a metric.
func (r Compared) Is(metric string) bool { return slices.Contains(r.Best, metric) }

// Comparison is the answer of `compare`.
type Comparison struct {
	Rows    []Compared
	Metrics []string // the columns to show
}

// Ran reports whether fork ran a command in one of the rows, so that there are exit codes to show.
func (c *Comparison) Ran() bool {
	return slices.ContainsFunc(c.Rows, func(r Compared) bool { return r.Code != nil })
}

// Compare compares attempts, sessions or checkpoints. Nothing is changed.
func Compare(ctx context.Context, s *checkpoint.Service, req CompareRequest) (*Comparison, error) {
	rows, err := compared(ctx, s.Sessions, req)
	if err != nil {
		return nil, err
	}
	if rows, err = fitting(rows, req.Where); err != nil {
		return nil, err
	}
	c := &Comparison{Rows: rows, Metrics: req.Metrics}
	for i := range c.Rows {
		// The numbers are read after the filter, because git compares the files of each
		// row.
		if err := c.Rows[i].measure(ctx, s); err != nil {
			return nil, err
		}
	}
	markBest(c.Rows)
	known := map[string]bool{}
	for _, r := range c.Rows {
		for m := range r.Metrics {
			known[m] = true
		}
	}
	for _, m := range c.Metrics {
		if !known[m] && len(rows) > 0 {
			s.Store.Warn(fmt.Sprintf("none of them has a metric %q", name.Clip(m, name.Said)))
		}
	}
	// Without a choice show every metric that some row has.
	if len(c.Metrics) == 0 {
		c.Metrics = slices.Sorted(maps.Keys(known))
	}
	return c, c.sort(req.Sort)
}

// compared returns the rows of the request, with their bases set but not measured.
func compared(ctx context.Context, s *checkpoint.Sessions, req CompareRequest) ([]Compared, error) {
	all, err := List(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	if len(req.Names) == 0 {
		return newestFork(ctx, s, all, req.Session)
	}
	rows := make([]Compared, 0, len(req.Names))
	for _, typed := range req.Names {
		r, err := named(ctx, s, all, req.Session, typed)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	setBases(rows)
	return rows, nil
}

// newestFork returns the attempts that were forked from one checkpoint of this session, the
// one from which an attempt was forked last. In the worktree of an attempt, the session is
// the one from which the attempt came.
func newestFork(ctx context.Context, s *checkpoint.Sessions, all []Attempt, session string) ([]Compared, error) {
	here, err := s.ChooseSession(ctx, session)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.Session == here {
			here = a.FromSession
			break
		}
	}
	var rows []Compared
	var newest Compared
	for _, a := range all {
		if a.FromSession != here || a.Current == nil {
			continue
		}
		r, err := rowOfAttempt(ctx, s, a)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
		if newest.found == nil || r.found.State.CreatedAt.After(newest.found.State.CreatedAt) {
			newest = r
		}
	}
	if newest.found == nil {
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no attempt was forked from session %q", here),
			Hints: []string{"`git checkpoint fork REF` makes one", "`git checkpoint compare REF REF` compares checkpoints"},
		}
	}
	// Attempts of older forks began elsewhere, so their numbers do not compare.
	rows = slices.DeleteFunc(rows, func(r Compared) bool { return r.from != newest.from })
	slices.SortStableFunc(rows, func(a, b Compared) int {
		// Shorter names first, so that attempt z comes before attempt aa.
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	setBases(rows)
	return rows, nil
}

// named returns the row for what a person typed: the name of an attempt, a session, or a
// checkpoint, in this order.
func named(ctx context.Context, s *checkpoint.Sessions, all []Attempt, session, typed string) (Compared, error) {
	for _, a := range all {
		if string(a.Session) == typed || a.Name == typed {
			return rowOfAttempt(ctx, s, a)
		}
	}
	// A session with the name goes before a checkpoint of this session.
	if other, err := checkpoint.SessionCalled(ctx, s.Store, typed); err != nil {
		return Compared{}, err
	} else if other != "" {
		return rowOf(ctx, s, typed, typed+":@")
	}
	if session != "" {
		typed = session + ":" + typed
	}
	return rowOf(ctx, s, typed, typed)
}

// rowOfAttempt reads the current checkpoint of an attempt.
func rowOfAttempt(ctx context.Context, s *checkpoint.Sessions, a Attempt) (Compared, error) {
	r, err := rowOf(ctx, s, a.Name, string(a.Session)+":@")
	r.Steps, r.from = a.Steps, a.From
	if a.Run != nil {
		r.Code = &a.Run.Code
	}
	return r, err
}

// rowOf reads a checkpoint.
func rowOf(ctx context.Context, s *checkpoint.Sessions, called, ref string) (Compared, error) {
	f, err := s.Reach(ctx, "", ref)
	if err != nil {
		return Compared{}, err
	}
	got, err := checkpoint.ReadStored(ctx, s.Store, f.Entry)
	if err != nil {
		return Compared{}, checkpoint.DamagedError(f.Entry, err)
	}
	rec := checkpoint.DescribedBy(f.Entry, got.Record)
	message, _, _ := strings.Cut(rec.Message, "\n")
	r := Compared{
		Name: called, Session: f.Session, ID: rec.ID, Label: rec.Label, Called: checkpoint.NameTo(f.State, f.Entry), Step: rec.Step, Status: rec.Status, CreatedAt: checkpoint.Time{Time: rec.CreatedAt},
		Message: message, Best: []string{}, found: f, tree: rec.Snapshot.Tree, raw: got.Raw, marks: inspect.Marks(f.State, f.Entry, rec),
	}
	r.readMetrics(ctx, s.Rules, rec)
	used, err := inspect.UsageUntil(ctx, s.Rules, f.State, f.Entry)
	if err != nil {
		s.Store.Warn(err.Error())
	}
	if added := inspect.AddTokens(r.Metrics, used); added != "" {
		better := map[string]workflow.Better{}
		maps.Copy(better, r.better)
		better[added] = workflow.BetterLow
		r.better = better
	}
	// The first checkpoint of an attempt is a copy of the one that was forked.
	if _, forked := checkpoint.OriginOf(f.State); forked {
		if first := f.State.At(0); first != nil {
			if c, err := s.Repo.Commits.Read(ctx, string(first.Event().Commit)); err == nil {
				r.first = c.Tree
			}
		}
	}
	return r, nil
}

// readMetrics fills in the values that the workflow defines as metrics.
func (r *Compared) readMetrics(ctx context.Context, s *checkpoint.Rules, rec *record.Record) {
	def, err := s.DefinitionFor(ctx, r.found.State)
	if err != nil {
		def = workflow.Default()
	}
	r.better, r.Metrics = def.State.Better, map[string]json.RawMessage{}
	gjson.ParseBytes(create.MetricsOf(def, rec.State)).ForEach(func(key, value gjson.Result) bool {
		r.Metrics[key.String()] = json.RawMessage(value.Raw)
		return true
	})
}

// markBest fills in Best: the metrics in which a row is at least as good as all others and
// better than one. Only metrics count for which the workflow says what is better.
func markBest(rows []Compared) {
	for i := range rows {
		r := &rows[i]
		for _, metric := range slices.Sorted(maps.Keys(r.better)) {
			worse := 0
			ahead := true
			for j := range rows {
				order := r.compareBy(metric, &rows[j])
				if order < 0 {
					worse++
				}
				ahead = ahead && order <= 0
			}
			if ahead && worse > 0 {
				r.Best = append(r.Best, metric)
			}
		}
	}
}

// compareBy returns a negative number if r is better than other by a metric. A row without the
// metric, or with a value that is not a number, is the worst.
func (r *Compared) compareBy(metric string, other *Compared) int {
	value := func(of *Compared) float64 {
		v := gjson.ParseBytes(of.Metrics[metric])
		switch {
		case !v.Exists() || v.Type == gjson.String || v.IsObject() || v.IsArray():
			return math.Inf(-1)
		case r.better[metric] == workflow.BetterLow:
			return -v.Float()
		}
		return v.Float()
	}
	return cmp.Compare(value(other), value(r))
}

// setBases sets the base of each row, see the top of this file.
func setBases(rows []Compared) {
	oldest := map[name.Session]*Compared{}
	for i := range rows {
		r := &rows[i]
		if o := oldest[r.Session]; o == nil || r.found.Entry.Place < o.found.Entry.Place {
			oldest[r.Session] = r
		}
	}
	for i := range rows {
		r := &rows[i]
		r.base = r.first
		if o := oldest[r.Session]; r.base == "" && o.ID != r.ID {
			r.base = o.tree
		}
	}
}

// fitting returns the rows for which the expression holds.
func fitting(rows []Compared, where string) ([]Compared, error) {
	fits, err := inspect.Where(where)
	if fits == nil {
		return rows, err
	}
	kept := []Compared{}
	for _, r := range rows {
		ok, err := fits.Holds(r.raw, r.marks)
		if err != nil {
			return nil, checkpoint.Usage("", "--where: %v", err)
		}
		if ok {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// measure counts the files and lines that differ from the base.
func (r *Compared) measure(ctx context.Context, s *checkpoint.Service) error {
	base := r.base
	if base == "" {
		commit, err := s.Repo.Commits.Read(ctx, string(r.found.Entry.Event().Commit))
		if err != nil {
			return err
		}
		base = commit.MadeOn()
	}
	// Made before the first commit, or imported without files: there is nothing to compare.
	if base == "" || r.tree == "" {
		return nil
	}
	counts, err := inspect.CountsBetween(ctx, s, base, r.tree)
	for _, f := range counts {
		r.Files++
		r.Added, r.Deleted = r.Added+f.Added, r.Deleted+f.Deleted
	}
	return err
}

// sort sorts the rows, the best first. If nothing says what is better, high numbers come
// first. Names are sorted alphabetically.
func (c *Comparison) sort(by string) error {
	var less func(a, b Compared) int
	switch by {
	case "":
		return nil
	case "name":
		less = func(a, b Compared) int { return cmp.Compare(a.Name, b.Name) }
	case "step":
		less = func(a, b Compared) int { return cmp.Compare(b.Step, a.Step) }
	case "files":
		less = func(a, b Compared) int { return cmp.Compare(b.Files, a.Files) }
	case "lines":
		less = func(a, b Compared) int { return cmp.Compare(b.Added+b.Deleted, a.Added+a.Deleted) }
	case "age":
		less = func(a, b Compared) int { return b.CreatedAt.Compare(a.CreatedAt.Time) }
	default:
		if !slices.ContainsFunc(c.Rows, func(r Compared) bool { return r.Metrics[by] != nil }) && len(c.Rows) > 0 {
			return checkpoint.Usage("it takes a metric, or name, step, files, lines or age", "none of them has a metric %q to sort by", name.Clip(by, name.Said))
		}
		less = func(a, b Compared) int { return a.compareBy(by, &b) }
	}
	slices.SortStableFunc(c.Rows, less)
	return nil
}

// DiffOf returns the files that differ between two attempts as they are on disk, or
// between two checkpoints.
func DiffOf(ctx context.Context, s *checkpoint.Service, req CompareRequest) (*inspect.Difference, error) {
	if len(req.Names) != 2 {
		return nil, checkpoint.Usage("git checkpoint compare A B --files", "--files compares exactly two")
	}
	rows, err := compared(ctx, s.Sessions, req)
	if err != nil {
		return nil, err
	}
	at := worktrees(s.Repo)
	d := &inspect.Difference{
		State: []inspect.StateChange{}, Outputs: []record.OutputChange{}, Checkpoints: []checkpoint.Labelled{}, Commits: []inspect.CommitLine{},
		From: checkpoint.Labelled{ID: rows[0].ID, Label: rows[0].Label}, To: &checkpoint.Labelled{ID: rows[1].ID, Label: rows[1].Label},
	}
	if d.FromTree, err = rows[0].treeNow(ctx, s, at); err != nil {
		return nil, err
	}
	if d.ToTree, err = rows[1].treeNow(ctx, s, at); err != nil {
		return nil, err
	}
	d.Files, err = inspect.ChangedFiles(ctx, s.Repo, d.FromTree, d.ToTree, nil)
	return d, err
}

// treeNow returns the tree of an attempt's worktree as it is on disk, or, if there is no
// worktree, the tree of its checkpoint.
func (r *Compared) treeNow(ctx context.Context, s *checkpoint.Service, at map[name.Session]site) (name.OID, error) {
	where, lives := at[r.Session]
	if !lives {
		return r.tree, nil
	}
	// Its own service, because capturing uses the worktree's own caches.
	in, err := checkpoint.OpenAt(ctx, s, where.dir)
	if err != nil {
		return "", err
	}
	defer in.Close()
	rec, err := checkpoint.ReadRecord(ctx, s.Store, r.found.Entry)
	if err != nil {
		return "", checkpoint.DamagedError(r.found.Entry, err)
	}
	return inspect.TreeNow(ctx, in, rec)
}
