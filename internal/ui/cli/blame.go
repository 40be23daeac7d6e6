package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/blame"
)

// BlameCmd is "git checkpoint blame": git blame over a history in which each checkpoint is a
// commit. Most flags are passed on to git blame.
type BlameCmd struct {
	First  string `arg:"" name:"ref|file" complete:"ref or file" help:"Checkpoint, if a file follows; otherwise the file itself, as it is in the worktree, or checkpoint:path."`
	Second string `arg:"" optional:"" name:"file" complete:"file" help:"File, if a checkpoint comes before it."`
	sessionFlag
	Lines []string `short:"L" sep:"none" placeholder:"<range>" help:"Show only these lines, as for git blame -L; can be repeated."`
	followFlags
	IgnoreRev []string `sep:"none" placeholder:"<ref>" complete:"ref" help:"Ignore what this checkpoint or commit changed."`
	Porcelain bool     `xor:"form" help:"Print git's porcelain format."`
	JSON      bool     `group:"common" name:"json" xor:"form" help:"Print the answer as JSON."`
}

// followFlags say how a line is followed into the past; why has them, too.
type followFlags struct {
	Spaces bool `name:"ignore-space" short:"w" help:"Ignore changes of white space."`
	Moves  bool `name:"moves" short:"M" help:"Follow lines that were moved within the file."`
	Copies int  `name:"copies" short:"C" type:"counter" help:"Follow lines that were copied from other files; repeat it to search further, as for git blame."`
}

// options returns the flags as git blame has them.
func (f followFlags) options() []string {
	options := slices.Repeat([]string{"-C"}, max(0, f.Copies))
	if f.Spaces {
		options = append(options, "-w")
	}
	if f.Moves {
		options = append(options, "-M")
	}
	return options
}

// Run prints each line of the file with the checkpoint that wrote it.
func (c *BlameCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	request := blame.Request{Session: c.Session, Ref: c.First, File: c.Second, Ignore: c.IgnoreRev, Options: c.options()}
	if c.Second == "" {
		request.Ref, request.File = "@", c.First
		_, err := os.Lstat(filepath.Join(app.dir, c.First)) // a file is meant before a checkpoint's
		if err == nil && c.Session == "" && len(c.IgnoreRev) == 0 && !c.Porcelain {
			request.Ref = ""
		}
		if of, file, ok := checkpoint.FileIn(ctx, s.Sessions, c.Session, c.First); ok && err != nil {
			// As in git, the path after a colon starts at the top, unless it begins with "./" or "../".
			if !strings.HasPrefix(file, "./") && !strings.HasPrefix(file, "../") {
				file = filepath.Join(s.Repo.WorkTree, file)
			}
			request.Ref, request.File = of, file
		}
	}
	for _, l := range c.Lines {
		request.Options = append(request.Options, "-L", l)
	}
	if c.Porcelain {
		return app.page(ctx, s.Repo, func(w io.Writer) error { return blame.Porcelain(ctx, s, request, app.git(w)) })
	}
	progress := app.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	request.Progress = func(n int) { progress.Add(int64(n)) }
	lines, err := blame.Blame(ctx, s, request)
	if err != nil {
		return err
	}
	found := answer.Blamed{Lines: lines}
	return app.page(ctx, s.Repo, func(w io.Writer) error { return app.giveTo(w, found) })
}
