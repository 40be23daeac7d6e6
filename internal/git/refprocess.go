package git

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
)

// refProcess is a `git update-ref --stdin` that was started before its transaction is known. Half
// of the time of a transaction in git is the start of the process. It can start on another
// processor while this one still captures the worktree.
type refProcess struct {
	tried  chan struct{} // closed when the process has started, or failed to start
	cmd    *exec.Cmd
	stdin  io.WriteCloser // nil if it failed to start
	stdout io.Reader
	stderr bytes.Buffer
}

// begin starts the process. It runs in a goroutine, because a fork alone blocks for half a
// millisecond.
func (p *refProcess) begin() {
	defer close(p.tried)
	stdin, err := p.cmd.StdinPipe()
	if err == nil {
		p.stdout, err = p.cmd.StdoutPipe()
	}
	if err == nil && p.cmd.Start() == nil {
		p.stdin = stdin
	}
}

// updateRefCmd returns the command for a transaction. It writes no reflog. core.warnAmbiguousRefs
// is off because git would otherwise look in six places, for each id, whether a ref has the id as
// its name, only to warn about it.
func updateRefCmd() Cmd {
	return Cmd{Args: []string{"update-ref", "--stdin", "-z"}, Config: []string{"core.logAllRefUpdates=false", "core.warnAmbiguousRefs=false"}}
}

// ReadyRefs starts the process for the next UpdateRefs ahead of time, if git will be needed for it.
// The process reads no refs before it gets the transaction. If there is no transaction, it ends
// when Close closes its input, or when this process is killed.
func (r *Repo) ReadyRefs(ctx context.Context) {
	if r.refs.Load() != nil || r.writesRefs() {
		return
	}
	p := &refProcess{tried: make(chan struct{})}
	c := updateRefCmd()
	c.Stderr = &p.stderr
	p.cmd = r.command(context.WithoutCancel(ctx), c)
	if r.refs.CompareAndSwap(nil, p) {
		go p.begin()
	}
}

// ready returns the waiting process, once. It returns nil if there is none or it failed to start.
func (r *Repo) ready() *refProcess {
	p := r.refs.Swap(nil)
	if p != nil {
		if <-p.tried; p.stdin == nil {
			return nil
		}
	}
	return p
}

// updateRef gives the input of a transaction to the waiting process, or to a new one.
func (r *Repo) updateRef(ctx context.Context, input []byte) error {
	p := r.ready()
	if p == nil { // if the start failed, a new process reports why
		c := updateRefCmd()
		c.Stdin = bytes.NewReader(input)
		_, err := r.Run(ctx, c)
		return err
	}
	_, err := p.stdin.Write(input)
	p.stdin.Close() //nolint:errcheck // how it ended says all
	// All refs are written. Do not wait until the process has ended; that takes it some more time.
	if p.committed() {
		go p.cmd.Wait() //nolint:errcheck // it has only to end, which takes it a while
		return nil
	}
	if ended := p.cmd.Wait(); ended != nil {
		err = ended
	}
	return classify(ctx, updateRefCmd().Args, p.stderr.String(), err)
}

// committed reads the answers of the process and reports whether the commit succeeded: then all
// refs are written and all locks are released.
func (p *refProcess) committed() bool {
	for answers := bufio.NewScanner(p.stdout); answers.Scan(); {
		if answers.Text() == "commit: ok" {
			return true
		}
	}
	return false
}

// endRefs ends a waiting process that nobody used.
func (r *Repo) endRefs() {
	if p := r.ready(); p != nil {
		p.stdin.Close() //nolint:errcheck // it has nothing to do
		p.cmd.Wait()    //nolint:errcheck // likewise
	}
}
