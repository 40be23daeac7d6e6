package git

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

// ErrMissing is an object or ref that does not exist, ErrUnreadable an object
// that git cannot read, ErrTooLarge one over MaxObject.
var (
	ErrMissing    = errors.New("missing")
	ErrUnreadable = errors.New("unreadable: the object is damaged")
	ErrTooLarge   = errors.New("too large to be read into memory")
)

// MaxObject is the largest object that is read into memory.
const MaxObject = 1 << 31

// Object is one object as `git cat-file` gives it.
type Object struct {
	OID  name.OID
	Type string
	Size int64
	Data []byte // nil from Info
}

// Batch reads objects: small ones in process, all others, and refs, through one
// long-lived `git cat-file`. It is safe for concurrent use; requests of one call
// are pipelined, and a function that is handed the answers must not ask itself. What
// is asked for by its id is compared with it.
type Batch struct {
	repo    *Repo
	objects *objects

	known     sync.Mutex
	kept      map[name.OID]Object // small ones that were read or written here
	keptBytes int64

	mu sync.Mutex
	// command is `cat-file --batch-command` (git 2.36 and later). Where git does
	// not know it, contents and info are two processes.
	command, contents, info *pipe
	old                     bool
}

type pipe struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	cancel context.CancelFunc
	broken bool // unread content is in it
	served bool // it has answered before
}

func newBatch(r *Repo) *Batch {
	return &Batch{repo: r, objects: r.database(), kept: map[name.OID]Object{}}
}

// Object reads one object by id or ref name.
func (b *Batch) Object(ctx context.Context, spec string) (Object, error) {
	var o Object
	err := b.Objects(ctx, []string{spec}, func(_ int, got Object, err error) error {
		o = got
		return err
	})
	return o, err
}

// Typed reads one object and refuses another type.
func (b *Batch) Typed(ctx context.Context, spec, typ string) (Object, error) {
	o, err := b.Object(ctx, spec)
	if err == nil && o.Type != typ {
		return o, fmt.Errorf("%s is a %s, not a %s", o.OID, o.Type, typ)
	}
	return o, err
}

// Objects reads objects in order; each gets the object or an error that wraps
// ErrMissing. An error from each ends the reading and is returned.
func (b *Batch) Objects(ctx context.Context, specs []string, each func(int, Object, error) error) error {
	return b.ask(ctx, "contents", specs, each)
}

// Info tells type and size without the content.
func (b *Batch) Info(ctx context.Context, specs []string, each func(int, Object, error) error) error {
	return b.ask(ctx, "info", specs, each)
}

// asking is what is asked of objects, and how their content is read; nil: there is none.
type asking struct {
	verb string
	read func(io.Reader, *Object) error
}

// asked is what is asked by a verb: "contents" keeps the content.
func asked(verb string) asking {
	if verb == "info" {
		return asking{verb: verb}
	}
	return asking{verb: verb, read: whole}
}

func whole(r io.Reader, o *Object) (err error) {
	o.Data, err = readSized(r, o.Size)
	return err
}

func (b *Batch) ask(ctx context.Context, verb string, specs []string, each func(int, Object, error) error) error {
	if len(specs) == 0 {
		return nil
	}
	for _, s := range specs {
		if s == "" || strings.ContainsAny(s, "\n\x00") {
			return fmt.Errorf("read object %q: %w", s, ErrMissing)
		}
	}
	b.objects.packs.Refresh()
	for done := 0; done < len(specs); done += atOnce {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		some := specs[done:min(done+atOnce, len(specs))]
		err := b.askHere(ctx, verb, some, func(i int, o Object, err error) error { return each(done+i, o, err) })
		if err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many objects are read before they are handed on.
const atOnce = 256

// exchange lets git answer.
func (b *Batch) exchange(ctx context.Context, verb string, specs []string, each func(int, Object, error) error) error {
	return b.exchangeAs(ctx, asked(verb), specs, each)
}

func (b *Batch) exchangeAs(ctx context.Context, how asking, specs []string, each func(int, Object, error) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for done := 0; done < len(specs); {
		p, prefix, err := b.open(how.verb)
		if err != nil {
			return err
		}
		offset, reused := done, p.served
		release := context.AfterFunc(ctx, p.cancel)
		n, err := p.exchange(specs[done:], prefix, how, func(i int, o Object, err error) error { return each(offset+i, o, err) })
		release()
		done += n
		switch {
		case err == nil:
		case ctx.Err() != nil:
			b.stopAll()
			return context.Cause(ctx)
		case !errors.Is(err, errEnded):
			if done < len(specs) {
				b.stopAll() // unread answers are in the pipe
			}
			return err
		case b.stopAll() == usage && !b.old:
			b.old = true // this git does not know --batch-command
		case n == 0 && reused: // it may have ended long before this request
		default: // git died over this object
			if err := each(done, Object{}, fmt.Errorf("object %q: %w", specs[done], ErrUnreadable)); err != nil {
				return err
			}
			done++
		}
	}
	return nil
}

// usage is git's exit code for an option that it does not know.
const usage = 129

// open starts the process that answers verb. It outlives the call's context: the
// next request may come with another one.
func (b *Batch) open(verb string) (*pipe, string, error) {
	slot, args, prefix := &b.command, []string{"cat-file", "--batch-command"}, verb+" "
	if b.old && verb == "info" {
		slot, args, prefix = &b.info, []string{"cat-file", "--batch-check"}, ""
	} else if b.old {
		slot, args, prefix = &b.contents, []string{"cat-file", "--batch"}, ""
	}
	if *slot != nil && !(*slot).broken {
		return *slot, prefix, nil
	}
	if *slot != nil {
		b.stopAll()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := b.repo.command(ctx, Cmd{Args: args})
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, "", fmt.Errorf("start git cat-file: %w", err)
	}
	*slot = &pipe{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10), cancel: cancel}
	return *slot, prefix, nil
}

// errEnded says that the process ended before it answered.
var errEnded = errors.New("git cat-file ended")

// exchange asks for specs and hands out the answers. It returns how many were
// handed out; the error is errEnded or what each returned.
func (p *pipe) exchange(specs []string, prefix string, how asking, each func(int, Object, error) error) (int, error) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		w := bufio.NewWriterSize(p.in, 32<<10)
		for _, s := range specs {
			w.WriteString(prefix + s + "\n") //nolint:errcheck // a reader that is gone shows as its end
		}
		w.Flush() //nolint:errcheck // as above
	}()
	for i := range specs {
		o, err := p.answer(how)
		if errors.Is(err, errEnded) {
			p.in.Close() //nolint:errcheck // ends a write that nobody reads
			<-sent
			return i, err
		}
		p.served, p.broken = true, errors.Is(err, ErrTooLarge)
		err = each(i, o, err)
		if err == nil && !p.broken {
			continue
		}
		if i < len(specs)-1 || p.broken {
			p.cancel()
		}
		<-sent
		return i + 1, err
	}
	<-sent
	return len(specs), nil
}

func (p *pipe) answer(how asking) (Object, error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return Object{}, errEnded
	}
	line = strings.TrimSuffix(line, "\n")
	fields := strings.Split(line, " ")
	if len(fields) < 3 || fields[len(fields)-1] == "missing" || fields[len(fields)-1] == "ambiguous" {
		return Object{}, fmt.Errorf("object %q: %w", strings.TrimSuffix(line, " missing"), ErrMissing)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return Object{}, errEnded // out of step; start anew
	}
	o := Object{OID: name.OID(fields[0]), Type: fields[1], Size: size}
	if how.read == nil {
		return o, nil
	}
	if err = how.read(p.out, &o); err != nil && !errors.Is(err, ErrGarbled) {
		return o, err
	}
	if _, err := p.out.Discard(1); err != nil {
		return o, errEnded
	}
	return o, err
}

// readSized believes a size only as far as the bytes really come: the header of a
// damaged object may claim any.
func readSized(r io.Reader, size int64) ([]byte, error) {
	const believed = 1 << 20
	if size > MaxObject {
		return nil, fmt.Errorf("an object of %d bytes: %w", size, ErrTooLarge)
	}
	if size <= believed {
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, errEnded
		}
		return data, nil
	}
	var b bytes.Buffer
	b.Grow(believed)
	if _, err := io.CopyN(&b, r, size); err != nil {
		return nil, errEnded
	}
	return b.Bytes(), nil
}

// stopAll ends the processes and gives the exit code of the one that had ended
// by itself, else -1.
func (b *Batch) stopAll() int {
	code := -1
	for _, slot := range []**pipe{&b.command, &b.contents, &b.info} {
		p := *slot
		if p == nil {
			continue
		}
		p.in.Close()               //nolint:errcheck // it may be closed already
		io.Copy(io.Discard, p.out) //nolint:errcheck // a process that still writes would never end
		p.cmd.Wait()               //nolint:errcheck // the code is what counts
		p.cancel()
		if c := p.cmd.ProcessState.ExitCode(); c > 0 {
			code = c
		}
		*slot = nil
	}
	return code
}

func (b *Batch) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopAll()
	return nil
}
