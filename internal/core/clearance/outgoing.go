package clearance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/sys/gather"
)

// met is an object with the path at which it was seen first.
type met struct {
	oid  name.OID
	path string
}

// ScanOutgoing scans everything that a push of tips would send to somebody who has held, as listed
// by git rev-list --objects. Missing objects cannot be sent and are skipped.
func (sc *Scanner) ScanOutgoing(ctx context.Context, tips, held []name.OID) (*Report, error) {
	report := &Report{}
	if sc.off && len(sc.expunged.Objects) == 0 {
		return report, nil
	}
	objects, err := sc.list(ctx, report, tips, held)
	if err != nil {
		return nil, err
	}
	for _, one := range objects {
		// Expunged objects are found by their id: their content need not look like a
		// secret.
		if sc.expunged.Objects[one.oid] {
			report.Found = append(report.Found, Found{OID: one.oid, Path: one.path, Finding: guard.Finding{Rule: RuleExpunged}})
		}
	}
	if sc.off {
		return report, nil
	}
	return report, sc.scanObjects(ctx, report, objects, math.MaxInt64)
}

// list returns the objects that a push of tips would send, and reports those that are missing.
func (sc *Scanner) list(ctx context.Context, report *Report, tips, held []name.OID) ([]met, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	var objects []met
	err := Reachable(ctx, sc.repo, tips, held, func(oid name.OID, path string) {
		if missing, is := strings.CutPrefix(string(oid), "?"); is {
			report.missing = append(report.missing, name.OID(missing))
		} else {
			objects = append(objects, met{oid, path})
		}
	}, "--missing=print")
	if errors.Is(err, git.ErrUnreadable) {
		// git goes on without an object that is missing, but not with one that is garbled.
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindFailed, Message: "list what would be sent", Err: err, Hints: []string{
				"an object here is damaged; `git checkpoint validate --all --deep` names it, and `git checkpoint rebuild --all` makes what can be proven",
				"if it is still in the way then, move the file that git names out of the repository",
			},
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list what would be sent: %w", err)
	}
	return objects, nil
}

// Reachable calls visit with each object that is reachable from some objects and not from others,
// and with the path at which it was seen first. more are further options of git rev-list, such as
// --reflog. The repository may be a partial clone, and not may list objects that were never
// fetched: missing objects are skipped.
func Reachable(ctx context.Context, repo *git.Repo, from, not []name.OID, visit func(oid name.OID, path string), more ...string) error {
	args := append([]string{"rev-list", "--objects", "--ignore-missing"}, more...)
	// Of several --missing git takes the first.
	res, err := repo.Run(ctx, git.Cmd{Args: append(args, "--missing=allow-any", "--stdin"), Stdin: git.Revisions(from, not)})
	if err != nil {
		return err
	}
	for line := range bytes.Lines(res.Stdout) {
		oid, path, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		visit(name.OID(oid), path)
	}
	return nil
}

// scanObjects reports the verdicts of objects. Those for which there is none yet are scanned in parallel,
// but objects larger than longest bytes are skipped.
func (sc *Scanner) scanObjects(ctx context.Context, report *Report, objects []met, longest int64) error {
	open := slices.DeleteFunc(objects, func(one met) bool {
		v, known := sc.verdicts.verdictOf(one.oid)
		if known {
			sc.report(report, one.oid, one.path, v)
		}
		return known
	})
	specs := gather.List(open, func(one met) string { return string(one.oid) })
	infos := make([]git.Object, len(open))
	err := sc.repo.Objects.Batch().Info(ctx, specs, func(i int, o git.Object, err error) error {
		if err == nil && o.Size <= longest {
			infos[i] = o
		} else if err != nil && !errors.Is(err, git.ErrMissing) {
			return err
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at what would be sent: %w", err)
	}
	return sc.scanAll(ctx, report, open, infos)
}

// scanAll scans objects for which there is no verdict yet. An empty type stands for one to skip.
func (sc *Scanner) scanAll(ctx context.Context, report *Report, open []met, infos []git.Object) error {
	if sc.external != nil {
		return sc.scanOutside(ctx, report, open, infos)
	}
	verdicts := make([]guard.Result, len(open))
	err := git.Each(len(open), func(i int) (err error) {
		switch infos[i].Type {
		case "blob", "commit", "tag":
			verdicts[i], err = sc.scan(ctx, open[i].oid, infos[i])
		}
		if err != nil {
			err = fmt.Errorf("look at %s: %w", open[i].oid.Short(), err)
		}
		return err
	})
	for i, one := range open {
		// Trees have only names. An empty type is a missing or an oversized object.
		if kind := infos[i].Type; kind != "" && kind != "tree" {
			sc.report(report, one.oid, one.path, verdicts[i])
		}
	}
	return err
}

// scanOutside passes the objects to the user's scanner, in batches.
func (sc *Scanner) scanOutside(ctx context.Context, report *Report, open []met, infos []git.Object) error {
	var some []content
	var of []met
	var size int64
	flush := func() error {
		got, err := sc.external.scan(ctx, sc.rules, some)
		for i, v := range got {
			sc.verdicts.add(of[i].oid, v)
			sc.report(report, of[i].oid, of[i].path, v)
		}
		some, of, size = nil, nil, 0
		return err
	}
	for i, one := range open {
		kind := infos[i].Type
		if kind != "blob" && kind != "commit" && kind != "tag" {
			continue
		}
		some, of, size = append(some, content{one.path, func(w io.Writer) error { return sc.write(ctx, one.oid, infos[i], w) }}), append(of, one), size+infos[i].Size
		if len(some) >= atOnce || size >= bytesAtOne {
			if err := flush(); err != nil {
				// The last batch is flushed after the loop.
				return err
			}
		}
	}
	if len(some) == 0 {
		return nil
	}
	return flush()
}

// scannable returns what is to be scanned of an object: a blob's content, or the message of a
// commit or tag, followed by who made it. The other headers have the signature, and no words.
func (sc *Scanner) scannable(ctx context.Context, oid name.OID, info git.Object) ([]byte, error) {
	o, err := sc.repo.Objects.Batch().Object(ctx, string(oid))
	if info.Type == "blob" {
		return o.Data, err
	}
	headers, message, _ := bytes.Cut(o.Data, []byte("\n\n")) // an empty line ends the headers
	said := append(bytes.Clone(message), '\n')
	for line := range bytes.Lines(headers) {
		if kind, who, _ := bytes.Cut(line, []byte(" ")); slices.Contains([]string{"author", "committer", "tagger"}, string(kind)) {
			said = append(append(said, bytes.TrimRight(who, "\n")...), '\n')
		}
	}
	return said, err
}

// write writes what is to be scanned of an object.
func (sc *Scanner) write(ctx context.Context, oid name.OID, info git.Object, w io.Writer) error {
	if info.Type == "blob" && info.Size > inMemory {
		_, err := sc.repo.Run(ctx, git.Cmd{Args: []string{"cat-file", "blob", string(oid)}, Stdout: w})
		return err
	}
	said, err := sc.scannable(ctx, oid, info)
	if err != nil {
		return err
	}
	_, err = w.Write(said)
	return err
}

// scan returns the verdict of an object, and remembers it.
func (sc *Scanner) scan(ctx context.Context, oid name.OID, info git.Object) (v guard.Result, err error) {
	if info.Type == "blob" && info.Size > inMemory {
		v, err = sc.stream(ctx, oid)
	} else {
		var said []byte
		if said, err = sc.scannable(ctx, oid, info); err == nil {
			v = sc.rules.Bytes(said)
		}
	}
	if err != nil {
		return v, err
	}
	// A verdict is kept per object, so the check of the size is part of it.
	if v.Binary && info.Size > binaryMax {
		v.Gap = "it is a large binary file"
	}
	sc.verdicts.add(oid, v)
	return v, nil
}

// Blobs scans blobs, given with the paths at which they were seen. Blobs larger than
// longest bytes are skipped.
func (sc *Scanner) Blobs(ctx context.Context, paths map[name.OID]string, longest int64) (*Report, error) {
	report := &Report{}
	var objects []met
	for oid, path := range paths {
		objects = append(objects, met{oid, path})
	}
	return report, sc.scanObjects(ctx, report, objects, longest)
}

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
