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

	"git-checkpoint/internal/format/name"
)

// ErrMissing says that an object or ref does not exist, ErrUnreadable that git cannot read the
// object, and ErrTooLarge that it is larger than MaxObject.
var (
	ErrMissing    = errors.New("missing")
	ErrUnreadable = errors.New("unreadable: the object is damaged")
	// ErrRefused says that a tree is made to do harm: it has a name that leads elsewhere, or unfolds to millions of paths.
	ErrRefused  = errors.New("a rollback refuses it")
	ErrTooLarge = errors.New("too large to be read into memory")
)

// MaxObject is the size in bytes of the largest object that is read into memory.
const MaxObject = 1 << 31

// Object is one object as `git cat-file` prints it.
type Object struct {
	OID  name.OID
	Type string
	Size int64  // in bytes
	Data []byte // nil when only type and size were asked for
}

// Batch reads objects. Small ones are read in this process (askHere); all others, and specs that
// are not plain ids, go through a `git cat-file` that stays for later calls. The content of an object
// that was asked for by its full id is always checked against that id.
//
// A Batch is safe for concurrent use. The requests of one call are pipelined: all specs are sent to
// git while its answers are read. Therefore a function that receives the answers must not call the
// Batch itself; it would wait for the lock that its caller holds.
type Batch struct {
	at      *Location
	objects *database

	known     sync.Mutex
	kept      map[name.OID]Object // small objects that were read or written here, see remember
	keptBytes int64

	mu             sync.Mutex
	contents, info *pipe // `cat-file --batch` and `cat-file --batch-check`
}

// pipe is one running cat-file.
type pipe struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	cancel context.CancelFunc
	broken bool // content that nobody read is still in it: it cannot be used again
	served bool // it has answered before, so it did start
}

func newBatch(o *Objects) *Batch {
	return &Batch{at: o.at, objects: o.database(), kept: map[name.OID]Object{}}
}

// Object reads one object by id or ref name. The error wraps ErrMissing when there is none.
func (b *Batch) Object(ctx context.Context, spec string) (Object, error) {
	var o Object
	err := b.Objects(ctx, []string{spec}, func(_ int, got Object, err error) error {
		o = got
		return err
	})
	return o, err
}

// Typed reads one object and returns an error if its type is not typ.
func (b *Batch) Typed(ctx context.Context, spec, typ string) (Object, error) {
	o, err := b.Object(ctx, spec)
	if err == nil && o.Type != typ {
		return o, fmt.Errorf("%s is a %s, not a %s", o.OID, o.Type, typ)
	}
	return o, err
}

// Objects reads the objects of specs, which are ids or ref names, and calls each for every one of
// them in order: with its index in specs and either the object or an error. The error wraps
// ErrMissing, ErrUnreadable or ErrTooLarge. If each returns an error, reading stops and Objects
// returns that error.
func (b *Batch) Objects(ctx context.Context, specs []string, each func(int, Object, error) error) error {
	return b.ask(ctx, whole, specs, each)
}

// Info is Objects for type and size alone; the content is not read.
func (b *Batch) Info(ctx context.Context, specs []string, each func(int, Object, error) error) error {
	return b.ask(ctx, nil, specs, each)
}

// contentReader reads the content that follows the header of an answer. Where it is nil, only type
// and size are asked for.
type contentReader func(io.Reader, *Object) error

// whole reads all of the content into Data.
func whole(r io.Reader, o *Object) (err error) {
	o.Data, err = readSized(r, o.Size)
	return err
}

// ask checks the specs and reads them in groups of atOnce, so that the objects of a long list are
// not all in memory before the first one is handed on.
func (b *Batch) ask(ctx context.Context, read contentReader, specs []string, each func(int, Object, error) error) error {
	const atOnce = 256 // how many objects are read before they are handed on
	if len(specs) == 0 {
		return nil
	}
	for _, s := range specs {
		if s == "" || strings.ContainsAny(s, "\n\x00") { // cat-file reads one spec per line
			return fmt.Errorf("read object %q: %w", s, ErrMissing)
		}
	}
	b.objects.packs.Refresh()
	for done := 0; done < len(specs); done += atOnce {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		some := specs[done:min(done+atOnce, len(specs))]
		err := b.askHere(ctx, read, some, func(i int, o Object, err error) error { return each(done+i, o, err) })
		if err != nil {
			return err
		}
	}
	return nil
}

// exchange has git answer specs in order. A damaged loose object that does not have the size in its
// header gets ErrUnreadable without asking: the answer for it would end too early or too late, and
// the reader would wait for more, or take its end for the next answer.
func (b *Batch) exchange(ctx context.Context, read contentReader, specs []string, each func(int, Object, error) error) error {
	from := 0
	part := func(to int) error {
		first := from
		from = to
		return b.exchangeSound(ctx, read, specs[first:to], func(i int, o Object, err error) error { return each(first+i, o, err) })
	}
	for i, spec := range specs {
		if read == nil || !b.objects.misstated(spec) {
			continue
		}
		if err := part(i); err != nil {
			return err
		}
		if err := each(i, Object{}, fmt.Errorf("object %q: %w", spec, ErrUnreadable)); err != nil {
			return err
		}
		from = i + 1
	}
	return part(len(specs))
}

// exchangeSound has git answer specs in order. If the process ends early, there are two cases. A
// process that was kept from an earlier call may have ended long ago: a new one is started.
// Otherwise git died over the object that it was asked for: that object gets ErrUnreadable, and a
// new process goes on with the next one.
func (b *Batch) exchangeSound(ctx context.Context, read contentReader, specs []string, each func(int, Object, error) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for done := 0; done < len(specs); {
		p, err := b.open(read == nil)
		if err != nil {
			return err
		}
		offset, reused := done, p.served
		release := context.AfterFunc(ctx, p.cancel)
		n, err := p.exchange(specs[done:], read, func(i int, o Object, err error) error { return each(offset+i, o, err) })
		release()
		done += n
		if err == nil {
			continue
		}
		ended := errors.Is(err, errEnded)
		if ctx.Err() != nil || ended || done < len(specs) {
			b.stopAll() // even where answers that nobody read are in the pipe
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !ended:
			return err
		case n == 0 && reused: // try again with a new process
		default: // git died over this object
			if err := each(done, Object{}, fmt.Errorf("object %q: %w", specs[done], ErrUnreadable)); err != nil {
				return err
			}
			done++
		}
	}
	return nil
}

// open returns the process for contents or for types and sizes, and starts it if necessary. It does
// not end with the context of this call, because later calls use it too.
func (b *Batch) open(info bool) (*pipe, error) {
	slot, option := &b.contents, "--batch"
	if info {
		slot, option = &b.info, "--batch-check"
	}
	if *slot != nil && !(*slot).broken {
		return *slot, nil
	}
	if *slot != nil {
		b.stopAll()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := b.at.command(ctx, Cmd{Args: []string{"cat-file", option}})
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start git cat-file: %w", err)
	}
	*slot = &pipe{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10), cancel: cancel}
	return *slot, nil
}

// errEnded says that the process ended before it had answered, or that its answer made no sense.
var errEnded = errors.New("git cat-file ended")

// exchange sends specs and hands out the answers as they arrive. It returns how many answers were
// handed out. The error is nil, errEnded, or what each returned. A goroutine does the sending: git
// stops reading when its output pipe is full, so that sending everything first would deadlock.
func (p *pipe) exchange(specs []string, read contentReader, each func(int, Object, error) error) (int, error) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		w := bufio.NewWriterSize(p.in, 32<<10)
		for _, s := range specs {
			w.WriteString(s + "\n") //nolint:errcheck // a reader that is gone shows as its end
		}
		w.Flush() //nolint:errcheck // as above
	}()
	for i := range specs {
		o, err := p.answer(read)
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
		// The caller wants no more. Kill git, so that the goroutine that sends does not block.
		if i < len(specs)-1 || p.broken {
			p.cancel()
		}
		<-sent
		return i + 1, err
	}
	<-sent
	return len(specs), nil
}

// answer reads one answer: the line "<id> <type> <size>", or "<spec> missing", then the
// content and a newline, if it was asked for.
func (p *pipe) answer(read contentReader) (Object, error) {
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
		return Object{}, errEnded // we are out of step with the process; a new one is needed
	}
	o := Object{OID: name.OID(fields[0]), Type: fields[1], Size: size}
	if read == nil {
		return o, nil
	}
	// After ErrGarbled the content has been read to its end, so the pipe can be used further.
	if err = read(p.out, &o); err != nil && !errors.Is(err, ErrGarbled) {
		return o, err
	}
	if _, err := p.out.Discard(1); err != nil {
		return o, errEnded
	}
	return o, err
}

// readSized reads size bytes. The header of a damaged object may claim any size, so memory for more
// than a megabyte is only allocated as the bytes arrive.
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

// stopAll ends the processes.
func (b *Batch) stopAll() {
	for _, slot := range []**pipe{&b.contents, &b.info} {
		p := *slot
		if p == nil {
			continue
		}
		p.in.Close()               //nolint:errcheck // it may be closed already
		io.Copy(io.Discard, p.out) //nolint:errcheck // a process that still writes would never end
		p.cmd.Wait()               //nolint:errcheck // what it said was read
		p.cancel()
		*slot = nil
	}
}

func (b *Batch) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopAll()
}
