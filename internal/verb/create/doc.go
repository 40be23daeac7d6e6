// Package create makes checkpoints. Checkpoint is its main function; Safety makes the checkpoint
// that a rollback can be undone from, Foresee composes one before its step has run.
//
// A create goes through these steps (make in create.go). Each returns a value that has the one of the step before.
//
//  1. place (create.go) checks the request and selects the session, define the workflow (home.go): a request.
//  2. capture (create.go) captures the worktree and stores outputs and the state document as objects: captured.
//  3. build (create.go) runs in a transaction of package store: compose (compose.go) reads the current checkpoint (stand.go),
//     composes the record on top of it (advance.go) and refuses it if nothing has changed (unchanged.go): a draft. write
//     writes it as objects, change says which events and refs belong to it, and what the workflow prunes (prune.go). If
//     another writer changes the session first, the transaction calls build again, so build must not depend on an earlier call.
//  4. The transaction writes the refs. repair (repair.go) handles a git gc that took objects.
//
// A checkpoint that the workflow rejects is refused before any ref is written. The objects that were
// written for it stay until git gc removes them.
package create
