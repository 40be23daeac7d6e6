package journal

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
)

// repository is a bare one, with nothing of this machine's configuration.
type repository struct {
	t   *testing.T
	dir string
}

func (r repository) git(in string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "HOME="+r.dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return string(out)
}

// commit writes the bytes of a commit and gives its name.
func (r repository) commit(c Commit) name.OID {
	r.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", c.Author, c.Committer, c.Message)
	return name.OID(strings.TrimSpace(r.git(b.String(), "hash-object", "-w", "-t", "commit", "--stdin")))
}

// Plain git reads a journal: subject, trailers and dates. git fsck accepts it.
func TestPlainGitReadsAJournal(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := repository{t, t.TempDir()}
			r.git("", "init", "-q", "--bare", "--object-format="+format)
			tree := name.OID(strings.TrimSpace(r.git("", "hash-object", "-w", "-t", "tree", "/dev/null")))
			e := Event{Kind: KindRollback, Session: "demo", Time: epoch, Actor: actor, From: id(5), FromLabel: "cp-05-testing", To: id(3),
				ToLabel: "cp-03-architecture", Discard: []name.ID{id(4), id(5)}, Reason: "tests will\nnot pass: 50%"}
			by := Stamp(e.Actor, e.Time)
			root := r.commit(Commit{Author: by, Committer: by, Tree: tree, Message: e.Message()})
			left, right := e, e
			left.Reason, right.Reason = "left", "right"
			tips := []Tip{}
			for _, e := range []Event{left, right} {
				tips = append(tips, Tip{r.commit(Commit{Parents: []name.OID{root}, Author: by, Committer: by, Tree: tree, Message: e.Message()}), epoch})
			}
			m := MergeOf(tips[0], tips[1])
			merge := r.commit(Commit{Parents: m.Parents, Author: m.by(), Committer: m.by(), Tree: tree, Message: MergeMessage})
			r.git("", "update-ref", "refs/checkpoints/demo/journal", string(merge))
			if out := r.git("", "fsck", "--strict", "--no-dangling"); out != "" {
				t.Error("fsck:", out)
			}
			subject := r.git("", "log", "-1", "--format=%s", string(root))
			if subject != "rollback cp-05-testing → cp-03-architecture: tests will not pass: 50%\n" {
				t.Error("subject:", subject)
			}
			_, lines, _ := strings.Cut(e.Message(), "\n\n")
			if d := cmp.Diff(lines, r.git(e.Message(), "interpret-trailers", "--parse")); d != "" {
				t.Error("trailers:", d)
			}
			nodes := r.read("refs/checkpoints/demo/journal")
			l := mustLog(t, nodes, merge)
			if back := l.Events()[0]; len(nodes) != 4 || back.Reason != e.Reason || !back.Time.Equal(e.Time) || back.Actor != actor {
				t.Errorf("%d nodes, %+v", len(nodes), back)
			}
		})
	}
}

// read takes a journal's commits apart as git has them.
func (r repository) read(ref string) []Node {
	r.t.Helper()
	var nodes []Node
	for _, oid := range strings.Fields(r.git("", "rev-list", ref)) {
		header, message, _ := strings.Cut(r.git("", "cat-file", "commit", oid), "\n\n")
		c := Commit{OID: name.OID(oid), Message: message}
		for line := range strings.Lines(header) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch key {
			case "tree":
				c.Tree = name.OID(value)
			case "parent":
				c.Parents = append(c.Parents, name.OID(value))
			case "author":
				c.Author = value
			case "committer":
				c.Committer = value
			}
		}
		n, err := ParseCommit(c)
		if err != nil {
			r.t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	return nodes
}
