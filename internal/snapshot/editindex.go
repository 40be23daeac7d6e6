package snapshot

import (
	"context"
	"io/fs"

	"git-checkpoint/internal/git"
)

// editIndex is the index that is wanted, made out of the one that is there, where every
// entry that changes is of a file that this restore wrote. Nothing is compared then, so
// that no file is read. It is false where that takes git's judgement.
func (r *Restore) editIndex(ctx context.Context, p *privateIndex) ([]byte, bool) {
	if r.cur == nil || r.cur.index == nil || p.was == nil || !sameContent(p.was, r.cur.index) ||
		!r.intent.Index.Plain() || !p.index.Editable() || !r.shot.keepsModes() {
		return nil, false
	}
	wrote, ok := r.wrote()
	if !ok {
		return nil, false
	}
	changes, err := r.shot.repo.DiffTrees(ctx, r.cur.Index.Tree, r.intent.IndexTree)
	if err != nil {
		return nil, false // git says what is wrong
	}
	edits := make(map[string]git.IndexEdit, len(changes)+len(wrote))
	for _, c := range changes {
		w, known := wrote[c.Path]
		if !known {
			w, known = r.read(c.Path)
		}
		if c.New.Mode != 0 && !known {
			return nil, false // git sees whether the file is as it is to be staged
		}
		edits[c.Path] = w.stagedAs(c.New)
	}
	if !r.editUnchanged(p, wrote, edits) {
		return nil, false
	}
	data, err := r.shot.repo.EditIndex(ctx, p.index, edits, r.intent.IndexTree)
	return data, err == nil
}

// editUnchanged adds the entries that stay, and whose file is another now, or was not to
// be told from another. It is false where one is not known.
func (r *Restore) editUnchanged(p *privateIndex, wrote map[string]written, edits map[string]git.IndexEdit) bool {
	for _, e := range p.entries {
		if _, changes := edits[e.Path]; changes {
			continue
		}
		entry := git.Entry{Mode: e.Mode}
		w, known := wrote[e.Path]
		if h, looked := r.cur.hashed[e.Path]; !known && looked {
			entry.OID = p.index.OIDOf(e)
			if w, known = r.read(e.Path); !known && h.entry == entry {
				return false
			}
		}
		// The time of the new index would vouch for a young entry: most builds of git
		// compare seconds alone.
		if !known && (p.doubtful(e) || e.MtimeSec >= p.young.sec) {
			return false
		}
		if known {
			entry.OID = p.index.OIDOf(e)
			edits[e.Path] = w.stagedAs(entry)
		}
	}
	return true
}

// Plain reports whether a tree says all about the index.
func (s *IndexState) Plain() bool {
	return len(s.Unmerged)+len(s.IntentToAdd)+len(s.AssumeUnchanged)+len(s.SkipWorktree) == 0
}

// keepsModes reports whether the mode of a file is that of its entry.
func (s *Shot) keepsModes() bool {
	for _, key := range []string{"core.fileMode", "core.symlinks"} {
		if on, err := s.repo.Config.Bool(key, true); err != nil || !on {
			return false
		}
	}
	return true
}

// written is a file whose content is known, the zero one that there is none.
type written struct {
	entry git.Entry
	stat  git.FileStat
}

// stagedAs is the entry of an index at the path of this file. Where it is another one,
// git has to read the file, whatever the old stat data say.
func (w written) stagedAs(e git.Entry) git.IndexEdit {
	if w.entry.Mode != e.Mode || w.entry.OID != e.OID {
		return git.IndexEdit{Entry: e}
	}
	return git.IndexEdit{Entry: e, Stat: w.stat}
}

// wrote gives what stands where the restore put something. It is false where that is not
// the content of the blob, or is no longer what was put there.
func (r *Restore) wrote() (map[string]written, bool) {
	out := make(map[string]written, len(r.intent.Ops))
	for i, o := range r.intent.Ops {
		was := r.staged[i]
		switch o.kind() {
		case "delete":
			out[o.Path] = written{}
			continue
		case "write":
			if o.NewRaw != "" || r.converted[o.Path] || was == nil || r.placed[i] == nil {
				return nil, false
			}
		case "mode":
			if was = r.seen[o.Path]; o.NewRaw != "" || was == nil {
				return nil, false
			}
		default:
			return nil, false
		}
		now, err := r.shot.tree.lstat(o.Path)
		if err != nil || now == nil || !sameContent(now, was) || modeOf(now) != o.New.Mode {
			return nil, false
		}
		stat, ok := fileStat(now)
		if !ok {
			return nil, false
		}
		out[o.Path] = written{git.Entry{Mode: o.New.Mode, OID: o.New.OID}, stat}
	}
	return out, true
}

// read gives what the capture read at a path, if the file is still the same, and so old
// that an edit shows in its time.
func (r *Restore) read(p string) (written, bool) {
	h, ok := r.cur.hashed[p]
	if !ok || h.info == nil || h.info.ModTime().Unix() >= r.cur.Began.Unix() {
		return written{}, false
	}
	now, err := r.shot.tree.lstat(p)
	if err != nil || now == nil || !same(now, h.info) {
		return written{}, false
	}
	stat, ok := fileStat(now)
	return written{h.entry, stat}, ok
}

// sameContent reports whether a file was not written to, although it got another name or
// other permissions.
func sameContent(a, b fs.FileInfo) bool {
	_, x, ok := inode(a)
	_, y, _ := inode(b)
	return ok && x == y && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
