// Package usage is what follows from the grammar of a command line alone, whatever its commands do:
// reading the arguments, errors about them, the help, the man page and completion. The grammar is
// a model of kong, with a few tags of our own, which package cli describes at its grammar.
//
// Parse changes arguments that kong would misread before kong sees them, Explain words kong's errors
// as ours. WriteHelp, WriteManPage and Complete read the same model.
package usage

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lazy"
)

// Parse parses the arguments with kong, after changing those that kong would misread. The last
// positional argument of a command may have one of three tags that keep words away from kong and
// store them as they are:
//
//   - dashed: what follows "--". In "diff 3 -- src" it ends the checkpoints, not only the flags. With
//     the tag more as well, words before it are stored, too, and the "--" between them. Paths may be
//     missing after it only with the tag whole: nothing is changed then.
//   - verbatim: everything from the first word that is not a flag of ours, as in "log --format=%s".
//   - command: a command line of another program, as in "run --step 4 make -j2".
//
// Then rewritten changes some of the remaining flags.
func Parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	node, depth := named(parser.Model.Node, args)
	own, rest := args, []string(nil)
	last := lastPositional(node)
	switch {
	case last == nil:
	case last.Tag.Has("command"):
		own, rest = split(node, args, depth, false)
	case last.Tag.Has("verbatim"):
		own, rest = split(node, args, depth, true)
	case last.Tag.Has("dashed"):
		if i := slices.Index(args, "--"); i >= 0 {
			own, rest = args[:i], args[i+1:]
		}
	default:
		last = nil
	}
	parsed, err := parser.Parse(rewritten(node, own, depth))
	if err == nil {
		err = cmp.Or(unnamed(parsed), parted(parsed, last, rest))
	}
	if err != nil || last == nil {
		return parsed, err
	}
	// kong puts surplus words into the last argument, which may be filled from after the "--" only.
	extra := last.Target
	if extra.Len() > 0 && !last.Tag.Has("more") {
		hint := cmp.Or(last.Tag.Get("dashed"), "paths go after --")
		for i, word := range []string{"GOOD", "BAD"} {
			if extra.Len() == 2 {
				hint = strings.Replace(hint, word, name.Quoted(extra.Index(i).String()), 1)
			}
		}
		return nil, Error(fmt.Sprintf("unexpected argument %s", extra.Index(0)), hint)
	}
	if last.Name == "path" && rest != nil && (len(rest) == 0 && !last.Tag.Has("whole") || slices.Contains(rest, "")) { // not everything, and not the current directory: see unnamed
		return nil, Error("<path> is empty", callOf(parsed.Selected())+" -h shows its usage")
	}
	if last.Tag.Has("more") {
		extra.Set(reflect.AppendSlice(reflect.Append(extra, reflect.ValueOf("--")), reflect.ValueOf(rest)))
		return parsed, nil
	}
	last.Target.Set(reflect.ValueOf(rest))
	return parsed, nil
}

// unnamed refuses an argument or the value of a flag that is given but empty. In a script that is a
// variable which was not set, and it must not select the active session or the default remote, or
// pass for a flag that was not given: `rollback --plan ""` would go ahead with any plan. Flags for
// text that people read are excepted: no text is the same as no flag.
func unnamed(parsed *kong.Context) error {
	for _, part := range parsed.Path {
		var value *kong.Value
		switch {
		case part.Positional != nil && part.Positional.Target.Kind() == reflect.String:
			value = part.Positional
		case part.Flag != nil && !slices.Contains([]string{"message", "reason", "topic"}, part.Flag.Name):
			value = part.Flag.Value
		}
		if value != nil && hasEmpty(value.Target) {
			return Error(strings.Trim(value.ShortSummary(), "[]")+" is empty", callOf(parsed.Selected())+" -h shows its usage")
		}
	}
	return nil
}

// parted refuses what does not go with a flag: what its tag apart names, and with the tag with, all that this does not
// name. The flags that every command has go with all others. rest is what the last positional argument takes without kong.
func parted(parsed *kong.Context, last *kong.Positional, rest []string) error {
	path := parsed.Path
	if len(rest) > 0 {
		path = append(slices.Clone(path), &kong.Path{Positional: last})
	}
	for _, part := range path {
		for _, other := range path {
			flag, value, said, common := part.Flag, other.Positional, "", false
			if o := other.Flag; o != nil {
				value, said, common = o.Value, "--"+o.Name, o.Group != nil && o.Group.Key == "common"
			}
			if flag == nil || value == nil || value == flag.Value {
				continue
			}
			names := func(tag string) bool { return slices.Contains(strings.Split(flag.Tag.Get(tag), ","), value.Name) }
			if names("apart") || flag.Tag.Has("with") && !common && !names("with") {
				with := "--" + flag.Name
				if flag.Name == gitOption {
					with = flag.Target.Index(0).String()
				}
				return Error(cmp.Or(said, "<"+value.Name+">")+" cannot be used with "+with, callOf(parsed.Selected())+" -h shows its usage")
			}
		}
	}
	return nil
}

// hasEmpty reports whether a string is empty, or one in a list of strings is. The flags for which
// an empty string has a meaning, such as --error, are pointers.
func hasEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Slice:
		for _, item := range v.Seq2() {
			if hasEmpty(item) {
				return true
			}
		}
	}
	return false
}

// named returns the command that the arguments name, and the index of the first argument after its
// name. It takes the first word that is the name of a command, although it might be the value of a
// flag: the flags that are allowed before a command have no such values.
func named(node *kong.Node, args []string) (command *kong.Node, depth int) {
	for i, arg := range args {
		if arg == "--" || len(node.Children) == 0 {
			break
		}
		if child := child(node, arg); child != nil {
			node, depth = child, i+1
		}
	}
	return node, depth
}

// lastPositional returns the last positional argument of a command, or nil.
func lastPositional(node *kong.Node) *kong.Positional {
	if n := len(node.Positional); n > 0 {
		return node.Positional[n-1]
	}
	return nil
}

// split splits the arguments into the flags of the command and words for another program. These
// begin after "--", or at the first word that does not start with a dash. With verbatim they also
// begin at a flag that is not ours, and include the "--"; otherwise kong reports such a flag.
func split(node *kong.Node, args []string, depth int, verbatim bool) (own, rest []string) {
	for i := depth; i < len(args); i++ {
		flag, attached := flagOf(node, args[i])
		switch {
		case verbatim && flag == nil, !strings.HasPrefix(args[i], "-"):
			return args[:i], args[i:]
		case args[i] == "--":
			return args[:i], args[i+1:]
		case flag != nil && !attached && takesValue(flag):
			i++
		}
	}
	return args, nil
}

// gitOption is the hidden flag that takes options which are passed to git.
const gitOption = "git-option"

// passed matches the options of git diff that are passed to it, and detached those whose value is the next word.
var passed, detached = lazy.Pattern(`^(-[wbWazR]|-[SGUMCOl].*|--(name-only|(short|num|dir|compact-)?(stat|summary).*|word-diff.*|color-words.*|ignore-.*|pickaxe-.*|unified=.*|minimal|patience|histogram|diff-algorithm=.*|find-.*|diff-filter=.*|raw|check|full-index|binary|text|relative.*|function-context|no-renames|inter-hunk-context=.*|(src|dst)-prefix=.*|no-prefix|no-ext-diff|textconv|no-textconv|abbrev.*|output-indicator-.*))$`), []string{"-S", "-G", "-O"}

// rewritten changes some kinds of flags that kong would misread:
//
//   - -5 becomes --limit=5 for commands with that flag, because people know it from git log.
//   - A flag and a value that begins with a dash, as in -m "- a list", become --message=..., because
//     kong would take the value for a flag. A value that is itself a flag of the command is not
//     joined: then the value was probably forgotten, and kong says so.
//   - An option of git diff, such as --word-diff, becomes --git-option=--word-diff for commands with that flag.
func rewritten(node *kong.Node, args []string, depth int) []string {
	limit, _ := flagOf(node, "--limit")
	toGit, _ := flagOf(node, "--"+gitOption)
	out := slices.Clone(args[:depth])
	isValue := false // of the flag before it
	for i := depth; i < len(args); i++ {
		word := args[i]
		flag, attached := flagOf(node, word)
		valued := flag != nil && !attached && takesValue(flag)
		switch {
		case word == "--":
			return append(out, args[i:]...)
		case valued && i+1 < len(args) && takesText(flag) && isDashed(node, args[i+1]):
			i++
			word, valued = "--"+flag.Name+"="+args[i], false
		case toGit != nil && flag == nil && !isValue && passed().MatchString(word):
			if slices.Contains(detached, word) && i+1 < len(args) {
				i++
				word += args[i]
			}
			word = "--" + gitOption + "=" + word
		case limit != nil && !isValue && regexp.MustCompile(`^-\d{1,9}$`).MatchString(word):
			word = "--limit=" + word[1:]
		}
		out, isValue = append(out, word), valued
	}
	return out
}

// isDashed reports whether a word begins with a dash but is neither a flag of the command, nor "-"
// (standard input), nor "--".
func isDashed(node *kong.Node, word string) bool {
	known, _ := flagOf(node, word)
	return known == nil && strings.HasPrefix(word, "-") && word != "-" && word != "--"
}

// takesText reports whether a flag takes a text, which may begin with a dash. A number such as -1
// is left to kong, whose error about it is good enough.
func takesText(f *kong.Flag) bool {
	kind := f.Target.Kind()
	return takesValue(f) && (kind == reflect.String || kind == reflect.Slice || f.Target.Type() == reflect.TypeFor[*string]())
}

// flagOf returns the flag that a word stands for, or nil, and whether its value is attached with
// "=".
func flagOf(node *kong.Node, word string) (flag *kong.Flag, attached bool) {
	name, _, attached := strings.Cut(word, "=")
	for _, group := range node.AllFlags(false) {
		for _, f := range group {
			if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
				return f, attached
			}
		}
	}
	return nil, false
}

// child returns the command below node with this name or alias, or nil.
func child(node *kong.Node, word string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == word || slices.Contains(c.Aliases, word) {
			return c
		}
	}
	return nil
}

// Color returns the value of --color from arguments that are not parsed yet, because an error
// in them is printed in colour too. It is empty if the flag is not there.
func Color(args []string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--color="); ok {
			return value
		}
		if arg == "--color" && i+1 < len(args) {
			return args[i+1]
		}
		if arg == "--" {
			break
		}
	}
	return ""
}

// JSON looks for --json in arguments that could not be parsed, so that the error about them is
// JSON too.
func JSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// Explain turns an error of Parse into a usage error in our words, with hints. -h and --help are errors for
// kong too: then Explain returns the command whose help was asked for, and whether the short one was.
func Explain(err error, app *kong.Application, args []string) (help *kong.Node, brief bool, explained error) {
	var bad *kong.ParseError
	if !errors.As(err, &bad) {
		return nil, false, err
	}
	node := app.Node
	if selected := bad.Context.Selected(); selected != nil {
		node = selected
	}
	if brief = errors.Is(err, errBrief); brief || errors.Is(err, errHelp) {
		return node, brief, nil
	}
	// A default command such as "session list" was selected without being typed. The error is about
	// what was typed.
	if parent := node.Parent; parent != nil && parent.DefaultCmd == node && !slices.Contains(args, node.Name) {
		node = parent
	}
	message, hints := reworded(bad.Error(), node, args)
	if len(hints) == 0 || !strings.HasPrefix(hints[0], "git ") { // one that can be pasted is enough
		hints = append(hints, callOf(node)+" -h shows its usage")
	}
	return nil, false, Error(name.Clip(message, 400), hints...)
}

// Error is an error in the arguments, with what to type instead.
func Error(message string, hints ...string) error {
	return &checkpoint.Error{Kind: checkpoint.KindUsage, Message: message, Hints: hints}
}

// reworded translates kong's messages about the most frequent mistakes, and adds hints. It returns
// other messages unchanged. The patterns are compiled here, not at start-up, because only wrong
// command lines need them.
func reworded(message string, node *kong.Node, args []string) (string, []string) {
	match := func(pattern string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(message) }
	var hints []string
	if m := match(`^(.*), did you mean (.*)\?$`); m != nil {
		message, hints = m[1], []string{"did you mean " + m[2] + "?"}
	}
	if flag, unknown := strings.CutPrefix(message, "unknown flag "); unknown {
		if known := flagHabit(node, flag, args); known != "" {
			return message, []string{known}
		} else if !strings.HasPrefix(flag, "--") {
			hints = nil // every one-letter flag is similar to every other
		}
	}
	if m := match(`^unexpected argument (.*)$`); m != nil && len(node.Children) > 0 {
		if hints = gitHabit(node, m[1], args); hints == nil {
			hints = nearest(m[1], node)
		}
		return fmt.Sprintf("%q is not a command of %s", m[1], callOf(node)), hints
	}
	if m := match(`^unexpected argument (.*)$`); m != nil {
		hints = surplus(node, m[1], args)
	}
	// A command with one subcommand lacks it, as opposed to an argument that is missing (below).
	if m := match(`^expected "(.*)"$`); m != nil {
		if len(node.Children) == 1 {
			return callOf(node) + " takes a command: " + node.Children[0].Name, nil
		}
		return "nothing given for " + m[1], nil
	}
	if m := match(`^expected one of (?:"|<)`); m != nil && len(node.Children) > 0 {
		return callOf(node) + " takes a command", nil
	}
	if m := match(`^(\S+): (?:expected .* value but got "EOL"|missing value, expecting)`); m != nil {
		return m[1] + " takes a value", nil
	}
	if m := match(`^(\S+): expected (?:a valid \d+ bit int|int value) but got ("[^"]*").*$`); m != nil {
		return fmt.Sprintf("%s takes a whole number, not %s", m[1], m[2]), nil
	}
	// -1 or -2 was typed for an earlier checkpoint. Suggest the form that works here.
	if m := match(`^unknown flag (-\d)`); m != nil && takesRef(node) {
		for _, arg := range args {
			if meant := checkpoint.MeantParent(arg); meant != "" && strings.HasPrefix(arg, m[1]) {
				return fmt.Sprintf("%q is not a checkpoint", arg), []string{"did you mean " + meant + "?"}
			}
		}
	}
	return message, hints
}
