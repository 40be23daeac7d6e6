package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/name"
)

// Refresh reads HEAD anew, after another program may have moved it. What cannot
// be read leaves HEAD as it was known.
func (r *Repo) Refresh() {
	fresh := &Repo{GitDir: r.GitDir, WorkTree: r.WorkTree, program: r.program, env: r.env}
	res, err := fresh.Run(context.Background(), Cmd{Args: []string{"rev-parse", "--verify", "-q", "HEAD"}})
	head := Head{}
	if err == nil {
		head.OID = name.OID(strings.TrimSpace(string(res.Stdout)))
	}
	if res, err = fresh.Run(context.Background(), Cmd{Args: []string{"symbolic-ref", "-q", "HEAD"}}); err == nil {
		head.Branch = name.Ref(strings.TrimSpace(string(res.Stdout)))
	}
	if head.OID != "" || head.Branch != "" {
		r.Head = head
	}
	if _, err := os.Stat(filepath.Join(r.WorkTree, r.Prefix)); err != nil {
		r.Prefix = "" // the directory is gone
	}
}
