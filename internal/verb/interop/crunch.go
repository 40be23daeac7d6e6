package interop

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// crunch has a directory per issue, with a YAML document per checkpoint:
//
//	.claude/crunch/42/checkpoints/CP-ready-20261120-0a1b.yaml
//	.claude/crunch/42/checkpoints/index.yaml    a list of the checkpoints
//	.claude/crunch/42/checkpoints/latest        a link to the newest
//	.claude/checkpoint-config.yaml              configuration of the project
//
// A session is an issue.
type crunch struct{}

const (
	crunchHome   = ".claude/crunch"
	crunchDir    = "checkpoints"
	crunchConfig = ".claude/checkpoint-config.yaml"
	indexFile    = "index.yaml"
	latestFile   = "latest"
	keptYAML     = create.KeptYAML
)

// read reads each issue's directory and the configuration file.
func (l crunch) read(r *reading) {
	for _, e := range r.names(crunchHome) {
		dir := path.Join(crunchHome, e.Name(), crunchDir)
		// Do not list directories that the import is not restricted to.
		if !r.leads(dir) && !r.leads(path.Dir(dir)) {
			continue
		}
		if files := r.names(dir); len(files) > 0 {
			l.issue(r, e.Name(), dir, files)
		}
	}
	if r.wanted(crunchConfig) {
		if src, ok := r.parsed(crunchConfig); ok {
			r.settings = src.json
		}
	}
}

// issue adds the session of one issue. If the import is restricted to a single file (all is false),
// index and link are ignored, since they are about the whole directory.
func (l crunch) issue(r *reading, issue, dir string, files []fs.DirEntry) {
	in := transfer.ImportSession{Workflow: Crunch}
	all := r.wanted(dir)
	var index gjson.Result
	if all {
		if src, ok := r.parsed(path.Join(dir, indexFile)); ok {
			index = src.at
			in.Beside = append(in.Beside, src.kept(indexFile))
		}
	}
	listed := index.Get("checkpoints").Array()
	place := places(listed, "checkpoint_id")
	var documents []*transfer.ImportDocument
	seen := ids{}
	files = slices.DeleteFunc(slices.Clone(files), func(e fs.DirEntry) bool { return e.Name() == indexFile })
	r.each(Crunch, dir, files, yamlFiles, func(name string, src *source) error {
		d, err := l.document(name, issue, src, seen)
		if err != nil {
			return err
		}
		// The index provides the time and trigger if the document has none.
		entry := gjson.Result{}
		if i := place[d.OwnID]; i > 0 {
			entry = listed[i-1]
		}
		var ok bool
		if d.At, ok = moment(text(src.at, "created_at"), text(entry, "created_at")); !ok {
			return errors.New("it has no created_at that is a time from 1970 on")
		}
		d.Trigger = cmp.Or(text(src.at, "trigger"), text(entry, "trigger"))
		in.Topic = cmp.Or(in.Topic, text(src.at, "issue_snapshot.title"))
		documents = append(documents, d)
		return nil
	})
	if len(documents) == 0 {
		return
	}
	session, err := sessionOf("issue-" + issue)
	if err != nil {
		r.problem(dir, "%v", err)
		return
	}
	in.Session = session
	documents = ordered(documents, func(d *transfer.ImportDocument) int { return place[d.OwnID] })
	first := slices.MinFunc(documents, func(a, b *transfer.ImportDocument) int { return a.At.Compare(b.At) })
	in.Steps, in.CreatedAt, in.Branch = gather.List(documents, stepOf), first.At, documents[len(documents)-1].Branch
	if all {
		latest := l.current(r, dir, index)
		if in.Current = keyOfNamed(documents, latest); in.Current == "" && latest != "" {
			r.warn("%s: the latest is %q, which does not exist", dir, latest)
		}
	}
	r.add(dir, in)
}

// places returns where the ids of entries stand in a list, the first one at 1.
func places(list []gjson.Result, id string) map[string]int {
	place := map[string]int{}
	for i, entry := range list {
		place[text(entry, id)] = i + 1
	}
	return place
}

// keyOfNamed returns the key of the document that the layout calls name: by its file, or else by its
// id. It returns "" if there is none.
func keyOfNamed(documents []*transfer.ImportDocument, name string) string {
	key := ""
	for _, d := range documents {
		if d.Key == name || key == "" && d.OwnID == name {
			key = d.Key
		}
	}
	return key
}

// document reads one checkpoint, except for what an index may have too.
func (crunch) document(key, issue string, src *source, seen ids) (*transfer.ImportDocument, error) {
	at := src.at
	if !at.IsObject() || !at.Get("checkpoint_id").Exists() && !at.Get("workflow_state").Exists() {
		// A file that is named like a checkpoint is probably a damaged one. Any other is not ours.
		if strings.HasPrefix(key, "CP-") {
			return nil, errors.New("it is not a checkpoint of crunch: it has neither checkpoint_id nor workflow_state")
		}
		return nil, errForeign
	}
	id := cmp.Or(text(at, "checkpoint_id"), key)
	// Reading an unknown version as if it were 1.0 could misinterpret its members.
	if v := text(at, "version"); v != "" && v != "1.0" && v != "1" {
		return nil, fmt.Errorf("unknown version %q; known version: 1.0", name.Clip(v, name.Said))
	}
	if !isPlainID(id) || !safeName(key) {
		return nil, fmt.Errorf("checkpoint_id %q is not a plain file name", id)
	}
	// The session is named by the directory, so a copied document of another issue would end up in
	// the wrong one.
	if n := text(at, "issue_number"); n != "" && n != issue {
		return nil, fmt.Errorf("issue_number %s in the directory of %s", n, issue)
	}
	if err := seen.claim(id, src); err != nil {
		return nil, err
	}
	d := src.document(key, keptYAML)
	d.OwnID, d.Branch = id, text(at, "issue_snapshot.branch")
	for _, f := range at.Get("files_modified").Array() {
		p := text(f, "path")
		switch text(f, "status") {
		case "added", "created", "new":
			d.Created = append(d.Created, p)
		case "deleted", "removed":
			d.Deleted = append(d.Deleted, p)
		default:
			d.Modified = append(d.Modified, p)
		}
	}
	return d, nil
}

// current returns what the directory calls its current checkpoint, a file name without its ending
// or an id, "" if nothing names it. In a copy on a file system without links, latest is a file that
// contains the name.
func (crunch) current(r *reading, dir string, index gjson.Result) string {
	p := path.Join(dir, latestFile)
	if to, ok := r.link(p); ok {
		if name, ok := stem(to, yamlFiles...); ok && safeName(name) {
			return name
		}
		r.problem(p, "the link points to %q, which is not a checkpoint beside it", to)
		return ""
	}
	data, _ := r.tree.read(p) //nolint:errcheck // an index may name it, too
	called := strings.TrimSpace(string(data))
	if file, ok := stem(called, yamlFiles...); ok {
		called = file
	}
	if safeName(called) {
		return called
	}
	return text(index, "latest")
}

// seconds formats a time in UTC without fractions, as all layouts but ultra-create have it.
func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
