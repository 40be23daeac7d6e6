package interop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// goTeam has a directory per session, with a JSON document per checkpoint:
//
//	checkpoints/<session>/cp-06-review-2.json
//	checkpoints/<session>/manifest.json            topic, times, order, current checkpoint
//	checkpoints/<session>/rollback-history.json
//
// The name of a document is the checkpoint's label; labels here have the same form. Where go-team
// runs as an agent team, checkpoints is in another directory, goTeamHome.
type goTeam struct{}

// goTeamHome is the directory in a project that uses go-team as an agent team; goTeamBare is the
// one that it uses elsewhere. kept* are the names under which checkpoints keep originals.
const (
	goTeamHome     = ".claude/agents/microai/teams/go-team/checkpoints"
	goTeamBare     = "checkpoints"
	manifestFile   = "manifest.json"
	historyFile    = "rollback-history.json"
	keptDocument   = create.KeptJSON
	maxOutputNames = 100
)

// labelParts matches a label. The groups are the step and the rest, which has the step's name and
// the iteration.
var labelParts = lazy.Pattern(`^cp-(\d{1,9})(?:-(.*))?$`)

// read reads every session in both directories.
func (g goTeam) read(r *reading) {
	for _, home := range containers(GoTeam) {
		for _, e := range r.names(home) {
			dir := path.Join(home, e.Name())
			// orchestrate keeps failed documents in checkpoints/failed, which is not a session
			// unless it has a manifest.
			if !r.leads(dir) || home == goTeamBare && e.Name() == orchestrateFailed && !g.isSession(r, dir) {
				continue
			}
			if files := r.names(dir); len(files) > 0 {
				g.session(r, dir, files)
			}
		}
	}
}

// isSession reports whether a directory has a manifest.
func (goTeam) isSession(r *reading, dir string) bool {
	_, err := r.tree.read(path.Join(dir, manifestFile))
	return err == nil
}

// goTeamSession is one session during an import.
type goTeamSession struct {
	*reading
	dir       string
	manifest  gjson.Result
	rollbacks []transfer.ImportRollback
	documents []*transfer.ImportDocument
	seen      ids
	topic     string
	times     map[string]string // times in the manifest, by label
}

// session reads one directory. The manifest and the history go first, because they supply what
// documents may lack. If the import is restricted to a single file they are ignored.
func (g goTeam) session(r *reading, dir string, files []fs.DirEntry) {
	s := &goTeamSession{reading: r, dir: dir, seen: ids{}, times: map[string]string{}}
	in := transfer.ImportSession{Format: GoTeam}
	for _, name := range []string{manifestFile, historyFile} {
		if !r.wanted(dir) {
			break
		}
		if src, ok := r.parsed(path.Join(dir, name)); ok {
			in.Beside = append(in.Beside, src.kept(name))
			s.tell(name, src)
		}
	}
	files = slices.DeleteFunc(files, func(e fs.DirEntry) bool { return e.Name() == manifestFile || e.Name() == historyFile })
	r.each(GoTeam, dir, files, jsonFiles, s.document)
	if len(s.documents) == 0 {
		if len(in.Beside) > 0 && len(r.problems) == 0 {
			r.warn("%s: it has no checkpoint", dir)
		}
		return
	}
	called, err := sessionOf(path.Base(dir))
	if err != nil {
		r.problem(dir, "%v", err)
		return
	}
	in.Session, in.Topic = called, s.topic
	place := places(s.manifest.Get("checkpoints").Array(), "id")
	s.documents = ordered(s.documents, func(d *transfer.ImportDocument) int { return place[d.Key] })
	in.Steps = s.steps()
	in.Current = text(s.manifest, "current_checkpoint")
	in.CreatedAt = s.documents[0].At
	if at, ok := moment(text(s.manifest, "created_at")); ok {
		in.CreatedAt = at
	}
	in.Branch = s.documents[len(s.documents)-1].Branch
	r.add(dir, in)
}

// tell takes what the manifest or the history file says: topic, times, current checkpoint, and
// rollbacks. Both files may list the same rollbacks.
func (s *goTeamSession) tell(file string, src *source) {
	history := src.at
	if file == manifestFile {
		s.manifest = inner(src.at)
		s.topic = text(s.manifest, "topic")
		for _, v := range s.manifest.Get("checkpoints").Array() {
			s.times[text(v, "id")] = text(v, "timestamp")
		}
		history = s.manifest.Get("rollback_history")
	} else if own := src.at.Get("rollback_history"); own.IsArray() {
		history = own
	}
	for _, v := range history.Array() {
		back := transfer.ImportRollback{
			From: text(v, "from_checkpoint", "from"), To: text(v, "to_checkpoint", "to"), Reason: text(v, "reason"),
		}
		at, ok := moment(text(v, "timestamp", "time"))
		if !ok || back.To == "" {
			s.warn("%s: an entry of the rollback history has no time or target; it was not imported", src.path)
			continue
		}
		if back.At = at; !slices.Contains(s.rollbacks, back) {
			s.rollbacks = append(s.rollbacks, back)
		}
	}
}

// document reads one checkpoint. label is the file's name. The members may be in a member
// "checkpoint" or at the top.
func (s *goTeamSession) document(label string, src *source) error {
	at := src.at.Get("checkpoint")
	if !at.IsObject() {
		at = src.at
	}
	if !at.IsObject() || !at.Get("state").Exists() && !at.Get("step_number").Exists() {
		if labelParts().MatchString(label) {
			return errors.New("it is not a checkpoint of go-team: it has neither state nor step_number")
		}
		return errForeign
	}
	if err := goTeamFault(label, at); err != nil {
		return err
	}
	// Only a warning: the directory decides which session it is.
	if own := text(at, "session_id"); own != "" && own != path.Base(s.dir) {
		s.warn("%s: it belongs to session %q, but is in the directory of another one", src.path, own)
	}
	if err := s.seen.claim(text(at, "id"), src); err != nil {
		return err
	}
	d := src.document(label, keptDocument)
	d.OwnID, d.StepName = text(at, "id"), text(at, "step_name")
	d.Commit, d.Branch, d.Outputs = text(at, "git.commit_hash"), text(at, "git.branch"), outputsOf(at.Get("outputs"))
	d.Created, d.Modified, d.Deleted = texts(at.Get("files.created")), texts(at.Get("files.modified")), texts(at.Get("files.deleted"))
	if !s.number(d, label, at) {
		return errors.New("it has no step_number")
	}
	stamp := ""
	if i := strings.LastIndexByte(d.OwnID, '-'); i >= 0 {
		stamp = d.OwnID[i+1:] // as in cp-3-20260203T101500Z
	}
	var ok bool
	if d.At, ok = moment(text(at, "created_at"), s.times[label], stamp); !ok {
		return errors.New("it has no created_at that is a time from 1970 on")
	}
	s.topic = cmp.Or(s.topic, text(at, "state.topic"))
	s.documents = append(s.documents, d)
	return nil
}

// goTeamFault returns what is wrong with a checkpoint's name, ids, step or state.
func goTeamFault(label string, at gjson.Result) error {
	if !safeName(label) {
		return fmt.Errorf("the name %q cannot be a label", label)
	}
	if n := at.Get("step_number"); n.Exists() && n.Type != gjson.Null && whole(n) == nil {
		return fmt.Errorf("step_number %s is not a step", name.Clip(n.Raw, name.Said))
	}
	if state := at.Get("state"); state.Exists() && state.Type != gjson.Null && !state.IsObject() {
		return errors.New("its state is not an object")
	}
	for _, member := range []string{"id", "session_id"} {
		if id := at.Get(member); id.Type == gjson.String && !isPlainID(id.Str) {
			return fmt.Errorf("%s %q is not a plain file name", member, id.Str)
		}
	}
	return nil
}

// number sets step, iteration and label of a document, from its members and from its file's name.
// It returns false if neither has a step. A "+" in the name marks a checkpoint that is attached to
// a step instead of being a milestone.
func (s *goTeamSession) number(d *transfer.ImportDocument, label string, at gjson.Result) bool {
	parts := labelParts().FindStringSubmatch(label)
	if d.Step = whole(at.Get("step_number")); d.Step == nil && parts != nil {
		n, _ := strconv.Atoi(parts[1]) //nolint:errcheck // at most nine digits
		d.Step = &n
	}
	if d.Step == nil {
		return false
	}
	// The file has a name of its own. It becomes the end of a label that starts with the step.
	if parts == nil {
		d.Label = fmt.Sprintf("cp-%02d-%s", *d.Step, label)
		return true
	}
	d.Label = label
	rest := parts[2]
	if before, _, hangs := strings.Cut(rest, "+"); hangs {
		d.Hangs, rest = true, before
	}
	// What follows the step's name in the label is the iteration: cp-06-review-2.
	if slug := name.Slug(d.StepName); slug != "" && strings.HasPrefix(rest, slug) {
		d.Iteration = strings.TrimPrefix(strings.TrimPrefix(rest, slug), "-")
	}
	return true
}

// steps merges documents and rollbacks into one sequence. A rollback goes before the first document
// that is later than it, but not before the document that it returns to. Rollbacks to unknown
// documents come last.
func (s *goTeamSession) steps() []transfer.ImportStep {
	var out []transfer.ImportStep
	slices.SortStableFunc(s.rollbacks, func(a, b transfer.ImportRollback) int { return a.At.Compare(b.At) })
	// A rollback waits until its target has been imported, even if its time is earlier: times in
	// documents are not reliable. At the end the remaining ones are added in any case.
	waiting := s.rollbacks
	known := map[string]bool{}
	for _, d := range s.documents {
		waiting = slices.DeleteFunc(waiting, func(back transfer.ImportRollback) bool {
			due := back.At.Before(d.At) && known[back.To]
			if due {
				out = append(out, transfer.ImportStep{Rollback: &back})
			}
			return due
		})
		out = append(out, transfer.ImportStep{Document: d})
		known[d.Key] = true
	}
	for i := range waiting {
		out = append(out, transfer.ImportStep{Rollback: &waiting[i]})
	}
	return out
}

// outputsOf returns the outputs of a document that have content and a valid name, at most
// maxOutputNames.
func outputsOf(outputs gjson.Result) []transfer.ImportFile {
	var out []transfer.ImportFile
	outputs.ForEach(func(key, value gjson.Result) bool {
		content := create.OutputContent(json.RawMessage(value.Raw))
		if content == nil || !create.IsOutputName(key.String()) {
			return len(out) < maxOutputNames
		}
		out = append(out, transfer.ImportFile{Name: key.String(), Content: content})
		return len(out) < maxOutputNames
	})
	return out
}
