package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"git-checkpoint/internal/git"
)

// putIndex builds the index that the target had, with stat data of the files as
// they are now, and renames it into place under the lock.
func (r *Restore) putIndex(ctx context.Context) error {
	if r.intent.Index == nil {
		r.unlock()
		return nil
	}
	s := r.shot
	if _, err := os.Lstat(r.intent.Lock); errors.Is(err, fs.ErrNotExist) {
		return nil // done before a kill
	}
	p, err := s.openIndex(ctx)
	if err != nil {
		return err
	}
	defer p.remove()
	if err := s.fillIndex(ctx, p, r); err != nil {
		return err
	}
	r.trace("index built")
	data, err := os.ReadFile(p.path)
	if err != nil {
		return fmt.Errorf("read the new index: %w", err)
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.intent.Lock, data, 0o666); err != nil {
		return fmt.Errorf("write the new index: %w", err)
	}
	// The time says which entries are too young to be trusted; keep it.
	if err := os.Chtimes(r.intent.Lock, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	if err := os.Rename(r.intent.Lock, s.repo.IndexPath); err != nil {
		return fmt.Errorf("put the index in place: %w", err)
	}
	r.trace("index")
	return nil
}

// fillIndex makes the private index p the one that is wanted.
func (s *Shot) fillIndex(ctx context.Context, p *privateIndex, r *Restore) error {
	want := r.intent.Index
	env := []string{"GIT_INDEX_FILE=" + p.path}
	run := func(stdin string, args ...string) error {
		_, err := s.repo.Run(ctx, git.Cmd{Args: args, Stdin: strings.NewReader(stdin), Config: s.config, Env: env})
		return err
	}
	if p.index.Count == 0 || p.index.Tree != r.intent.IndexTree || len(p.state.Unmerged)+len(p.state.IntentToAdd) > 0 {
		if err := run("", "read-tree", "--reset", string(r.intent.IndexTree)); err != nil {
			return fmt.Errorf("restore the staged state: %w", err)
		}
	}
	if !r.intent.PartIndex {
		if err := restoreFlags(p.state, *want, s.repo.HashLen(), run); err != nil {
			return fmt.Errorf("restore the staged state: %w", err)
		}
	}
	if err := run("", "update-index", "-q", "--unmerged", "--refresh"); err != nil && git.ExitCode(err) != 1 { // 1: some entry differs
		return fmt.Errorf("refresh the index: %w", err)
	}
	return nil
}

// restoreFlags sets conflict stages, intent-to-add and the two flag bits.
func restoreFlags(have, want IndexState, hashLen int, run func(string, ...string) error) error {
	if len(want.Unmerged) > 0 {
		var in strings.Builder
		done := map[string]bool{}
		for _, u := range want.Unmerged {
			if !done[u.Path] {
				done[u.Path] = true
				fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", 2*hashLen), u.Path)
			}
			fmt.Fprintf(&in, "%o %s %d\t%s\x00", uint32(u.Entry.Mode), u.Entry.OID, u.Stage, u.Path)
		}
		if err := run(in.String(), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(want.IntentToAdd) > 0 {
		specs := strings.Join(want.IntentToAdd, "\x00") + "\x00"
		if err := run(specs, "--literal-pathspecs", "add", "--intent-to-add", "--sparse", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
			return err
		}
	}
	// clearBits took bits away from the private index, so those that stay are set too.
	for _, f := range []struct {
		on, off    string
		have, want []string
	}{
		{"--assume-unchanged", "--no-assume-unchanged", have.AssumeUnchanged, want.AssumeUnchanged},
		{"--skip-worktree", "--no-skip-worktree", have.SkipWorktree, want.SkipWorktree},
	} {
		if gone := without(f.have, f.want); len(gone) > 0 {
			if err := run(strings.Join(gone, "\x00")+"\x00", "update-index", f.off, "-z", "--stdin"); err != nil {
				return err
			}
		}
		if len(f.want) > 0 {
			if err := run(strings.Join(f.want, "\x00")+"\x00", "update-index", f.on, "-z", "--stdin"); err != nil {
				return err
			}
		}
	}
	return nil
}

func without(list, taken []string) []string {
	in := map[string]bool{}
	for _, t := range taken {
		in[t] = true
	}
	var out []string
	for _, l := range list {
		if !in[l] {
			out = append(out, l)
		}
	}
	return out
}

// indexBack puts the index from before Begin in place again.
func (r *Restore) indexBack() error {
	if !r.intent.HasIndex {
		if r.intent.Index == nil {
			return nil
		}
		err := os.Remove(r.shot.repo.IndexPath)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	old, err := os.Stat(r.oldIndex())
	if err != nil {
		return err
	}
	if now, err := os.Stat(r.shot.repo.IndexPath); err == nil && os.SameFile(old, now) {
		return nil
	}
	return os.Rename(r.oldIndex(), r.shot.repo.IndexPath)
}
