package attempt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// CompareRequest is what `compare` was asked for.
type CompareRequest struct {
	Session string
	Names   []string // attempts, sessions or checkpoints; none: the attempts of the newest fork
	Metrics []string // none: all
	Where   string
	Sort    string // a metric, or step, files, lines, age, name; empty: as named
}

// Compared is one line of `compare`.
type Compared struct {
	Name      string                     `json:"name"` // of the attempt, else of the session, else what was typed
	Session   name.Session               `json:"session"`
	ID        name.ID                    `json:"id"`
	Label     string                     `json:"label"`
	Step      int                        `json:"step"`
	Steps     int                        `json:"steps"` // checkpoints since the fork
	Status    string                     `json:"status"`
	Metrics   map[string]json.RawMessage `json:"metrics"`
	Files     int                        `json:"files"` // changed since the common checkpoint
	Added     int                        `json:"added"` // lines
	Deleted   int                        `json:"deleted"`
	CreatedAt checkpoint.Time            `json:"created_at"`
	Message   string                     `json:"message"`
	Code      *int                       `json:"code,omitempty"` // of the command that fork ran
	Best      []string                   `json:"best"`           // metrics in which no other is better, sorted

	found  *checkpoint.Found
	tree   name.OID
	base   name.OID // the tree of the common checkpoint
	raw    json.RawMessage
	first  name.OID                   // the tree of the copy that an attempt began with
	better map[string]workflow.Better // by metric, as the workflow says
}

// Comparison is the answer of `compare`.
type Comparison struct {
	Rows    []Compared
	Metrics []string // the columns
}

// Compare puts attempts, sessions or checkpoints side by side.
func Compare(ctx context.Context, s *checkpoint.Service, req CompareRequest) (*Comparison, error) {
	rows, err := compared(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if rows, err = fitting(rows, req.Where); err != nil {
		return nil, err
	}
	c := &Comparison{Rows: rows, Metrics: req.Metrics}
	for i := range c.Rows {
		if err := c.Rows[i].measure(ctx, s); err != nil {
			return nil, err
		}
	}
	markBest(c.Rows)
	if len(c.Metrics) == 0 {
		known := map[string]bool{}
		for _, r := range c.Rows {
			for m := range r.Metrics {
				if !known[m] {
					known[m] = true
					c.Metrics = append(c.Metrics, m)
				}
			}
		}
		slices.Sort(c.Metrics)
	}
	return c, c.sort(req.Sort)
}

// compared reads what is to be compared.
func compared(ctx context.Context, s *checkpoint.Service, req CompareRequest) ([]Compared, error) {
	all, err := List(ctx, s)
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
	settle(rows)
	return rows, nil
}

// newestFork gives the attempts that were forked from one checkpoint: of this session or, in
// an attempt, of the one that it came from, those that were made last.
func newestFork(ctx context.Context, s *checkpoint.Service, all []Attempt, session string) ([]Compared, error) {
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
	var newest *Compared
	for _, a := range all {
		if a.FromSession != here || a.Current == nil {
			continue
		}
		r, err := rowOf(ctx, s, a.Name, string(a.Session)+":@")
		if err != nil {
			return nil, err
		}
		r.Steps, r.Code = a.Steps, codeOf(a)
		rows = append(rows, r)
		if newest == nil || r.startedAt() > newest.startedAt() {
			newest = &r
		}
	}
	if newest == nil {
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no attempt was forked from session %q", here),
			Hints: []string{"`git checkpoint fork REF` makes one", "`git checkpoint compare REF REF` compares checkpoints"},
		}
	}
	from := originIn(newest.found)
	rows = slices.DeleteFunc(rows, func(r Compared) bool { return originIn(r.found) != from })
	slices.SortStableFunc(rows, func(a, b Compared) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	settle(rows)
	return rows, nil
}

func originIn(f *checkpoint.Found) name.ID {
	o, _ := checkpoint.OriginOf(f.State)
	return o.Checkpoint
}

func (r *Compared) startedAt() int64 { return r.found.State.CreatedAt.UnixMilli() }

func codeOf(a Attempt) *int {
	if a.Run == nil {
		return nil
	}
	return &a.Run.Code
}

// named is what a person typed: an attempt, a session, a checkpoint.
func named(ctx context.Context, s *checkpoint.Service, all []Attempt, session, typed string) (Compared, error) {
	for _, a := range all {
		if string(a.Session) == typed || a.Name == typed {
			r, err := rowOf(ctx, s, a.Name, string(a.Session)+":@")
			r.Steps, r.Code = a.Steps, codeOf(a)
			return r, err
		}
	}
	if other, err := name.ParseSession(typed); err == nil {
		_, err := s.Store.State(ctx, other)
		if err == nil {
			return rowOf(ctx, s, typed, typed+":@")
		}
		if !errors.Is(err, store.ErrNoSession) {
			return Compared{}, checkpoint.Classify(err)
		}
	}
	if session != "" {
		typed = session + ":" + typed
	}
	return rowOf(ctx, s, typed, typed)
}

// rowOf reads a checkpoint.
func rowOf(ctx context.Context, s *checkpoint.Service, called, ref string) (Compared, error) {
	f, err := s.Reach(ctx, "", ref)
	if err != nil {
		return Compared{}, err
	}
	rec, raw, _, err := s.ReadRecord(ctx, f.Entry)
	if err != nil {
		return Compared{}, checkpoint.DamagedError(f.Entry, err)
	}
	message, _, _ := strings.Cut(rec.Message, "\n")
	r := Compared{
		Name: called, Session: f.Session, ID: rec.ID, Label: rec.Label, Step: rec.Step, Status: rec.Status, CreatedAt: checkpoint.Time{Time: rec.CreatedAt},
		Message: message, Best: []string{}, found: f, tree: rec.Snapshot.Tree, raw: raw,
	}
	r.readMetrics(ctx, s, rec)
	if _, forked := checkpoint.OriginOf(f.State); forked {
		if first := f.State.At(0); first != nil {
			if c, err := s.Repo.ReadCommit(ctx, string(first.Event().Commit)); err == nil {
				r.first = c.Tree
			}
		}
	}
	return r, nil
}

// readMetrics reads the values that the workflow keeps as metrics.
func (r *Compared) readMetrics(ctx context.Context, s *checkpoint.Service, rec *record.Record) {
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

// markBest finds in which metrics each is best: those of which the workflow says what is
// better, and in which not all are alike.
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

// compareBy is negative where r is better than other by a metric. One that lacks it is the
// worst; texts say nothing.
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

// settle finds the tree that each is compared with: what an attempt began with; of several
// checkpoints of a session the oldest; else the commit that it was made on.
func settle(rows []Compared) {
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

// fitting keeps the rows that an expression holds for.
func fitting(rows []Compared, where string) ([]Compared, error) {
	fits, err := inspect.Where(where)
	if fits == nil {
		return rows, err
	}
	kept := []Compared{}
	for _, r := range rows {
		ok, err := fits.Holds(r.raw, map[string]any{})
		if err != nil {
			return nil, checkpoint.Usage("", "--where: %v", err)
		}
		if ok {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// measure counts what differs from the common checkpoint.
func (r *Compared) measure(ctx context.Context, s *checkpoint.Service) error {
	base := string(r.base)
	if base == "" {
		commit, err := s.Repo.ReadCommit(ctx, string(r.found.Entry.Event().Commit))
		if err != nil {
			return checkpoint.Classify(err)
		}
		if len(commit.Parents) < 2 { // made before the first commit
			return nil
		}
		base = string(commit.Parents[0])
	}
	if r.tree == "" {
		return nil
	}
	out, err := s.Repo.Run(ctx, git.Cmd{Args: []string{"diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--numstat", "-z", base, string(r.tree), "--"}})
	if err != nil {
		return checkpoint.Classify(err)
	}
	for _, f := range inspect.Counts(string(out.Stdout)) {
		r.Files++
		r.Added, r.Deleted = r.Added+f.Added, r.Deleted+f.Deleted
	}
	return nil
}

// sort puts the rows in order: the best first, where nothing says what is better high
// numbers first, names from a to z.
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
			return checkpoint.Usage("a metric, or name, step, files, lines, age", "none of them has a metric %q to sort by", name.Clip(by, name.Said))
		}
		less = func(a, b Compared) int { return a.compareBy(by, &b) }
	}
	slices.SortStableFunc(c.Rows, less)
	return nil
}

// Between is what differs between the files of two attempts as they are now, or between
// two checkpoints.
func Between(ctx context.Context, s *checkpoint.Service, req CompareRequest) (*inspect.Difference, error) {
	if len(req.Names) != 2 {
		return nil, checkpoint.Usage("git checkpoint compare A B --files", "--files compares two")
	}
	rows, err := compared(ctx, s, req)
	if err != nil {
		return nil, err
	}
	at := worktrees(s)
	d := &inspect.Difference{
		State: []inspect.StateChange{}, Outputs: []inspect.OutputChange{}, Checkpoints: []checkpoint.Labelled{}, Commits: []inspect.CommitLine{},
		From: checkpoint.Labelled{ID: rows[0].ID, Label: rows[0].Label}, To: &checkpoint.Labelled{ID: rows[1].ID, Label: rows[1].Label},
	}
	if d.FromTree, err = rows[0].now(ctx, s, at); err != nil {
		return nil, err
	}
	if d.ToTree, err = rows[1].now(ctx, s, at); err != nil {
		return nil, err
	}
	d.Files, err = inspect.ChangedFiles(ctx, s, d.FromTree, d.ToTree, nil)
	return d, err
}

// now is the tree of an attempt's worktree; without one that of the checkpoint.
func (r *Compared) now(ctx context.Context, s *checkpoint.Service, at map[name.Session]site) (name.OID, error) {
	where, lives := at[r.Session]
	if !lives {
		return r.tree, nil
	}
	in, err := checkpoint.OpenAt(ctx, s, where.dir)
	if err != nil {
		return "", err
	}
	rec, _, _, err := s.ReadRecord(ctx, r.found.Entry)
	if err != nil {
		return "", errors.Join(checkpoint.DamagedError(r.found.Entry, err), in.Close())
	}
	tree, err := inspect.TreeNow(ctx, in, rec)
	return tree, errors.Join(err, in.Close())
}
