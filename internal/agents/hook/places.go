package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/sys/wholefile"
	"git-checkpoint/internal/verb/connect"
)

// Directories returns where the repository of an event may be, the best guess first: where the agent
// works; its project; the file that its tool wrote; and where the conversation began. An agent may be
// in a directory that is no longer there, or in one of no repository with consent. "" is the working
// directory of the hook.
func Directories(def *agent.Definition, e agent.Event, getenv func(string) string) []string {
	dirs := []string{""}
	if e.Directory != "" {
		dirs = nil
	}
	guesses := []string{e.Directory, e.Project}
	if def.ProjectVariable != "" {
		guesses = append(guesses, getenv(def.ProjectVariable))
	}
	if e.File != "" {
		guesses = append(guesses, nearest(e.File))
	}
	guesses = append(guesses, placesOf(getenv).began(hashed(def.Name, e)))
	for _, dir := range guesses {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// WorktreeOf returns the worktree of the file that a tool wrote, if the file may belong to a
// repository other than the one of the worktree top; else "".
func WorktreeOf(top string, e agent.Event) string {
	if e.File == "" {
		return ""
	}
	at, err := filepath.EvalSymlinks(nearest(e.File))
	for ; err == nil && at != top && at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return ""
}

// nearest returns the nearest directory above a file that exists.
func nearest(file string) string {
	for {
		file = filepath.Dir(file)
		if info, err := os.Stat(file); err == nil && info.IsDir() || file == filepath.Dir(file) {
			return file
		}
	}
}

// hashed returns what stands for a conversation in the names and content of files: its id may be any
// text.
func hashed(name string, e agent.Event) string {
	id := cmp.Or(e.Parent, e.Session)
	return agent.HashedID(name, id)
}

// places is a file of the user's with JSON lines for each conversation: the directory where it began, what its hooks took, and
// of what the person was told. It is not in the repository, which may be one that cannot be written. It
// may be deleted at any time.
type places string

type place struct {
	ID   string `json:"id"`
	Dir  string `json:"dir,omitempty"`
	Said string `json:"said,omitempty"` // the subject
	// Spent is what a tool's hook took of the time that those of a prompt may take together; below 0: a prompt came.
	Spent int `json:"spent,omitempty"`
}

func placesOf(getenv func(string) string) places {
	dir := connect.UserState(getenv)
	if !filepath.IsAbs(dir) { // neither variable is set
		return ""
	}
	return places(filepath.Join(dir, "conversations"))
}

// find returns the first line that fits, of a conversation or of any.
func (f places) find(id string, fits func(place) bool) (p place, found bool) {
	data, err := os.ReadFile(string(f))
	if err != nil {
		return p, false
	}
	for line := range bytes.Lines(data) {
		var p place
		if bytes.Contains(line, []byte(id)) && json.Unmarshal(line, &p) == nil && (id == "" || p.ID == id) && fits(p) {
			return p, true
		}
	}
	return p, false
}

// began returns the directory where a conversation began, or "".
func (f places) began(id string) string {
	p, _ := f.find(id, func(p place) bool { return p.Dir != "" })
	return p.Dir
}

// first reports whether the person was not told of a subject in this conversation, and remembers that they
// are now. If it cannot, each prompt is the first time.
func (f places) first(id, subject string, kind agent.Kind) bool {
	_, told := f.find(id, func(p place) bool { return p.Said == subject })
	return !told && (f.add(place{ID: id, Said: subject}) == nil || kind == agent.KindPrompt || kind == agent.KindSessionStart)
}

// add appends a line.
func (f places) add(p place) error {
	const mostPlaces = 128 << 10 // bounds the file, in bytes. When it is full, the older half of the lines is dropped
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	if data, err := os.ReadFile(string(f)); err == nil && len(data) > mostPlaces {
		_, kept, _ := bytes.Cut(data[len(data)/2:], []byte("\n"))
		if err := wholefile.Bytes(string(f), 0o600, kept); err != nil {
			return err
		}
	}
	return appendLine(string(f), p)
}

// appendLine appends a line of JSON to a file that only its owner may read.
func appendLine(name string, what any) error {
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return cmp.Or(err, file.Close())
}
