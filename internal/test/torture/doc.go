// Package torture tests the promise that nothing is lost, with random cases. A case is a
// repository of some kind and a sequence of operations: edits by shell lines and plain git,
// and commands of git-checkpoint. After each command the disk is compared with what a model
// expects.
//
//	kinds.go, exotic.go, mixed.go, walks.go, ...  the kinds of worlds, and their edits
//	draw.go                                       draw a case from a kind and a seed
//	run.go, create.go, move.go                    execute a case, command by command
//	moment.go                                     read a worktree, and what a capture has to hold
//	predict.go                                    the model: the disk after a rollback
//	check.go, compare.go, index.go, staged.go     compare with the model
//	shared.go, shareddraw.go, sharedcheck.go      agents and a person at the same time, and reverts
//	shrink.go, script.go                          reduce a failure and print it as a shell script
//
// The model is written from the design alone and imports nothing of the program. The
// program under test is asked only for exit codes and its JSON. Start reading with Run and
// Draw.
package torture
