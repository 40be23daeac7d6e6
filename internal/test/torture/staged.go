package torture

// What is staged is the difference between HEAD and the index. If HEAD has other files than
// when a checkpoint was made, a rollback has to bring back that difference, and the next
// plain commit must change nothing else. This is the model of it, path by path, from the
// listings of plain git.

import (
	"maps"
	"slices"
	"strings"
)

// committing are edits that commit a part, so that HEAD and the index of a checkpoint differ
// in every way from those of a rollback.
func committing() []edit {
	return []edit{
		func(g *gen) string {
			p := words(g.path())
			return "git --literal-pathspecs add -- " + p + "; git commit -qm part"
		},
		func(*gen) string { return "git commit -qm staged" },
		func(*gen) string { return "git add -A; git commit -qm all" },
		func(g *gen) string {
			return "git --literal-pathspecs rm -rq --cached -- " + words(g.path()) + "; git commit -qm gone"
		},
		func(*gen) string { return "git add -A; git commit -qm all; git checkout -q -f -B topic HEAD~1" },
		func(*gen) string { return "git reset -q --soft HEAD~1" },
		func(*gen) string { return "git checkout -q --orphan fresh" },
		func(g *gen) string {
			return "git update-index " + g.pick([]string{"--assume-unchanged", "--no-assume-unchanged"}) + " -- " + words(g.path())
		},
		func(g *gen) string {
			// A conflict that is left in the index, with no operation in progress.
			return "p=" + words(g.path()) + `; blob=$(echo other | git hash-object -w --stdin); printf '0 %s\t%s\n100644 %s 2\t%s\n100644 %s 3\t%s\n' ` +
				strings.Repeat("0", 40) + ` "$p" $blob "$p" $blob "$p" | git update-index --index-info`
		},
	}
}

// filesOf lists the files of a commit as "mode oid"; none without a commit.
func (c *run) filesOf(top, commit string) (map[string]string, error) {
	out := map[string]string{}
	if commit == "" {
		return out, nil
	}
	listing, err := c.host.git(top, "", "ls-tree", "-r", "-z", "--full-tree", commit)
	for _, line := range split(listing) {
		meta, p, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		out[p] = f[0] + " " + f[2]
	}
	return out, err
}

// stagedIndex is an index that is expected: its entries, and which of them are intent-to-add.
type stagedIndex struct {
	entries []entry
	intents map[string]bool
}

// carried returns the index that has what was staged in from, upon the HEAD of after. now has
// the flags of entries that follow HEAD. The index is that of from if both HEADs have the same
// files.
func (c *run) carried(top string, from, now, after *moment) (stagedIndex, error) {
	then, err := c.filesOf(top, from.commit)
	if err != nil {
		return stagedIndex{}, err
	}
	head, err := c.filesOf(top, after.commit)
	if err != nil {
		return stagedIndex{}, err
	}
	if len(differences(then, head)) == 0 {
		return stagedIndex{entries(from.listing), from.intents}, nil
	}
	out, index := stagedIndex{intents: map[string]bool{}}, from.plainEntries()
	follows := from.following(then, index, head)
	tags := map[string]string{}
	for _, e := range entries(now.listing) {
		if strings.Contains("HhSs", e.tag) {
			tags[e.path] = e.tag
		}
	}
	for p, f := range follows {
		mode, oid, _ := strings.Cut(f, " ")
		tag := tags[p]
		if _, absent := from.sparse[p]; absent { // it goes off the disk again, and git has to know why
			tag = "S"
		}
		if tag == "" {
			tag = "H"
		}
		out.entries = append(out.entries, entry{tag, mode, oid, "0", p})
	}
	for _, e := range entries(from.listing) {
		_, follow := follows[e.path]
		switch {
		case e.stage == "0" && (follow || then[e.path] == index[e.path] && !from.intents[e.path] || beside(follows, e.path)):
			continue
		case e.stage == "0" && !from.intents[e.path]:
			e.mode, e.oid = combined(then[e.path], e, head[e.path])
		}
		out.entries = append(out.entries, e)
		if from.intents[e.path] {
			out.intents[e.path] = true
		}
	}
	return out, nil
}

// plainEntries returns the entries at stage 0 that a commit takes, as "mode oid".
func (m *moment) plainEntries() map[string]string {
	out := map[string]string{}
	for _, e := range entries(m.listing) {
		if e.stage == "0" && !m.intents[e.path] {
			out[e.path] = e.mode + " " + e.oid
		}
	}
	return out
}

// following returns the files of head at whose paths nothing was staged, where HEAD had then and the
// index had index.
func (m *moment) following(then, index, head map[string]string) map[string]string {
	out := map[string]string{}
	for p, f := range head {
		_, plain := index[p]
		conflict := m.tracked[p] && !plain && !m.intents[p]
		switch intended := m.intents[p]; {
		case conflict:
		case intended && then[p] == "", !intended && then[p] == index[p]:
			out[p] = f
		}
	}
	return out
}

// beside reports whether a file cannot be at p because of one of the files: one is below the
// other.
func beside(files map[string]string, p string) bool {
	for q := range files {
		if q != p && (under(p, q) || under(q, p)) {
			return true
		}
	}
	return false
}

// combined returns mode and content of a staged entry e, of which HEAD had then and has head.
// If only one of the two was staged, the other one is that of HEAD.
func combined(then string, e entry, head string) (mode, oid string) {
	thenMode, thenOID, _ := strings.Cut(then, " ")
	headMode, headOID, _ := strings.Cut(head, " ")
	usual := []string{"100644", "100755"}
	if !slices.Contains(usual, thenMode) || !slices.Contains(usual, headMode) || !slices.Contains(usual, e.mode) {
		return e.mode, e.oid
	}
	switch {
	case thenOID == e.oid:
		return e.mode, headOID
	case thenMode == e.mode:
		return headMode, e.oid
	}
	return e.mode, e.oid
}

// stagedPaths returns the paths that git status calls staged, or unmerged, or intended to be
// added.
func (m *moment) stagedPaths() map[string]bool {
	out := maps.Clone(m.intents) // git status lists one without a file only as deleted
	for _, line := range split(m.status) {
		f := strings.SplitN(line, " ", 3)
		if len(f) < 3 {
			continue
		}
		fields := map[string]int{"1": 9, "u": 11}[f[0]]
		if fields == 0 || f[0] == "1" && strings.HasPrefix(f[1], ".") && f[1] != ".A" {
			continue
		}
		if all := strings.SplitN(line, " ", fields); len(all) == fields {
			out[all[fields-1]] = true
		}
	}
	return out
}

// commitsOnly requires that a commit after the move changes only what somebody staged: then,
// or now where the index is not all of it from then.
func (c *run) commitsOnly(m *move) error {
	then, now := m.to.then.stagedPaths(), m.now.stagedPaths()
	partly := m.wish.only != nil || m.wish.indexStays || c.unfinished(m.op.Tree, m.after) != ""
	var wrong []string
	for p := range m.then.stagedPaths() {
		if !then[p] && !(partly && now[p]) {
			wrong = append(wrong, p)
		}
	}
	if len(wrong) > 0 {
		return broken("after %s a commit changes what was not staged: %s", m.op.Verb, quoted(wrong))
	}
	return nil
}
