package interop

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// goTeamOutputs are the outputs that every document of go-team has, with the JSON for one that is
// absent.
var goTeamOutputs = [...][2]string{
	{"spec", "null"}, {"architecture", "null"}, {"code_files", "[]"}, {"test_files", "[]"}, {"review_comments", "[]"},
}

// write adds the documents, the manifest and the history of a session. An imported session keeps
// the name of its directory. Checkpoints are added from the newest to the oldest, so that of two
// with one name the newest live one is written.
func (g goTeam) write(a *transfer.Archive, w *rendering) {
	home, dir := g.home(a, w), string(a.Session)
	for _, c := range a.Checkpoints {
		text, ok := w.original(c, keptDocument)
		if !ok {
			continue
		}
		name := path.Base(path.Dir(c.Import.Path))
		if c.Import.Here {
			name = g.told(text, "session_id")
		}
		if name != "" && isPlainID(name) {
			dir = name
		}
	}
	root := path.Join(home, dir)
	// Ids get their numbers in the order of time, so that a new checkpoint changes none.
	keys, ids, used := map[string]*transfer.Archived{}, map[*transfer.Archived]string{}, map[string]bool{}
	for _, c := range a.Checkpoints {
		id := "cp-" + strconv.Itoa(c.Record.Step) + "-" + c.Record.CreatedAt.UTC().Format("20060102T150405Z")
		ids[c] = unused(cmp.Or(c.Document, id), "-", used)
	}
	lost := map[string]bool{} // a discarded checkpoint does not pass for a damaged one
	for _, d := range a.Damaged {
		key := keyOf(a, d.ID, "")
		lost[key] = lost[key] || d.Live
	}
	for _, c := range newestFirst(a) {
		f := file{key: c.Record.Label, made: c}
		if text, ok := w.original(c, keptDocument); ok && (c.Import.Here || safeName(c.Import.Key)) {
			if f.original(c, text); !c.Import.Here {
				f.key = c.Import.Key
			}
		} else {
			f.doc = g.compose(a, c, ids[c], dir, w)
			f.content = create.JSONFile(f.doc)
		}
		f.path = path.Join(root, f.key+".json")
		if lost[f.key] && !c.Live {
			continue
		}
		if w.addDocument(a, c, f) {
			keys[f.key] = c
		}
	}
	if len(keys) == 0 {
		return
	}
	slices.SortStableFunc(w.files, func(x, y file) int { return strings.Compare(x.path, y.path) })
	g.derived(a, w, root, dir, keys)
}

// told returns a text of a document, or "".
func (goTeam) told(document []byte, member string) string {
	return text(gjson.ParseBytes(unmarked(document)), "checkpoint."+member, member)
}

// home returns the directory from which the session was imported, or for a new session the one that
// exists in the target.
func (goTeam) home(a *transfer.Archive, w *rendering) string {
	from := imported(a, GoTeam)
	if len(from) > 0 && strings.HasPrefix(from[0].Import.Path, goTeamHome+"/") || len(from) == 0 && w.exists(path.Dir(goTeamHome)) {
		return goTeamHome
	}
	return goTeamBare
}

// newestFirst returns the live checkpoints from newest to oldest, then the discarded ones in the
// same order.
func newestFirst(a *transfer.Archive) []*transfer.Archived {
	var live, discarded []*transfer.Archived
	for _, c := range slices.Backward(a.Checkpoints) {
		if c.Live {
			live = append(live, c)
		} else {
			discarded = append(discarded, c)
		}
	}
	return append(live, discarded...)
}

// compose returns the document of a checkpoint that has no original. In a session of go-team the
// state is written as it is, with the members added that every state of go-team has.
func (g goTeam) compose(a *transfer.Archive, c *transfer.Archived, id, dir string, w *rendering) json.RawMessage {
	r := c.Record
	state := members(r.State)
	state.missing("topic", cmp.Or(r.Topic, a.Topic))
	state.missing("phase", r.StepName)
	state.missing("current_step", r.Step)
	iteration, _ := strconv.Atoi(r.Iteration) //nolint:errcheck // a word has no number
	state.missing("iteration_count", iteration)
	state.missing("metrics", &object{})
	o := objectOf(
		"id", id,
		"session_id", dir,
		"step_number", r.Step,
		"step_name", r.StepName,
		"created_at", seconds(r.CreatedAt),
		"state", state,
		"outputs", g.outputs(a, c, w),
		// The checkpoint's own commit has all files. HEAD, which go-team would name, lacks untracked
		// files.
		"git", objectOf("enabled", true, "branch", branchIn(r), "commit_hash", cmp.Or(c.Commit, r.Git.Head), "staged_files", create.FromPaths(r.Git.Staged)),
		"files", objectOf("created", create.FromPaths(r.Files.Created), "modified", create.FromPaths(r.Files.Modified), "deleted", create.FromPaths(r.Files.Deleted)),
	)
	// The checksum is computed before it is a member itself, and so does not cover itself.
	if digest, err := transfer.DocumentDigest(o.json()); err == nil {
		o.set("checksum", digest)
	}
	o.set("valid", true)
	return objectOf("checkpoint", o).json()
}

// outputs returns the outputs as JSON. An output that is a JSON list is embedded as such. One that
// go-team expects to be a list is split into lines, any other text is a string, and binary content
// is left out.
func (goTeam) outputs(a *transfer.Archive, c *transfer.Archived, w *rendering) *object {
	o := &object{}
	for _, known := range goTeamOutputs {
		o.raw(known[0], json.RawMessage(known[1]))
	}
	for _, name := range create.SortedKeys(c.Outputs) {
		content := c.Outputs[name]
		source := ""
		if create.HoldsPaths(name) {
			source = string(c.Record.Outputs[name].Source)
		}
		if raw, ok := create.OutputJSON(content, string(o.values[name]) == "[]", source); ok {
			o.raw(name, raw)
		} else {
			w.leave(a, c, "output %s, which is not text", name)
		}
	}
	return o
}

// derived adds the manifest and the history of rollbacks. If nothing happened since the import they
// are written back unchanged; otherwise they get what happened since.
func (g goTeam) derived(a *transfer.Archive, w *rendering, root, dir string, keys map[string]*transfer.Archived) {
	manifest, history := w.keptFile(a, manifestFile), w.keptFile(a, historyFile)
	if !w.mixed(a) && len(a.Damaged) == 0 {
		w.derive(path.Join(root, manifestFile), manifest)
		w.derive(path.Join(root, historyFile), history)
		return
	}
	manifest, history = unmarked(manifest), unmarked(history)
	back := g.rollbacks(a)
	w.derive(path.Join(root, manifestFile), create.JSONFile(g.manifest(a, w, manifest, dir, keys, back)))
	// The history may be in a file of its own, as a list or in an object, or only in the manifest.
	// The form that was imported is kept.
	was := gjson.ParseBytes(history)
	if history == nil {
		was = inner(gjson.ParseBytes(manifest)).Get("rollback_history")
	}
	content := encode(append(rawList(was), back...))
	if held := was.Get("rollback_history"); held.IsArray() {
		o := members(history)
		o.set("rollback_history", append(rawList(held), back...))
		content = o.json()
	}
	w.derive(path.Join(root, historyFile), create.JSONFile(content))
}

// inner returns the object in the member "manifest", or the document itself if it has none.
func inner(at gjson.Result) gjson.Result {
	if in := at.Get("manifest"); in.IsObject() {
		return in
	}
	return at
}

// rawList returns the items of a JSON list as text; it is never nil, so that it is encoded as [].
func rawList(v gjson.Result) []json.RawMessage {
	return gather.List(v.Array(), func(e gjson.Result) json.RawMessage { return json.RawMessage(e.Raw) })
}

// rollbacks returns the rollbacks that were made with this program. Imported ones are in the
// imported files already.
func (goTeam) rollbacks(a *transfer.Archive) []json.RawMessage {
	out := []json.RawMessage{}
	for _, r := range a.Rollbacks {
		if r.Imported {
			continue
		}
		from, to := keyOf(a, r.From, r.FromLabel), keyOf(a, r.To, r.ToLabel)
		out = append(out, objectOf("from_checkpoint", from, "to_checkpoint", to, "timestamp", seconds(r.At), "reason", r.Reason).json())
	}
	return out
}

// manifest returns the manifest: the imported one with additions, or a new one. Entries of
// checkpoints that were pruned here are removed, and those of which another one took the name are
// replaced; other entries and unknown members stay as they were. keys has the checkpoints that are
// written.
func (g goTeam) manifest(a *transfer.Archive, w *rendering, was []byte, dir string, keys map[string]*transfer.Archived, back []json.RawMessage) json.RawMessage {
	o := members(json.RawMessage(inner(gjson.ParseBytes(was)).Raw))
	o.missing("session_id", dir)
	o.missing("topic", a.Topic)
	o.missing("created_at", seconds(a.CreatedAt))
	o.set("updated_at", seconds(a.ChangedAt))
	o.set("checkpoints", g.entries(a, w, o.values["checkpoints"], keys))
	o.set("current_checkpoint", nil)
	if a.Current != "" {
		o.set("current_checkpoint", keyOf(a, a.Current, ""))
	}
	o.set("rollback_history", append(rawList(gjson.ParseBytes(o.values["rollback_history"])), back...))
	// A manifest may be the document itself or in a member of that name. Keep the form that was
	// imported; a new one is in a member.
	if was != nil && !gjson.GetBytes(was, "manifest").IsObject() {
		return o.json()
	}
	whole := members(was)
	whole.set("manifest", o)
	return whole.json()
}

// entries returns the manifest's list of checkpoints, with those that cannot be read as not valid.
// Entries that were imported come first, then the others in the order in which they were made.
func (g goTeam) entries(a *transfer.Archive, w *rendering, was json.RawMessage, keys map[string]*transfer.Archived) []json.RawMessage {
	type entry struct {
		place int
		text  json.RawMessage
	}
	var made []entry
	damaged := map[string]bool{}
	for _, d := range a.Damaged {
		if key := keyOf(a, d.ID, ""); keys[key] == nil && !damaged[key] {
			damaged[key] = true
			made = append(made, entry{d.Place, objectOf("id", key, "step", d.Step, "timestamp", seconds(d.At), "valid", false).json()})
		}
	}
	for key, c := range keys {
		at := seconds(c.Record.CreatedAt)
		if text, ok := w.original(c, keptDocument); ok { // the document's time is in the document
			at = cmp.Or(g.told(text, "created_at"), at)
		}
		made = append(made, entry{c.Place, objectOf("id", key, "step", c.Record.Step, "timestamp", at, "valid", true).json()})
	}
	slices.SortFunc(made, func(x, y entry) int { return x.place - y.place })
	texts := gather.List(made, func(e entry) json.RawMessage { return e.text })
	stays := func(id string) bool {
		if c := keys[id]; c != nil {
			return c.Import != nil && c.Import.Format == GoTeam && !c.Import.Here
		}
		return !slices.Contains(a.Gone, id)
	}
	out := merged(was, "id", stays, texts)
	for i, e := range out {
		if damaged[text(gjson.ParseBytes(e), "id")] {
			o := members(e)
			o.set("valid", false)
			out[i] = o.json()
		}
	}
	return out
}
