package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// ignoreRules finds out which paths the rules ignore: those on disk, those of a tree, and those
// outside the worktree.
type ignoreRules struct{ indexes }

// outsideRules returns the lines that may be rules of the files outside of any tree: info/exclude
// of the repository, and the file that core.excludesFile names, the user's own by default. Those of
// info/exclude come last, because in git they override the others.
func (s *ignoreRules) outsideRules(ctx context.Context) (string, error) {
	file, err := s.excludesFile(ctx)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, f := range []string{file, filepath.Join(s.repo.CommonDir, "info", "exclude")} {
		data, err := os.ReadFile(f)
		if err != nil { // git goes on without it, too
			continue
		}
		for line := range bytes.Lines(data) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && line[0] != '#' {
				text.Write(append(line, '\n'))
			}
		}
	}
	return text.String(), nil
}

// excludesFile returns the place of the user's ignore rules. The file need not exist.
func (s *ignoreRules) excludesFile(ctx context.Context) (string, error) {
	if _, set := s.repo.Config.Get("core.excludesFile"); set {
		res, err := s.repo.Run(ctx, git.Cmd{Args: []string{"config", "--type=path", "core.excludesFile"}, Config: s.config})
		if err != nil {
			return "", fmt.Errorf("find core.excludesFile: %w", err)
		}
		file := strings.TrimSuffix(string(res.Stdout), "\n")
		if file != "" && !filepath.IsAbs(file) {
			file = filepath.Join(s.files.Top, file) // where git runs
		}
		return file, nil
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if home, err := os.UserHomeDir(); dir == "" && err == nil {
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "git", "ignore"), nil
}

// ignoredIn returns those of paths that .gitignore files and rules outside of any tree ignore. It
// is ignoredBy for a time at which the latter may have been different. Git must not see the present
// ones, so it runs in an empty repository.
func (s *ignoreRules) ignoredIn(ctx context.Context, rules ruleSource, outside string, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	dir, in, err := s.scratchRepository("exclude", outside)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable, swept by age
	if err := layRules(in.Dir, ruleFiles{}, rules, paths); err != nil {
		return nil, fmt.Errorf("look up ignore rules: %w", err)
	}
	return checkIgnore(ctx, s.repo, in, paths)
}

// scratchRepository makes a repository with an empty worktree in a directory of its own, which the caller removes, with rules in a file
// of its info directory and no others. The command that it returns runs there.
func (s *ignoreRules) scratchRepository(file, rules string) (dir string, in git.Cmd, err error) {
	if dir, err = os.MkdirTemp(s.scratch, "tmp-rules-"); err != nil {
		return "", in, err
	}
	tree, repo := filepath.Join(dir, "tree"), filepath.Join(dir, "git")
	err = errors.Join(os.Mkdir(tree, fs.ModePerm), os.MkdirAll(filepath.Join(repo, "objects"), fs.ModePerm), os.Mkdir(filepath.Join(repo, "refs"), fs.ModePerm),
		os.Mkdir(filepath.Join(repo, "info"), fs.ModePerm), os.WriteFile(filepath.Join(repo, "info", file), []byte(rules), 0o600),
		os.WriteFile(filepath.Join(repo, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600))
	if err != nil {
		return "", in, errors.Join(err, os.RemoveAll(dir))
	}
	none := filepath.Join(dir, "none")
	config := append([]string{"core.excludesFile=" + none, "core.attributesFile=" + none}, s.config...)
	if v, set := s.repo.Config.Get("core.ignoreCase"); set {
		config = append(config, "core.ignoreCase="+v)
	}
	return dir, git.Cmd{Config: config, Dir: tree, Env: []string{"GIT_DIR=" + repo, "GIT_WORK_TREE=" + tree}}, nil
}

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
		if _, captured, err := s.repo.Trees.Lookup(ctx, p.Cur.Tree, file); captured || err != nil {
			return nil, err
		}
		data, _, err := s.ruleOnDisk(file)
		return data, err
	}
}

// ruleIn reads a file with rules from a tree.
func (s *ignoreRules) ruleIn(ctx context.Context, tree name.OID, file string) ([]byte, error) {
	e, ok, err := s.repo.Trees.Lookup(ctx, tree, file)
	if !ok || err != nil || !regular(e.Mode) {
		return nil, err
	}
	obj, err := s.repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
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
	worktree.AddAbove(dirs, paths...)
	for d := range dirs {
		if err := lay(path.Join(d, ".gitignore")); err != nil {
			return err
		}
	}
	return nil
}

// tracked reports whether one of the indexes has path p, at any stage.
func (s *ignoreRules) tracked(ctx context.Context, p string, indexes ...*IndexState) (bool, error) {
	for _, x := range indexes {
		if x == nil {
			continue
		}
		if slices.Contains(x.IntentToAdd, p) || slices.ContainsFunc(x.Unmerged, func(u git.Unmerged) bool { return u.Path == p }) {
			return true, nil
		}
		if x.Tree == "" {
			continue
		}
		if _, ok, err := s.repo.Trees.Lookup(ctx, x.Tree, p); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// ignoredNow lists the untracked files that are ignored now, sorted.
func (s *ignoreRules) ignoredNow(ctx context.Context, flags ...string) ([]string, error) {
	args := append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard"}, flags...)
	res, err := s.repo.Run(ctx, git.Cmd{Args: args, Config: s.config, Dir: s.files.Top})
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	list := res.Paths()
	slices.Sort(list)
	return list, nil
}

// rulesDiffer reports whether a .gitignore file that applies to any of paths is not on the disk as it is
// in a tree.
func (s *ignoreRules) rulesDiffer(ctx context.Context, tree name.OID, paths []string) (bool, error) {
	dirs := map[string]bool{}
	worktree.AddAbove(dirs, paths...)
	all := slices.Collect(maps.Keys(dirs))
	var differ atomic.Bool // or an error, after which nobody goes on either
	err := git.Each(len(all), func(i int) error {
		if differ.Load() {
			return nil
		}
		file := path.Join(all[i], ".gitignore")
		was, err := s.ruleIn(ctx, tree, file)
		var now []byte
		if err == nil {
			now, _, err = s.ruleOnDisk(file)
		}
		if err != nil || !bytes.Equal(was, now) {
			differ.Store(true)
		}
		return err
	})
	return differ.Load(), err
}
