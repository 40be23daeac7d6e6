package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// look reads with plain git what a plain validation reads: the commits of checkpoints and
// records, the records, and the notes. Git finds them from the refs, as the program does,
// and reads their headers.
const look = `{
git for-each-ref --format='%(objectname)%0a%(objectname)^2%0a%(objectname)^2:checkpoint.json' 'refs/checkpoints/main/cp-*'
git notes --ref refs/notes/checkpoints list | cut -d ' ' -f 1
} | git cat-file --batch-check`

// read does with plain git what validate --deep does.
const read = "git fsck --connectivity-only --no-progress && git cat-file --batch-all-objects --unordered --batch"

// proof compares validate with plain git on the same objects.
func (b *bench) proof() []job {
	n := b.Effort.longest()
	row := func(name, work string, budget float64) Row {
		r := Row{Name: fmt.Sprintf("%s/%d", name, n), Work: work, Files: b.Effort.small()}
		// The time of a short session is mostly that of starting processes.
		if n >= 10_000 {
			r.First = budget
		}
		return r
	}
	compared := func(ours, theirs string) func(context.Context) (samples, error) {
		return func(ctx context.Context) (samples, error) {
			r, err := b.session(ctx, n)
			if err != nil {
				return samples{}, err
			}
			if err := r.writeIDs(ctx); err != nil {
				return samples{}, err
			}
			return compare(ctx, b.Effort.Rounds, r.script(ours), r.script(theirs))
		}
	}
	const validate = "git checkpoint validate --all"
	return []job{
		{
			row("validate", fmt.Sprintf("`validate --all` of %d ÷ `git cat-file --batch-check` over commits, records and notes, which git finds", n), 2),
			compared(validate, look),
		},
		{
			row("validate/ids", "the same, with the ids of these objects at hand", 2),
			compared(validate, "git cat-file --batch-check <"+idFile),
		},
		{
			row("validate/deep", "`validate --all --deep` ÷ (`git fsck --connectivity-only` + `git cat-file --batch` over all objects)", 1.5),
			compared(validate+" --deep", read),
		},
	}
}

// idFile holds the ids of everything that look finds.
const idFile = ".git/looked-at"

// writeIDs writes idFile and makes sure that every object exists.
func (r *repository) writeIDs(ctx context.Context) error {
	ids, err := r.start(ctx, r.dir, nil, "sh", "-c", look+"='%(objectname)'")
	if err != nil {
		return err
	}
	// A missing object would make git's side faster, so it is an error.
	if line, _, found := strings.Cut(ids, " missing"); found {
		return fmt.Errorf("%s is not there", line[strings.LastIndexByte(line, '\n')+1:])
	}
	return os.WriteFile(filepath.Join(r.dir, idFile), []byte(ids+"\n"), 0o600)
}

// script returns a step that runs shell lines and drops their output.
func (r *repository) script(lines string) step {
	return step{run: func(ctx context.Context) error {
		_, err := r.start(ctx, r.dir, nil, "sh", "-c", "{ "+lines+"\n} >/dev/null")
		return err
	}}
}
