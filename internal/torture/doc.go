// Package torture is the machine that keeps the promise that nothing is lost. It makes
// random worlds (repositories of every kind), works in them by plain system calls and
// plain git, drives the built git-checkpoint as a user would, and compares the disk after
// each step with what a model of its own expects. It owns the worlds, the operations, the
// model and the shrinking of a failure to a shell script; it refuses to ask the program
// that is tested anything but exit codes and the JSON contract, and imports nothing of it.
package torture
