package snapshot

// After a restore the index has to name new blobs, and its stat data must match the new files.
// git can do that (fillIndex), but it then reads every file that was written. In the usual case
// this program has just written these files itself and knows their content, so it can write the
// entries on its own. editIndex does so, and gives up as soon as one entry is in doubt.

import (
	"context"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// editIndex returns the index that the restore wants, made from the current one in p. It returns
// false if git is needed: the user's index changed since the capture, it has flags or conflicts,
// or there is an entry whose file this restore neither wrote nor read.
func (r *Restore) editIndex(ctx context.Context, p *privateIndex) ([]byte, bool) {
	if r.cur == nil || r.cur.index == nil || p.was == nil || !worktree.SameContent(p.was, r.cur.index) ||
		!r.intent.Index.Plain() || !p.index.Editable() || !r.worktree.keepsModes() {
		return nil, false
	}
	wrote, ok := r.wrote()
	if !ok {
		return nil, false
	}
	changes, err := r.worktree.repo.Trees.Diff(ctx, r.cur.Index.Tree, r.intent.IndexTree)
	if err != nil {
		return nil, false // git says what is wrong
	}
	edits := make(map[string]git.IndexEdit, len(changes)+len(wrote))
	for _, c := range changes {
		w, known := wrote[c.Path]
		if !known {
			// The file stays as it is while its entry changes; the capture may have read it.
			w, known = r.read(c.Path)
		}
		if c.New.Mode != 0 && !known {
			return nil, false // git must compare the file with the entry
		}
		edits[c.Path] = w.stagedAs(c.New)
	}
	if !r.editUnchanged(p, wrote, edits) {
		return nil, false
	}
	data, err := r.worktree.repo.Checkout.EditIndex(ctx, p.index, edits, r.intent.IndexTree)
	return data, err == nil
}

// editUnchanged adds an edit for each entry that stays but needs new stat data, because the
// restore rewrote its file or because the old stat data are in doubt. It returns false if the
// content of such a file is not known.
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
		// The new index has a later mtime than the old one, so git would trust an entry that was
		// too young before. Most builds of git compare seconds only.
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

// Plain reports whether a tree says everything about the index: no conflicts, no intent-to-add
// entries and no flag bits.
func (x *IndexState) Plain() bool {
	return len(x.Unmerged)+len(x.IntentToAdd)+len(x.AssumeUnchanged)+len(x.SkipWorktree) == 0
}

// written is a file whose content is known: the index entry that it stands for, and its stat
// data. The zero value means that there is no file.
type written struct {
	entry git.Entry
	stat  git.FileStat
}

// stagedAs returns the edit that stages e at the path of this file. If the file has other content
// than e, the edit has no stat data, so that git reads the file when it next compares.
func (w written) stagedAs(e git.Entry) git.IndexEdit {
	if w.entry.Mode != e.Mode || w.entry.OID != e.OID {
		return git.IndexEdit{Entry: e}
	}
	return git.IndexEdit{Entry: e, Stat: w.stat}
}

// wrote returns the files that the restore changed, by path. It returns false if one of them is
// not what git checks out for its blob (raw content), or was not ours any more when it had come to its
// place. The stat data of one that was changed later do not fit, and git reads it.
func (r *Restore) wrote() (map[string]written, bool) {
	out := make(map[string]written, len(r.intent.Ops))
	for i, o := range r.intent.Ops {
		was, now := r.move.staged[i], r.move.placed[i]
		switch o.kind() {
		case OpDelete:
			out[o.Path] = written{}
			continue
		case OpWrite:
		case OpMode:
			was = r.move.seen[o.Path]
			var err error
			if now, err = r.worktree.files.Lstat(o.Path); err != nil {
				return nil, false
			}
		default:
			return nil, false
		}
		if o.NewRaw != "" || was == nil || now == nil || !worktree.SameContent(now, was) || worktree.ModeOf(now) != o.New.Mode {
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

// read returns what the capture read at p, if the file is still the same. Its mtime must be from
// an earlier second than the start of the capture, or a later edit might not show in it.
func (r *Restore) read(p string) (written, bool) {
	h, ok := r.cur.hashed[p]
	if !ok || h.info == nil || h.info.ModTime().Unix() >= r.cur.Began.Unix() {
		return written{}, false
	}
	now, err := r.worktree.files.Lstat(p)
	if err != nil || now == nil || !worktree.Same(now, h.info) {
		return written{}, false
	}
	stat, ok := fileStat(now)
	return written{h.entry, stat}, ok
}
