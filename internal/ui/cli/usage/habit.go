package usage

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
)

// gitHabits maps commands of git and similar tools that people type out of habit to ours. A "*"
// stands for the arguments that were typed after the command; without one they are dropped.
func gitHabits() map[string][]string {
	return map[string][]string{
		"ls": {"list"}, "checkpoints": {"list"}, "ll": {"list"},
		"commit": {"save *"}, "amend": {"save *"}, "add": {"save"},
		"checkout": {"rollback *"}, "goto": {"rollback *"}, "reset": {"rollback *"}, "revert": {"rollback *"},
		"switch": {"session switch *", "rollback *"},
		"gc":     {"prune --gc"}, "tag": {"save --name *"}, "branch": {"session list"},
		"stash": {"save", "rollback @"}, "merge": {"promote --merge *"}, "attempts": {"fork --list"}, "worktree": {"fork --list"}, "pull": {"fetch *"}, "clone": {"fetch *"}, "rm": {"delete *"},
	}
}

// gitHabit returns hints for a word that is a command of git: complete command lines, ready to be
// pasted. It returns nil for any other word, and for words below a subcommand.
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

// carried returns those arguments after the command that have the same meaning for ours, quoted for
// a shell: names and a message. Flags are dropped, because theirs differ from ours; HEAD~1 and the
// like become their counterparts.
func carried(word string, args []string) string {
	var kept []string
	rest := args[slices.Index(args, word)+1:]
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
	if len(kept) == 0 && word == "tag" {
		return "NAME"
	}
	return strings.Join(kept, " ")
}

// takesRef reports whether the first argument of a command is a checkpoint.
func takesRef(node *kong.Node) bool {
	return len(node.Positional) > 0 && node.Positional[0].Tag.Get(completeTag) == "ref"
}

// nearest returns a hint with the commands below node whose names are most similar to a misspelled
// word: those with the smallest edit distance below tooFar. A word that is the beginning of a name
// counts as equal. It returns nil if none is similar.
func nearest(word string, node *kong.Node) []string {
	const tooFar = 3
	best, found := tooFar, []string(nil)
	for _, c := range node.Children {
		if c.Hidden {
			continue
		}
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
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return []string{"did you mean " + strings.Join(found, " or ") + "?"}
}
