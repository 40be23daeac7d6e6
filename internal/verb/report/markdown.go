package report

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/format/render"
)

// most is how many characters GitHub takes in a comment, with room for the last line.
const most = 65_536 - 200

// mostPaths is how many paths a list names.
const mostPaths = 50

// Markdown returns the report for a comment in GitHub or GitLab, of less than 65,536 characters.
func (a *Answer) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### What is behind %s\n\n%s\n\n", code(a.Range), a.summary())
	if a.Usage != nil {
		fmt.Fprintf(&b, "Tokens: %s\n\n", a.Usage.Words())
	}
	if len(a.Agents) > 0 {
		b.WriteString("| agent | model | steps |\n| --- | --- | --- |\n")
		for _, w := range a.Agents {
			fmt.Fprintf(&b, "| %s | %s | %d |\n", inTable(w.Agent), inTable(w.Model), w.Steps)
		}
		b.WriteString("\n")
	}
	tail := ""
	for _, list := range a.lists() {
		tail += paths(list.title, list.paths)
	}
	if len(a.Says) > 0 {
		tail += "Others say, and nothing proves it:\n\n"
		for _, line := range render.First(a.Says, mostPaths, "… and %d more", func(s Saying) string { return code(s.words()) }) {
			tail += "- " + line + "\n"
		}
		tail += "\n"
	}
	left := most - utf8.RuneCountInString(b.String()) - utf8.RuneCountInString(tail)
	for i, step := range a.Steps {
		block := step.markdown(i + 1)
		if left -= utf8.RuneCountInString(block); left < 0 {
			fmt.Fprintf(&b, "… and %d more checkpoints, which are left out here.\n\n", len(a.Steps)-i)
			break
		}
		b.WriteString(block)
	}
	return cut(render.EscapeLines(b.String() + tail)) // a prompt may have what acts on a terminal
}

// cut shortens a text to what a comment can have.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "\n\n… cut here.\n"
}

// summary says in one line how much there is.
func (a *Answer) summary() string {
	n := a.Lines
	return fmt.Sprintf("%s, %s: %d by agents, %d outside the agents' tools, %d in checkpoints of which it is unknown who made them, %d not made under checkpoints here.", render.Count(len(a.Commits), "commit", "commits"), render.Count(n.Lines, "line", "lines"), n.Named, n.Outside, n.Held, n.None)
}

// words says who says what.
func (s Saying) words() string {
	words := fmt.Sprintf("%s: %s, %s", s.From, s.Words(), render.Count(int64(len(s.Commits)), "commit", "commits"))
	if s.Lines > 0 {
		words += ", " + render.Count(int64(s.Lines), "line", "lines")
	}
	return words
}

// pathList is paths with a title.
type pathList struct {
	title string
	paths []string
}

// lists returns the paths with lines that no agent is known to have made.
func (a *Answer) lists() []pathList {
	return []pathList{{"Changed outside the agents' tools", a.Outside}, {"In a checkpoint, but who made it is unknown", a.Held}, {"Unknown: not made under checkpoints here", a.Unknown}}
}

// title names a step for people.
func (s Step) title() string {
	title := cmp.Or(s.Prompt, s.Message, string(s.Checkpoint))
	title, _, _ = strings.Cut(title, "\n")
	return title
}

// where names the step and its agent.
func (s Step) where() string {
	where := string(s.Session)
	if s.Step > 0 {
		where = fmt.Sprintf("step %d of %s", s.Step, s.Session)
	}
	for _, part := range []string{s.Agent, s.Model} {
		if part != "" {
			where += ", " + part
		}
	}
	return where
}

// markdown returns a block that can be opened. The prompt is written as code, so that a name in it
// mentions nobody.
func (s Step) markdown(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%d. <code>%s</code> (%s)</summary>\n\n", n, inHTML(s.title()), inHTML(s.where()))
	if text := strings.TrimSpace(s.Prompt + "\n\n" + s.Message); text != "" && text != s.title() {
		b.WriteString(fenced(text))
	}
	for _, line := range render.First(s.Files, mostPaths, "… and %d more files", code) {
		b.WriteString("- " + line + "\n")
	}
	if s.Usage != nil {
		fmt.Fprintf(&b, "\nTokens: %s\n", s.Usage.Words())
	}
	if len(s.Checks) > 0 {
		b.WriteString("\n| check | |\n| --- | --- |\n")
		for _, key := range slices.Sorted(maps.Keys(s.Checks)) {
			fmt.Fprintf(&b, "| %s | %s |\n", inTable(key), inTable(s.Checks[key]))
		}
	}
	b.WriteString("\n</details>\n\n")
	return b.String()
}

// paths returns a list of paths that can be opened; nothing for no paths.
func paths(title string, all []string) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("<details><summary>%s: %s</summary>\n\n- %s\n\n</details>\n\n", title, render.Count(len(all), "file", "files"), strings.Join(render.First(all, mostPaths, "… and %d more", code), "\n- "))
}

// inHTML escapes text for a line of HTML.
func inHTML(text string) string { return html.EscapeString(oneLine(text)) }

// oneLine replaces what would end a line or change it.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, text)
}

// ticks returns a row of backticks that is longer than any in a text.
func ticks(text string, least int) string {
	run, longest := 0, least-1
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// code returns a text as code within a line.
func code(text string) string {
	text = oneLine(text)
	fence := ticks(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || fence != "`" {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

// inTable returns a text as code in a cell of a table, where a bar must be escaped even in code.
func inTable(text string) string {
	if text == "" {
		return ""
	}
	return strings.ReplaceAll(code(text), "|", `\|`)
}

// fenced returns a text as a block of code.
func fenced(text string) string {
	fence := ticks(text, 3)
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n\n"
}

// HTML returns the report as a page without anything from elsewhere.
func (a *Answer) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>What is behind %s</title>\n<h1>What is behind %[1]s</h1>\n<p>%s</p>\n", inHTML(a.Range), inHTML(a.summary()))
	if a.Usage != nil {
		fmt.Fprintf(&b, "<p>Tokens: %s</p>\n", inHTML(a.Usage.Words()))
	}
	for _, w := range a.Agents {
		fmt.Fprintf(&b, "<p>%s: %s</p>\n", inHTML(strings.TrimSpace(w.Agent+" "+w.Model)), render.Count(w.Steps, "step", "steps"))
	}
	for i, s := range a.Steps {
		fmt.Fprintf(&b, "<details><summary>%d. %s (%s)</summary>\n<pre>%s</pre>\n<ul>\n", i+1, inHTML(s.title()), inHTML(s.where()), html.EscapeString(strings.TrimSpace(s.Prompt+"\n\n"+s.Message)))
		for _, path := range s.Files {
			fmt.Fprintf(&b, "<li>%s\n", inHTML(path))
		}
		for _, key := range slices.Sorted(maps.Keys(s.Checks)) {
			fmt.Fprintf(&b, "<li>%s: %s\n", inHTML(key), inHTML(s.Checks[key]))
		}
		if s.Usage != nil {
			fmt.Fprintf(&b, "<li>Tokens: %s\n", inHTML(s.Usage.Words()))
		}
		b.WriteString("</ul></details>\n")
	}
	for _, list := range a.lists() {
		if len(list.paths) > 0 {
			fmt.Fprintf(&b, "<h2>%s</h2>\n<ul>\n", inHTML(list.title))
			for _, path := range list.paths {
				fmt.Fprintf(&b, "<li>%s\n", inHTML(path))
			}
			b.WriteString("</ul>\n")
		}
	}
	for _, s := range a.Says {
		fmt.Fprintf(&b, "<p>Others say, and nothing proves it: %s</p>\n", inHTML(s.words()))
	}
	return render.EscapeLines(b.String() + "</html>\n")
}
