package cli

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/checkpoint"
)

// gitHabits are commands of git, and of tools like it, that people type here: what is meant, and
// whether it takes the words that follow.
func gitHabits() map[string][]string {
	return map[string][]string{
		"ls": {"list"}, "checkpoints": {"list"}, "ll": {"list"},
		"commit": {"save *"}, "amend": {"save *"}, "add": {"save"},
		"checkout": {"rollback *"}, "goto": {"rollback *"}, "reset": {"rollback *"}, "revert": {"rollback *"},
		"switch": {"session switch *", "rollback *"},
		"gc":     {"prune --gc"}, "tag": {"save --name *"}, "branch": {"session list"},
		"stash": {"save", "rollback @"}, "pull": {"fetch *"}, "clone": {"fetch *"}, "rm": {"delete *"},
	}
}

// gitHabit answers a command of git with lines that can be pasted; nil for any other word.
func gitHabit(node *kong.Node, word string, args []string) []string {
	meant, known := gitHabits()[word]
	if node.Parent != nil || !known {
		return nil
	}
	var hints []string
	for _, line := range meant {
		hints = append(hints, strings.TrimSpace("git checkpoint "+strings.Replace(line, "*", carried(word, args), 1)))
	}
	return hints
}

var harmlessWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9@~:+=,._/-]+$`) })

// carried are the words after a command that mean the same here: names, and a message.
func carried(word string, args []string) string {
	var kept []string
	rest := args[slices.Index(args, word)+1:]
	for i, arg := range rest {
		switch {
		case i > 0 && strings.HasPrefix(rest[i-1], "-") && strings.HasSuffix(rest[i-1], "m"):
			kept = append(kept, "-m", quoteShell(arg))
		case strings.HasPrefix(arg, "-"):
		case checkpoint.MeantParent(arg) != "":
			kept = append(kept, checkpoint.MeantParent(arg))
		default:
			kept = append(kept, quoteShell(arg))
		}
	}
	if len(kept) == 0 && word == "tag" {
		return "NAME"
	}
	return strings.Join(kept, " ")
}

func quoteShell(word string) string {
	if harmlessWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// takesRef reports whether a command takes a checkpoint.
func takesRef(node *kong.Node) bool {
	return len(node.Positional) > 0 && node.Positional[0].Tag.Get("complete") == CompleteRef
}
