package answer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/inspect"
)

// Listed is the answer of list: a table for each session.
type Listed struct {
	Sessions   []inspect.Listing
	Unfinished *inspect.Unfinished // nil unless a rollback was cut off here
	Usage      bool                // with the tokens that turns of agents used
	Others     []checkpoint.OtherSession
	MayFetch   string // where there is no session: how those of a remote come here
	Gone       string // of worktrees of agents
	Rest       string // the command that shows to a person what the limit left out; empty: none was asked for
}

func (a Listed) shows() any {
	return gather.List(a.Sessions, func(l inspect.Listing) []inspect.Item { return l.Items })
}

// text writes each session's name and topic and the table of its checkpoints.
func (a Listed) text(p *page) {
	p.unfinished(a.Unfinished)
	for i, l := range a.shown(p) {
		if i > 0 {
			p.gap()
		}
		p.fields(field{"Session", say(string(l.Session))}, field{"Topic", say(l.Topic)})
		if p.view.Layout == render.Tabbed {
			p.items(l.Items, a.Usage)
		} else {
			p.rows(l.Items)
		}
		if more := l.Total - len(l.Items); more > 0 && p.view.Layout == render.Aligned {
			p.line(dim(strconv.Itoa(more) + " older" + when(a.Rest != "", ": "+a.Rest)))
		} else if more > 0 {
			p.line(plain(strconv.Itoa(len(l.Items)) + " of " + strconv.Itoa(l.Total) + " shown"))
		}
		p.heads(l.Heads)
		p.leftOut(l)
	}
	// Also for a single session that was just started.
	none := len(a.Sessions) == 0 || len(a.Sessions) == 1 && a.Sessions[0].Items == nil
	if p.view.Layout == render.Aligned { // a program gets an empty answer
		if none && len(a.Others) == 0 {
			p.line(plain("No checkpoints yet: git checkpoint save"))
		}
		p.nameOthers(a.Others, a.MayFetch)
		if a.Gone != "" {
			p.line(dim(a.Gone))
		}
	}
}

// heads writes a row for each line of the session other than the one here. A program sees the checkpoints
// themselves.
func (p *page) heads(heads []checkpoint.Head) {
	const most = 3
	if p.view.Layout != render.Aligned {
		return
	}
	for _, h := range heads[:min(len(heads), most)] {
		p.line(append(mention(h.Mention), dim(" · "+render.Count(h.Steps, "step", "steps")+" · "+h.Whose()+" · "+p.view.Time(h.Time.Time)))...)
	}
	if rest := len(heads) - most; rest > 0 {
		p.line(dim(render.Count(rest, "more line", "more lines") + ": git checkpoint list --all"))
	}
}

// shown returns the sessions to write: for a person without those that have nothing to show, unless
// none has.
func (a Listed) shown(p *page) []inspect.Listing {
	full := slices.DeleteFunc(slices.Clone(a.Sessions), func(l inspect.Listing) bool { return l.Total+l.Safety+l.Discarded+l.Tools == 0 })
	if p.view.Layout == render.Tabbed || len(full) == 0 {
		return a.Sessions
	}
	return full
}

// leftOut tells a person how many checkpoints are hidden by default, and the flag that shows them.
func (p *page) leftOut(l inspect.Listing) {
	var parts []string
	for i, n := range []int{l.Safety, l.Discarded, l.Tools} {
		if n > 0 {
			parts = append(parts, []string{"safety ", "left behind ", "of tools "}[i]+strconv.Itoa(n))
		}
	}
	if len(parts) > 0 && p.view.Layout == render.Aligned {
		p.line(dim(strconv.Itoa(l.Safety+l.Discarded+l.Tools) + " more: " + strings.Join(parts, ", ") + " (--hidden)"))
	}
}

// items writes the list for programs: all columns, with --verbose labels and ids, too, and whole messages, in the order of the list for people.
func (p *page) items(items []inspect.Item, usage bool) {
	titles, ids := []string{"#", "Time", "Trigger", "Files", "Status", "Marks", "Message"}, p.view.Verbose
	if ids {
		titles = slices.Insert(append(titles, "Id"), 1, "Checkpoint")
	}
	if usage {
		titles = append(titles, "Tokens", "Price")
	}
	p.table(gather.List(titles, func(title string) render.Column { return render.Column{Title: title} }), gather.List(newestFirst(items), func(item inspect.Item) []render.Cell {
		role := render.ID
		if item.Discarded {
			role = render.Dim
		}
		row := []render.Cell{
			cell(role, Number(item)), say(p.view.Time(item.CreatedAt.Time)),
			say(item.Trigger), say(strconv.Itoa(item.Files)), say(item.Status),
			spaced(marks{item.IsStep, item.Discarded, !item.Valid, item.Pinned, item.Incomplete, item.Others}.spans(p.view.Layout)), message(item),
		}
		if ids {
			row = slices.Insert(append(row, cell(render.Dim, string(item.ID))), 1, cell(role, item.Label))
		}
		if usage {
			row = append(row, say(tokensOf(item.Usage)), say(priceOf(item.Usage)))
		}
		return row
	}))
}

// message returns all of a checkpoint's message, or what is wrong with the checkpoint.
func message(item inspect.Item) render.Cell {
	if item.Problem == "" && item.Row.Message != "" {
		return brief(item.Row.Message)
	}
	return words(item)
}

// words returns the first line of a checkpoint's message, or what is wrong with the checkpoint.
func words(item inspect.Item) render.Cell {
	if item.Problem != "" {
		return cell(render.Error, item.Problem)
	}
	subject, _, _ := strings.Cut(item.Message, "\n")
	if item.Row.Against != "" {
		subject += " (" + item.Row.Against + ")"
	}
	if subject == "" && item.Row.Files != "" {
		return cell(render.Dim, "("+item.Row.Files+")")
	}
	return brief(subject)
}

// brief returns a cell with as much of a message as a row shows: others may have written megabytes.
func brief(message string) render.Cell { return say(name.Clip(message, 1000)) }

// Number returns what a user types for a live checkpoint: 3, 6.2 or 3+1. The first milestone of a
// step that was repeated is 6.1, because 6 means the newest.
func Number(item inspect.Item) string {
	if item.Twin != "" {
		return item.Twin
	}
	iteration := item.Iteration
	if item.Redone {
		iteration = cmp.Or(iteration, checkpoint.FirstIteration)
	}
	return record.Number(item.Step, item.Milestone || item.Redone, iteration, item.Label)
}

// marks says how a checkpoint is marked in lists.
type marks struct {
	current, discarded, invalid, pinned, incomplete bool

	others []string // who else made what is in an agent's checkpoint
}

// spans returns the words of the marks.
func (m marks) spans(layout render.Layout) (found []render.Span) {
	gone := "left behind"
	if layout != render.Aligned {
		gone = "discarded" // programs read that
	}
	for _, mark := range []struct {
		is   bool
		span render.Span
	}{
		{m.current, render.Span{Role: render.Success, Text: "current"}},
		{m.discarded, dim(gone)},
		{m.invalid, render.Span{Role: render.Error, Text: "invalid"}},
		{m.pinned, render.Span{Role: render.Hint, Text: "pinned"}},
		{m.incomplete, render.Span{Role: render.Warning, Text: "incomplete"}},
	} {
		if mark.is {
			found = append(found, mark.span)
		}
	}
	for _, who := range m.others {
		if who != string(author.Unknown) { // that may be the agent's own
			found = append(found, dim("+"+who))
		}
	}
	return found
}

// spaced joins spans with spaces.
func spaced(spans []render.Span) (c render.Cell) {
	for i, s := range spans {
		if i > 0 {
			c = append(c, plain(" "))
		}
		c = append(c, s)
	}
	return c
}

// Formatted is the answer of list with --format. With Null each checkpoint ends with a NUL.
type Formatted struct {
	Sessions []inspect.Listing
	Format   string
	Null     bool
	Fields   map[name.OID]map[string]string // by commit, what GitPlaceholders stand for
}

func (a Formatted) shows() any { return Listed{Sessions: a.Sessions}.shows() }

// placeholder matches what begins with % in a format.
var placeholder = lazy.Pattern(`%(\([a-z]*\)|x[0-9a-fA-F]{2}|[acn%][a-zA-Z]?|.)?`)

// CheckFormat returns an error that names a placeholder that is not known.
func CheckFormat(format string) error {
	for _, found := range placeholder().FindAllString(format, -1) {
		if _, known := expand(found, inspect.Item{}, render.View{}); !known && !gits().MatchString(found) {
			return fmt.Errorf("--format does not know %q", found)
		}
	}
	return nil
}

// gits matches the placeholders that git fills in from the commit of a checkpoint.
var gits = lazy.Pattern(`^%([ac][NeElLdDis]|cn|[TtPpDdf])$`)

// GitPlaceholders returns those of a format that git fills in.
func GitPlaceholders(format string) []string {
	return slices.DeleteFunc(placeholder().FindAllString(format, -1), func(found string) bool { return !gits().MatchString(found) })
}

// text writes the checkpoints, in a format of the user's and as they are for programs.
func (a Formatted) text(p *page) {
	end := "\n"
	if a.Null {
		end = "\x00"
	}
	for _, l := range a.Sessions {
		for _, item := range newestFirst(l.Items) {
			text := placeholder().ReplaceAllStringFunc(a.Format, func(found string) string {
				value, _ := expand(found, item, p.view)
				if value = cmp.Or(value, a.Fields[item.Commit][found]); a.Null || strings.HasPrefix(found, "%x") {
					return value
				}
				return render.EscapeLines(value) // what others wrote may end at a terminal through a pipe, too
			})
			if p.err == nil {
				_, p.err = io.WriteString(p.w, text+end)
			}
		}
	}
}

// expand returns what a placeholder stands for.
func expand(found string, item inspect.Item, v render.View) (value string, known bool) {
	rest := ""
	switch {
	case strings.HasPrefix(found, "%n"), strings.HasPrefix(found, "%%"): // the pattern may have taken one more letter
		found, rest = found[:2], found[2:]
	case strings.HasPrefix(found, "%x"):
		b, err := strconv.ParseUint(strings.TrimPrefix(found, "%x"), 16, 8)
		return string([]byte{byte(b)}), err == nil
	}
	message := cmp.Or(item.Row.Message, item.Message)
	subject, body, _ := strings.Cut(message, "\n")
	moment, age, author := render.UTC(item.CreatedAt.Time), v.Age(item.CreatedAt.Time), makerCell(item).Text()
	seconds := strconv.FormatInt(item.CreatedAt.Unix(), 10)
	value, known = map[string]string{
		"%h": item.Commit.Short(), "%H": string(item.Commit),
		"%(number)": typed(item), "%(id)": string(item.ID), "%(label)": item.Label, "%(session)": string(item.Session),
		"%(message)": message, "%B": message, "%(subject)": subject, "%s": subject, "%b": strings.TrimSpace(body),
		"%(time)": moment, "%aI": moment, "%cI": moment, "%at": seconds, "%ct": seconds, "%ar": age, "%cr": age,
		"%(by)": author, "%an": author, "%n": "\n", "%%": "%",
	}[found]
	return value + rest, known
}
