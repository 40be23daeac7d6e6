package cli

import (
	_ "embed" // the functions that are the same in every script of a shell
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
)

// Shell is a shell that there is a completion script for.
//
// A script consists of functions, embedded from the directory completion, and of a description of
// the commands that this file generates from the grammar: for bash a table, for zsh a function per
// command, for fish a list of rules. completed walks the grammar and collects what all three need.
type Shell string

// The supported shells, by the names of their programs.
const (
	Bash Shell = "bash"
	Zsh  Shell = "zsh"
	Fish Shell = "fish"
)

//go:embed completion/functions.bash
var bashFunctions string

//go:embed completion/functions.zsh
var zshFunctions string

//go:embed completion/functions.fish
var fishFunctions string

// Kinds of values that only the repository knows. The scripts ask this program for them with
//
//	git-checkpoint __complete KIND -- PREFIX
//
// and GIT_CHECKPOINT_SESSION set to the session that was typed before. The answer is one candidate
// per line, optionally followed by a tab and a description. The scripts drop candidates that do not
// begin with PREFIX. bash also drops those with characters that are special to a shell; zsh and
// fish quote them.
//
// A flag or argument has the kind in its tag complete:"...". Without the tag, the kind follows from
// its placeholder or name. Tags may name further kinds (trigger, remote and so on); see
// setup.Candidates.
const (
	CompleteRef      = "ref"
	CompleteSession  = "session"
	CompleteWorkflow = "workflow"
)

// Kinds that the shells complete themselves: files, and nothing. A kind that starts with a comma is
// a list of words.
const (
	completeFile    = "file"
	completeNothing = "none"
)

// WriteCompletion writes the script that completes app in a shell. It also completes "git
// checkpoint" together with git's own completion.
func WriteCompletion(w io.Writer, app *kong.Application, shell Shell) error {
	nodes, err := completed(app.Node, nil, []string{""})
	if err != nil {
		return err
	}
	var script string
	switch shell {
	case Bash:
		script = bashCompletion(nodes)
	case Zsh:
		script = zshCompletion(nodes)
	case Fish:
		script = fishCompletion(nodes)
	default:
		return fmt.Errorf("no completion for %q: bash, zsh or fish", shell)
	}
	_, err = io.WriteString(w, script)
	return err
}

// completedNode is a command with what may follow it.
type completedNode struct {
	// paths are the ways to type the command: "session start" and the same with aliases. The
	// program itself is "".
	paths []string
	// commands are its subcommands.
	commands []completedCommand
	// flags are its own and those of the commands above it.
	flags []completedFlag
	args  []completedArg
}

// completedCommand is a subcommand in the list of its parent: its names, aliases included, and the
// first sentence of its help.
type completedCommand struct {
	names []string
	help  string
	// node is its index in the list of all commands.
	node int
}

// completedFlag is a flag: its spellings with the dashes, the kind of its value, the placeholder of
// the value and its help. The kind is empty for a flag without a value. repeats allows it more than
// once.
type completedFlag struct {
	long, short, kind, shown, help string
	repeats                        bool
}

// completedArg is a positional argument and the kind of its value.
type completedArg struct {
	name, kind string
	repeats    bool
}

// completed returns n and all commands below it, n first. paths are the ways to type n, inherited
// the flags of the commands above it.
func completed(n *kong.Node, inherited []completedFlag, paths []string) ([]completedNode, error) {
	self := completedNode{paths: paths, flags: slices.Clone(inherited)}
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		flags, err := completedFlags(f)
		if err != nil {
			return nil, err
		}
		self.flags = append(self.flags, flags...)
	}
	for _, p := range n.Positional {
		kind, err := completionKind(p, p.Name)
		if err != nil {
			return nil, err
		}
		self.args = append(self.args, completedArg{p.Name, kind, p.IsCumulative()})
	}
	nodes := []completedNode{self}
	for _, child := range n.Children {
		if child.Hidden || child.Type != kong.CommandNode {
			continue
		}
		names := append([]string{child.Name}, child.Aliases...)
		var below []string
		for _, path := range paths {
			for _, name := range names {
				below = append(below, strings.TrimSpace(path+" "+name))
			}
		}
		nodes[0].commands = append(nodes[0].commands, completedCommand{names, firstSentence(child.Help), len(nodes)})
		more, err := completed(child, self.flags, below)
		if err != nil {
			return nil, err
		}
		// Indexes in more count from its own beginning.
		for i := range more {
			for j := range more[i].commands {
				more[i].commands[j].node += len(nodes)
			}
		}
		nodes = append(nodes, more...)
	}
	return nodes, nil
}

// completedFlags returns a flag as completion sees it: two flags if it can be negated, as in --tag
// and --no-tag.
func completedFlags(f *kong.Flag) ([]completedFlag, error) {
	flag := completedFlag{long: "--" + f.Name, help: firstSentence(f.Help), repeats: f.IsCumulative() || f.IsCounter()}
	if f.Short != 0 {
		flag.short = "-" + string(f.Short)
	}
	if !takesValue(f) {
		flags := []completedFlag{flag}
		if _, negation, found := strings.Cut(longName(f), "/"); found {
			flags = append(flags, completedFlag{long: "--" + negation, help: flag.help})
		} else if strings.HasPrefix(longName(f), "[no-]") {
			flags = append(flags, completedFlag{long: "--no-" + f.Name, help: flag.help})
		}
		return flags, nil
	}
	flag.shown = f.FormatPlaceHolder()
	kind, err := completionKind(f.Value, flag.shown)
	flag.kind = kind
	return []completedFlag{flag}, err
}

// firstSentence is the first sentence of a help text, without the full stop.
func firstSentence(help string) string {
	line, _, _ := strings.Cut(help, "\n")
	sentence, _, _ := strings.Cut(line, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// kindPattern matches a kind in a tag, harmlessPattern a word of an enum that needs no quotes in a
// script, and filePattern a placeholder that stands for a file or a directory.
var (
	kindPattern     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z-]*$`) })
	harmlessPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })
	filePattern     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(file|dir)|=file`) })
)

// completionKind returns the kind of a flag's or argument's values: from its complete tag, else the
// words of its enum, else by its placeholder (shown) or name. The fallback is no completion.
func completionKind(v *kong.Value, shown string) (string, error) {
	if v.Tag.Has("complete") {
		kind := v.Tag.Get("complete")
		if !kindPattern().MatchString(kind) {
			return "", fmt.Errorf("completion of %q: %q is not a kind", v.Name, kind)
		}
		return kind, nil
	}
	if v.Enum != "" {
		words := slices.DeleteFunc(v.EnumSlice(), func(w string) bool { return !harmlessPattern().MatchString(w) })
		return "," + strings.Join(words, ","), nil
	}
	for _, word := range []string{shown, v.Name} {
		word = strings.NewReplacer("<", "", ">", "").Replace(strings.ToLower(word))
		switch word = strings.TrimSuffix(word, "s"); {
		case slices.Contains([]string{CompleteRef, CompleteSession, CompleteWorkflow}, word):
			return word, nil
		case filePattern().MatchString(word):
			return completeFile, nil
		}
	}
	if v.PassthroughMode != kong.PassThroughModeNone {
		return completeFile, nil
	}
	return completeNothing, nil
}

// bashCompletion generates the function __git_checkpoint_model, a table that sets the subcommands,
// flags and arguments of a command. The functions in completion/functions.bash read it. Flags with
// a value are written "--flag=kind".
func bashCompletion(nodes []completedNode) string {
	var b strings.Builder
	b.WriteString("# bash completion of git-checkpoint, and of \"git checkpoint\" for git's own completion.\n\n")
	b.WriteString("__git_checkpoint_model ()\n{\n\tcommands= flags= args=\n\tcase \"$1\" in\n")
	for _, n := range nodes {
		var commands, flags, args []string
		for _, c := range n.commands {
			commands = append(commands, c.names...)
		}
		for _, f := range n.flags {
			for _, name := range []string{f.long, f.short} {
				if name != "" && f.kind != "" {
					name += "=" + f.kind
				}
				if name != "" {
					flags = append(flags, name)
				}
			}
		}
		for _, a := range n.args {
			if a.repeats {
				a.kind += "..."
			}
			args = append(args, a.kind)
		}
		fmt.Fprintf(&b, "\t\"%s\")\n", strings.Join(n.paths, `" | "`))
		fmt.Fprintf(&b, "\t\tcommands=\"%s\"\n\t\tflags=\"%s\"\n\t\targs=\"%s\"\n\t\t;;\n",
			strings.Join(commands, " "), strings.Join(flags, " "), strings.Join(args, " "))
	}
	b.WriteString("\tesac\n}\n\n" + bashFunctions)
	return b.String()
}

// zshCompletion generates a function for each command, which calls zsh's _arguments. zsh's
// completion of git calls _git-checkpoint for "git checkpoint", with words that start at
// "checkpoint".
func zshCompletion(nodes []completedNode) string {
	var b strings.Builder
	b.WriteString("#compdef git-checkpoint\n\n" + zshFunctions)
	for i, n := range nodes {
		fmt.Fprintf(&b, "\n__git-checkpoint_%d() {\n\tlocal curcontext=\"$curcontext\" state line ret=1\n\tlocal -A opt_args\n\t_arguments -C -s -S", i)
		for _, f := range n.flags {
			for _, spec := range zshFlag(f) {
				b.WriteString(" \\\n\t\t" + quoteZsh(spec))
			}
		}
		for _, a := range n.args {
			spec := ":" + escapeZsh(a.name) + ":" + zshAction(a.kind)
			if a.repeats {
				spec = "*" + spec
			}
			b.WriteString(" \\\n\t\t" + quoteZsh(spec))
		}
		if len(n.commands) == 0 {
			b.WriteString(" && ret=0\n\treturn ret\n}\n")
			continue
		}
		b.WriteString(" \\\n\t\t': :->command' '*:: :->rest' && ret=0\n\tcase $state in\n\tcommand)\n\t\tlocal -a commands=(")
		for _, c := range n.commands {
			for _, name := range c.names {
				b.WriteString("\n\t\t\t" + quoteZsh(escapeZsh(name)+":"+c.help))
			}
		}
		b.WriteString("\n\t\t)\n\t\t_describe -t commands command commands && ret=0\n\t\t;;\n\trest)\n\t\tcase $line[1] in\n")
		for _, c := range n.commands {
			fmt.Fprintf(&b, "\t\t%s) __git-checkpoint_%d && ret=0 ;;\n", strings.Join(c.names, "|"), c.node)
		}
		b.WriteString("\t\tesac\n\t\t;;\n\tesac\n\treturn ret\n}\n")
	}
	// As a file in fpath, the script is the body of the function _git-checkpoint, so it must call
	// it. If it is sourced, it only has to register the function.
	b.WriteString("\n_git-checkpoint() { __git-checkpoint_0 }\n\n" +
		"if [[ $funcstack[1] = _git-checkpoint ]]; then\n\t_git-checkpoint\nelse\n\tcompdef _git-checkpoint git-checkpoint\nfi\n")
	return b.String()
}

// zshFlag returns one _arguments specification for each spelling of a flag. Unless the flag may be
// repeated, each spelling excludes the other.
func zshFlag(f completedFlag) (specs []string) {
	repeat := "*"
	if !f.repeats {
		repeat = "(" + strings.TrimSpace(f.short+" "+f.long) + ")"
	}
	tail := "[" + escapeZsh(f.help) + "]"
	long, short := f.long, f.short
	if f.kind != "" {
		tail += ":" + escapeZsh(f.shown) + ":" + zshAction(f.kind)
		long, short = long+"=", short+"+"
	}
	specs = append(specs, repeat+long+tail)
	if f.short != "" {
		specs = append(specs, repeat+short+tail)
	}
	return specs
}

// zshAction is the action of _arguments that completes values of a kind. A blank completes nothing.
func zshAction(kind string) string {
	switch {
	case kind == completeNothing:
		return " "
	case kind == completeFile:
		return "_files"
	case strings.HasPrefix(kind, ","):
		return "(" + strings.ReplaceAll(kind[1:], ",", " ") + ")"
	}
	return "__git-checkpoint_values " + kind
}

// escapeZsh escapes what is special in a specification of _arguments.
func escapeZsh(s string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(s)
}

// quoteZsh quotes a string for zsh.
func quoteZsh(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fishCompletion generates rules for git-checkpoint. fish also uses them for "git checkpoint".
func fishCompletion(nodes []completedNode) string {
	var paths, valued []string
	for _, n := range nodes {
		for _, path := range n.paths {
			if path != "" {
				paths = append(paths, quoteFish(path))
			}
		}
		for _, f := range n.flags {
			for _, name := range []string{f.long, f.short} {
				if name != "" && f.kind != "" && !slices.Contains(valued, name) {
					valued = append(valued, name)
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "set -g __git_checkpoint_paths %s\nset -g __git_checkpoint_valued %s\n%s",
		strings.Join(paths, " "), strings.Join(valued, " "), fishFunctions)
	for _, n := range nodes {
		at := make([]string, len(n.paths))
		for i, path := range n.paths {
			at[i] = `"` + path + `"`
		}
		// index is the place of the argument to complete: 0, 1+ for repeated ones, or "any" for
		// flags.
		add := func(index, rest string) {
			condition := "__git_checkpoint_at " + index + " " + strings.Join(at, " ")
			fmt.Fprintf(&b, "complete -c git-checkpoint -n %s %s\n", quoteFish(condition), rest)
		}
		for _, c := range n.commands {
			add("0", "-a "+quoteFish(strings.Join(c.names, " "))+" -d "+quoteFish(c.help))
		}
		for _, f := range n.flags {
			add("any", fishFlag(f))
		}
		for i, a := range n.args {
			index := fmt.Sprint(i)
			if a.repeats {
				index += "+"
			}
			if a.kind != completeNothing {
				add(index, fishValue(a.kind))
			}
		}
	}
	return b.String()
}

// fishFlag is a flag as arguments of fish's complete: -x takes no files, -r requires a value.
func fishFlag(f completedFlag) string {
	text := "-l " + f.long[2:]
	if f.short != "" {
		text += " -s " + f.short[1:]
	}
	switch f.kind {
	case "":
	case completeNothing:
		text += " -x"
	case completeFile:
		text += " -r -F"
	default:
		text += " -x " + fishValue(f.kind)
	}
	return text + " -d " + quoteFish(f.help)
}

// fishValue is a kind of values as arguments of fish's complete.
func fishValue(kind string) string {
	switch {
	case kind == completeFile:
		return "-F"
	case strings.HasPrefix(kind, ","):
		return "-a " + quoteFish(strings.ReplaceAll(kind[1:], ",", " "))
	}
	return "-a '(__git_checkpoint_values " + kind + ")'"
}

// quoteFish quotes a string for fish.
func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
