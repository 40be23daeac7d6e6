package independent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/gowebpki/jcs"
)

// reader reads a repository with go-git.
type reader struct {
	t    *testing.T
	repo *git.Repository
}

// record is what the tests want of a checkpoint.json; see "The record" in docs/format.md.
type record struct {
	Format    int    `json:"format"`
	ID        string `json:"id"`
	Label     string `json:"label"`
	Session   string `json:"session"`
	Step      int    `json:"step"`
	StepName  string `json:"step_name"`
	Milestone bool   `json:"milestone"`
	Iteration string `json:"iteration"`
	Trigger   string `json:"trigger"`
	Status    string `json:"status"`
	Message   string `json:"message"`
	CreatedAt string `json:"created_at"`
	Outputs   map[string]struct {
		Path string `json:"path"`
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	} `json:"outputs"`
	Git struct {
		Branch *string `json:"branch"`
		Head   *string `json:"head"`
		Index  *string `json:"index"`
	} `json:"git"`
	Files struct {
		Created  []string `json:"created"`
		Modified []string `json:"modified"`
		Deleted  []string `json:"deleted"`
	} `json:"files"`
	Snapshot struct {
		Tree     *string  `json:"tree"`
		Complete bool     `json:"complete"`
		Raw      []string `json:"raw"`
	} `json:"snapshot"`
	Checksum string `json:"checksum"`
}

// checkpoint is one as its commits have it.
type checkpoint struct {
	commit   *object.Commit // C
	holder   *object.Commit // M
	json     []byte         // checkpoint.json
	record   record
	trailers map[string][]string
}

func (r reader) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// checkpoints are all that have a ref, by id.
func (r reader) checkpoints() map[string]checkpoint {
	r.t.Helper()
	found := map[string]checkpoint{}
	refs, err := r.repo.References()
	r.must(err)
	r.must(refs.ForEach(func(ref *plumbing.Reference) error {
		if id, ours := strings.CutPrefix(ref.Name().String(), "refs/checkpoints/"+session+"/cp-"); ours {
			found["cp-"+id] = r.checkpoint(ref.Hash())
		}
		return nil
	}))
	return found
}

func (r reader) checkpoint(oid plumbing.Hash) checkpoint {
	r.t.Helper()
	c := checkpoint{}
	var err error
	c.commit, err = r.repo.CommitObject(oid)
	r.must(err)
	if n := c.commit.NumParents(); n < 1 || n > 2 {
		r.t.Fatalf("%s has %d parents", oid, n)
	}
	c.holder, err = c.commit.Parent(c.commit.NumParents() - 1)
	r.must(err)
	if c.holder.NumParents() != 0 {
		r.t.Errorf("the record commit %s has parents", c.holder.Hash)
	}
	c.json = []byte(r.blob(c.holder, "checkpoint.json"))
	r.must(json.Unmarshal(c.json, &c.record))
	_, c.trailers = trailers(c.commit.Message)
	return c
}

// trailers are the last paragraph of a message, and the line that it begins with.
func trailers(message string) (first string, of map[string][]string) {
	message = strings.TrimRight(message, "\n")
	of = map[string][]string{}
	for line := range strings.Lines(message[strings.LastIndex(message, "\n\n")+2:]) {
		line = strings.TrimSuffix(line, "\n")
		if first == "" {
			first = line
		}
		key, value, _ := strings.Cut(line, ": ")
		of[key] = append(of[key], value)
	}
	return first, of
}

func (r reader) blob(c *object.Commit, path string) string {
	r.t.Helper()
	f, err := c.File(path)
	r.must(err)
	content, err := f.Contents()
	r.must(err)
	return content
}

// tree is what a tree holds below a directory: path → mode and id. There is nothing where
// the directory is missing.
func (r reader) tree(c *object.Commit, dir string) map[string]object.TreeEntry {
	r.t.Helper()
	tree, err := c.Tree()
	r.must(err)
	if dir != "" {
		tree, err = tree.Tree(dir)
		if errors.Is(err, object.ErrDirectoryNotFound) {
			return nil
		}
		r.must(err)
	}
	found := map[string]object.TreeEntry{}
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		path, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		r.must(err)
		if entry.Mode != filemode.Dir {
			found[path] = entry
		}
	}
}

// snapshot is the worktree of a checkpoint: its bytes are in raw/ where git would not give
// them back, and else in C.
func (r reader) snapshot(c checkpoint) map[string]file {
	r.t.Helper()
	raw := r.tree(c.holder, "raw")
	found := map[string]file{}
	for path, entry := range r.tree(c.commit, "") {
		kind := map[filemode.FileMode]string{filemode.Regular: "file", filemode.Executable: "executable", filemode.Symlink: "link"}[entry.Mode]
		hash := entry.Hash
		if exact, is := raw[path]; is {
			hash = exact.Hash
		}
		found[path] = file{kind, r.content(hash)}
	}
	return found
}

func (r reader) content(oid plumbing.Hash) string {
	r.t.Helper()
	blob, err := r.repo.BlobObject(oid)
	r.must(err)
	from, err := blob.Reader()
	r.must(err)
	defer from.Close() //nolint:errcheck // read only
	content, err := io.ReadAll(from)
	r.must(err)
	return string(content)
}

// checksum is that of "Checksum" in docs/format.md, for a record whose numbers a double
// holds.
func (r reader) checksum(text []byte) string {
	r.t.Helper()
	var members map[string]json.RawMessage
	r.must(json.Unmarshal(text, &members))
	delete(members, "checksum")
	rest, err := json.Marshal(members)
	r.must(err)
	form, err := jcs.Transform(rest)
	r.must(err)
	sum := sha256.Sum256(form)
	return "sha256:" + hex.EncodeToString(sum[:])
}
