package worktree

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// The accounts of each database hold this much together, whatever was transferred.
const total = 16 * 1000

// TestDatabaseWriter is the program beside the tests of databases: the locks of SQLite belong to a process. It makes the
// database and obeys its input: "go N" has N connections transfer amounts until it is killed, a statement is
// carried out.
func TestDatabaseWriter(t *testing.T) {
	file, asked := os.LookupEnv("DATABASE_FILE")
	if !asked {
		t.Skip("only as the program beside a test")
	}
	open := func() *sql.DB {
		db, err := sql.Open("sqlite", file+os.Getenv("DATABASE_PRAGMAS"))
		if err != nil {
			panic(err)
		}
		db.SetMaxOpenConns(1)
		return db
	}
	db := open()
	do := func(db *sql.DB, statements ...string) {
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				fmt.Println("error:", s, err)
				os.Exit(1)
			}
		}
	}
	do(db, "create table if not exists account(id integer primary key, amount int, padding blob)")
	for i := range 16 {
		do(db, fmt.Sprintf("insert or ignore into account values(%d, 1000, zeroblob(3000))", i))
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		n, writers := strings.CutPrefix(in.Text(), "go ")
		if !writers {
			do(db, strings.Split(in.Text(), ";")...)
			continue
		}
		connections, _ := strconv.Atoi(n)
		for i := range connections {
			mine := db
			if i > 0 {
				mine = open()
			}
			go transfer(mine, connections == 1)
		}
	}
}

// transfer moves amounts between accounts. If it is alone, nothing may fail.
func transfer(db *sql.DB, alone bool) {
	for range 1 << 30 {
		tx, err := db.Begin()
		for _, sign := range []string{"-", "+"} {
			if err == nil {
				_, err = tx.Exec("update account set amount = amount "+sign+" 7, padding = zeroblob(?) where id = ?", 2000+rand.IntN(2000), rand.IntN(16))
			}
		}
		if tx != nil && err == nil && rand.IntN(8) > 0 {
			err = tx.Commit()
		} else if tx != nil {
			err = errors.Join(err, tx.Rollback())
		}
		if rand.IntN(20) == 0 {
			db.Exec("pragma wal_checkpoint(restart)") //nolint:errcheck // others may read
		}
		if err != nil && alone {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
}

// writer is the program beside a test.
type writer struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func startWriter(t *testing.T, file, pragmas string) *writer {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDatabaseWriter$") //nolint:noctx // it is killed
	cmd.Env = append(os.Environ(), "DATABASE_FILE="+file, "DATABASE_PRAGMAS="+pragmas)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &writer{t, cmd, in, bufio.NewScanner(out)}
	t.Cleanup(w.kill)
	w.wait("ready")
	return w
}

func (w *writer) wait(word string) {
	w.t.Helper()
	for w.out.Scan() {
		if w.out.Text() == word {
			return
		}
		if strings.HasPrefix(w.out.Text(), "error") {
			w.t.Fatal(w.out.Text())
		}
	}
	w.t.Fatal("the program beside the test has ended")
}

func (w *writer) tell(line string) {
	w.t.Helper()
	fmt.Fprintln(w.in, line)
	w.wait("done")
}

func (w *writer) kill() {
	w.cmd.Process.Kill() //nolint:errcheck // it may have ended
	w.cmd.Wait()         //nolint:errcheck // it was killed
}

// read reads a database at one moment.
func read(t *testing.T, dir string, after func(p string)) (map[string][]byte, error) {
	t.Helper()
	w, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var got map[string][]byte
	err = w.AtOneMoment(context.Background(), "app.db", 300*time.Millisecond, func(p string, f *os.File) error {
		if p == "app.db" {
			got = map[string][]byte{}
		}
		data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<40))
		got[p] = data
		after(p)
		return err
	})
	return got, err
}

// sum recovers what was read of a database in a directory of its own.
func sum(t *testing.T, got map[string][]byte) (sum int) {
	t.Helper()
	dir := t.TempDir()
	for p, data := range got {
		if err := os.WriteFile(filepath.Join(dir, p), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it is thrown away
	var check string
	if err := db.QueryRow("pragma integrity_check").Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity: %s %v", check, err)
	}
	if err := db.QueryRow("select sum(amount) from account").Scan(&sum); err != nil {
		t.Error(err)
	}
	return sum
}

// seen is all that a capture must not change in a directory.
func seen(t *testing.T, dir string) (all string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintln(e.Name(), info.Mode(), info.ModTime(), ChangeTime(info), len(data), string(data))
	}
	return all
}

// Whatever programs do to a database meanwhile, what is read recovers to a state that it had, or is refused; and nothing
// of it changes. DATABASE_STORIES says how many stories are told.
func TestDatabaseStories(t *testing.T) {
	t.Parallel()
	stories := 14
	if n, err := strconv.Atoi(os.Getenv("DATABASE_STORIES")); err == nil {
		stories = n
	}
	modes := []string{
		"journal_mode(wal)", "journal_mode(delete)", "journal_mode(truncate)", "journal_mode(persist)", "journal_mode(memory)",
		"locking_mode(exclusive)&_pragma=journal_mode(wal)", "locking_mode(exclusive)&_pragma=journal_mode(delete)",
	}
	had, refused := map[string]int{}, map[string]int{}
	for n := range stories {
		mode := modes[n%len(modes)]
		dir := t.TempDir()
		pragmas := "?_pragma=busy_timeout(2000)&_pragma=" + mode + "&_pragma=cache_size(2)&_pragma=synchronous(" + []string{"off", "normal"}[n/len(modes)%2] + ")&_txlock=immediate"
		w := startWriter(t, filepath.Join(dir, "app.db"), pragmas)
		writers := 2 + rand.IntN(15)
		if strings.HasPrefix(mode, "locking") {
			writers = 1
		}
		w.tell("go " + strconv.Itoa(writers))
		take := func() {
			got, err := read(t, dir, func(string) {})
			switch {
			case errors.Is(err, ErrUnsteady):
				refused[mode]++
			case err != nil:
				t.Fatal(err)
			default:
				had[mode]++
				if s := sum(t, got); s != total {
					t.Fatalf("%s, %d writers: the sum is %d", mode, writers, s)
				}
			}
		}
		for range 4 {
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
			take()
		}
		w.kill()
		if mode == "journal_mode(memory)" || strings.Contains(pragmas, "synchronous(off)") && mode != "journal_mode(wal)" {
			continue // the killed program itself may have left no sound database
		}
		before := seen(t, dir)
		take()
		if seen(t, dir) != before {
			t.Errorf("%s: reading it changed something", mode)
		}
	}
	t.Log("had", had, "refused", refused)
}

// A log that starts again after the database was read lacks what was copied into the database meanwhile. Only its header tells.
func TestDatabaseLogRestarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := startWriter(t, filepath.Join(dir, "app.db"), "?_pragma=locking_mode(exclusive)&_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(0)")
	move := func(from, to int) string {
		return fmt.Sprintf("begin;update account set amount = amount-1 where id=%d;update account set amount = amount+1 where id=%d;commit", from, to)
	}
	w.tell("pragma wal_checkpoint(truncate)")
	w.tell(move(1, 5))
	times := 0
	got, err := read(t, dir, func(p string) {
		if times++; p == "app.db" && times == 1 {
			w.tell("pragma wal_checkpoint(restart)")
			w.tell(move(1, 9))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := sum(t, got); s != total {
		t.Errorf("the sum is %d", s)
	}
	if times < 3 {
		t.Error("it was not read again")
	}
}

// A program that writes with a log and waits for nobody gets no error from a capture.
func TestDatabaseWriterIsNotDisturbed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := startWriter(t, filepath.Join(dir, "app.db"), "?_pragma=journal_mode(wal)")
	w.tell("go 1")
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if got, err := read(t, dir, func(string) {}); err != nil || sum(t, got) != total {
			t.Fatal(err)
		}
	}
	w.tell("select 1") // it would have ended at an error
}

// An open database is found, whether a connection was used, is idle or was never used, and has the name of the program.
func TestDatabaseOpenIn(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete"} {
		dir := t.TempDir()
		files, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := startWriter(t, filepath.Join(dir, "app.db"), "?_pragma=journal_mode("+mode+")")
		want := fmt.Sprintf("(%d)", w.cmd.Process.Pid)
		if got := files.OpenIn([]string{"app.db"}); !strings.HasSuffix(got["app.db"], want) {
			t.Errorf("%s: open in %q", mode, got)
		}
		f, err := files.OpenToLock("app.db")
		if err != nil {
			t.Fatal(err)
		}
		if had := LockOut(f); had == (mode == "wal") {
			t.Errorf("%s: locked out: %v", mode, had)
		}
		f.Close() //nolint:errcheck // a lock
		w.kill()
		if got := files.OpenIn([]string{"app.db"}); len(got) > 0 {
			t.Errorf("%s: still open in %q", mode, got)
		}
		files.Close()
	}
}
