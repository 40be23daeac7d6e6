// Package chat understands commands that a person types into the chat of a coding agent, such as
// *rollback:3 or /checkpoint save. The agent's hook hands every prompt over. Most prompts hold no
// command, so parse must be fast, and must not take ordinary text for one.
//
// A command is a command line of this program: chat.json says which (grammar.go reads it), and the
// caller runs it. One that changes files shows its plan first. What then waits for an answer is a
// Question, which holds the digest of that plan and belongs to the conversation that asked it. The few
// commands that are no command line are in work.go. inWords (words.go) rewrites command lines in
// answers as chat commands.
package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// Run runs a command line of this program in the worktree, for a session; "" is the one that the
// command chooses.
type Run func(ctx context.Context, session name.Session, args []string) Result

// Result is what a command line did: its answers and their text, as a chat shows it, its error (nil:
// none) and its exit code.
type Result struct {
	Found   []answer.Answer
	Text    string
	Problem *checkpoint.Error
	Code    int
	Asks    bool // it has shown a plan, and would go on if somebody confirmed it
}

// Question is what waits for an answer in a conversation: the plan of a command line, or a rollback that
// was refused and may be forced. It may be lost at any time.
type Question struct {
	Time  time.Time `json:"time"`
	Typed string    `json:"typed"`           // the whole prompt that asked it
	Line  []string  `json:"line"`            // the command line that it is about
	Plan  string    `json:"plan,omitempty"`  // the digest of the plan that was shown; empty: it was refused
	Words string    `json:"words,omitempty"` // must be typed as they are for what cannot be undone
	Last  bool      `json:"last,omitempty"`  // set until anything else is typed: only then a bare "y" is an answer
}

// patience is how long a question can be answered.
const patience = 10 * time.Minute

// waits reports whether the question is about something that was shown.
func (q *Question) waits() bool { return q != nil && q.Plan+q.Words != "" }

// Talk is a conversation in which commands are typed.
type Talk struct {
	Service *checkpoint.Service
	Run     Run
	Session name.Session // that it belongs to; empty: the one that is chosen here
	Asked   *Question    // what waits for an answer; nil: nothing. Answer changes it
	Keeps   bool         // the agent puts what was typed back into its input line

	typed string
}

// fresh reports whether the question is recent enough. A time in the future means that the clock was
// changed.
func (t *Talk) fresh() bool {
	age := t.Service.Store.Now().Sub(t.Asked.Time)
	return age >= 0 && age <= patience
}

// Answer answers a prompt that is one of our commands; ours is false for any other. Both the text and the
// error may be set: then the error says what is wrong with it, such as a plan that has changed and must be
// confirmed again. Hints of the error name chat commands in place of command lines.
func (t *Talk) Answer(ctx context.Context, prompt string) (text string, ours bool, err error) {
	c, ours := t.read(prompt)
	if t.Asked != nil && c.Does != "yes" {
		t.Asked.Last = false
	}
	if !ours {
		return "", false, nil
	}
	t.typed = strings.TrimSpace(prompt)
	terminal := t.terminal(c) // before the command changes what waits
	text, err = t.do(ctx, c)
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		if unfinished, looking := inspect.UnfinishedRollback(t.Service.Repo); unfinished == nil && looking == nil {
			return text, true, tooLong(terminal)
		}
	}
	return text, true, checkpoint.WithHints(err, func(hints []string) []string {
		for i, hint := range hints {
			flag, _, _ := strings.Cut(hint, " ")
			if hints[i] = inWords(hint); strings.HasPrefix(hint, "--") && !slices.Contains(c.Flags, flag) {
				hints[i] = "in a terminal, " + hint
			}
		}
		return hints
	})
}

// read returns the command of a prompt. What follows the prompt that asked a question, or stands on the line before it, is
// an answer, because some agents put a command back into their input line; so is that prompt again.
func (t *Talk) read(prompt string) (c command, ours bool) {
	prompt = strings.TrimSpace(prompt)
	if q := t.Asked; q != nil && q.Last && t.fresh() {
		rest, again := strings.CutPrefix(prompt, q.Typed)
		if !again {
			rest, again = strings.CutSuffix(prompt, "\n"+q.Typed)
		}
		if rest = strings.TrimSpace(rest); again && rest == "" && q.Plan != "" {
			return command{form: form{Does: "yes"}}, true
		}
		if c, ours := t.answers(rest); again && ours {
			return c, true
		}
		if c, ours := t.answers(prompt); ours && prompt[0] != '*' {
			return c, true
		}
	}
	if t.Asked.waits() && t.Asked.Words == prompt {
		return command{form: form{Does: "yes"}, words: prompt}, true
	}
	return parse(prompt)
}

// answers reads what may be typed at a question, in any case.
func (t *Talk) answers(text string) (c command, ours bool) {
	switch word := strings.ToLower(text); {
	case text == "":
		return c, false
	case word == "y" || word == "yes", t.Asked.Words == text:
		return command{form: form{Does: "yes"}, words: text}, t.Asked.waits()
	case word == "n" || word == "no":
		return command{form: form{Does: "abort"}}, t.Asked.waits()
	case text[0] == '*':
		c, ours = parse(text)
		return c, ours && c.Does != "mistyped"
	}
	return c, false
}

// TooLong returns the error of a prompt for which there was no time left.
func (t *Talk) TooLong(prompt string) error {
	c, _ := t.read(prompt)
	return tooLong(t.terminal(c))
}

func tooLong(line string) error {
	return checkpoint.Failure(checkpoint.KindFailed, "in a terminal there is no limit: "+line, "this takes longer than an agent waits for it; nothing was changed")
}

// terminal returns the command line that does in a terminal what a command does, or what it confirms.
func (t *Talk) terminal(c command) string {
	line := c.args()
	if t.Asked != nil && (c.Does == "yes" || c.Does == "force") {
		line = t.Asked.Line
	}
	line = slices.DeleteFunc(slices.Clone(line), func(arg string) bool { return arg == defaultReason })
	return "`" + name.Quoted(append([]string{"git", "checkpoint"}, line...)...) + "`"
}

func (t *Talk) do(ctx context.Context, c command) (string, error) {
	switch c.Does {
	case "":
		return t.run(ctx, c.args(), c.form)
	case "mistyped":
		return "", checkpoint.Usage("*help lists what may be typed", "%q is no command, so nothing was done; did you mean %s?", c.words, c.meant)
	case "list":
		return t.list(ctx, c)
	case "help":
		return help, nil
	case "force":
		return t.force(ctx)
	case "yes":
		return t.yes(ctx, c)
	}
	return t.work(ctx, c)
}

// show returns what a command line answered, with what may be typed next.
func (t *Talk) show(r Result, f form) (string, error) {
	text := strings.TrimRight(r.Text, "\n")
	if !f.Quotes {
		text = inWords(text)
	}
	switch {
	case r.Problem != nil:
		return text, r.Problem
	case r.Code != 0:
		return text, checkpoint.Failure(checkpoint.KindInvalid, "", "%s", cmp.Or(f.Broken, fmt.Sprintf("exit code %d", r.Code)))
	case f.Next != "":
		text = strings.TrimPrefix(text+"\n"+f.Next, "\n")
	}
	return text, nil
}

// run runs a command line. If it shows a plan and asks, the question is remembered, with the digest of that
// plan. If ignored files are in the way, it is remembered that *rollback-force can repeat it.
func (t *Talk) run(ctx context.Context, line []string, f form) (string, error) {
	r := t.Run(ctx, t.Session, line)
	if _, planned := found[answer.Planned](r); planned || r.Asks || r.Problem != nil {
		t.Asked = nil
	}
	q := &Question{Time: t.Service.Store.Now(), Typed: t.typed, Line: slices.Clone(line), Last: true}
	switch p := r.Problem; {
	case r.Asks:
		r.Problem, r.Code, t.Asked = nil, 0, q
		f.Next = t.ask(ctx, q, r)
	case p != nil && p.Kind == checkpoint.KindNotFound && line[0] == "undo":
		p.Hints = slices.Concat(t.meant(ctx), p.Hints)
	case p != nil && slices.Contains(p.Hints, rollback.OverwriteHint) && !slices.Contains(line, overwrite):
		p.Hints = append(p.Hints, "*rollback-force does it with --overwrite-ignored")
		if line[0] == "rollback" {
			p.Hints = append(p.Hints, "*manual-restore:"+line[1]+" tells how to get at the files with plain git", "*abort ends the session")
		}
		t.Asked = q
	}
	return t.show(r, f)
}

// ask completes a question by what was shown, and says how to answer it. From then on it is about ids: a
// number may stand for another checkpoint by the time of the answer. What cannot be undone needs its words.
func (t *Talk) ask(ctx context.Context, q *Question, r Result) (next string) {
	if gone, is := found[answer.Deleted](r); is {
		q.Words, q.Line = strings.Join(q.Line, " "), []string{q.Line[0]}
		for _, one := range gone.Removed.Removed {
			q.Line = append(q.Line, string(one.ID))
		}
		return fmt.Sprintf("%q, typed as it is within ten minutes, deletes it for good; *abort keeps it.", q.Words)
	}
	planned, is := found[answer.Planned](r)
	if !is {
		q.Words = strings.Join(q.Line, " ")
		return fmt.Sprintf("%q, typed as it is within ten minutes, does it.", q.Words)
	}
	q.Plan = planned.Plan.Digest
	if q.Line[0] == "rollback" {
		q.Line[1] = string(planned.Plan.Session) + ":" + string(planned.Plan.To)
	}
	next = "*yes does exactly this within ten minutes, *abort leaves everything as it is."
	if t.Keeps {
		next += " Your line stands in the input again: Enter does it, n after it does not."
	}
	if q.Line[0] == "undo" && planned.Plan.Prompts > 0 {
		next += " " + strings.Join(t.meant(ctx), "")
	}
	return next
}

const overwrite = "--overwrite-ignored"

// found returns the last answer of a type that a command line gave.
func found[A answer.Answer](r Result) (a A, ok bool) {
	for _, one := range slices.Backward(r.Found) {
		if a, ok = one.(A); ok {
			break
		}
	}
	return a, ok
}

// force repeats the rollback that was refused, and lets it overwrite ignored files.
func (t *Talk) force(ctx context.Context) (string, error) {
	q := t.Asked
	// A plan that was shown was not refused, and one of *delete is not about a rollback at all.
	if q == nil || q.waits() || !t.fresh() {
		return "", checkpoint.Failure(checkpoint.KindRefused, "*rollback-force:N names the checkpoint", "there is no rollback to force")
	}
	return t.run(ctx, append(slices.Clone(q.Line), overwrite), form{})
}

// yes carries out what was shown, if it would still do the same. Otherwise it shows the new plan, with an
// error.
func (t *Talk) yes(ctx context.Context, c command) (string, error) {
	q := t.Asked
	switch {
	case !q.waits():
		return "", checkpoint.Failure(checkpoint.KindRefused, "", "there is nothing to confirm")
	case !t.fresh():
		return "", checkpoint.Failure(checkpoint.KindRefused, "type the command again to see the new plan", "the plan is more than %d minutes old", int(patience.Minutes()))
	case q.Words != c.words && q.Words != "":
		q.Typed = t.typed
		return "", checkpoint.Failure(checkpoint.KindRefused, fmt.Sprintf("type %q as it is", q.Words), "this cannot be undone, so a yes is not enough; nothing was changed")
	}
	line := append(slices.Clone(q.Line), "--yes")
	if q.Plan != "" {
		line = append(line, "--plan="+q.Plan)
	}
	r := t.Run(ctx, t.Session, line)
	if r.Problem != nil && r.Problem.Kind == checkpoint.KindRefused && q.Plan != "" {
		again, err := t.run(ctx, q.Line, form{})
		if err == nil && t.Asked != nil && t.Asked.Plan != q.Plan {
			what := strings.Replace(r.Problem.Message, rollback.PlanChanged, "something has changed since the plan was shown", 1)
			err = checkpoint.Failure(checkpoint.KindRefused, "", "%s, and this is the plan now", what)
		}
		return again, cmp.Or(err, error(r.Problem))
	}
	if r.Problem == nil {
		t.Asked = nil
	}
	next := ""
	if done, is := found[answer.RolledBack](r); is && (done.Done.Command == "" || done.Finished) && done.Done.NextStep != nil {
		next = fmt.Sprintf("Ready to continue from step %d. [Enter] or *pause", done.Done.NextStep.Step)
	}
	return t.show(r, form{Next: next})
}

// help is the answer to *help: all that may be typed, the most frequent first.
const help = `*checkpoints, *cp-list   the list of checkpoints
*cp-show:3               one checkpoint
*cp-diff:2:4             what changed between two; *cp-diff:2 compares with the current one
*rollback:3 WHY          go back; shows the plan first, then *yes or y does it, *abort or n does not
*rollback-force:3 WHY    the same, over ignored files; *rollback-force after a rollback that was refused
*revert:3 WHY            take back only what one did, and leave what was done since; asks as a rollback does
*manual-restore:3        how to get at the files with plain git; *manual-restore is about the current one
*delete:3                delete one for good; asks for the words
*undo, *redo             take back the last rollback, or redo it; *undo:2 two of them; asks as a rollback does
*retry-cp, *skip-cp      after a checkpoint that failed: make it now, or go on without it
*pause, *continue        stop here, and go on
*abort                   withdraw a question; without one, end the session
*history                 what happened in this session
*cp-validate             check everything
*cp-rebuild:3            bring back what can be proven of a damaged one
*cp-export               write the session into a bundle
*help                    this list
/checkpoint save WORDS   keep the files as they are now; /crunch --checkpoint is the same
/checkpoint list, /checkpoint restore ID, /checkpoint diff A B, /checkpoint cleanup
Flags that answers name may follow, such as *rollback:3 --force`
