package clearance

import (
	"context"
	"os"
	"slices"

	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/lfs"
)

// outside scans the content of git-lfs that pointers name, as far as it is here: a push hands it to
// git-lfs. What it finds is reported for the pointer. The verdict is remembered by the id of the
// content.
func (sc *Scanner) outside(ctx context.Context, report *Report, named []lfs.Named) error {
	if sc.off {
		return nil
	}
	store := lfs.Open(sc.repo)
	for _, n := range named {
		file := store.File(n.Pointer)
		if file == "" {
			continue
		}
		v, known := sc.verdicts.verdictOf(name.OID(n.ID))
		if !known {
			var err error
			if v, err = sc.scanFile(ctx, n, file); err != nil {
				return err
			}
			sc.verdicts.add(name.OID(n.ID), v)
		}
		sc.report(report, n.Blob, n.Path, v)
	}
	return nil
}

// scanFile returns the verdict of a file with content of git-lfs.
func (sc *Scanner) scanFile(ctx context.Context, n lfs.Named, file string) (v guard.Result, err error) {
	in, err := os.Open(file)
	if err != nil {
		return v, err
	}
	defer in.Close() //nolint:errcheck // read only
	v, err = sc.read(ctx, n.Path, in)
	if v.Binary && n.Size > binaryMax {
		v.Gap = "it is a large binary file"
	}
	return v, err
}

// outsideOf returns what git-lfs has of the files below tips.
func (sc *Scanner) outsideOf(ctx context.Context, tips []name.OID) ([]lfs.Named, error) {
	if sc.off || !lfs.Open(sc.repo).InUse() {
		return nil, nil
	}
	named, err := lfs.PointersBelow(ctx, sc.repo, tips, nil, false)
	return slices.DeleteFunc(named, func(n lfs.Named) bool { return sc.expunged.Objects[n.Blob] }), err
}
