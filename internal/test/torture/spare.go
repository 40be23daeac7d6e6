package torture

// A rollback must not delete files that the target lacks only because the ignore rules were
// different when it was made. Which files are spared depends on the rules of both moments,
// and git is asked, by a directory built for this purpose, what it would ignore under each
// of them.

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// flipping are edits of ignore rules, and of files that they are about.
func flipping() []edit {
	rules := []string{`*.ig\nigdir/\n.env\n`, `*.ig\n!dir/b.ig\n`, `/igdir/x\n`, `dir/\n!dir/a\n`, `*\n!.gitignore\n`, `.env\n`, ``}
	flip := func(g *gen) string {
		if g.chance(2) {
			return "rm -f .gitignore"
		}
		return put(".gitignore", g.pick(rules))
	}
	return []edit{flip, flip, flip,
		func(g *gen) string {
			file := g.pick([]string{"dir/.gitignore", "igdir/.gitignore"})
			return g.pick([]string{"rm -f " + file, put(file, g.pick([]string{`*\n!.gitignore\n`, `*\n`, `!*.ig\n`, `b.ig\n`}))})
		},
		func(g *gen) string {
			return "mkdir -p .git/info; printf '" + g.pick([]string{`.env\n`, `*.ig\n`, ``, ``}) + "' >.git/info/exclude"
		},
		func(g *gen) string { return put("ignores", g.pick([]string{`*.ig\n`, `igdir\n`, ``})) },
		func(g *gen) string {
			return "git config core.excludesFile " + g.pick([]string{"ignores", `"$PWD/ignores"`, "nowhere"})
		},
		func(g *gen) string { return "git --literal-pathspecs add -f -- " + words(g.path()) },
		func(g *gen) string { return "git --literal-pathspecs rm -rq --cached -- " + words(g.path()) },
	}
}

// flips are worlds in which the two sides of a rollback ignore different files. One starts
// without rules, the other one with rules and with files that they match.
func flips() []kind {
	paths := []string{"a.ig", "dir/b.ig", "igdir/x", "igdir/deep/y", ".env", "dir/a", "b", "x", "x/y.ig"}
	world := func(name string, first ...string) kind {
		return kind{name: name, paths: paths, edits: append(flipping(), flipping()...), setup: func(g *gen) []string {
			lines := []string{"git init -q repo", "cd repo", g.put("b"), g.put("dir/a"), "git add -A", "git commit -qm one"}
			lines = append(lines, first...)
			for range 1 + g.IntN(4) {
				lines = append(lines, g.put(g.path()))
			}
			return lines
		}}
	}
	return []kind{world("ignore-flip"), world("ignore-flip-back", put(".gitignore", `*.ig\nigdir/\n.env\n`))}
}

// spared returns the files that have to stay although the target lacks them: neither index
// has them, and the rules of at least one side ignore them.
func (c *run) spared(m *move) (map[string]bool, error) {
	then, now, out := m.to.then, m.now, map[string]bool{}
	var open []string
	for p, n := range now.files {
		_, wanted := then.files[p]
		if wanted || now.tracked[p] || then.tracked[p] || m.to.madeBy(p, n) {
			continue
		}
		if now.ignored(p) {
			out[p] = true
		} else {
			open = append(open, p)
		}
	}
	ignored, err := c.ignoredUnder(m.op.Tree, then, now, open)
	for p := range ignored {
		out[p] = true
	}
	return out, err
}

// madeBy reports whether a file is as the rollback that is being undone wrote it.
func (s *saved) madeBy(p string, n node) bool {
	w, ok := s.wrote[p]
	return ok && w.Type == n.Type && w.Data == n.Data
}

// ignoredUnder returns which of the paths git ignores under the rules of then. It makes a
// directory with these files and the rule files and nothing tracked, and lets git list what
// is untracked.
func (c *run) ignoredUnder(top string, then, now *moment, paths []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(paths) == 0 {
		return out, nil
	}
	dir := filepath.Join(c.host.root, "oracle", "rules")
	defer remove(dir)
	write := func(p, data string) error {
		file := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(data), 0o600)
	}
	// Only names matter for ignore rules, so the files are empty.
	for _, p := range paths {
		out[p] = true
		if err := write(p, ""); err != nil {
			return nil, err
		}
	}
	// Rules are in the .gitignore files of all directories above, and in the excludes file.
	rules := map[string]bool{"ignores": true}
	for _, p := range paths {
		for d := path.Dir(p); ; d = path.Dir(d) {
			rules[path.Join(d, ".gitignore")] = true
			if d == "." {
				break
			}
		}
	}
	for p := range rules {
		n, ok := then.files[p]
		if _, captured := now.files[p]; !ok && !captured {
			n, ok = now.disk[p] // the rule file stays as it is
		}
		if !ok || !n.file() {
			continue
		}
		if err := write(p, n.Data); err != nil {
			return nil, err
		}
	}
	flags := []string{"--git-dir=" + filepath.Join(c.host.root, c.gitDir(top)), "--work-tree=" + dir}
	if r, err := c.host.start(top, nil, "git", "config", "core.excludesFile"); err != nil {
		return nil, err
	} else if file := strings.TrimSpace(r.out); path.Base(file) == "ignores" {
		flags = append(flags, "-c", "core.excludesFile="+filepath.Join(dir, "ignores"))
	}
	list, err := c.host.git(filepath.Join("oracle", "rules"), filepath.Join(dir, ".no-index"), append(flags, "ls-files", "-o", "-z", "--exclude-standard")...)
	for _, p := range split(list) {
		delete(out, p)
	}
	return out, err
}

// wrote returns the files that an undo of the move has to remove even if they are ignored.
func (c *run) wrote(m *move) (map[string]node, error) {
	if m.wish.only == nil {
		return m.forecast.files, nil
	}
	var made []string
	for p := range m.forecast.files {
		if _, there := m.now.files[p]; !there && !m.then.tracked[p] {
			made = append(made, p)
		}
	}
	out := map[string]node{}
	for _, rules := range []*moment{m.now, m.to.then} {
		ignored, err := c.ignoredUnder(m.op.Tree, rules, m.now, made)
		if err != nil {
			return nil, err
		}
		for p := range ignored {
			out[p] = m.forecast.files[p]
		}
	}
	return out, nil
}

// unignored takes the files that the safety checkpoint lists as "ignored until now" out of what it has to hold.
// They have to be untracked, and the move must not touch them.
func (c *run) unignored(m *move) error {
	note, err := c.host.git(m.op.Tree, "", "notes", "--ref=checkpoints", "show", m.safety)
	if err != nil {
		return err
	}
	var is struct{ Snapshot recorded }
	if err := json.Unmarshal([]byte(note), &is); err != nil {
		return broken("the record of %s: %v", m.safety, err)
	}
	for _, s := range is.Snapshot.Skipped {
		if s.Reason != "ignored until now" {
			continue
		}
		p := s.path()
		_, captured := m.now.files[p]
		_, written := m.forecast.files[p]
		if !captured || m.now.tracked[p] || written || m.forecast.gone[p] {
			return broken("the safety checkpoint leaves out %q as ignored until now", p)
		}
		m.now.leaveOut(p, "")
	}
	return nil
}
