package create

// This file keeps the document of another system that a checkpoint is made from, beside the record,
// as `import` does. So an export writes it back byte for byte, including members that no workflow
// knows. A change that the request makes is made in the document too.

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// The names under which a document is kept.
const (
	KeptJSON = "document.json"
	KeptYAML = "document.yaml"
)

// keepDocument keeps the document if its workflow recognises it. The record says so in the member of
// an import, without a digest and a path: it was not imported.
func (d *draft) keepDocument(ctx context.Context) error {
	req, def := d.in.req, d.got.def
	format := def.Origin()
	if format == "" || !d.in.handed() || !def.Knows(req.State) { // no layout has such documents
		return nil
	}
	file, text := KeptJSON, req.State
	if len(req.Original) > 0 {
		if text = req.Original; !bytes.HasSuffix(text, req.State) { // more than a byte order mark
			file = KeptYAML
		}
	}
	if !bytes.Equal(d.stated, d.got.document.State) || len(req.Outputs) > 0 {
		var err error
		file = KeptJSON
		if text, err = def.Restate(req.State, d.stated, d.got.restatedOutputs()); err != nil {
			return checkpoint.Usage("", "the state is invalid: %v", err)
		}
	}
	blob, err := d.in.s.Repo.Objects.Write(ctx, "blob", text)
	if err != nil {
		return err
	}
	d.kept = map[string]name.OID{file: blob}
	checkpoint.ImportedMember.Set(&d.record.Extra, checkpoint.ImportedFrom{Format: format, Key: def.CheckpointOf(d.got.document), Files: d.kept})
	return nil
}

// restatedOutputs returns for each output of --output a function that gives it as the document has
// it, or false if JSON cannot represent it.
func (c *captured) restatedOutputs() map[string]func(was gjson.Result) (json.RawMessage, bool) {
	out := map[string]func(gjson.Result) (json.RawMessage, bool){}
	for _, o := range c.in.req.Outputs {
		kept := c.outputs[o.Name]
		out[o.Name] = func(was gjson.Result) (json.RawMessage, bool) {
			switch {
			case kept.drop && was.IsArray():
				return json.RawMessage("[]"), true
			case kept.drop:
				return json.RawMessage("null"), was.Exists()
			}
			path := ""
			if HoldsPaths(o.Name) || areFiles(c.in.s.Repo.WorkTree, was) {
				path = string(kept.Source)
			}
			return OutputJSON(kept.data, was.IsArray(), path)
		}
	}
	return out
}

// HoldsPaths reports whether documents have the paths of files under this name, as in code_files.
func HoldsPaths(output string) bool { return strings.HasSuffix(output, "_files") }

// areFiles reports whether a member of a document is the path of a file in the worktree, or a list of such.
func areFiles(worktree string, was gjson.Result) bool {
	return len(was.Array()) > 0 && !slices.ContainsFunc(was.Array(), func(v gjson.Result) bool {
		if v.Type != gjson.String || !filepath.IsLocal(v.Str) {
			return true
		}
		_, err := os.Lstat(filepath.Join(worktree, filepath.FromSlash(v.Str)))
		return err != nil
	})
}

// OutputJSON returns an output as a member of a document, the inverse of OutputContent: a JSON list
// as it is, other text as a string, or as a list of lines. Where the document has paths, path is given, and
// stands for the content unless that is a list of names. ok is false for content that is not text.
func OutputJSON(content []byte, isList bool, path string) (json.RawMessage, bool) {
	if raw, err := record.ParseJSON(content, record.Limits{}); err == nil && gjson.ParseBytes(raw).IsArray() {
		return raw, true
	}
	names := strings.Fields(string(content))
	if path != "" && (!isList || len(names) == 0 || !slices.Equal(names, strings.Split(strings.TrimRight(string(content), "\n"), "\n"))) {
		if content = []byte(path); isList {
			return json.RawMessage("[" + string(quote(path)) + "]"), true
		}
	}
	if !utf8.Valid(content) {
		return nil, false
	}
	if !isList {
		return quote(string(content)), true
	}
	lines, err := json.Marshal(strings.Split(strings.TrimRight(string(content), "\n"), "\n"))
	return lines, err == nil
}
