package clearance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/bits"
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
// nor made itself. Then a table tells where the lines of an object are: making a map of them would take longer than the
// rest of a save.
type verdicts struct {
	path string
	head string
	made func(name.OID) bool // reports whether this process made an object, which nobody has scanned then

	mu    sync.Mutex
	read  bool   // the file
	text  []byte // lines of the file, each after a newline
	seed  maphash.Seed
	lines []uint32 // where in text each line begins, at the hash of its first word or in the next free place after it; 0 is free
	known map[name.OID]guard.Result
	noted map[string]bool // lines that name no object
	added []name.OID      // those of known that the file lacks
	notes []string        // those of noted that the file lacks
	fresh bool            // the file has to be started again
}

// maxVerdicts is the size of the file, in bytes, from which it is started again.
const maxVerdicts = 16 << 20

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
		v.text = data[len(v.head)-1:]
	}
}

// index finds where the lines are.
func (v *verdicts) index() {
	v.seed, v.lines = maphash.MakeSeed(), make([]uint32, 2<<bits.Len(uint(bytes.Count(v.text, []byte("\n")))))
	for at := 1; at < len(v.text); {
		line, _, _ := bytes.Cut(v.text[at:], []byte("\n"))
		word, _, _ := bytes.Cut(line, []byte(" "))
		i := v.place(word)
		for v.lines[i] != 0 {
			i = (i + 1) % len(v.lines)
		}
		v.lines[i] = uint32(at)
		at += len(line) + 1
	}
}

// place returns where in lines those of an object begin.
func (v *verdicts) place(word []byte) int {
	return int(maphash.Bytes(v.seed, word) % uint64(len(v.lines)))
}

// search parses the lines of one object.
func (v *verdicts) search(oid name.OID) {
	if v.lines == nil {
		v.index()
	}
	for i := v.place([]byte(oid)); v.lines[i] != 0; i = (i + 1) % len(v.lines) {
		if rest, found := bytes.CutPrefix(v.text[v.lines[i]:], []byte(oid+" ")); found {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			v.readLine(oid, line)
		}
	}
}

// readLine parses what follows the object id in a line. A torn line is no JSON, so it is ignored.
func (v *verdicts) readLine(oid name.OID, text []byte) {
	var one guard.Result
	if json.Unmarshal(text, &one) == nil {
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
	if len(v.text) == 0 {
		return guard.Result{}, false
	}
	v.search(oid)
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
	return v.noted[line] || bytes.Contains(v.text, []byte("\n"+line+"\n"))
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
