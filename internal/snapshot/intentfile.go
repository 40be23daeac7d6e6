package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// intentFormat is the format of the intent's file. A file with another format was written by
// another version of this program, which has to finish that rollback.
const intentFormat = 1

// intentFile is an Intent as it is stored. It is a type of its own because a path may hold any
// bytes: record.Path encodes one that is not UTF-8, where a plain JSON string would lose it.
type intentFile struct {
	Format      int             `json:"format"`
	Meta        json.RawMessage `json:"meta"`
	Ops         []savedOp       `json:"ops"`
	Top         record.Path     `json:"top"` // missing in what earlier versions wrote
	Stage       record.Path     `json:"stage"`
	Lock        record.Path     `json:"lock"`
	LockInode   uint64          `json:"lock_inode"`
	IndexTree   name.OID        `json:"index_tree"`
	Index       *savedIndex     `json:"index"`
	Directories []savedMode     `json:"directories"`
	OldModes    []savedMode     `json:"old_modes"` // missing in what earlier versions wrote
	NewModes    []savedMode     `json:"new_modes"`
	Parents     []record.Path   `json:"parents"`
	HasIndex    bool            `json:"has_index"`
	OldIndex    record.Path     `json:"old_index"`
}

// savedOp, savedEntry, savedIndex, savedStage and savedMode are the stored forms of Op,
// git.Entry, IndexState, Stage, and one item of a map from paths to permission bits.
type savedOp struct {
	Path   record.Path `json:"path"`
	Old    savedEntry  `json:"old"`
	New    savedEntry  `json:"new"`
	OldRaw name.OID    `json:"old_raw,omitempty"`
	NewRaw name.OID    `json:"new_raw,omitempty"`
	Perm   fs.FileMode `json:"perm"`
	Split  bool        `json:"split,omitempty"`
	Same   bool        `json:"same,omitempty"`
}

type savedEntry struct {
	Mode git.Mode    `json:"mode"`
	Name record.Path `json:"name"`
	OID  name.OID    `json:"oid"`
}

type savedIndex struct {
	Tree            name.OID      `json:"tree"`
	Unmerged        []savedStage  `json:"unmerged"`
	IntentToAdd     []record.Path `json:"intent_to_add"`
	AssumeUnchanged []record.Path `json:"assume_unchanged"`
	SkipWorktree    []record.Path `json:"skip_worktree"`
	SparsePresent   []record.Path `json:"sparse_present"`
}

type savedStage struct {
	Stage int         `json:"stage"`
	Path  record.Path `json:"path"`
	Entry savedEntry  `json:"entry"`
}

type savedMode struct {
	Path record.Path `json:"path"`
	Mode fs.FileMode `json:"mode"`
}

// encodeIntent returns the content of the intent's file.
func encodeIntent(in *Intent) ([]byte, error) {
	out := intentFile{
		Format: intentFormat, Meta: in.Meta, Top: record.Path(in.Top), Stage: record.Path(in.Stage), Lock: record.Path(in.Lock), LockInode: in.LockInode,
		IndexTree: in.IndexTree, Directories: saveModes(in.Directories), OldModes: saveModes(in.OldModes), NewModes: saveModes(in.NewModes),
		Parents: pathsAs[record.Path](slices.Sorted(maps.Keys(in.Parents))), HasIndex: in.HasIndex, OldIndex: record.Path(in.OldIndex),
	}
	for _, o := range in.Ops {
		out.Ops = append(out.Ops, savedOp{record.Path(o.Path), saveEntry(o.Old), saveEntry(o.New), o.OldRaw, o.NewRaw, o.Perm, o.Split, o.Same})
	}
	if x := in.Index; x != nil {
		out.Index = &savedIndex{
			Tree: x.Tree, IntentToAdd: pathsAs[record.Path](x.IntentToAdd), AssumeUnchanged: pathsAs[record.Path](x.AssumeUnchanged),
			SkipWorktree: pathsAs[record.Path](x.SkipWorktree), SparsePresent: pathsAs[record.Path](x.SparsePresent),
		}
		for _, u := range x.Unmerged {
			out.Index.Unmerged = append(out.Index.Unmerged, savedStage{u.Stage, record.Path(u.Path), saveEntry(u.Entry)})
		}
	}
	return json.Marshal(&out)
}

// decodeIntent reads the content of the intent's file. It fails for any other format and if there
// is no Meta, since a restore that nobody knows cannot be finished.
func decodeIntent(data []byte) (*Intent, error) {
	var in intentFile
	if len(data) > 0 && data[0] != '{' {
		return nil, errors.New("it is damaged, or another version of this program wrote it")
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	if in.Format != intentFormat {
		return nil, fmt.Errorf("its format is %d, which another version of this program writes", in.Format)
	}
	if len(in.Meta) == 0 || string(in.Meta) == "null" {
		return nil, errors.New("it does not say which rollback it belongs to")
	}
	out := &Intent{
		Meta: in.Meta, Top: string(in.Top), Stage: string(in.Stage), Lock: string(in.Lock), LockInode: in.LockInode,
		IndexTree: in.IndexTree, Directories: modesOf(in.Directories), OldModes: modesOf(in.OldModes), NewModes: modesOf(in.NewModes),
		Parents: map[string]bool{}, HasIndex: in.HasIndex, OldIndex: string(in.OldIndex),
	}
	for _, p := range in.Parents {
		out.Parents[string(p)] = true
	}
	for _, o := range in.Ops {
		out.Ops = append(out.Ops, Op{string(o.Path), o.Old.entry(), o.New.entry(), o.OldRaw, o.NewRaw, o.Perm, o.Split, o.Same})
	}
	if x := in.Index; x != nil {
		out.Index = &IndexState{
			Tree: x.Tree, IntentToAdd: pathsAs[string](x.IntentToAdd), AssumeUnchanged: pathsAs[string](x.AssumeUnchanged),
			SkipWorktree: pathsAs[string](x.SkipWorktree), SparsePresent: pathsAs[string](x.SparsePresent),
		}
		for _, u := range x.Unmerged {
			out.Index.Unmerged = append(out.Index.Unmerged, Stage{u.Stage, string(u.Path), u.Entry.entry()})
		}
	}
	return out, nil
}

func saveEntry(e git.Entry) savedEntry { return savedEntry{e.Mode, record.Path(e.Name), e.OID} }

func (e savedEntry) entry() git.Entry {
	return git.Entry{Mode: e.Mode, Name: string(e.Name), OID: e.OID}
}

func saveModes(modes map[string]fs.FileMode) []savedMode {
	var out []savedMode
	for _, p := range slices.Sorted(maps.Keys(modes)) {
		out = append(out, savedMode{record.Path(p), modes[p]})
	}
	return out
}

func modesOf(saved []savedMode) map[string]fs.FileMode {
	out := make(map[string]fs.FileMode, len(saved))
	for _, m := range saved {
		out[string(m.Path)] = m.Mode
	}
	return out
}

// pathsAs converts a list of strings to another string type.
func pathsAs[To, From ~string](from []From) []To {
	var out []To
	for _, p := range from {
		out = append(out, To(p))
	}
	return out
}
