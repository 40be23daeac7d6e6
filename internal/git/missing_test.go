package git

import (
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// Missing returns what git says is missing, wherever the other objects are.
func TestMissing(t *testing.T) {
	for _, format := range gittest.Formats() {
		f := newFixture(t, "--object-format="+format)
		f.Write("a/b", "x")
		f.Git("add", "-A")
		f.Git("commit", "-q", "-m", "x")
		f.Git("repack", "-adq")
		f.Git("prune-packed")
		loose := f.Blob("loose")
		all := []name.OID{loose, "", loose, name.OID(strings.Repeat("1", len(loose))), name.OID(strings.Repeat("0", len(loose))), name.OID(strings.Repeat("f", len(loose)))}
		for _, spec := range []string{"HEAD", "HEAD^{tree}", "HEAD:a", "HEAD:a/b"} {
			all = append(all, name.OID(f.Git("rev-parse", spec)))
		}
		b := f.open().Objects.Batch()
		got, err := b.Missing(ctx(t), all)
		if err != nil || len(got) != 3 || !got[all[3]] || !got[all[4]] || !got[all[5]] {
			t.Errorf("%v %v", got, err)
		}
		if _, err := b.Missing(ctx(t), all[6:]); err != nil || inPack(b, all[3]) {
			t.Error(err)
		}
		for _, oid := range all[6:] {
			if !inPack(b, oid) {
				t.Errorf("%s is packed", oid)
			}
		}
	}
}

func inPack(b *Batch, oid name.OID) bool {
	b.objects.packs.Refresh()
	_, ok := b.objects.packs.Find(oid)
	return ok
}
