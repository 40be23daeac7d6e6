// Package attempt tries something in several ways at once. It forks a checkpoint into
// attempts, each with a linked worktree and a session of its own, compares what became of
// them, and brings the best one back into the session from which it was forked.
//
// Fork makes attempts and can run a command in each (place.go finds names and directories,
// ignored.go copies ignored files). List and Find read the attempts,
// Compare measures them. PreparePromotion plans to bring one back, as a replacement or as a
// three-way merge, and PrepareRemoval plans to remove a worktree. Package linked
// makes the worktrees.
package attempt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/commits"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/run"
)

// ForkRequest holds the options of `fork`.
type ForkRequest struct {
	Session string
	Ref     string // the checkpoint to fork
	Dir     string // empty: beside this worktree
	Count   int    // the number of attempts; at least 1
	Name    string
	// A new branch for each attempt; empty: HEAD is detached.
	Branch      string
	SessionName string
	CopyIgnored []string // pathspecs of ignored files to copy
	NoCopy      bool     // copy no file because .worktreeinclude names it
	Included    name.OID // the .worktreeinclude that a person agreed to just now; empty: its consent counts
	Next        bool     // says that the name gets a letter if it is taken
	Command     []string // "{}" becomes the name of the attempt; empty: run nothing
	Jobs        int      // how many commands run at the same time; at least 1
	IO          inspect.IO
	Chat        bool // a conversation with the agent goes on from there in each
}

// Attempt is a session that was forked from another one, with its worktree.
type Attempt struct {
	Name        string               `json:"name"`
	Session     name.Session         `json:"session"`
	FromSession name.Session         `json:"from_session"`
	From        name.ID              `json:"from"`
	FromLabel   string               `json:"from_label"` // empty if the checkpoint is gone
	Origin      checkpoint.Mention   `json:"-"`          // of From
	Worktree    string               `json:"worktree"`   // directory; empty if it was removed
	Branch      string               `json:"branch"`     // empty if HEAD is detached there
	Current     *checkpoint.Labelled `json:"current"`
	Steps       int                  `json:"steps"`      // live checkpoints since the fork
	Unfinished  bool                 `json:"unfinished"` // the fork was interrupted
	Run         *Ran                 `json:"run,omitempty"`
	// Foreign says that git or an agent made the worktree; its session, if there is one, is not forked.
	Foreign bool `json:"foreign,omitempty"`
	// Agent is the one that made the newest checkpoint, Unlanded the number of files that HEAD here lacks of what
	// was changed there, and Back the command that leads there, or that brings back what was there.
	Agent    string               `json:"agent,omitempty"`
	Unlanded int                  `json:"unlanded,omitempty"`
	Back     string               `json:"back,omitempty"`
	Chat     *continuation.Answer `json:"chat,omitempty"` // how the conversation with an agent continues in a new attempt

	note *linked.Note // of an interrupted fork
}

// Ran is the result of the command in an attempt.
type Ran struct {
	Code int `json:"code"`
	// The checkpoint that was made; empty: none.
	Created name.ID `json:"created"`
	Label   string  `json:"label"`
	Problem string  `json:"problem,omitempty"`
}

// forking is a fork while it is made.
type forking struct {
	s        *checkpoint.Service
	req      ForkRequest
	from     *checkpoint.Found
	record   *record.Record
	target   snapshot.Target
	head     name.OID                   // the commit on which HEAD is in the new worktrees
	chat     *continuation.Conversation // nil: none
	ignored  []string                   // has the files to copy that no checkpoint has
	made     []*place                   // the complete attempts
	foreseen map[name.Session]bool      // the sessions that a dry run has given away; it reserves nothing. Nil: it is none
}

// place is one attempt while it is made.
type place struct {
	Attempt
	note    *linked.Note        // marks the worktree as unfinished until everything is in place
	s       *checkpoint.Service // of the new worktree
	chat    *continuation.Prepared
	foreign bool // means that the directory, and perhaps the branch, are not ours to remove
}

// Fork makes the attempts and then runs the command in each. With an error it also returns the
// attempts that are complete.
func Fork(ctx context.Context, s *checkpoint.Service, req ForkRequest) ([]Attempt, error) {
	f := &forking{s: s, req: req}
	if err := f.prepare(ctx); err != nil {
		return nil, err
	}
	defer func() {
		for _, p := range f.made {
			p.s.Close()
		}
	}()
	for i := range max(req.Count, 1) {
		p, err := f.reserve(ctx, i)
		if err == nil {
			err = f.make(ctx, p)
		}
		if err != nil {
			return f.answer(), err
		}
		f.made = append(f.made, p)
	}
	// All attempts exist before the first command starts, so no command sees a half-made
	// fork.
	if len(req.Command) == 0 {
		return f.answer(), nil
	}
	err := f.runAll(ctx)
	return f.answer(), err
}

func (f *forking) answer() []Attempt {
	return gather.List(f.made, func(p *place) Attempt { return p.Attempt })
}

// prepare refuses what cannot be forked, before anything is made, and reads the checkpoint.
func (f *forking) prepare(ctx context.Context) error {
	if err := f.check(ctx); err != nil {
		return err
	}
	var err error
	if f.from, err = f.s.Sessions.ReachOne(ctx, f.req.Session, f.req.Ref); err != nil {
		return err
	}
	if f.req.Ref == "" || f.req.Ref == "@" {
		if err := checkpoint.RefuseLines(ctx, f.s.Store, f.from.State, "fork %s"); err != nil {
			return err
		}
	}
	e := f.from.Entry
	if f.record, err = checkpoint.ReadRecord(ctx, f.s.Store, e); err != nil {
		return checkpoint.DamagedError(e, err)
	}
	if f.record.Snapshot.Tree == "" {
		return checkpoint.Failure(checkpoint.KindRefused, "", "%s was imported without files, so there is nothing to fork", checkpoint.MentionOf(f.record))
	}
	if f.req.Chat {
		if f.chat, err = continuation.Find(ctx, f.s.Sessions, e, f.record, continuation.NewWorktree); err != nil {
			return err
		}
	}
	if f.target, err = rollback.TargetOf(ctx, f.s, e); err != nil {
		return err
	}
	// Files over the size limit, for example, are in no checkpoint and cannot be in a fork.
	for _, sk := range f.record.Snapshot.Skipped {
		f.s.Store.Warn(fmt.Sprintf("%s is not in the checkpoint, so it is not in the fork (%s)", sk.Path, sk.Reason))
	}
	f.head = linked.HeadFor(ctx, f.s.Repo, f.record.Git.Head)
	if made := f.record.Git.Head; made != "" && f.head != "" && f.head != made {
		f.s.Store.Warn(fmt.Sprintf("the commit that %s was made on is not here; HEAD of the fork is that of this worktree", checkpoint.MentionOf(f.record)))
	}
	if f.head == "" {
		return checkpoint.Failure(checkpoint.KindRefused, "`git commit --allow-empty -m Begin` makes the first one; files and index stay as they are", "there is no commit yet, and a linked worktree needs one")
	}
	if f.ignored, err = ignored(ctx, f.s.Store, f.req.CopyIgnored); err == nil && !f.req.NoCopy {
		err = f.include(ctx)
	}
	return cmp.Or(err, f.checkBranches(ctx))
}

// check refuses invalid options.
func (f *forking) check(ctx context.Context) error {
	const mostForks = 100 // bounds --count. Each worktree is a copy of all files
	switch req := f.req; {
	case req.Count < 1 || req.Count > mostForks:
		return checkpoint.Usage("", "--count must be a number from 1 to %d", mostForks)
	case req.Jobs < 1:
		return checkpoint.Usage("", "--jobs must be a number of 1 or more")
	case req.Jobs > 1 && len(req.Command) == 0:
		return checkpoint.Usage("the command goes after --", "--jobs needs a command")
	}
	for _, typed := range []string{f.req.Name, f.req.SessionName} {
		if typed == "" {
			continue
		}
		if _, err := name.ParseSession(typed); err != nil {
			return checkpoint.Usage("use letters, digits, ., _ and -", "%q cannot be the name of an attempt: %v", name.Clip(typed, name.Said), err)
		}
	}
	if len(f.req.Command) > 0 {
		return run.Find(f.req.Command[0])
	}
	if on, err := f.s.Settings.Bool("checkpoint.enabled", true); err != nil || !on {
		return errors.Join(err, checkpoint.Failure(checkpoint.KindNothing, "", "checkpoints are switched off here (checkpoint.enabled)"))
	}
	return ctx.Err()
}

// checkBranches refuses names that git refuses, and branches that exist.
func (f *forking) checkBranches(ctx context.Context) error {
	for i := range f.req.Count {
		if f.req.Branch == "" {
			return nil
		}
		if err := checkpoint.RefuseBranch(ctx, f.s.Repo, f.lettered(f.req.Branch, i), "choose another name"); err != nil {
			return err
		}
	}
	return nil
}

// lettered returns the i-th of several names. With a single attempt the name stays as it
// is.
func (f *forking) lettered(base string, i int) string {
	if f.req.Count <= 1 {
		return base
	}
	return base + letter(i)
}

// make makes one attempt: worktree, files, ignored files, and the session with a copy of
// the checkpoint. If a part fails, everything of the attempt is removed.
func (f *forking) make(ctx context.Context, p *place) (err error) {
	defer func() {
		if err == nil {
			err = p.note.End()
			return
		}
		if p.s != nil {
			err = errors.Join(err, p.chat.Remove(context.WithoutCancel(ctx), p.s.Repo))
			p.s.Close()
		}
		err = errors.Join(err, f.unmake(context.WithoutCancel(ctx), p))
	}()
	err = linked.Add(ctx, f.s.Repo, linked.Place{Dir: p.Worktree, Branch: p.Branch, At: f.head})
	// A git that fails removes the worktree that it has made, so what is there is that of another
	// process, which was faster. What a killed git has made is ours to remove.
	p.foreign = git.ExitCode(err) > 0
	if err != nil {
		return err
	}
	f.s.Trace("added")
	if p.s, err = checkpoint.OpenAt(ctx, f.s, p.Worktree); err != nil {
		return err
	}
	if err := linked.Fill(ctx, p.s, f.target); err != nil {
		return err
	}
	f.s.Trace("filled")
	commits.Checkout(ctx, p.s.Store, f.head) // the files are there, as for git worktree add
	if err := copyIgnored(ctx, f.s, p.s, f.ignored); err != nil {
		return err
	}
	if err := p.linkAgents(); err != nil {
		return err
	}
	if f.chat != nil {
		if p.chat, err = f.chat.Prepare(ctx, p.s); err != nil {
			return err
		}
	}
	if err := checkpoint.Remember(p.s.Store, forkFile, p.Attempt); err != nil {
		return err
	}
	request := create.Forking(p.Session, create.Fork{From: f.from, Name: p.Name})
	request.IncludeIgnored = literal(inspect.IgnoredOf(f.record))
	made, err := create.Checkpoint(ctx, p.s, request)
	if err != nil {
		return err
	}
	p.Current = new(checkpoint.LabelledBy(made.Record))
	p.Chat, err = p.chat.Keep(p.s.Store)
	return err
}

// literal returns pathspecs that match exactly these paths.
func literal(paths []string) []string {
	return gather.List(paths, func(p string) string { return ":(top,literal)" + p })
}

// unmake removes what exists of an attempt that failed.
func (f *forking) unmake(ctx context.Context, p *place) error {
	end := p.note.Clear
	// The old value keeps a branch that somebody has moved in the meantime.
	unbranch := []string{"update-ref", "-d", "refs/heads/" + p.Branch, string(f.head)}
	if p.foreign {
		end = func(context.Context, *checkpoint.Service) error { return p.note.End() }
		unbranch = []string{"branch", "-q", "-d", p.Branch} // git refuses if it is checked out
	}
	if err := end(ctx, f.s); err != nil {
		// The note stays, so doctor reports the worktree.
		return err
	}
	if p.Branch != "" {
		if _, err := f.s.Repo.Output(ctx, unbranch...); err != nil {
			f.s.Store.Warn(err.Error())
		}
	}
	return nil
}

// forkFile is a file in the git directory of an attempt's worktree. It holds the Attempt,
// and identifies the worktree.
const forkFile = "fork.json"

// runAll runs the command in each attempt, at most Jobs at a time, with the same rules as
// `run`. A command that fails does not stop the others. It returns the first error.
func (f *forking) runAll(ctx context.Context) error {
	next := make(chan int)
	var workers sync.WaitGroup
	// Serialises the lines of several commands.
	var terminal sync.Mutex
	errs := make([]error, len(f.made))
	for range min(f.req.Jobs, len(f.made)) {
		workers.Go(func() {
			for i := range next {
				// Commands that were started end by the signal. No other one is started, and the
				// caller must be told that it did not run.
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = f.runOne(ctx, f.made[i], &terminal)
				}
			}
		})
	}
	for i := range f.made {
		next <- i
	}
	close(next)
	workers.Wait()
	return cmp.Or(errs...)
}

// runOne runs the command in one attempt and records the result in p.
func (f *forking) runOne(ctx context.Context, p *place, terminal *sync.Mutex) error {
	to := f.req.IO
	// With several attempts, standard input belongs to none, and each line of output gets a
	// label.
	if len(f.made) > 1 {
		out, errOut := &labelled{to: to.Out, name: p.Name, lock: terminal}, &labelled{to: to.Err, name: p.Name, lock: terminal}
		defer out.end()
		defer errOut.end()
		to = inspect.IO{In: strings.NewReader(""), Out: out, Err: errOut, Color: to.Color}
	}
	args := gather.List(f.req.Command, func(arg string) string { return strings.ReplaceAll(arg, "{}", p.Name) })
	done, err := run.Do(ctx, p.s, run.Request{Create: create.Request{Session: string(p.Session)}, Command: args, IO: to})
	if done == nil {
		return err
	}
	p.Run = &Ran{Code: done.Code, Problem: done.Problem}
	if err != nil && p.Run.Problem == "" {
		p.Run.Code, p.Run.Problem = max(done.Code, 1), err.Error()
	}
	if done.Created != nil {
		p.Run.Created, p.Run.Label = done.Created.Record.ID, done.Created.Record.Label
		p.Current.ID, p.Current.Label = p.Run.Created, p.Run.Label
		p.Steps = 1
		if done.Before != nil {
			p.Steps++
		}
	}
	return checkpoint.Remember(p.s.Store, forkFile, p.Attempt) // compare shows the exit code
}

// labelled writes complete lines, each with the name of its attempt in front.
type labelled struct {
	to   io.Writer
	name string
	lock *sync.Mutex
	open []byte // start of a line whose end was not written yet
}

func (l *labelled) Write(p []byte) (int, error) {
	l.open = append(l.open, p...)
	whole := bytes.LastIndexByte(l.open, '\n') + 1
	if whole == 0 {
		return len(p), nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(l.open[:whole]) {
		out.WriteString(l.name + ": ")
		out.Write(line)
	}
	l.open = append([]byte(nil), l.open[whole:]...)
	l.lock.Lock()
	defer l.lock.Unlock()
	if _, err := l.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes the last line if it has no newline.
func (l *labelled) end() {
	if len(l.open) > 0 {
		l.Write([]byte("\n")) //nolint:errcheck // nobody is left to tell
	}
}
