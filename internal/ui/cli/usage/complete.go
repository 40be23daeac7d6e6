package usage

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// The scripts for bash, zsh and fish only pass the words of the line on to this program:
//
//	git-checkpoint __complete line -- WORD... LAST
//
// They are the words after the program's name, without quotes; the last one is to be completed and
// may be empty. The answer is one candidate per line, each a whole word, optionally followed by a
// tab and a description. The shell adds a blank, except after a candidate that ends with "=". If
// the only line is filesWanted, the shell completes names of files. The bash script never offers a
// candidate with characters that are special to a shell; zsh and fish quote them.
//
//go:embed completion
var completionScripts embed.FS

// filesWanted is the answer that leaves completion to the shell.
const filesWanted = ":files"

// WriteCompletion writes the completion script for a shell: bash, zsh or fish. It also completes
// "git checkpoint" together with git's own completion.
func WriteCompletion(w io.Writer, shell string) error {
	script, err := completionScripts.ReadFile("completion/completion." + shell)
	if err != nil {
		return fmt.Errorf("no completion for %q: bash, zsh or fish", shell)
	}
	_, err = w.Write(script)
	return err
}

// completeTag is the tag of a flag or an argument that names the kind of its values: file, command,
// or what the function values of Complete knows; " or file" after it takes names of files where it has none. Without it there are only the words of an enum.
const completeTag = "complete"

// Complete returns the lines of an answer to a completion script. values returns the values of a
// kind, of which a prefix was typed; session is what the line says about the session, or empty.
func Complete(app *kong.Application, words []string, values func(kind, session, prefix string) []string) []string {
	line := typedLine{node: app.Node, commands: true}
	last := len(words) - 1
	for _, word := range words[:last] {
		line.read(word)
	}
	word := words[last]
	given, value, attached := strings.Cut(word, "=")
	switch {
	case line.flag != nil:
		return line.values(app, line.flag.Value, "", word, values)
	case line.ended:
		return []string{filesWanted}
	case strings.HasPrefix(word, "-") && attached:
		if flag, _ := flagOf(line.node, given); flag != nil && takesValue(flag) {
			return line.values(app, flag.Value, given+"=", value, values)
		}
		return nil
	case strings.HasPrefix(word, "-"):
		return flagsFrom(line.node, word)
	case line.commands && len(line.node.Children) > 0:
		return commandsFrom(line.node, word)
	}
	if argument := line.argument(); argument != nil {
		return line.values(app, argument, "", word, values)
	}
	return nil
}

// typedLine is what the words before the last one say.
type typedLine struct {
	// node is the command, commands whether a subcommand of it may follow.
	node     *kong.Node
	commands bool
	flag     *kong.Flag // a flag whose value comes next
	// count is the number of arguments, session the value of --session.
	count   int
	session string
	ended   bool // says that there was a "--"
}

// read takes in one word.
func (l *typedLine) read(word string) {
	if l.flag != nil {
		l.valued(l.flag, word)
		l.flag = nil
		return
	}
	if l.ended || word == "--" {
		l.ended = true
		return
	}
	if strings.HasPrefix(word, "-") {
		flag, attached := flagOf(l.node, word)
		switch {
		case flag == nil || !takesValue(flag):
		case attached:
			_, value, _ := strings.Cut(word, "=")
			l.valued(flag, value)
		default:
			l.flag = flag
		}
		return
	}
	if below := child(l.node, word); l.commands && below != nil && !below.Hidden {
		l.node = below
		return
	}
	l.commands = false
	l.count++
}

// valued remembers the value of a flag that names a session.
func (l *typedLine) valued(flag *kong.Flag, value string) {
	if flag.Tag.Get(completeTag) == "session" {
		l.session = value
	}
}

// argument is the argument that comes next, or nil. The last one may take any number of words.
func (l *typedLine) argument() *kong.Value {
	all := l.node.Positional
	if n := len(all); n > 0 && l.count >= n && all[n-1].IsCumulative() {
		return all[n-1]
	}
	if l.count < len(all) {
		return all[l.count]
	}
	return nil
}

// values completes a value of a flag or an argument. given stands before it in the same word.
func (l *typedLine) values(app *kong.Application, of *kong.Value, given, prefix string, ask func(kind, session, prefix string) []string) []string {
	var found []string
	kind, orFile := strings.CutSuffix(of.Tag.Get(completeTag), " or file")
	switch kind {
	case "":
		found = of.EnumSlice()
	case "file":
		return []string{filesWanted}
	case "command":
		return commandsFrom(app.Node, prefix)
	default:
		found = ask(kind, l.session, prefix)
	}
	var lines []string
	for _, value := range found {
		if value != "" && strings.HasPrefix(value, prefix) {
			lines = append(lines, given+value)
		}
	}
	if orFile && len(lines) == 0 {
		return []string{filesWanted}
	}
	return lines
}

// flagsFrom returns the flags of a command that begin with word. One that can be negated has two
// spellings. A flag of one letter is complete as it is.
func flagsFrom(node *kong.Node, word string) (lines []string) {
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			spellings := []string{"--" + f.Name}
			if takesValue(f) {
				spellings[0] += "="
			}
			if _, negation, found := strings.Cut(longName(f), "/"); found {
				spellings = append(spellings, "--"+negation)
			} else if strings.HasPrefix(longName(f), "[no-]") {
				spellings = append(spellings, "--no-"+f.Name)
			}
			if f.Short != 0 && word == "-"+string(f.Short) {
				spellings = append(spellings, word)
			}
			for _, spelling := range spellings {
				if strings.HasPrefix(spelling, word) {
					lines = append(lines, spelling+"\t"+firstSentence(f.Help))
				}
			}
		}
	}
	return lines
}

// commandsFrom returns the subcommands of node that begin with prefix, and their aliases.
func commandsFrom(node *kong.Node, prefix string) (lines []string) {
	for _, c := range node.Children {
		if c.Hidden || c.Type != kong.CommandNode {
			continue
		}
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if strings.HasPrefix(name, prefix) {
				lines = append(lines, name+"\t"+firstSentence(c.Help))
			}
		}
	}
	return lines
}

// firstSentence is the first sentence of a help text, without the full stop.
func firstSentence(help string) string {
	line, _, _ := strings.Cut(help, "\n")
	sentence, _, _ := strings.Cut(line, ". ")
	return strings.TrimSuffix(sentence, ".")
}
