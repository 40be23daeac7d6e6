package cli

import (
	_ "embed" // the functions that every script of a shell has
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"
)

// Shell is one that completion scripts are written for.
type Shell string

// The shells, by the names of their programs.
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

// Kinds of values that the scripts ask the program for, by
//
//	git-checkpoint __complete KIND -- PREFIX
//
// with GIT_CHECKPOINT_SESSION set to the session typed before. It answers with a line
// per candidate, optionally with a tab and a description. Those that do not begin with
// PREFIX are left out; so are, in bash, those with characters that a shell acts upon. zsh
// and fish quote these.
//
// A flag or argument has the kind that its tag complete:"…" says, else one by its
// placeholder or name. Other tags make other kinds, asked for in the same way.
const (
	CompleteRef      = "ref"
	CompleteSession  = "session"
	CompleteWorkflow = "workflow"
)

// The shells know these themselves. One that starts with a comma lists its words.
const (
	completeFile    = "file"
	completeNothing = "none"
)

// WriteCompletion writes the script that completes app in shell, and git's completion
// of `git checkpoint` with it.
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

// completedNode is a command and what may follow it.
type completedNode struct {
	paths    []string // how it is typed, aliases included; "" is the program
	commands []completedCommand
	flags    []completedFlag // those of the commands above it too
	args     []completedArg
}

type completedCommand struct {
	names []string
	help  string
	node  int // its place in the list of all
}

type completedFlag struct {
	long, short, kind, shown, help string // kind is empty for a flag without a value
	repeats                        bool
}

type completedArg struct {
	name, kind string
	repeats    bool
}

// completed lists n and all below it, n first. Paths are those that n is typed by.
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
		for i := range more {
			for j := range more[i].commands {
				more[i].commands[j].node += len(nodes)
			}
		}
		nodes = append(nodes, more...)
	}
	return nodes, nil
}

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

func firstSentence(help string) string {
	line, _, _ := strings.Cut(help, "\n")
	sentence, _, _ := strings.Cut(line, ". ")
	return strings.TrimSuffix(sentence, ".")
}

var (
	kindPattern     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z-]*$`) })
	harmlessPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`) })
	filePattern     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(file|dir)|=file`) })
)

func completionKind(v *kong.Value, shown string) (string, error) {
	if v.Tag.Has("complete") {
		kind := v.Tag.Get("complete")
		if !kindPattern().MatchString(kind) {
			return "", fmt.Errorf("completion of %q: %q is no kind", v.Name, kind)
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

// bashCompletion is a table of the commands, for the functions in completion/functions.bash.
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

// zshCompletion has a function for each command. zsh's completion of git calls
// _git-checkpoint for "git checkpoint"; words then start with "checkpoint".
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
	// Found in fpath the file is the function's body, and called; sourced it is not.
	b.WriteString("\n_git-checkpoint() { __git-checkpoint_0 }\n\n" +
		"if [[ $funcstack[1] = _git-checkpoint ]]; then\n\t_git-checkpoint\nelse\n\tcompdef _git-checkpoint git-checkpoint\nfi\n")
	return b.String()
}

// zshFlag is one specification for each spelling; the spellings exclude each other.
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

func escapeZsh(s string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, "[", `\[`, "]", `\]`).Replace(s)
}

func quoteZsh(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fishCompletion completes git-checkpoint; fish completes "git checkpoint" by it.
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

func fishValue(kind string) string {
	switch {
	case kind == completeFile:
		return "-F"
	case strings.HasPrefix(kind, ","):
		return "-a " + quoteFish(strings.ReplaceAll(kind[1:], ",", " "))
	}
	return "-a '(__git_checkpoint_values " + kind + ")'"
}

func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
