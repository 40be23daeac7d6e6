// Package interop reads and writes the files of five other checkpoint managers —
// go-team, ultra-create, orchestrate, crunch and pipeline — and the SQLite databases
// beside them. It owns their layouts: where a document stands, what its members mean,
// which files tell of it. It turns them into values of package checkpoint and back, and
// asks that package for everything else.
//
// It refuses what is not exactly a document: JSON or YAML with two members of one name,
// too deep or too large, with tags that name types or aliases that explode; ids that
// lead out of their directory; two documents of one id that differ; databases with other
// columns or triggers. It follows no link out of the directory that it was given, reading
// or writing, and never takes a place to write to from a document.
package interop

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/transfer"
)

// The formats, as --format and checkpoint.mirror call them.
const (
	GoTeam      = "go-team"
	UltraCreate = "ultra-create"
	Orchestrate = "orchestrate"
	Crunch      = "crunch"
	Pipeline    = "pipeline"
	SQLite      = "sqlite"
)

// Formats lists the layouts that can be read and written.
func Formats() []string { return []string{GoTeam, UltraCreate, Orchestrate, Crunch, Pipeline} }

// Known reports whether format is a layout of this package.
func Known(format string) bool { return slices.Contains(Formats(), format) }

// layout is one of the five.
type layout interface {
	// containers are the directories below a project root that hold its documents.
	containers() []string
	// read gives the sessions below a tree.
	read(r *reading)
	// write gives the files that a session is in this layout.
	write(a *transfer.Archive, w *rendering)
}

func layouts() map[string]layout {
	return map[string]layout{
		GoTeam: goTeam{}, UltraCreate: ultraCreate{}, Orchestrate: orchestrate{}, Crunch: crunch{}, Pipeline: pipeline{},
	}
}

// Problem is a file that cannot be imported, and why.
type Problem struct {
	Path    string `json:"path"` // in the layout
	Message string `json:"message"`
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s", p.Path, p.Message) }

// safeName reports whether a name from a document may be part of a path: one part, no
// hidden file, nothing that a terminal or another system would take for more.
func safeName(s string) bool {
	if s == "" || len(s) > 200 || s[0] == '.' || s[0] == '-' || strings.Contains(s, "..") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("._+-", c) >= 0:
		default:
			return false
		}
	}
	return !strings.HasSuffix(s, ".")
}
