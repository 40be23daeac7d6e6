package interop

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// place is where a layout was found.
type place struct {
	// dir is the directory in the file system. prefix is the path that it has in the layout, "" for
	// the root of a project. only is the path in the layout to which the import is restricted, ""
	// for everything.
	dir, prefix, only string
}

// find determines which of the given layouts exist at a path. The path can be the root of a
// project, a directory or file inside a layout, or a copy of such a directory or file at any other
// place. Symbolic links in the path are resolved first.
func find(at string, formats []string) (map[string]place, error) {
	at, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("find %q: %w", at, err)
	}
	info, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("find %q: %w", at, plain(err))
	}
	// The names of the directories above the path matter below, and a link may hide them.
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	found := map[string]place{}
	for _, format := range formats {
		for _, c := range containers(format) {
			if isDirectory(filepath.Join(at, filepath.FromSlash(c))) {
				found[format] = place{dir: at}
			}
		}
	}
	if info, err := os.Stat(filepath.Join(at, filepath.FromSlash(crunchConfig))); err == nil && info.Mode().IsRegular() && slices.Contains(formats, Crunch) {
		found[Crunch] = place{dir: at} // this also finds a project that has no checkpoints yet
	}
	// The path is the root of a project. If it is itself below a directory with the name of a
	// container, that belongs to another project.
	if len(found) > 0 {
		return found, nil
	}
	for _, format := range formats {
		if p, ok := inside(at, containers(format)); ok {
			found[format] = p
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	format, p, err := copied(at, info.IsDir(), formats)
	if format != "" {
		found[format] = p
	}
	return found, err
}

// isDirectory reports whether p is a directory or a link to one.
func isDirectory(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// inside finds the root of the project for a path that is a container, below one, or a parent of
// one (such as .claude). It compares the path's elements with those of each container, the longest
// containers first, so that a long one is not mistaken for a short one that has the same end.
func inside(at string, containers []string) (place, bool) {
	parts := strings.Split(filepath.ToSlash(at), "/")
	containers = slices.Clone(containers)
	slices.SortFunc(containers, func(a, b string) int { return len(b) - len(a) })
	for _, c := range containers {
		want := strings.Split(c, "/")
		for i := len(parts) - 1; i >= 1; i-- {
			rest := parts[i:]
			n := min(len(rest), len(want))
			if !slices.Equal(rest[:n], want[:n]) {
				continue
			}
			root := cmp.Or(filepath.FromSlash(strings.Join(parts[:i], "/")), string(filepath.Separator))
			// A parent of a container has a common name such as "data". It only counts if the
			// container exists.
			if len(rest) < len(want) && !isDirectory(filepath.Join(root, filepath.FromSlash(c))) {
				continue
			}
			return place{dir: root, only: strings.Join(rest, "/")}, true
		}
	}
	return place{}, false
}

// copied recognizes, by content, a file or directory that is not inside its layout. The first file
// that is a document decides for the whole directory. Other files in it may be anything, but a single
// file that cannot be read is an error.
func copied(at string, isDir bool, formats []string) (string, place, error) {
	dir, files := filepath.Dir(at), []string{filepath.Base(at)}
	if isDir {
		dir, files = at, nil
		entries, err := os.ReadDir(at)
		if err != nil {
			return "", place{}, fmt.Errorf("read %q: %w", at, plain(err))
		}
		for _, e := range entries {
			if !e.IsDir() && len(files) < 1000 {
				files = append(files, e.Name())
			}
		}
	}
	for _, file := range files {
		format, prefix, err := sniff(filepath.Join(dir, file), file)
		if err != nil && !isDir {
			return "", place{}, faulty([]Problem{{Path: file, Message: err.Error()}}, "nothing was imported")
		}
		if format == "" || !slices.Contains(formats, format) {
			continue
		}
		p := place{dir: dir, prefix: prefix}
		if !isDir {
			p.only = path.Join(prefix, file)
		}
		return format, p, nil
	}
	return "", place{}, nil
}

// sniff determines the layout of a single file by its content, and the directory in the layout that
// a file of this kind belongs to. format is "" if it is not a document. The error says why a file
// that is named like a document cannot be read as one.
func sniff(file, name string) (format, prefix string, err error) {
	info, err := os.Stat(file)
	ending := path.Ext(name)
	switch {
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxDocument:
		return "", "", nil //nolint:nilerr // what cannot be looked at is not a document
	case name == path.Base(crunchConfig):
		return Crunch, path.Dir(crunchConfig), nil
	// A database is recognized by its name alone; its table is checked when it is read.
	case name == path.Base(ultraDatabase):
		return UltraCreate, path.Dir(ultraDatabase), nil
	case !slices.Contains(slices.Concat(jsonFiles, yamlFiles), ending):
		return "", "", nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", "", plain(err)
	}
	doc, err := parse(data, name)
	if err != nil {
		return "", "", err
	}
	if ending == ".json" {
		format, prefix = sniffJSON(gjson.ParseBytes(doc))
		return format, prefix, nil
	}
	issue := text(gjson.ParseBytes(doc), "issue_number")
	if issue == "" || !safeName(issue) {
		return "", "", nil
	}
	return Crunch, path.Join(crunchHome, issue, crunchDir), nil
}

// sniffJSON does the same for a JSON document, by members that only one of the layouts has.
func sniffJSON(at gjson.Result) (format, prefix string) {
	switch {
	case at.Get("checkpoint.session_id").Exists() || at.Get("manifest.session_id").Exists():
		session := text(at, "checkpoint.session_id", "manifest.session_id")
		if !safeName(session) {
			return "", ""
		}
		return GoTeam, path.Join(goTeamBare, session)
	case at.Get("workflow_type").Exists():
		return Orchestrate, orchestrateHome
	case at.Get("prd").Exists():
		return Pipeline, pipelineHome
	case at.Get("project_id").Exists() && at.Get("state").Exists():
		return UltraCreate, ultraHome
	}
	return "", ""
}

// open returns the tree of a place. The caller closes its root.
func (p place) open() (*tree, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", p.dir, plain(err))
	}
	return &tree{root: root, prefix: p.prefix, only: p.only}, nil
}

// errNoLayout means that there is nothing to import.
var errNoLayout = errors.New("it has no files of go-team, ultra-create, orchestrate, crunch or pipeline")

// IsDocument reports whether a file may be a document of a layout, by its place, by its content, or
// because it is named like one and damaged.
func IsDocument(file string) bool {
	if !slices.Contains([]string{".json", ".yaml", ".yml", ".db"}, filepath.Ext(file)) {
		return false
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	for _, format := range Formats() {
		if _, ok := inside(file, containers(format)); ok {
			return true
		}
	}
	format, _, err := sniff(file, filepath.Base(file))
	return format != "" || err != nil
}
