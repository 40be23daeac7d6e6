package usage

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// gitHabits maps commands of git and similar tools that people type out of habit, some with their first argument, to ours.
// A "*" stands for the arguments that were typed after the command; without one they are dropped. What follows a "|" is
// for a command that was typed without any.
func gitHabits() map[string]string {
	return map[string]string{
		"ls": "list", "checkpoints": "list", "ll": "list",
		"commit": "save *", "commit --amend": "save --amend *|save --amend -m TEXT", "amend": "save --amend *|save --amend -m TEXT", "add": "save", "stash": "save", "new": "save",
		"stash list": "list", "stash show": "show", "stash pop": "undo --list", "stash apply": "undo --list", "pop": "undo --list",
		"checkout": "rollback *", "goto": "rollback *", "reset": "rollback *", "back": "rollback *|rollback @~1",
		"switch": "session switch *|session list", "gc": "prune --gc", "tag": "save --name *|save --name NAME", "branch": "session list",
		"rename": "describe * -m TEXT|describe @ -m TEXT", "edit": "describe * -m TEXT|describe @ -m TEXT", "reword": "describe * -m TEXT|describe @ -m TEXT",
		"merge": "promote --merge *", "attempts": "fork --list", "worktree": "fork --list", "pull": "fetch *", "clone": "fetch *",
		"rm": "delete *", "drop": "delete *|delete N", "abandon": "delete *|delete N", "clean": "status", "reflog": "history", "op": "history", "op undo": "undo", "op restore": "undo --list",
		"squash": "land", "evolog": "history", "grep": "search *", "pr": "report", "rebase": gits, "mv": gits,
	}
}

// gits stands for a command line that only git itself carries out.
const gits = "git"

// flagHabit returns a hint for a flag of git's that a command does not have, or "".
func flagHabit(node *kong.Node, flag string, args []string) string {
	if flag == "-C" {
		return "-C is git's own: git -C <dir> checkpoint …"
	}
	switch node.Name + " " + flag {
	case "status -s", "status --short":
		return "git checkpoint status --porcelain"
	case "push -f", "push --force", "push --force-with-lease":
		return "git checkpoint push"
	case "diff --cached", "diff --staged", "restore --staged":
		return "git " + name.Quoted(args...)
	}
	return ""
}

// gitHabit returns a hint for a word that is a command of git, or a checkpoint or commit without a command: a
// complete command line, ready to be pasted, which changes no more than what was asked for. It returns nil for any
// other word, and for words below a subcommand.
func gitHabit(node *kong.Node, word string, args []string) []string {
	line, known := gitHabits()[word]
	switch {
	case node.Parent != nil:
		return nil
	case !known && isRef(word):
		return []string{"git checkpoint show " + word}
	case !known:
		return nil
	}
	rest := args[slices.Index(args, word)+1:]
	if len(rest) > 0 && gitHabits()[word+" "+rest[0]] != "" {
		line, rest = gitHabits()[word+" "+rest[0]], rest[1:]
	}
	paths := slices.Index(append(rest, "--"), "--")
	given := carried(rest[:paths])
	with, without, _ := strings.Cut(line, "|")
	words := strings.Fields(given)
	switch {
	case word == "checkout" && paths < len(rest):
		with, given = "restore *", strings.TrimSpace(given+" "+name.Quoted(rest[paths:]...))
	case line == gits, isGits(word, rest):
		return []string{"git " + word + " " + name.Quoted(rest...)}
	case given == "" && without != "":
		with = without
	case word == "switch" && isRef(given):
		with = "rollback *"
	case word == "tag" && slices.ContainsFunc(words, isRef): // a tag of git would travel with files that must not
		with, given = "pin *", words[slices.IndexFunc(words, isRef)]
	}
	if ref, text, more := strings.Cut(given, " "); more && strings.HasSuffix(with, "TEXT") { // the new message was typed after it
		if !strings.HasPrefix(text, "'") {
			text = name.Quoted(text)
		}
		given, with = ref, strings.Replace(with, "TEXT", text, 1)
	}
	return []string{strings.TrimSpace("git checkpoint " + strings.Replace(with, "*", given, 1))}
}

// isGits reports whether only git does what was typed: it is about the index alone, or makes a branch.
func isGits(word string, rest []string) bool {
	mark, is := map[string]string{"reset": "--", "checkout": "-b", "switch": "-c"}[word]
	return is && slices.Contains(rest, mark)
}

// isRef reports whether a word looks like a checkpoint or a commit: a number, or the digits of an id.
func isRef(word string) bool {
	const short = 7
	digits := strings.Trim(word, "0123456789") == ""
	return word != "" && (digits || len(word) >= short && strings.Trim(word, "0123456789abcdef") == "")
}

// surplus returns a hint for words that a command does not take, as gitHabit does.
func surplus(node *kong.Node, word string, args []string) []string {
	rest := name.Quoted(args[slices.Index(args, node.Name)+1:]...)
	switch {
	case node.Name == "list" && slices.Contains(args, "--"), node.Name == "list" && strings.Contains(word, ".."):
		return []string{"git checkpoint log " + rest}
	case node.Name == "list" && isRef(word):
		return []string{"git checkpoint show " + rest}
	case node.Name == "list":
		return []string{"git checkpoint list --session " + rest}
	case node.Name == "save" || node.Name == "create":
		said, _, _ := strings.Cut(" "+rest, " -- ")
		return []string{"git checkpoint " + node.Name + strings.TrimRight(said, " ") + " (a checkpoint has every file; git checkpoint restore brings back those that you name)"}
	}
	return nil
}

// carried returns those arguments after the command that have the same meaning for ours, quoted for
// a shell: names and a message. Flags are dropped, because theirs differ from ours; HEAD~1 and the
// like become their counterparts.
func carried(rest []string) string {
	var kept []string
	for i, arg := range rest {
		switch {
		case i > 0 && strings.HasPrefix(rest[i-1], "-") && strings.HasSuffix(rest[i-1], "m"):
			kept = append(kept, "-m", name.Quoted(arg))
		case strings.HasPrefix(arg, "-"):
		case checkpoint.MeantParent(arg) != "":
			kept = append(kept, checkpoint.MeantParent(arg))
		default:
			kept = append(kept, name.Quoted(arg))
		}
	}
	return strings.Join(kept, " ")
}

// takesRef reports whether the first argument of a command is a checkpoint.
func takesRef(node *kong.Node) bool {
	return len(node.Positional) > 0 && node.Positional[0].Tag.Get(completeTag) == "ref"
}

// nearest returns a hint with the commands below node whose names are most similar to a misspelled
// word: those with the smallest edit distance below tooFar. A word that is the beginning of a name
// counts as equal. If none is similar, it names all, unless node is the program itself.
func nearest(word string, node *kong.Node) []string {
	tooFar := min(3, len(word)/2+1) // of a short word two letters are most
	best, found := tooFar, []string(nil)
	shown := gather.Those(node.Children, func(c *kong.Node) bool { return !c.Hidden })
	for _, c := range shown {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			distance := name.Distance(word, known)
			if len(word) > 1 && strings.HasPrefix(known, word) {
				distance = 0
			}
			if distance < best {
				best, found = distance, nil
			}
			if distance == best && distance < tooFar {
				found = append(found, known)
			}
		}
	}
	switch {
	case len(found) == 0 && node.Parent != nil: // few enough to name
		return []string{"it has " + strings.Join(gather.List(shown, func(c *kong.Node) string { return c.Name }), ", ")}
	case len(found) == 0:
		return nil
	}
	slices.Sort(found)
	return []string{"did you mean " + strings.Join(found, " or ") + "?"}
}
