package snapshot

// Ignore rules can differ between the two sides of a restore. A file that the target's rules
// ignore and the current ones do not was captured now but not then, so it looks like a file that
// was made since and is to be deleted. The same is true of an ignored file that was captured on
// request. Both may be older than the target, so a restore leaves them alone (keepIgnored). git
// evaluates the rules of each side, in a scratch worktree that has only the files with rules.

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// reasonRules is why an ignored file is a collision although it was captured.
const reasonRules = "ignored by the rules of one side"

// keepIgnored takes deletions out of the plan: of files that no index tracks and that are
// ignored by the rules of now or by those of the target. Files in Target.Wrote are still deleted
// if they have the content that the rollback wrote. changes are the differences between the two
// trees.
func (s *planner) keepIgnored(ctx context.Context, p *Plan, changes []git.Change) error {
	files := s.rules.ruleFiles()
	differ := slices.ContainsFunc(changes, func(c git.Change) bool { return files.has(c.Path) })
	forced := setOf(p.Cur.Ignored)
	var now, then []string // paths to look up in the rules of each side
	for _, o := range p.Ops {
		if o.kind() != OpDelete || o.Old.OID == p.Target.Wrote[o.Path] || !differ && !forced[o.Path] {
			continue
		}
		if tracked, err := s.rules.tracked(ctx, o.Path, &p.Cur.Index, p.Target.Index); err != nil {
			return err
		} else if tracked {
			continue
		}
		if differ {
			then = append(then, o.Path)
		}
		// A file that was not forced was captured because no rule matches it now.
		if forced[o.Path] {
			now = append(now, o.Path)
		}
	}
	ignored, err := s.rules.ignoredBy(ctx, files, s.rules.rulesNow(ctx, p), now)
	if err != nil {
		return err
	}
	more, err := s.rules.ignoredBy(ctx, files, s.rules.rulesThen(ctx, p), then)
	if err != nil {
		return err
	}
	maps.Copy(ignored, more)
	p.spare(ignored, forced)
	return nil
}

// spare removes the deletions of ignored files from the plan and lists them as kept. A file that
// stands where the target has a directory, or below where the target has a file, cannot stay. It
// is a collision, unless forced says that the caller captured it in order to replace it.
func (p *Plan) spare(ignored, forced map[string]bool) {
	if len(ignored) == 0 {
		return
	}
	written, parents := map[string]bool{}, map[string]bool{}
	for _, o := range p.Ops {
		if o.New.Mode != 0 {
			written[o.Path] = true
			worktree.AddAbove(parents, o.Path)
		}
	}
	inTheWay := func(q string) bool {
		for d := path.Dir(q); d != "."; d = path.Dir(d) {
			if written[d] {
				return true
			}
		}
		return parents[q]
	}
	p.Ops = slices.DeleteFunc(p.Ops, func(o Op) bool {
		if !ignored[o.Path] || o.New.Mode != 0 {
			return false
		}
		if !inTheWay(o.Path) {
			p.Kept = append(p.Kept, o.Path)
			return true
		}
		if !forced[o.Path] {
			p.Collisions = append(p.Collisions, Collision{Path: o.Path, Reason: reasonRules, Ignored: true})
		}
		return false
	})
	slices.Sort(p.Kept)
}

// Made returns the files that the plan creates, that no index will track, and that the ignore
// rules of either side match, with their blobs. The safety checkpoint stores the list, and an
// undo passes it as Target.Wrote. In a restore of some paths only, an undo could not tell these
// files from ignored files that were there before. Where only tracked files are captured, it returns
// all that no index will track.
func (s *planner) Made(ctx context.Context, p *Plan) (map[string]name.OID, error) {
	index := p.Index
	if index == nil {
		index = &p.Cur.Index
	} else {
		index = &IndexState{Tree: p.IndexTree, Unmerged: index.Unmerged, IntentToAdd: index.IntentToAdd}
	}
	content := map[string]name.OID{}
	var made []string
	for _, o := range p.Ops {
		if o.Old.Mode != 0 || o.New.Mode == 0 {
			continue
		}
		if tracked, err := s.rules.tracked(ctx, o.Path, index); err != nil {
			return nil, err
		} else if !tracked {
			content[o.Path] = o.New.OID
			made = append(made, o.Path)
		}
	}
	if s.trackedOnly {
		return content, nil // no capture looks for them
	}
	files, out := s.rules.ruleFiles(), map[string]name.OID{}
	for _, rules := range []ruleSource{s.rules.rulesNow(ctx, p), s.rules.rulesThen(ctx, p)} {
		ignored, err := s.rules.ignoredBy(ctx, files, rules, made)
		if err != nil {
			return nil, err
		}
		for q := range ignored {
			out[q] = content[q]
		}
	}
	return out, nil
}

// tracked reports whether one of the indexes has path p, at any stage.
func (s *ignoreRules) tracked(ctx context.Context, p string, indexes ...*IndexState) (bool, error) {
	for _, x := range indexes {
		if x == nil {
			continue
		}
		if slices.Contains(x.IntentToAdd, p) || slices.ContainsFunc(x.Unmerged, func(u Stage) bool { return u.Path == p }) {
			return true, nil
		}
		if x.Tree == "" {
			continue
		}
		if _, ok, err := s.repo.Lookup(ctx, x.Tree, p); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// ignoreRules knows which paths the rules ignore: those on disk, those of a tree, and those outside
// the worktree.
type ignoreRules struct{ indexes }

// ruleFiles knows which files of the worktree hold ignore rules: every .gitignore, and the file
// that core.excludesFile names if it is in the worktree. Rules outside of the worktree are the
// same on both sides.
type ruleFiles struct{ excludes string }

func (s *ignoreRules) ruleFiles() ruleFiles {
	file, ok := s.repo.Config.Get("core.excludesFile")
	if !ok || file == "" || strings.HasPrefix(file, "~") {
		return ruleFiles{}
	}
	if !filepath.IsAbs(file) { // git takes it from the top of the worktree, where it runs
		file = filepath.Join(s.files.Top, file)
	}
	rel, err := filepath.Rel(s.files.Top, file)
	if err != nil || !filepath.IsLocal(rel) {
		return ruleFiles{}
	}
	return ruleFiles{filepath.ToSlash(rel)}
}

func (f ruleFiles) has(p string) bool { return path.Base(p) == ".gitignore" || p == f.excludes }

// ruleSource returns the content of a file with ignore rules as one side has it, and nil if that
// side has no such file.
type ruleSource func(file string) ([]byte, error)

// rulesNow returns the rules in force now: those on the disk, and those in the captured tree for
// a skip-worktree file, which git reads from the index.
func (s *ignoreRules) rulesNow(ctx context.Context, p *Plan) ruleSource {
	return func(file string) ([]byte, error) {
		if data, there, err := s.ruleOnDisk(file); there || err != nil {
			return data, err
		}
		return s.ruleIn(ctx, p.Cur.Tree, file)
	}
}

// rulesThen returns the rules after the restore: those of the target's tree, and those of a file
// on the disk that neither side captured, because it stays.
func (s *ignoreRules) rulesThen(ctx context.Context, p *Plan) ruleSource {
	return func(file string) ([]byte, error) {
		if data, err := s.ruleIn(ctx, p.Target.Tree, file); data != nil || err != nil {
			return data, err
		}
		if _, captured, err := s.repo.Lookup(ctx, p.Cur.Tree, file); captured || err != nil {
			return nil, err
		}
		data, _, err := s.ruleOnDisk(file)
		return data, err
	}
}

// ruleIn reads a file with rules from a tree.
func (s *ignoreRules) ruleIn(ctx context.Context, tree name.OID, file string) ([]byte, error) {
	e, ok, err := s.repo.Lookup(ctx, tree, file)
	if !ok || err != nil || !regular(e.Mode) {
		return nil, err
	}
	obj, err := s.repo.Batch().Typed(ctx, string(e.OID), "blob")
	return append([]byte{}, obj.Data...), err // not nil for an empty file
}

// ruleOnDisk reads a file with rules from the worktree. there is true without data for something
// that git does not read, such as a symbolic link.
func (s *ignoreRules) ruleOnDisk(file string) (data []byte, there bool, err error) {
	info, err := s.files.Lstat(file)
	if err != nil || info == nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() || !s.files.Readable(file) {
		return nil, true, nil
	}
	data, _, err = s.files.Read(file, info)
	return data, true, err
}

// ignoredBy returns those of paths that the rules of one side ignore. It runs git check-ignore in
// a scratch worktree that holds the files with rules and nothing else.
func (s *ignoreRules) ignoredBy(ctx context.Context, files ruleFiles, rules ruleSource, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return map[string]bool{}, nil
	}
	dir, err := os.MkdirTemp(s.scratch, "tmp-rules-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable, swept by age
	if err := layRules(dir, files, rules, paths); err != nil {
		return nil, fmt.Errorf("look up ignore rules: %w", err)
	}
	config := s.config
	if files.excludes != "" {
		config = append(slices.Clone(config), "core.excludesFile="+filepath.Join(dir, files.excludes))
	}
	return checkIgnore(ctx, s.repo, git.Cmd{Config: config, Dir: dir, Env: []string{"GIT_WORK_TREE=" + dir}}, paths)
}

// layRules writes into dir the files with rules that apply to any of paths.
func layRules(dir string, files ruleFiles, rules ruleSource, paths []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // read only
	lay := func(file string) error {
		data, err := rules(file)
		if data == nil || err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(file), fs.ModePerm); err != nil {
			return err
		}
		return root.WriteFile(file, data, 0o600)
	}
	if files.excludes != "" {
		if err := lay(files.excludes); err != nil {
			return err
		}
	}
	dirs := map[string]bool{}
	for _, p := range paths {
		worktree.AddAbove(dirs, p)
	}
	for d := range dirs {
		if err := lay(path.Join(d, ".gitignore")); err != nil {
			return err
		}
	}
	return nil
}
