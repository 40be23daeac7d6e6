package torture

// A moment is what a worktree looks like at one point in time, read from the disk and by
// plain git, together with what a capture at that time has to hold. Git works on a copy of
// the index, so that reading never changes the repository.

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/sys/gather"
)

// moment is the state of a worktree, and what a capture of it has to hold by the design.
type moment struct {
	idle bool // the last command had nothing to do, so it did not write the index

	// The worktree by path relative to its top, without .git.
	disk disk
	// What a capture holds and gives back.
	files map[string]node
	// Left out by a rule, with what the tree has in its place: "mode oid", or "".
	frozen map[string]string
	links  map[string]string // gitlinks: path to commit
	// Absent files with skip-worktree: path to "mode oid".
	sparse  map[string]string
	forced  map[string]bool   // captured although they are ignored
	ignored func(string) bool // whether a path is ignored
	tracked map[string]bool   // in the index, at any stage
	intents map[string]bool   // intent-to-add
	// Blob that git add makes of each file, if it converts.
	added map[string]string
	// The same as if the file were not in the index yet.
	renewed map[string]string
	listing string          // ls-files -s -v -t
	dirty   map[string]bool // paths listed by git diff-files
	stale   map[string]bool // those of them whose entry has no skip-worktree: git brings that of others up to date when it is asked
	status  string          // git status about tracked files
	head    string          // content of HEAD
	commit  string          // commit of HEAD; empty: unborn
	sparsed bool            // a sparse checkout is in effect
	rulesOf []string        // the lines of info/sparse-checkout then
	index   string          // bytes of the index file
	// The current checkpoint, by the program's JSON.
	current string
}

// look reads the moment of the worktree at top. all is the disk of the whole case.
func (c *run) look(all disk, top string) (*moment, error) {
	m := &moment{
		disk: all.below(top), files: map[string]node{}, frozen: map[string]string{}, links: map[string]string{},
		sparse: map[string]string{}, forced: map[string]bool{}, tracked: map[string]bool{},
	}
	// The git directory is compared separately, see parts.
	for p := range m.disk {
		if under(p, ".git") || under(path.Join(top, p), c.gitDir(top)) {
			delete(m.disk, p)
		}
	}
	index, err := c.copyIndex(top, m)
	if err != nil {
		return nil, err
	}
	// In a sparse checkout git takes skip-worktree off files that are present, whatever the index file says.
	if m.listing, err = c.host.git(top, index, "ls-files", "-s", "-v", "-t", "-z", "--full-name"); err != nil {
		return nil, err
	}
	if err := c.readIntents(m, top, index); err != nil {
		return nil, err
	}
	others, err := c.host.git(top, index, "ls-files", "-o", "-z", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	if err := c.classify(m, top, split(others)); err != nil {
		return nil, err
	}
	if err := c.lookMore(m, top, index); err != nil || !c.kind.converts {
		return m, err
	}
	return m, c.add(m, top, index)
}

// lookMore reads what depends on the files: the size limit, status, changes, and HEAD.
func (c *run) lookMore(m *moment, top, index string) error {
	// A file over the limit is left out of a capture.
	for p, n := range m.files {
		if n.file() && int64(len(n.Data)) > c.limit {
			m.leaveOut(p, blob(c.hash, n.Data))
		}
	}
	status, err := c.host.git(top, index, "status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return err
	}
	m.status = status
	raw, err := c.host.git(top, index, "diff-files", "--name-only", "-z")
	if err != nil {
		return err
	}
	m.dirty = gather.SetOf(split(raw))
	if raw, err = c.host.git(top, index, "-c", "sparse.expectFilesOutsideOfPatterns=true", "diff-files", "--name-only", "-z"); err != nil {
		return err
	}
	m.stale = gather.SetOf(split(raw))
	head, err := os.ReadFile(filepath.Join(c.host.root, c.gitDir(top), "HEAD"))
	if err != nil {
		return err
	}
	m.head = string(head)
	if c.kind.sparse {
		on, err := c.host.start(top, nil, "git", "config", "--bool", "core.sparseCheckout")
		if err != nil {
			return err
		}
		m.sparsed = strings.TrimSpace(on.out) == "true"
		text, err := os.ReadFile(filepath.Join(c.host.root, c.gitDir(top), "info", "sparse-checkout"))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		m.rulesOf = strings.Fields(string(text))
	}
	r, err := c.host.start(top, nil, "git", "rev-parse", "-q", "--verify", "HEAD")
	if r.code == 0 {
		m.commit = strings.TrimSpace(r.out)
	}
	return err
}

// add makes git add everything to the copy of the index, and then to an empty index, to see
// which blobs the conversions give. Objects go to a directory outside of the repository.
func (c *run) add(m *moment, top, index string) error {
	scratch := filepath.Join(c.host.root, "oracle", "objects")
	if err := os.MkdirAll(scratch, 0o777); err != nil {
		return err
	}
	// The second round uses an empty index, because some conversions depend on what was
	// staged before.
	for i, list := range []*map[string]string{&m.added, &m.renewed} {
		if i == 1 {
			if err := os.Remove(index); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
		env := []string{
			"GIT_OPTIONAL_LOCKS=0", "GIT_INDEX_FILE=" + index, "GIT_OBJECT_DIRECTORY=" + scratch,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(c.host.root, c.commonOf(c.gitDir(top)), "objects"),
		}
		r, err := c.host.start(top, env, "git", "-c", "core.safecrlf=false", "-c", "core.splitIndex=false", "add", "-A", "--sparse", "--force")
		// A file cannot be converted, and then any blob is accepted.
		if err != nil || r.code != 0 {
			m.added = nil
			return err
		}
		listing, err := c.host.git(top, index, "ls-files", "-s", "-v", "-t", "-z", "--full-name")
		if err != nil {
			return err
		}
		*list = map[string]string{}
		for _, e := range entries(listing) {
			(*list)[e.path] = e.oid
		}
	}
	return nil
}

// copyIndex copies the index, with its time, to where git may write. With another time git
// would take different entries for racy.
func (c *run) copyIndex(top string, m *moment) (string, error) {
	from := filepath.Join(c.host.root, c.indexFile(top))
	// A lock of an interrupted git would make the next one fail.
	to := filepath.Join(c.host.root, "oracle", "index")
	for _, f := range []string{to, to + ".lock"} {
		if err := os.RemoveAll(f); err != nil {
			return "", err
		}
	}
	data, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return to, nil
	}
	if err != nil {
		return "", err
	}
	m.index = string(data)
	info, err := os.Stat(from)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return "", err
	}
	return to, os.Chtimes(to, info.ModTime(), info.ModTime())
}

// entry is one line of ls-files -s -v -t.
type entry struct {
	tag, mode, oid, stage, path string
}

// entries parses the listing.
func entries(listing string) (out []entry) {
	for _, line := range split(listing) {
		meta, p, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		out = append(out, entry{f[0], f[1], f[2], f[3], p})
	}
	return out
}

// classify sorts everything on disk into captured, left out, and nested repositories.
func (c *run) classify(m *moment, top string, others []string) error {
	known := map[string]bool{}
	for _, e := range entries(m.listing) {
		if m.tracked[e.path] {
			// A further stage of an unmerged path.
			continue
		}
		m.tracked[e.path], known[e.path] = true, true
		n, there := m.disk[e.path]
		held := e.mode + " " + e.oid
		if m.intents[e.path] {
			held = "" // no tree has it
		}
		switch {
		case !there && strings.EqualFold(e.tag, "S"):
			m.sparse[e.path] = held
		case !there:
		case n.Type.IsDir():
			if err := c.linked(m, top, e); err != nil {
				return err
			}
		case n.captures():
			if c.kind.modeless && n.file() && e.mode == "100755" {
				n.Perm = 0o755
			}
			m.files[e.path] = n
		case e.stage == "0":
			m.frozen[e.path] = held
		default:
			m.frozen[e.path] = ""
		}
	}
	// Untracked files are captured, and an untracked repository is recorded by its HEAD.
	for _, p := range others {
		dir, nested := strings.CutSuffix(p, "/")
		switch {
		case refused(dir):
			m.frozen[dir] = ""
		case nested:
			head, err := c.headOf(path.Join(top, dir))
			if err != nil {
				return err
			}
			if head == "" {
				m.frozen[dir] = ""
			} else {
				m.links[dir] = head
			}
		default:
			known[p] = true
			m.files[p] = m.disk[p]
		}
	}
	m.ignored = func(p string) bool { return !known[p] }
	return c.special(m, top)
}

// special finds sockets and pipes that are not ignored. ls-files never lists them.
func (c *run) special(m *moment, top string) error {
	for p, n := range m.disk {
		if n.captures() || n.Type.IsDir() || m.tracked[p] || m.rules(p) || refused(p) {
			continue
		}
		r, err := c.host.start(top, nil, "git", "check-ignore", "-q", "--no-index", "--", "./"+p)
		if err != nil {
			return err
		}
		if r.code == 1 {
			m.frozen[p] = ""
		}
	}
	return nil
}

// linked classifies a directory at a path of the index: a submodule, or a repository that
// was made where a tracked file was, which ls-files does not list as untracked.
func (c *run) linked(m *moment, top string, e entry) error {
	_, repository := m.disk[path.Join(e.path, ".git")]
	if e.mode != "160000" && !repository {
		return nil
	}
	head, err := c.headOf(path.Join(top, e.path))
	switch {
	case err != nil:
		return err
	case head != "":
		m.links[e.path] = head
	case e.mode == "160000":
		m.links[e.path] = e.oid
	default:
		m.frozen[e.path] = ""
	}
	return nil
}

// leaveOut removes a file that is too large from what is captured. A tracked one keeps its
// staged version, and is not left out at all if that version is what is on disk.
func (m *moment) leaveOut(p, oid string) {
	held := m.held(p)
	if held != m.files[p].mode()+" "+oid {
		delete(m.files, p)
		m.frozen[p] = held
	}
}

// held returns the staged version of a path as "mode oid", or "".
func (m *moment) held(p string) string {
	for _, e := range entries(m.listing) {
		if e.path == p && e.stage == "0" && !m.intents[p] {
			return e.mode + " " + e.oid
		}
	}
	return ""
}

// headOf returns the commit of HEAD in a nested repository, or "".
func (c *run) headOf(dir string) (string, error) {
	if _, err := os.Lstat(filepath.Join(c.host.root, dir, ".git")); err != nil {
		return "", nil //nolint:nilerr // not populated
	}
	r, err := c.host.start(dir, nil, "git", "rev-parse", "-q", "--verify", "HEAD^{commit}")
	head := strings.TrimSpace(r.out)
	// A tree cannot contain an id of another hash.
	if r.code != 0 || len(head) != c.hash {
		return "", err
	}
	return head, err
}

// refused reports names that git refuses to track. The worlds make only these two.
func refused(p string) bool {
	for _, part := range strings.Split(p, "/") {
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "git~1") {
			return true
		}
	}
	return false
}

// split splits a list at NUL bytes.
func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == 0 })
}

// blob returns the id that git gives to content.
func blob(hashLen int, data string) string {
	text := fmt.Sprintf("blob %d\x00%s", len(data), data)
	if hashLen == 64 {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// emptyBlob returns the id of an empty file.
func emptyBlob(hashLen int) string { return blob(hashLen, "") }

// belowFile reports whether a captured file is in the place of a directory above p.
func (m *moment) belowFile(p string) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if _, file := m.files[d]; file {
			return true
		}
	}
	return false
}

// tree returns what the tree of a capture has to list: path to "mode oid". For files that
// git converts the id is that of the bytes on disk, which allow corrects.
func (m *moment) tree(hashLen int) map[string]string {
	out := map[string]string{}
	for p, n := range m.files {
		out[p] = n.mode() + " " + blob(hashLen, n.Data)
	}
	for _, held := range []map[string]string{m.frozen, m.sparse} {
		for p, e := range held {
			if e != "" && !m.belowFile(p) {
				out[p] = e
			}
		}
	}
	for p, oid := range m.links {
		out[p] = "160000 " + oid
	}
	return out
}
