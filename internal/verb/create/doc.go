// Package create makes checkpoints. Checkpoint is its main function; Safety makes the checkpoint
// that a rollback can be undone from, Foresee composes one before its step has run.
//
// A create goes through these steps. Each returns a type that embeds the one of the step before
// (create.go): request, defined, captured, draft.
//
//  1. homeOf (home.go) selects the session, define (definition.go) the workflow.
//  2. look (create.go) captures the worktree and stores outputs and the state document as objects.
//  3. build (create.go) runs in a transaction of package store: it reads the current checkpoint,
//     composes the record on top of it (compose.go, advance.go), refuses it if nothing has changed
//     (unchanged.go) and adds what the workflow prunes (prune.go). If another writer changes the
//     session first, the transaction calls build again, so build must not depend on an earlier call.
//  4. The transaction writes the refs. repair (repair.go) handles a git gc that took objects.
//
// A checkpoint that the workflow rejects is refused before any ref is written. The objects that were
// written for it stay until git gc removes them.
package create
