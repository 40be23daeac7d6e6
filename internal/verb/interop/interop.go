// Package interop reads and writes the files of five other checkpoint managers (go-team,
// ultra-create, orchestrate, crunch and pipeline) and the SQLite databases that go with them.
// docs/interop.md describes the formats for users.
//
// Each format has a type that implements layout: read collects documents into a reading, write
// turns an archive of a session into a rendering. goteam.go and ultra.go read, goteam_write.go and
// ultra_write.go write; crunch.go does both, and so does single.go for orchestrate and pipeline, which
// have one document per session. Start with this file, then Import (import.go), Export (export.go) and
// MirrorAll (mirror.go), which connect the layouts with package transfer. That package creates the
// checkpoints and reads the archives.
//
// All input is untrusted. The package refuses JSON or YAML with duplicate members, too deep or too
// large, with tags that name types or with aliases that expand without bound; ids that would be
// paths out of their directory; two documents with the same id and different content; and databases
// with unexpected columns or triggers. It follows no symbolic link out of the directory that it was
// given, and never takes a place to write to from a document.
package interop

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/transfer"
)

// The formats, as used by --format and in checkpoint.mirror. SQLite can only be written, and is not
// a layout.
const (
	GoTeam      = "go-team"
	UltraCreate = "ultra-create"
	Orchestrate = "orchestrate"
	Crunch      = "crunch"
	Pipeline    = "pipeline"
	SQLite      = "sqlite"
)

// Formats returns the names of the layouts, in the order in which an import tries them.
func Formats() []string { return []string{GoTeam, UltraCreate, Orchestrate, Crunch, Pipeline} }

// Known reports whether format is the name of a layout.
func Known(format string) bool { return slices.Contains(Formats(), format) }

// layout is one of the five file formats.
type layout interface {
	// read adds the sessions in the tree of r, and what is wrong with the documents, to r.
	read(r *reading)
	// write adds the files that represent a session to w.
	write(a *transfer.Archive, w *rendering)
}

// containers returns the directories, relative to the root of a project, in which a layout keeps its documents.
func containers(format string) []string {
	return map[string][]string{
		GoTeam: {goTeamBare, goTeamHome}, UltraCreate: {ultraHome, path.Dir(ultraDatabase)}, Orchestrate: {orchestrateHome}, Crunch: {crunchHome}, Pipeline: {pipelineHome},
	}[format]
}

// layouts returns the implementations by name.
func layouts() map[string]layout {
	return map[string]layout{
		GoTeam: goTeam{}, UltraCreate: ultraCreate{}, Orchestrate: orchestrate{}, Crunch: crunch{}, Pipeline: pipeline{},
	}
}

// Problem is a file that cannot be imported, and the reason.
type Problem struct {
	Path    string `json:"path"` // relative to the root of the layout
	Message string `json:"message"`
}

func (p Problem) String() string { return render.Escape(p.Path) + ": " + p.Message }

// safeName reports whether a name from a document may be used as a file or directory name: a single
// path element of letters, digits and "._+-" that is neither hidden nor looks like a flag. A trailing
// dot is refused because Windows drops it.
func safeName(s string) bool {
	if s == "" || len(s) > 200 || s[0] == '.' || s[0] == '-' || strings.Contains(s, "..") {
		return false
	}
	for _, c := range s {
		if !unicode.In(c, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune("._+-", c) {
			return false
		}
	}
	return !strings.HasSuffix(s, ".")
}
