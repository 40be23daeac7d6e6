package clearance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
)

// verdicts stores the results in a text file. The first line names the scanner and the
// keys; if either has changed, the file is started again. Each further line is an object id
// with its guard.Result as JSON, or in a file of their own a note: "dir" with a directory that was warned about, or "below"
// with commits below which nothing was found. The file is a cache and lines are only appended, so processes need no
// lock: a lost or torn line costs another scan.
//
// After 10,000 saves the file has 4 MB, so it is read when an object is asked for that this process has neither scanned
// nor made itself. The first few objects are searched for, and the lines are
// indexed only when more are asked for.
type verdicts struct {
	path string
	head string
	made func(name.OID) bool // reports whether this process made an object, which nobody has scanned then

	mu       sync.Mutex
	read     bool              // the file
	text     string            // lines of the file, each after a newline
	searches int               // how often text was searched
	lines    map[string]string // once it was searched often: what follows the first word of each line
	known    map[name.OID]guard.Result
	noted    map[string]bool // lines that name no object
	added    []name.OID      // those of known that the file lacks
	notes    []string        // those of noted that the file lacks
	fresh    bool            // the file has to be started again
}

const (
	// maxSearches is how often the text is searched before all of it is indexed, which takes as long as a few searches.
	maxSearches = 8
	maxVerdicts = 16 << 20 // the size of the file, in bytes, from which it is started again
)

// openVerdicts reads the verdicts of the same scanner with the same keys.
func openVerdicts(path, scanner string, keys ...[]byte) *verdicts {
	sum := sha256.Sum256(bytes.Join(keys, nil))
	v := &verdicts{path: path, known: map[name.OID]guard.Result{}, noted: map[string]bool{}}
	v.head = "guard 3 " + scanner + " " + hex.EncodeToString(sum[:4]) + "\n"
	v.fresh = !v.isUsable()
	v.read = v.fresh
	return v
}

// isUsable reports whether the file can be read and appended to. If another scanner or another key
// made it, its findings say nothing here.
func (v *verdicts) isUsable() bool {
	f, err := os.Open(v.path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	head := make([]byte, len(v.head))
	_, err = io.ReadFull(f, head)
	info, statErr := f.Stat()
	return err == nil && statErr == nil && string(head) == v.head && info.Size() < maxVerdicts
}

// load reads the file if that has not been done yet.
func (v *verdicts) load() {
	if v.read {
		return
	}
	v.read = true
	data, _ := os.ReadFile(v.path) //nolint:errcheck // a cache: without it, objects are scanned again
	if bytes.HasPrefix(data, []byte(v.head)) {
		v.text = string(data[len(v.head)-1:])
	}
}

// index finds where the lines are.
func (v *verdicts) index() {
	v.lines = make(map[string]string, strings.Count(v.text, "\n"))
	for line := range strings.SplitSeq(v.text, "\n") {
		first, rest, _ := strings.Cut(line, " ")
		v.lines[first] = rest
	}
}

// search parses the lines of one object.
func (v *verdicts) search(oid name.OID) {
	start := "\n" + string(oid) + " "
	for _, rest, found := strings.Cut(v.text, start); found; _, rest, found = strings.Cut(rest, start) {
		line, _, _ := strings.Cut(rest, "\n")
		v.readLine(oid, line)
	}
}

// readLine parses what follows the object id in a line. A torn line is no JSON, so it is ignored.
func (v *verdicts) readLine(oid name.OID, text string) {
	var one guard.Result
	if json.Unmarshal([]byte(text), &one) == nil {
		v.known[oid] = one
	}
}

func (v *verdicts) verdictOf(oid name.OID) (guard.Result, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if one, known := v.known[oid]; known {
		return one, true
	}
	if v.made != nil && v.made(oid) {
		return guard.Result{}, false
	}
	v.load()
	if v.text == "" {
		return guard.Result{}, false
	}
	if v.searches++; v.searches <= maxSearches {
		v.search(oid)
	} else {
		if v.lines == nil {
			v.index()
		}
		v.readLine(oid, v.lines[string(oid)])
	}
	one, known := v.known[oid]
	return one, known
}

func (v *verdicts) add(oid name.OID, one guard.Result) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known[oid] = one
	v.added = append(v.added, oid)
}

// has reports whether a line that names no object was noted.
func (v *verdicts) has(line string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load()
	return v.noted[line] || strings.Contains(v.text, "\n"+line+"\n")
}

// isFirst notes a line, and reports whether nobody did so before.
func (v *verdicts) isFirst(line string) bool {
	line = inOneLine(line) // the name of a directory could be a newline and a verdict
	if v.has(line) {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.noted[line] = true
	v.notes = append(v.notes, line)
	return true
}

// save appends the new verdicts to the file.
func (v *verdicts) save() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.added)+len(v.notes) == 0 {
		return nil
	}
	var text strings.Builder
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	// The file is new, or was made by another scanner. Start it again with our first line.
	if v.fresh {
		flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		text.WriteString(v.head)
	}
	for _, oid := range v.added {
		one, err := json.Marshal(v.known[oid])
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s %s\n", oid, one)
	}
	for _, line := range v.notes {
		text.WriteString(line + "\n")
	}
	f, err := os.OpenFile(v.path, flags, 0o600)
	if err != nil {
		return fmt.Errorf("remember what the guard found: %w", err)
	}
	_, err = f.WriteString(text.String())
	err = errors.Join(err, f.Close())
	v.added, v.notes, v.fresh = nil, nil, false
	return err
}
