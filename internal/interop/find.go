package interop

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/transfer"
)

// place is a directory of a layout: where in the file system, where in the layout, and
// which part of it is wanted.
type place struct {
	dir, prefix, only string
}

// find says which layouts stand where somebody points: at a project root, at a directory
// or a file of a layout, or at a directory that was copied out of one.
func find(at string, formats []string) (map[string]place, error) {
	at, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("find %q: %w", at, err)
	}
	info, err := os.Stat(at)
	if err != nil {
		return nil, fmt.Errorf("find %q: %w", at, plain(err))
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	found := map[string]place{}
	for _, format := range formats {
		for _, c := range layouts()[format].containers() {
			if isDirectory(filepath.Join(at, filepath.FromSlash(c))) {
				found[format] = place{dir: at}
			}
		}
	}
	if info, err := os.Stat(filepath.Join(at, filepath.FromSlash(crunchConfig))); err == nil && info.Mode().IsRegular() && slices.Contains(formats, Crunch) {
		found[Crunch] = place{dir: at} // a project that has the configuration only
	}
	if len(found) > 0 { // a root: what stands above it is another project's
		return found, nil
	}
	for _, format := range formats {
		if p, ok := inside(at, layouts()[format].containers()); ok {
			found[format] = p
		}
	}
	if len(found) == 0 {
		if format, p, ok := copied(at, info.IsDir(), formats); ok {
			found[format] = p
		}
	}
	return found, nil
}

func isDirectory(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// inside finds the root above a path that is a container, a part of the way to one, or
// below one.
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
			root := filepath.FromSlash(strings.Join(parts[:i], "/"))
			if root == "" {
				root = string(filepath.Separator)
			}
			if len(rest) < len(want) && !isDirectory(filepath.Join(root, filepath.FromSlash(c))) {
				continue
			}
			return place{dir: root, only: strings.Join(rest, "/")}, true
		}
	}
	return place{}, false
}

// copied recognises by its files a directory, or a file, that stands outside its layout.
func copied(at string, isDir bool, formats []string) (string, place, bool) {
	dir, files := at, []string{}
	if isDir {
		entries, err := os.ReadDir(at)
		if err != nil {
			return "", place{}, false
		}
		for _, e := range entries {
			if !e.IsDir() && len(files) < 1000 {
				files = append(files, e.Name())
			}
		}
	} else {
		dir, files = filepath.Dir(at), []string{filepath.Base(at)}
	}
	for _, file := range files {
		format, prefix := sniff(filepath.Join(dir, file), file)
		if format == "" || !slices.Contains(formats, format) {
			continue
		}
		p := place{dir: dir, prefix: prefix}
		if !isDir {
			p.only = path.Join(prefix, file)
		}
		return format, p, true
	}
	return "", place{}, false
}

// sniff says of which layout a file is, and which directory of it its own would be.
func sniff(file, name string) (format, prefix string) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDocument {
		return "", ""
	}
	if name == path.Base(crunchConfig) {
		return Crunch, path.Dir(crunchConfig)
	}
	ending := path.Ext(name)
	if ending == ".db" {
		if name == path.Base(ultraDatabase) {
			return UltraCreate, path.Dir(ultraDatabase)
		}
		return "", ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", ""
	}
	if ending == ".yaml" || ending == ".yml" {
		doc, err := yamlToJSON(data)
		issue := text(gjson.ParseBytes(doc), "issue_number")
		if err != nil || issue == "" || !safeName(issue) {
			return "", ""
		}
		return Crunch, path.Join(crunchHome, issue, crunchDir)
	}
	doc, err := transfer.ParseDocument(data)
	if err != nil || ending != ".json" {
		return "", ""
	}
	return sniffJSON(gjson.ParseBytes(doc))
}

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

// open gives the tree of a place.
func (p place) open() (*tree, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", p.dir, plain(err))
	}
	return &tree{root: root, prefix: p.prefix, only: p.only}, nil
}

// errNoLayout says that nothing was recognised.
var errNoLayout = errors.New("no files of go-team, ultra-create, orchestrate, crunch or pipeline are there")

// IsDocument reports whether a file may be one of a layout.
func IsDocument(file string) bool {
	if !slices.Contains([]string{".json", ".yaml", ".yml", ".db"}, filepath.Ext(file)) {
		return false
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	for _, l := range layouts() {
		if _, ok := inside(file, l.containers()); ok {
			return true
		}
	}
	format, _ := sniff(file, filepath.Base(file))
	return format != ""
}
