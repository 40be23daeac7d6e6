package cli

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// parse is kong's, less the words that are not for it to read: what follows "--" in
// "diff 3 -- PATH", which ends the checkpoints there and not only the flags, and the
// options of another program in "log --format=%s". A last positional that is tagged
// dashed or verbatim gets them as they are.
func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	node, depth := named(parser.Model.Node, args)
	own, rest := args, []string(nil)
	last := lastPositional(node)
	switch {
	case last == nil:
	case last.Tag.Has("command"):
		own, rest = beforeCommand(node, args, depth)
	case last.Tag.Has("verbatim"):
		own, rest = ownFlags(node, args, depth)
	case last.Tag.Has("dashed"):
		if i := slices.Index(args, "--"); i >= 0 {
			own, rest = args[:i], args[i+1:]
		}
	default:
		last = nil
	}
	parsed, err := parser.Parse(attach(node, counted(node, own, depth), depth))
	if err == nil {
		err = unnamed(parsed)
	}
	if err != nil || last == nil {
		return parsed, err
	}
	if extra := last.Target; extra.Len() > 0 {
		return nil, usageError(fmt.Sprintf("unexpected argument %s", extra.Index(0)), cmp.Or(last.Tag.Get("dashed"), "paths go after --"))
	}
	last.Target.Set(reflect.ValueOf(rest))
	return parsed, nil
}

// unnamed refuses a name that was given and is empty. It is the variable of a script that
// was not set, and must not mean the active session, or the usual remote.
func unnamed(parsed *kong.Context) error {
	for _, part := range parsed.Path {
		var value *kong.Value
		switch {
		case part.Positional != nil:
			value = part.Positional
		case part.Flag != nil && part.Flag.Name == "session":
			value = part.Flag.Value
		}
		if value != nil && value.Target.Kind() == reflect.String && value.Target.Len() == 0 {
			return usageError(strings.Trim(value.ShortSummary(), "[]")+" is empty", callOf(parsed.Selected())+" -h shows what it takes")
		}
	}
	return nil
}

// named is the command that the words name, and where its own words begin. No flag
// before a command takes a command's name for its value.
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

func lastPositional(node *kong.Node) *kong.Positional {
	if n := len(node.Positional); n > 0 {
		return node.Positional[n-1]
	}
	return nil
}

// ownFlags parts the flags of node and of all commands, as far as they come first, from
// the rest.
func ownFlags(node *kong.Node, args []string, depth int) (own, rest []string) {
	i := depth
	for i < len(args) {
		flag, attached := flagOf(node, args[i])
		if flag == nil {
			break
		}
		i++
		if !attached && takesValue(flag) {
			i++
		}
	}
	i = min(i, len(args))
	return args[:i], args[i:]
}

// beforeCommand parts the flags of node from the command of somebody else, which begins at the
// first word that is no flag, or after "--".
func beforeCommand(node *kong.Node, args []string, depth int) (own, command []string) {
	for i := depth; i < len(args); i++ {
		if args[i] == "--" {
			return args[:i], args[i+1:]
		}
		if !strings.HasPrefix(args[i], "-") {
			return args[:i], args[i:]
		}
		if flag, attached := flagOf(node, args[i]); flag != nil && !attached && takesValue(flag) {
			i++
		}
	}
	return args, nil
}

var countPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\d{1,9}$`) })

// counted takes -5 as git log does, where there is a limit.
func counted(node *kong.Node, args []string, depth int) []string {
	if limit, _ := flagOf(node, "--limit"); limit == nil {
		return args
	}
	out := slices.Clone(args)
	for i := depth; i < len(out) && out[i] != "--"; i++ {
		if flag, attached := flagOf(node, out[i]); flag != nil && !attached && takesValue(flag) {
			i++
		} else if countPattern().MatchString(out[i]) {
			out[i] = "--limit=" + out[i][1:]
		}
	}
	return out
}

// attach puts values that begin with a dash to their flags, as in -m "- a list": kong
// would take them for flags. A word that is a flag stays one, so that a value that was
// forgotten is missed.
func attach(node *kong.Node, args []string, depth int) []string {
	out := slices.Clone(args[:depth])
	for i := depth; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		flag, attached := flagOf(node, args[i])
		if flag != nil && !attached && takesText(flag) && i+1 < len(args) && isDashed(node, args[i+1]) {
			i++
			out = append(out, "--"+flag.Name+"="+args[i])
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// isDashed reports whether a word begins with a dash and is no flag, nor what stands for
// the standard input or the end of the flags.
func isDashed(node *kong.Node, word string) bool {
	known, _ := flagOf(node, word)
	return known == nil && strings.HasPrefix(word, "-") && word != "-" && word != "--"
}

// takesText tells values that may begin with a dash from numbers, which say themselves
// what is wrong with one.
func takesText(f *kong.Flag) bool {
	kind := f.Target.Kind()
	return takesValue(f) && (kind == reflect.String || kind == reflect.Slice || f.Target.Type() == reflect.TypeFor[*string]())
}

// flagOf finds the flag that a word is, and whether it has its value with it.
func flagOf(node *kong.Node, word string) (flag *kong.Flag, attached bool) {
	name, _, attached := strings.Cut(word, "=")
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
				return f, attached
			}
		}
	}
	return nil, false
}

func child(node *kong.Node, word string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == word || slices.Contains(c.Aliases, word) {
			return c
		}
	}
	return nil
}

// colorWish finds --color before the line is parsed, because an error in it has a
// colour too.
func colorWish(args []string) string {
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

// unparsed turns what kong says of a line into one clear error with a hint; help is
// no error.
func (a *App) unparsed(err error) error {
	a.json = wantsJSON(a.args)
	var bad *kong.ParseError
	if !errors.As(err, &bad) {
		return err
	}
	node := a.model.Node
	if selected := bad.Context.Selected(); selected != nil {
		node = selected
	}
	if errors.Is(err, errHelp) {
		return a.help(node)
	}
	if parent := node.Parent; parent != nil && parent.DefaultCmd == node && !slices.Contains(a.args, node.Name) {
		node = parent // nobody typed the command that stands in for none
	}
	message, hints := reworded(bad.Error(), node, a.args)
	return usageError(name.Clip(message, 400), append(hints, callOf(node)+" -h shows what it takes")...)
}

// reworded puts what people get wrong most in better words than kong's. The patterns
// are made here because only a line that is wrong needs them.
func reworded(message string, node *kong.Node, args []string) (string, []string) {
	match := func(pattern string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(message) }
	var hints []string
	if m := match(`^(.*), did you mean (.*)\?$`); m != nil {
		message, hints = m[1], []string{"did you mean " + m[2] + "?"}
	}
	if strings.HasPrefix(message, "unknown flag -") && !strings.HasPrefix(message, "unknown flag --") {
		hints = nil // any letter is near any other
	}
	if m := match(`^unexpected argument (.*)$`); m != nil && len(node.Children) > 0 {
		if hints = gitHabit(node, m[1], args); hints == nil {
			hints = nearest(m[1], node)
		}
		return fmt.Sprintf("%q is no command of %s", m[1], callOf(node)), hints
	}
	if m := match(`^expected "(.*)"$`); m != nil && len(node.Children) == 1 {
		return callOf(node) + " takes a command: " + node.Children[0].Name, nil
	}
	if m := match(`^expected "(.*)"$`); m != nil {
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
	if m := match(`^unknown flag (-\d)`); m != nil && takesRef(node) {
		for _, arg := range args {
			if meant := checkpoint.MeantParent(arg); meant != "" && strings.HasPrefix(arg, m[1]) {
				return fmt.Sprintf("%q is no checkpoint", arg), []string{"did you mean " + meant + "?"}
			}
		}
	}
	if message == "unknown flag -C" {
		return message, []string{"-C is git's own: git -C <dir> checkpoint …"}
	}
	return message, hints
}
