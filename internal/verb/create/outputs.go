package create

// This file stores the outputs of a checkpoint. An output is a named file or text that is kept
// beside the worktree's files, in outputs/<name> of the record commit. It is given by --output, or
// is a member of a state document.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// KeptOutput is an output whose blob was written, or the mark that an output is to be dropped.
type KeptOutput struct {
	record.Output
	drop bool
	data []byte // of one that --output gives
}

// keepOutputs writes the files of --output, and the outputs that the document contains, as blobs. It
// returns them by name.
func (r *request) keepOutputs(ctx context.Context, document workflow.Accepted) (map[string]KeptOutput, error) {
	out := map[string]KeptOutput{}
	for _, o := range r.req.Outputs {
		data, source := o.Data, ""
		var err error
		if len(data) == 0 && o.File == "" {
			out[o.Name] = KeptOutput{drop: true}
			continue
		}
		if len(data) == 0 {
			if data, source, err = readOutput(ctx, r.s.Repo, o); err != nil {
				return nil, err
			}
		}
		kept, err := KeepOutput(ctx, r.s.Repo, o.Name, source, data)
		if err != nil {
			return nil, err
		}
		kept.data = data
		out[o.Name] = kept
	}
	return out, keepStated(ctx, r.s.Store, document, out)
}

// readOutput reads the file of an output. The source is what the record says of where it comes
// from: for a file in the worktree its path from the top, which means the same in every clone.
func readOutput(ctx context.Context, repo *git.Repo, o Output) (data []byte, source string, err error) {
	const longestOutput = 1 << 30 // the largest size of an output, in bytes. A file is read into memory, and a device such as /dev/zero never ends
	file := o.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(repo.WorkTree, repo.Prefix, file)
	}
	data, err = Patiently(ctx, func() ([]byte, error) { return readAtMost(file, longestOutput) })
	if ctx.Err() != nil {
		return nil, "", err
	}
	if err != nil {
		return nil, "", checkpoint.Usage("--output NAME=FILE needs a readable file; --output NAME= drops an output", "output %q: %v", o.Name, err)
	}
	if rel, err := filepath.Rel(repo.WorkTree, file); err == nil && filepath.IsLocal(rel) {
		return data, filepath.ToSlash(rel), nil
	}
	return data, o.File, nil
}

// Patiently calls do, which may block, and returns early when ctx is cancelled. Opening a named
// pipe blocks until another process opens it for writing, and cannot be interrupted. The goroutine
// is left behind then; the process is about to end.
func Patiently[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	case r := <-done:
		return r.value, r.err
	}
}

// readAtMost reads a file. It returns an error if it has more than most bytes, even if its size is
// not known beforehand.
func readAtMost(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", info.Size(), most)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return data, err
}

// KeepOutput writes an output as a blob. No ref reaches the blob until the checkpoint is written.
func KeepOutput(ctx context.Context, repo *git.Repo, output, source string, data []byte) (KeptOutput, error) {
	oid, err := repo.Objects.Write(ctx, "blob", data)
	if err != nil {
		return KeptOutput{}, fmt.Errorf("keep output %q: %w", output, err)
	}
	o := record.Output{
		Path: record.Path("outputs/" + output), Source: record.Path(source), OID: oid, Size: int64(len(data)),
	}
	o.Lines, o.Entries = record.Measure(data)
	return KeptOutput{Output: o}, nil
}

// keepStated writes the outputs that the document contains, and adds them to out. An output given by
// --output takes precedence. An empty one is ignored, so an older output of that name is carried over.
func keepStated(ctx context.Context, s *store.Store, document workflow.Accepted, out map[string]KeptOutput) error {
	const mostStated = 100 // the most outputs that are taken from one document
	for n, output := range SortedKeys(document.Outputs) {
		content := OutputContent(document.Outputs[output])
		if _, given := out[output]; given || len(content) == 0 {
			continue
		}
		if n >= mostStated || !IsOutputName(output) {
			s.Warn(fmt.Sprintf("output %q of the document is left out: a name is %s, and at most %d outputs are allowed", output, name.OutputRule, mostStated))
			continue
		}
		kept, err := KeepOutput(ctx, s.Repo, output, "", content)
		if err != nil {
			return err
		}
		out[output] = kept
	}
	return nil
}

// OutputContent returns the bytes of an output in a document: a string's text, or a list or object
// as JSON. It returns nil for null and for anything empty.
func OutputContent(raw json.RawMessage) []byte {
	switch at := gjson.ParseBytes(raw); {
	case at.Type == gjson.Null:
		return nil
	case at.Type == gjson.String:
		return []byte(at.Str)
	case at.IsArray() && len(at.Array()) == 0, at.IsObject() && len(at.Map()) == 0:
		return nil
	}
	return JSONFile(raw)
}

// JSONFile formats JSON for a file: indented, with a newline at the end. Numbers keep their digits.
func JSONFile(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return raw
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// SortedKeys returns the keys in order, for maps whose order is shown or hashed.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// IsOutputName reports whether s is a valid name for an output.
func IsOutputName(s string) bool {
	_, err := name.ParseOutput(s)
	return err == nil
}
