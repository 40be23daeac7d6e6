package git

import (
	"bytes"
	"context"
	"io"
	"os/exec"
)

// refProcess is a git update-ref that waits for its transaction. Half of what one
// costs is its start, which another processor does while the worktree is read.
type refProcess struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr bytes.Buffer
}

func updateRefCmd() Cmd {
	return Cmd{Args: []string{"update-ref", "--stdin", "-z"}, Config: []string{"core.logAllRefUpdates=false"}}
}

// ReadyRefs starts the process of the next UpdateRefs ahead of time. It reads no ref
// before it has the transaction, and ends without one at Close, or when we are killed.
func (r *Repo) ReadyRefs(ctx context.Context) {
	if r.refs != nil {
		return
	}
	p := &refProcess{}
	c := updateRefCmd()
	c.Stdout, c.Stderr = io.Discard, &p.stderr
	p.cmd = r.command(context.WithoutCancel(ctx), c)
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return // UpdateRefs starts one, and says what is wrong
	}
	if p.cmd.Start() == nil {
		r.refs = p
	}
}

// updateRef gives the input to the process that waits for it, or to a new one.
func (r *Repo) updateRef(ctx context.Context, input []byte) error {
	p := r.refs
	if p == nil {
		c := updateRefCmd()
		c.Stdin = bytes.NewReader(input)
		_, err := r.Run(ctx, c)
		return err
	}
	r.refs = nil
	_, err := p.stdin.Write(input)
	p.stdin.Close() //nolint:errcheck // how it ended says all
	if ended := p.cmd.Wait(); ended != nil {
		err = ended
	}
	return classify(ctx, updateRefCmd().Args, p.stderr.String(), err)
}

// endRefs lets a process go that nothing was for.
func (r *Repo) endRefs() {
	if p := r.refs; p != nil {
		r.refs = nil
		p.stdin.Close() //nolint:errcheck // it has nothing to do
		p.cmd.Wait()    //nolint:errcheck // likewise
	}
}
