package torture

import (
	"fmt"
	"strings"
)

// Script returns the case as a shell script, for reproducing a failure by hand. It runs the
// operations up to the failing one. The comparison is made by this package only, so the
// finding is a comment.
func (f *Finding) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# %s, seed %d\n", f.Case.Kind, f.Case.Seed)
	b.WriteString(`root=$(mktemp -d); cd "$root" || exit 1; mkdir home
export HOME="$root/home" TORTURE="$root/home" GIT_CONFIG_NOSYSTEM=1 LC_ALL=C.UTF-8
cat >home/.gitconfig <<'EOF'
` + f.Case.configuration() + "EOF\n" + prelude)
	// id reads the id and the session of a new checkpoint from JSON.
	b.WriteString(`id() { sed -n 's/.*"id":"\(cp-[^"]*\)".*"session":"\([^"]*\)".*/\1 --session \2/p'; }
`)
	b.WriteString("set -x\n" + strings.Join(f.Case.Setup, "\n") + "\n")
	index := ""
	if k, err := kindNamed(f.Case.Kind); err == nil {
		index = k.index
	}
	for i, op := range f.Case.Ops {
		if i > f.Step {
			break
		}
		if k, err := kindNamed(f.Case.Kind); err == nil && k.modeless && op.Verb != "sh" {
			b.WriteString(`cd "$root/"` + words(op.Tree) + "; shown\n")
		}
		op.index = index
		b.WriteString(op.script())
	}
	b.WriteString("# " + strings.ReplaceAll(f.What, "\n", "\n# ") + "\n")
	return b.String()
}

// script returns the shell lines of one operation.
func (o Op) script() string {
	at := `"$root/"` + words(o.Tree)
	if o.Verb == "sh" || o.Verb == "share" {
		return "cd " + at + "; " + o.Line + "\n"
	}
	if o.In != "" {
		at = "{ cd " + `"$root/"` + words(o.Tree+"/"+o.In) + " || cd " + at + "; }"
	} else {
		at = "cd " + at
	}
	if o.index != "" {
		o.Env = append([]string{`GIT_INDEX_FILE="$root/repo/.git/` + o.index + `"`}, o.Env...)
	}
	run := strings.Join(append(append([]string{}, o.Env...), "git-checkpoint", o.Verb), " ")
	if o.Kill > 0 && o.Verb != "create" {
		run = fmt.Sprintf("timeout -s KILL %d.%03d %s", o.Kill/1000, o.Kill%1000, run)
	}
	args := words(o.Args...)
	switch o.Verb {
	case "revert":
		return at + "; git-checkpoint revert " + o.Line + " -y\n"
	case "promote":
		return fmt.Sprintf(`%s; git-checkpoint fork $cp%d "$root/try" --name try; (cd "$root/try"; %s
git-checkpoint create --always); %s -y try; git-checkpoint fork --remove try -y --force; git-checkpoint prune --session try --all -y`, at, o.Slot, o.Line, run) + "\n"
	case "land":
		return fmt.Sprintf("%s; %s -y %s\n", at, run, args)
	case "run":
		return fmt.Sprintf("%s; %s %s\n", at, run, args)
	case "create":
		return fmt.Sprintf("%s; cp%d=$(%s --json --always %s | id)\n", at, o.Slot, run, args)
	case "undo", "redo":
		return fmt.Sprintf("%s; %s -y %s\n", at, run, args) + o.mending()
	case "delete", "rollback":
		return fmt.Sprintf("%s; %s $cp%d -y %s\n", at, run, o.Slot, args) + o.mending()
	}
	return fmt.Sprintf("%s; %s $cp%d %s\n", at, run, o.Slot, args)
}

// mending returns the command that ends what a killed command left.
func (o Op) mending() string {
	if o.Kill == 0 {
		return ""
	}
	return "git-checkpoint rollback " + o.Mend + "\n"
}
