package interop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"git-checkpoint/internal/checkpoint"
)

// inDatabase runs do in one transaction of a database that may be anybody's: its journal
// mode stays what it is, a lock is waited for and then named.
func inDatabase(ctx context.Context, file string, do func(querier) error) (err error) {
	refuse := func(err error) error {
		return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: file, Err: named(err), Hints: []string{"nothing was written"}}
	}
	if _, err := checkDatabase(file); err != nil && !isMissing(err) {
		return refuse(err)
	}
	db, err := openDatabase(file, "mode=rwc&_txlock=immediate")
	if err != nil {
		return refuse(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return refuse(err)
	}
	defer tx.Rollback() //nolint:errcheck // it is over after a commit
	if err := do(tx); err != nil {
		var known *checkpoint.Error
		if errors.As(err, &known) {
			return err
		}
		return refuse(err)
	}
	if err := tx.Commit(); err != nil {
		return refuse(err)
	}
	return nil
}

var _ querier = (*sql.Tx)(nil)

// exportDatabase writes sessions into a database for people who query.
func exportDatabase(_ context.Context, _ []*checkpoint.Archive, req ExportRequest, _ *ExportAnswer) error {
	return fmt.Errorf("export to %q: not there yet", req.To)
}
