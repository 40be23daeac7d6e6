package git

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
)

// refProcess is a git update-ref that waits for its transaction. Half of what one
// costs is its start, which another processor does while the worktree is read.
type refProcess struct {
	tried  chan struct{} // closed when it has started, or could not
	cmd    *exec.Cmd
	stdin  io.WriteCloser // nil: it could not
	stdout io.Reader
	stderr bytes.Buffer
}

// begin starts it: a fork takes half a millisecond of the one who waits for it.
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

// updateRefCmd writes no reflog. It does not look either whether there is a ref with the
// name of an id, six places for each, of which it would only warn: an id it is all the same.
func updateRefCmd() Cmd {
	return Cmd{Args: []string{"update-ref", "--stdin", "-z"}, Config: []string{"core.logAllRefUpdates=false", "core.warnAmbiguousRefs=false"}}
}

// ReadyRefs starts the process of the next UpdateRefs ahead of time, where it will be
// git's to do. It reads no ref before it has the transaction, and ends without one at Close, or when we are killed.
func (r *Repo) ReadyRefs(ctx context.Context) {
	if r.refs != nil || r.writesRefs() {
		return
	}
	p := &refProcess{tried: make(chan struct{})}
	c := updateRefCmd()
	c.Stderr = &p.stderr
	p.cmd = r.command(context.WithoutCancel(ctx), c)
	r.refs = p
	go p.begin()
}

// ready gives the process that waits, once; nil when there is none, or it did not start.
func (r *Repo) ready() *refProcess {
	p := r.refs
	r.refs = nil
	if p != nil {
		if <-p.tried; p.stdin == nil {
			return nil
		}
	}
	return p
}

// updateRef gives the input to the process that waits for it, or to a new one.
func (r *Repo) updateRef(ctx context.Context, input []byte) error {
	p := r.ready()
	if p == nil { // whatever is wrong with it, this one says it
		c := updateRefCmd()
		c.Stdin = bytes.NewReader(input)
		_, err := r.Run(ctx, c)
		return err
	}
	_, err := p.stdin.Write(input)
	p.stdin.Close() //nolint:errcheck // how it ended says all
	if p.committed() {
		go p.cmd.Wait() //nolint:errcheck // it has only to end, which takes it a while
		return nil
	}
	if ended := p.cmd.Wait(); ended != nil {
		err = ended
	}
	return classify(ctx, updateRefCmd().Args, p.stderr.String(), err)
}

// committed reads its answers, and reports whether all refs are written and no lock is left.
func (p *refProcess) committed() bool {
	for answers := bufio.NewScanner(p.stdout); answers.Scan(); {
		if answers.Text() == "commit: ok" {
			return true
		}
	}
	return false
}

// endRefs lets a process go that nothing was for.
func (r *Repo) endRefs() {
	if p := r.ready(); p != nil {
		p.stdin.Close() //nolint:errcheck // it has nothing to do
		p.cmd.Wait()    //nolint:errcheck // likewise
	}
}
