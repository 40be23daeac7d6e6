package repair_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/repair"
)

const demo = name.Session("demo")

// made is a checkpoint of a world.
type made struct {
	id     name.ID
	commit name.OID
	ref    string
	file   name.OID // the content of its file
}

// world is a repository with a checkpoint for each of steps 1 to 3, of a file called file.
type world struct {
	*verbtest.World
	made [4]made // by step
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: verbtest.New(t)}
	for step := 1; step < len(w.made); step++ {
		w.Write("file", fmt.Sprintf("of step %d\n", step))
		got := w.Create(create.Request{Session: string(demo), Numbering: create.Numbering{Step: &step}, Edits: create.Edits{State: fmt.Appendf(nil, `{"n":%d}`, step)}})
		w.made[step] = made{got.Record.ID, got.Commit, string(name.CheckpointRef(demo, got.Record.ID)), w.oid(string(got.Commit) + ":file")}
	}
	return w
}

// oid is the object that an expression of git names.
func (w *world) oid(expression string) name.OID {
	w.Helper()
	return name.OID(w.Git("rev-parse", "--verify", expression))
}

// lose removes a loose object.
func (w *world) lose(oid name.OID) {
	w.Helper()
	if !w.Exists(w.Object(oid)) {
		w.Fatalf("%s is not loose", oid)
	}
	w.Remove(w.Object(oid))
}

// mine is what belongs to the user and not to this program: files, index, branches, HEAD, settings.
func (w *world) mine() string {
	w.Helper()
	return w.Git("status", "--porcelain") + w.Read("file") + w.Git("for-each-ref", "refs/heads") + w.Read(".git/HEAD") + w.Read(".git/config")
}

// kept is what checkpoints consist of: their refs, tags and notes, and the record and files that
// each ref leads to. The journal is not in it, as a rebuild adds events.
func (w *world) kept() string {
	w.Helper()
	var all strings.Builder
	for line := range strings.Lines(w.Git("for-each-ref", "--format=%(refname) %(objectname)", "refs/checkpoints", "refs/tags") + "\n") {
		if !strings.HasPrefix(line, string(name.JournalRef(demo))) {
			all.WriteString(line)
		}
	}
	parts := []string{"rev-parse"}
	for _, m := range w.made[1:] {
		parts = append(parts, m.ref+":file", m.ref+"^2:checkpoint.json")
	}
	return all.String() + w.Git(parts...) + w.Git("notes", "--ref=checkpoints", "list")
}

// refs lists all refs, also those whose object is lost.
func (w *world) refs() string {
	w.Helper()
	return w.Git("for-each-ref", "--format=%(objectname) %(refname)")
}

// validate returns a line for each line of a validation of the session that is not OK:
// "<label or session>: <kinds of findings>; restorable; last valid <label>".
func (w *world) validate(deep bool) (lines []string) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{Session: string(demo), Deep: deep}, func(v repair.Validated) error {
			if v.OK != (len(v.Findings) == 0) {
				w.Errorf("OK is %v with %+v", v.OK, v.Findings)
			}
			if !v.OK {
				lines = append(lines, w.say(v))
			}
			return nil
		})
	})
	return lines
}

// say is a line of validate in words.
func (w *world) say(v repair.Validated) string {
	line := w.called(v.Checkpoint) + ": " + kinds(v.Findings)
	if v.Restorable {
		line += ", restorable"
	}
	if v.LastValid != "" {
		line += ", after " + w.called(v.LastValid)
	}
	return line
}

// called is the step of a checkpoint, or "session" for none.
func (w *world) called(id name.ID) string {
	if id == "" {
		return "session"
	}
	for step, m := range w.made {
		if m.id == id {
			return fmt.Sprint(step)
		}
	}
	return "new"
}

// rebuild returns a line for each line of a rebuild: "<step or session>: <kinds of what was mended>;
// new checkpoint; left <kinds>; without <parts>".
func (w *world) rebuild(req repair.RebuildRequest) (lines []string) {
	w.Helper()
	req.Session = string(demo)
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		return repair.Rebuild(ctx, s, req, func(r repair.Rebuilt) error {
			var mended []string
			for _, m := range r.Mended {
				mended = append(mended, string(m.Kind))
			}
			line := w.called(r.Checkpoint) + ": " + strings.Join(mended, " ")
			if r.Rebuilt != "" {
				line += "; new checkpoint"
			}
			if len(r.Left) > 0 {
				line += "; left " + kinds(r.Left)
			}
			if len(r.Missing) > 0 {
				line += "; without " + strings.Join(r.Missing, " ")
			}
			if r.OK != (len(r.Left) == 0) || r.RebuiltFrom != "" && r.RebuiltFrom != r.Checkpoint {
				w.Errorf("%+v", r)
			}
			lines = append(lines, line)
			return nil
		})
	})
	return lines
}

// kinds returns the kinds of findings, sorted.
func kinds(findings []checkpoint.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, string(f.Kind))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
