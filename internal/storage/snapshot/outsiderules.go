package snapshot

// Ignore rules outside of any tree: info/exclude of the repository, and the file that core.excludesFile
// names, the user's own by default.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/git"
)

// outsideRules returns the lines of these files that may be rules. Those of info/exclude come last,
// because git lets them win.
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

// excludesFile returns the place of the user's ignore rules. Nothing need be there.
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

// ignoredIn returns those of paths that .gitignore files and rules outside of any tree ignore. It is
// ignoredBy for a time at which the latter may have been others, so git must not see those of now: it runs
// in an empty repository.
func (s *ignoreRules) ignoredIn(ctx context.Context, rules ruleSource, outside string, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp(s.scratch, "tmp-rules-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // disposable, swept by age
	tree, repo := filepath.Join(dir, "tree"), filepath.Join(dir, "git")
	err = errors.Join(os.Mkdir(tree, fs.ModePerm), os.MkdirAll(filepath.Join(repo, "objects"), fs.ModePerm), os.Mkdir(filepath.Join(repo, "refs"), fs.ModePerm),
		os.Mkdir(filepath.Join(repo, "info"), fs.ModePerm), os.WriteFile(filepath.Join(repo, "info", "exclude"), []byte(outside), 0o600),
		os.WriteFile(filepath.Join(repo, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600))
	if err == nil {
		err = layRules(tree, ruleFiles{}, rules, paths)
	}
	if err != nil {
		return nil, fmt.Errorf("look up ignore rules: %w", err)
	}
	config := append([]string{"core.excludesFile=" + filepath.Join(dir, "none")}, s.config...)
	if v, set := s.repo.Config.Get("core.ignoreCase"); set {
		config = append(config, "core.ignoreCase="+v)
	}
	return checkIgnore(ctx, s.repo, git.Cmd{Config: config, Dir: tree, Env: []string{"GIT_DIR=" + repo, "GIT_WORK_TREE=" + tree}}, paths)
}
