package worktree

// An SQLite database is a file, a log (-wal) or a rollback journal (-journal) beside it, and locks, which SQLite
// puts on bytes that no content has. Here such a group is read at one moment: with the locks of a reader, to read
// only, and never through SQLite, which writes beside the file.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/sys/gather"
)

// Sides are the ends of the names of what belongs to a database.
var Sides = []string{"-wal", "-journal"}

// The bytes that SQLite locks in a database, 512 from the first on, and that of the last reader in its -shm.
const lockPending, lockReserved, lockShared, lockBytes, lockLastReader = 0x40000000, 0x40000001, 0x40000002, 512, 127

// journalBegins is how a rollback journal begins that SQLite heeds.
const journalBegins = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// ErrUnsteady says that a database could not be read at one moment.
var ErrUnsteady = errors.New("a program is writing to this database")

// Group returns a database and the paths of what may belong to it.
func Group(p string) []string {
	out := []string{p}
	for _, side := range Sides {
		out = append(out, p+side)
	}
	return out
}

// IsDatabase reports whether this is how an SQLite database begins.
func IsDatabase(content []byte) bool { return bytes.HasPrefix(content, []byte("SQLite format 3\x00")) }

// HasPages reports whether content is a database, its WAL or its journal: no byte in it may move.
func HasPages(content []byte) bool {
	return IsDatabase(content) || slices.ContainsFunc([]string{"\x37\x7f\x06\x82", "\x37\x7f\x06\x83", journalBegins}, func(begins string) bool { return bytes.HasPrefix(content, []byte(begins)) })
}

// DatabaseOf returns the path of the database to which a file of this name would belong, "" if to none.
func DatabaseOf(p string) string {
	for _, side := range append(Sides, "-shm") {
		if base, is := strings.CutSuffix(p, side); is && path.Base(p) != side {
			return base
		}
	}
	return ""
}

// OneLineEach returns what to call each of some paths: what belongs to a database has one line with it,
// "app.sqlite (with its WAL)", and "" otherwise. Only names tell, so a database needs an extension.
func OneLineEach(paths []string) []string {
	all, named, names := gather.SetOf(paths), map[string]bool{}, slices.Clone(paths)
	for i, p := range paths {
		base, what := cmp.Or(DatabaseOf(strings.TrimSuffix(p, "-shm")), p), ""
		switch {
		case path.Ext(base) == "":
		case all[base+"-wal"]:
			what = " (with its WAL)"
		case all[base+"-journal"]:
			what = " (with its journal)"
		}
		if what != "" && (named[base] || base != p && all[base]) {
			names[i] = ""
		} else if what != "" {
			named[base], names[i] = true, base+what
		}
	}
	return names
}

// IsDatabase reports whether a database is at p.
func (w *Files) IsDatabase(p string) bool {
	info, err := w.Lstat(p)
	return err == nil && info != nil && w.HoldsDatabase(p, info)
}

// HoldsDatabase is IsDatabase for a file of which lstat is known.
func (w *Files) HoldsDatabase(p string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	head, _ := w.Head(p, 16)
	return IsDatabase(head)
}

// Head returns the first bytes of a file, n at most. readable is false if it cannot be opened.
func (w *Files) Head(p string, n int) (head []byte, readable bool) {
	f, err := w.Open(p)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // read only
	head = make([]byte, n)
	n, _ = f.ReadAt(head, 0) //nolint:errcheck // a shorter one is of another kind
	return head[:n], true
}

// AtOneMoment has read look at a database, then at what belongs to it, so that what it has read last is a state of
// the database. If it changed meanwhile, read is called again, from the database on. The result is ErrUnsteady if
// that is no help, or if a program keeps everybody out for longer than wait.
func (w *Files) AtOneMoment(ctx context.Context, p string, wait time.Duration, read func(p string, f *os.File) error) error {
	beside, err := w.ReadDir(path.Dir(p))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(beside, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), path.Base(p)+"-mj") }) {
		return ErrUnsteady // a transaction over several databases
	}
	for range 3 {
		if done, err := w.atOneMoment(ctx, p, wait, read); done || err != nil {
			return err
		}
	}
	return ErrUnsteady
}

// atOneMoment is one try of AtOneMoment.
func (w *Files) atOneMoment(ctx context.Context, p string, wait time.Duration, read func(p string, f *os.File) error) (bool, error) {
	f, err := w.Open(p)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // read only
	before, err := w.note(p, f)
	if err != nil || before.db == nil {
		return false, err
	}
	if before.logs {
		if shm, err := w.Open(p + "-shm"); err == nil {
			defer shm.Close()                        //nolint:errcheck // read only
			lock(shm, lockLastReader, 1, forReading) // it holds off a restart of the log, which the header would show
		}
	} else {
		if !lockAsReader(ctx, f, wait) {
			return false, cmp.Or(ctx.Err(), ErrUnsteady)
		}
		defer lock(f, lockPending, lockBytes, forNone)
		if before, err = w.note(p, f); err != nil || before.db == nil || before.logs {
			return false, err
		}
	}
	if err = read(p, f); err == nil && before.log != nil {
		err = w.readSide(p+"-wal", read)
	}
	// A journal is of a transaction that was cut off; one that goes on has changed nothing in the file yet.
	if err == nil && w.HasJournal(p+"-journal") {
		if _, busy := lockedBy(f, lockReserved, 1); !busy {
			err = w.readSide(p+"-journal", read)
		}
	}
	if err != nil && !Absent(err) {
		return false, err
	}
	after, again := w.note(p, f)
	return err == nil && before.same(after), again
}

// HasJournal reports whether a rollback journal has a header. SQLite takes it away at the end of a transaction.
func (w *Files) HasJournal(p string) bool {
	info, err := w.Lstat(p)
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return false
	}
	head, _ := w.Head(p, 8)
	return string(head) == journalBegins
}

// readSide has read look at what belongs to a database.
func (w *Files) readSide(p string, read func(p string, f *os.File) error) error {
	f, err := w.Open(p)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	return read(p, f)
}

// moment is what tells whether a database was at rest.
type moment struct {
	logs    bool        // it has a log, or will
	db, log fs.FileInfo // nil: it is not there, or another file is
	header  string      // of the log, which is another one after a restart
}

// note notes how a database is now; f is open.
func (w *Files) note(p string, f *os.File) (m moment, err error) {
	if m.db, err = f.Stat(); err != nil {
		return m, err
	}
	if now, err := w.Lstat(p); err != nil || now == nil || !os.SameFile(m.db, now) {
		m.db = nil
		return m, err
	}
	if m.log, err = w.Lstat(p + "-wal"); err != nil {
		return m, err
	}
	if m.log != nil && !m.log.Mode().IsRegular() {
		m.log = nil
	} else if m.log != nil {
		header, _ := w.Head(p+"-wal", 32)
		m.header = string(header)
	}
	versions := make([]byte, 2)
	f.ReadAt(versions, 18) //nolint:errcheck // then it has no log
	m.logs = m.header != "" || string(versions) == "\x02\x02"
	return m, nil
}

// same reports whether what was read between two moments belongs together. A log only grows, and has every page that
// a program is copying from it into the database. Without one, the database itself must be the same.
func (m moment) same(after moment) bool {
	switch {
	case after.db == nil:
		return false
	case m.header == "":
		return after.header == "" && m.logs == after.logs && Same(m.db, after.db)
	}
	return after.log != nil && os.SameFile(m.log, after.log) && m.header == after.header
}

// lockAsReader takes the lock that SQLite takes to read a database without a log. A program that waits to write comes first.
func lockAsReader(ctx context.Context, f *os.File, wait time.Duration) bool {
	for end := time.Now().Add(wait); ; time.Sleep(5 * time.Millisecond) {
		if lock(f, lockPending, 1, forReading) {
			had := lock(f, lockShared, lockBytes-2, forReading)
			lock(f, lockPending, 1, forNone)
			if had {
				return true
			}
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
	}
}

// LockOut has everybody else wait who wants to use an open database, until it is closed. had is false if somebody uses it.
func LockOut(f *os.File) (had bool) { return lock(f, lockPending, lockBytes, forWriting) }

// OpenToLock opens a file for LockOut.
func (w *Files) OpenToLock(p string) (*os.File, error) { return w.open(p, os.O_RDWR) }

// OpenIn returns a program that has each of some files open, such as "node (4711)". Only Linux lists them, as far as this
// process may see; otherwise those that hold a lock are known.
func (w *Files) OpenIn(paths []string) map[string]string {
	at, out := map[[2]uint64]string{}, map[string]string{}
	for _, p := range paths {
		f, err := w.Open(p)
		if err != nil {
			continue
		}
		if info, err := f.Stat(); err == nil {
			dev, ino, _ := Inode(info)
			at[[2]uint64{dev, ino}] = p
		}
		if pid, is := lockedBy(f, lockPending, lockBytes); is {
			out[p] = program(strconv.Itoa(pid))
		}
		f.Close() //nolint:errcheck // read only
	}
	var open []string
	if len(at) > 0 {
		open, _ = filepath.Glob("/proc/[0-9]*/fd/*") //nolint:errcheck // the pattern is good
	}
	for _, file := range open {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		pid := strings.Split(file, "/")[2]
		dev, ino, known := Inode(info)
		if p, is := at[[2]uint64{dev, ino}]; is && known && pid != strconv.Itoa(os.Getpid()) {
			out[p] = program(pid)
		}
	}
	return out
}

// program names a process for people.
func program(pid string) string {
	name, err := os.ReadFile("/proc/" + pid + "/comm")
	switch {
	case err == nil:
		return strings.TrimSpace(string(name)) + " (" + pid + ")"
	case pid[0] == '-' || pid == "0": // nobody knows whose lock it is
		return "another program"
	}
	return "process " + pid
}
