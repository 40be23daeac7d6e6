package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// manyRefs is how many new refs of one transaction go straight into packed-refs: as files
// of their own, each synced, a thousand take longer than all else that an import does.
const manyRefs = 100

// packedPatience is how long git itself waits for packed-refs.lock, unless configured.
const packedPatience = time.Second

const packedHeader = "# pack-refs with: peeled fully-peeled sorted \n"

// errNotPacked says that these refs cannot be written so, and nothing was; git takes them
// one by one.
var errNotPacked = errors.New("refs that cannot be packed at once")

// packable splits a transaction into the refs that can be packed at once and the rest, in
// its order; none where there are few, where refs are deleted too, or where packed-refs is
// not git's plain file. Only what is a commit by its name is packed: it has no peeled value.
func (r *Repo) packable(updates []Update) (fresh, rest []Update) {
	if storage, _ := r.Config.Get("extensions.refStorage"); storage != "" && storage != "files" || r.Getenv("GIT_REFERENCE_BACKEND") != "" {
		return nil, updates
	}
	if sharedMode(r.Config).bits != 0 { // git knows which modes its files get
		return nil, updates
	}
	for _, u := range updates {
		switch {
		case u.New == "":
			return nil, updates
		case u.Old == "" && strings.HasPrefix(string(u.Ref), name.CheckpointRoot) && !strings.HasSuffix(string(u.Ref), "/journal"),
			u.Old == "" && strings.HasPrefix(string(u.Ref), name.TagRoot):
			fresh = append(fresh, u)
		default:
			rest = append(rest, u)
		}
	}
	if len(fresh) < manyRefs {
		return nil, updates
	}
	return fresh, rest
}

// updateMany creates many refs at once, with the others in one transaction. git holds the
// lock of each and has made sure that no new one exists while they are written into
// packed-refs under its own lock, and gives all of them free again when this process
// dies. A kill after that leaves refs that no event names yet, as a prefix of git's own
// transaction does.
func (r *Repo) updateMany(ctx context.Context, fresh, rest []Update) error {
	if err := r.checkCommits(ctx, fresh); err != nil {
		return err
	}
	t, err := r.prepareRefs(ctx, fresh, rest)
	if err != nil {
		return err
	}
	if err := r.addPacked(fresh); err != nil {
		t.abort()
		return err
	}
	return t.commit()
}

// checkCommits leaves to git, and its words, what is missing or no commit.
func (r *Repo) checkCommits(ctx context.Context, fresh []Update) error {
	var specs []string
	for _, u := range fresh {
		if _, ours := r.unpacked(string(u.New), "commit"); !ours { // git has checked the pack that it is in
			specs = append(specs, string(u.New))
		}
	}
	return r.Batch().Info(ctx, specs, func(_ int, o Object, err error) error {
		if err != nil || o.Type != "commit" {
			return errNotPacked
		}
		return nil
	})
}

// preparedRefs is a transaction of which git holds the locks.
type preparedRefs struct {
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	wait   func() error
}

// prepareRefs has git lock all refs and check their old values: new ones must not exist.
func (r *Repo) prepareRefs(ctx context.Context, fresh, rest []Update) (*preparedRefs, error) {
	var in bytes.Buffer
	in.WriteString("start\x00")
	if err := r.writeUpdates(&in, rest); err != nil {
		return nil, err
	}
	for _, u := range fresh {
		if strings.ContainsAny(string(u.Ref), " \n\x00") {
			return nil, fmt.Errorf("update ref %q: not a ref name", u.Ref)
		}
		fmt.Fprintf(&in, "option no-deref\x00verify %s\x00%s\x00", u.Ref, strings.Repeat("0", 2*r.HashLen()))
	}
	in.WriteString("prepare\x00")
	c := updateRefCmd()
	cmd := r.command(ctx, c)
	t := &preparedRefs{}
	cmd.Stderr = &t.stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		t.in, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start git update-ref: %w", err)
	}
	t.out = bufio.NewReader(out)
	t.wait = func() error {
		t.in.Close()               //nolint:errcheck // without more, git ends or takes all back
		io.Copy(io.Discard, t.out) //nolint:errcheck // it is read to its end before Wait
		ended := cmd.Wait()        // its stderr is whole only now
		return refFault(classify(ctx, c.Args, t.stderr.String(), ended))
	}
	go in.WriteTo(t.in) //nolint:errcheck // a git that is gone shows in its answer
	return t, t.expect("start", "prepare")
}

// expect reads that git did what it was told; else it says why not.
func (t *preparedRefs) expect(verbs ...string) error {
	for _, verb := range verbs {
		line, err := t.out.ReadString('\n')
		if err == nil && line == verb+": ok\n" {
			continue
		}
		if err := t.wait(); err != nil {
			return err
		}
		return fmt.Errorf("update refs: git answers %q to %s", line, verb)
	}
	return nil
}

func (t *preparedRefs) commit() error {
	io.WriteString(t.in, "commit\x00") //nolint:errcheck // a git that is gone shows in its answer
	if err := t.expect("commit"); err != nil {
		return err
	}
	return t.wait()
}

// abort gives the locks free.
func (t *preparedRefs) abort() {
	io.WriteString(t.in, "abort\x00") //nolint:errcheck // without it git takes all back too
	t.wait()                          //nolint:errcheck // what made it necessary is what counts
}

// addPacked adds refs, of which git holds the locks, to packed-refs under its lock and by a
// rename, as git does it.
func (r *Repo) addPacked(fresh []Update) error {
	file := filepath.Join(r.CommonDir, "packed-refs")
	out, err := lockPacked(file + ".lock")
	if err != nil {
		return err
	}
	err = r.writePacked(out, file, fresh)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), file)
	}
	if err == nil {
		return nil
	}
	os.Remove(out.Name()) //nolint:errcheck // git names it
	if errors.Is(err, errNotPacked) {
		return errNotPacked
	}
	return fmt.Errorf("write packed-refs: %w", err)
}

func lockPacked(lock string) (*os.File, error) {
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		out, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		switch {
		case err == nil:
			return out, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, errNotPacked
		case time.Since(start) > packedPatience:
			return nil, &LockedError{Path: lock}
		}
	}
}

func (r *Repo) writePacked(out *os.File, file string, fresh []Update) error {
	var old []byte
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !info.Mode().IsRegular(): // git writes where a link leads
		return errNotPacked
	default:
		if old, err = os.ReadFile(file); err != nil {
			return errNotPacked
		}
		if err := out.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	merged, err := mergePacked(old, fresh)
	if err != nil {
		return err
	}
	if _, err := out.Write(merged); err != nil {
		return err
	}
	return out.Sync()
}

// mergePacked puts refs among those of a packed-refs file, in order. A file in another
// form than git has written for years is left to git.
func mergePacked(old []byte, fresh []Update) ([]byte, error) {
	fresh = slices.Clone(fresh)
	slices.SortFunc(fresh, func(a, b Update) int { return strings.Compare(string(a.Ref), string(b.Ref)) })
	header, body := packedHeader, old
	if len(old) > 0 {
		end := bytes.IndexByte(old, '\n') + 1
		header, body = string(old[:end]), old[end:]
		if !strings.HasPrefix(header, "# pack-refs with: ") || !strings.Contains(header, " fully-peeled ") || !strings.Contains(header, " sorted ") ||
			len(body) > 0 && body[len(body)-1] != '\n' {
			return nil, errNotPacked
		}
	}
	b := bytes.NewBuffer(make([]byte, 0, len(old)+128*len(fresh)))
	b.WriteString(header)
	add := func(before string) {
		for len(fresh) > 0 && (before == "" || string(fresh[0].Ref) < before) {
			fmt.Fprintf(b, "%s %s\n", fresh[0].New, fresh[0].Ref)
			fresh = fresh[1:]
		}
	}
	for line := range bytes.Lines(body) {
		if line[0] != '^' {
			_, ref, ok := strings.Cut(string(line[:len(line)-1]), " ")
			if !ok || ref == "" {
				return nil, errNotPacked
			}
			if add(ref); len(fresh) > 0 && string(fresh[0].Ref) == ref {
				return nil, fmt.Errorf("%w: %s exists", ErrRaced, ref)
			}
		}
		b.Write(line)
	}
	add("")
	return b.Bytes(), nil
}
