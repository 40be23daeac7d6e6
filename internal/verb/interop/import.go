package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/transfer"
)

// ImportRequest has the arguments of `import`.
type ImportRequest struct {
	From      string // a directory or a file
	Format    string // one of Formats; "" takes every layout that is found
	Session   string // the session to take, or the new name if there is only one; "" takes all
	DryRun    bool
	KeepGoing bool // documents that can be imported are, although others cannot; else nothing is
}

// ImportAnswer is the result of `import`. Its JSON is part of the program's output.
type ImportAnswer struct {
	Format    string               `json:"format"` // the names of the layouts found, separated by commas
	DryRun    bool                 `json:"dry_run"`
	Documents []transfer.Imported  `json:"documents"`
	Sessions  []string             `json:"sessions"`
	Added     int                  `json:"added"`
	Changed   int                  `json:"changed"`
	Unchanged int                  `json:"unchanged"`
	Problems  []Problem            `json:"problems"`
	Warnings  []string             `json:"warnings"`
	Settings  []checkpoint.Setting `json:"settings"` // found in a configuration file; not applied
}

// Import reads the layouts at req.From and makes a checkpoint of each document that is new or
// changed.
//
// It works in three phases: find the layouts, read all documents and collect their problems, and
// only then let package transfer write. Without KeepGoing any problem means that nothing is
// written. In a dry run the answer tells what would be imported.
func Import(ctx context.Context, s *checkpoint.Rules, req ImportRequest) (*ImportAnswer, error) {
	formats := Formats()
	if req.Format != "" {
		formats = []string{req.Format}
	}
	places, err := find(req.From, formats)
	// A missing path gets the exit code for things that were not found.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	if err != nil {
		return nil, err
	}
	answer := &ImportAnswer{
		DryRun: req.DryRun, Documents: []transfer.Imported{}, Sessions: []string{}, Problems: []Problem{}, Warnings: []string{},
		Settings: []checkpoint.Setting{},
	}
	var sessions []transfer.ImportSession
	var names []string
	for _, format := range formats {
		p, there := places[format]
		if !there {
			continue
		}
		got, found, err := read(ctx, s, format, p, answer)
		if err != nil {
			return nil, err
		}
		if found {
			names = append(names, format)
			sessions = append(sessions, got...)
		}
	}
	answer.Format = strings.Join(names, ",")
	if len(names) == 0 && len(answer.Problems) == 0 {
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("import %q", req.From), Err: errNoLayout,
			Hints: []string{"name the root of the project, or a directory or file of one of these layouts"},
		}
	}
	if len(answer.Problems) > 0 && !req.KeepGoing {
		return nil, faulty(answer.Problems, "nothing was imported; --keep-going imports the rest")
	}
	if sessions, err = choose(sessions, req.Session); err != nil {
		return nil, err
	}
	return answer, importSessions(ctx, s, sessions, req, answer)
}

// faulty returns one error for all documents that cannot be imported.
func faulty(problems []Problem, hint string) error {
	said := gather.List(problems, Problem.String)
	return ofMany(checkpoint.KindInvalid, said, said[0], "%d files cannot be imported", hint)
}

// ofMany returns one error for several places. one is its message if there is only one, many the
// format with their number; then the hints list the first 20.
func ofMany(kind checkpoint.Kind, places []string, one, many, hint string) *checkpoint.Error {
	e := &checkpoint.Error{Kind: kind, Message: one}
	if len(places) > 1 {
		e.Message = fmt.Sprintf(many, len(places))
		e.Hints = render.First(places, 20, "… and %d more", func(place string) string { return place })
	}
	e.Hints = append(e.Hints, hint)
	return e
}

// read reads the sessions of one layout at a place. Problems, warnings and settings go to answer. found
// is false if there is nothing to import.
func read(ctx context.Context, s *checkpoint.Rules, format string, p place, answer *ImportAnswer) (sessions []transfer.ImportSession, found bool, err error) {
	t, err := p.open()
	if err != nil {
		return nil, false, err
	}
	defer t.root.Close() //nolint:errcheck // only read
	r := &reading{tree: t}
	layouts()[format].read(r)
	answer.Problems = append(answer.Problems, r.problems...)
	// Warnings are mostly about files that are not documents of the layout. If nothing else was
	// found, the directory probably belongs to another layout, and they would only confuse.
	if len(r.sessions) > 0 || len(r.problems) > 0 {
		answer.Warnings = append(answer.Warnings, r.warnings...)
	}
	if r.settings != nil {
		answer.configured(s, format, r.settings)
	}
	for i := range r.sessions {
		if err := know(ctx, s, &r.sessions[i]); err != nil {
			return nil, false, err
		}
	}
	return r.sessions, len(r.sessions) > 0 || r.settings != nil, ctx.Err()
}

// configured adds the settings of a foreign configuration file to the answer, and a warning for
// each member that has no equivalent here.
func (a *ImportAnswer) configured(s *checkpoint.Rules, format string, document json.RawMessage) {
	def, err := s.Definition(format)
	var found workflow.Configured
	if err == nil {
		found, err = def.Configuration(document)
	}
	if err != nil {
		a.Problems = append(a.Problems, Problem{Path: crunchConfig, Message: err.Error()})
		return
	}
	a.Settings = gather.List(found.Settings, func(kv workflow.KeyValue) checkpoint.Setting {
		return checkpoint.Setting{Key: kv.Key, Value: kv.Value, Origin: crunchConfig}
	})
	for _, what := range found.Unused {
		name, why, known := strings.Cut(what, ": ")
		if !known {
			why = "git-checkpoint has no such setting"
		}
		a.Warnings = append(a.Warnings, fmt.Sprintf("%s: %s was not taken over: %s", crunchConfig, name, why))
	}
}

// choose returns the session that was asked for, of all that were found. If there is only one, it takes
// that one and renames it.
func choose(sessions []transfer.ImportSession, wanted string) ([]transfer.ImportSession, error) {
	if wanted == "" {
		return sessions, twins(sessions)
	}
	at := slices.IndexFunc(sessions, func(in transfer.ImportSession) bool { return in.Session == wanted || len(sessions) == 1 })
	if at < 0 {
		all := gather.List(sessions, func(in transfer.ImportSession) string { return in.Session })
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "there are: "+strings.Join(all, ", "), "there is no session %q", wanted)
	}
	sessions[at].Session = wanted
	return sessions[at : at+1], nil
}

// twins returns an error if two layouts have a session of the same name: their documents would end
// up in one session. Names that differ only in case count as the same.
func twins(sessions []transfer.ImportSession) error {
	seen := map[string]string{}
	for _, in := range sessions {
		key := strings.ToLower(in.Session)
		if other, twice := seen[key]; twice {
			return checkpoint.Failure(checkpoint.KindInvalid, "--format imports one of them, --session gives it another name", "%[2]s and %[3]s both have a session %[1]q", in.Session, other, in.Format)
		}
		seen[key] = in.Format
	}
	return nil
}

// importSessions imports the sessions, or in a dry run finds out what would be imported, and counts the
// results.
func importSessions(ctx context.Context, s *checkpoint.Rules, sessions []transfer.ImportSession, req ImportRequest, answer *ImportAnswer) (err error) {
	for _, in := range sessions {
		answer.Sessions = append(answer.Sessions, in.Session)
	}
	if answer.Documents, err = transfer.Import(ctx, s, sessions, req.DryRun); err != nil {
		return err
	}
	for _, d := range answer.Documents {
		switch d.Action {
		case transfer.ImportAdded:
			answer.Added++
		case transfer.ImportChanged:
			answer.Changed++
		default:
			answer.Unchanged++
		}
	}
	return nil
}

// know adds the documents that this program would export for the session's own checkpoints. If a
// document that was exported from here is imported again, the import recognizes it and adds
// nothing.
func know(ctx context.Context, s *checkpoint.Rules, in *transfer.ImportSession) error {
	own, err := transfer.MadeHere(ctx, s.Store, in.Session)
	if err != nil || !own {
		return err
	}
	a, err := transfer.ReadArchive(ctx, s, name.Session(in.Session))
	if err != nil {
		return err
	}
	in.Known = knownDocuments(in.Format, a)
	return nil
}

// Configuration reads the configuration file of another system. from is the file or the root of a
// project that has one. Only crunch has such a file. The warnings name the members that have no
// equivalent here. It changes no configuration.
func Configuration(ctx context.Context, s *checkpoint.Rules, from string) (settings []checkpoint.Setting, warnings []string, err error) {
	places, err := find(from, []string{Crunch})
	if err != nil {
		return nil, nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Err: err}
	}
	p, there := places[Crunch]
	if !there {
		return nil, nil, noConfiguration(from)
	}
	// Do not read the project's documents, which may be many and have problems of their own.
	p.only = crunchConfig
	answer := &ImportAnswer{}
	if _, _, err := read(ctx, s, Crunch, p, answer); err != nil {
		return nil, nil, err
	}
	if len(answer.Problems) > 0 {
		return nil, nil, faulty(answer.Problems, "nothing was set")
	}
	if answer.Settings == nil {
		return nil, nil, noConfiguration(from)
	}
	return answer.Settings, answer.Warnings, nil
}

// noConfiguration is the error for a place without a configuration file.
func noConfiguration(from string) error {
	return checkpoint.Failure(checkpoint.KindNotFound, "name crunch's file, or the root of the project that has it in "+path.Dir(crunchConfig), "there is no %s in %q", path.Base(crunchConfig), from)
}
