package cli

import (
	"fmt"

	"git-checkpoint/internal/checkpoint"
)

// exitCode is an error that ends the program with this code and prints nothing, because the answer
// on stdout has said everything already. Errors that are printed have a checkpoint.Kind instead,
// which codeOf maps to their code.
type exitCode int

// differs is the exit code of --exit-code when there are differences, or secrets in "guard".
const differs exitCode = 2

// invalid is the exit code of validate, rebuild, doctor and history --verify when something is
// damaged. It is the code of checkpoint.KindInvalid.
const invalid exitCode = 5

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// codeOf maps the kind of an error to the exit code. The man page (man.go) documents the codes. 128
// and 129 are the codes of git for a fatal error and for wrong usage, 130 is what a shell reports
// for a process that Ctrl+C ended.
func codeOf(kind checkpoint.Kind) int {
	switch kind {
	case checkpoint.KindNotFound:
		return 3
	case checkpoint.KindRefused:
		return 4
	case checkpoint.KindInvalid:
		return 5
	case checkpoint.KindRejected:
		return 6
	case checkpoint.KindConflict:
		return 7
	case checkpoint.KindNothing:
		return 8
	case checkpoint.KindUnusable:
		return 128
	case checkpoint.KindUsage:
		return 129
	case checkpoint.KindInterrupt:
		return 130
	}
	// KindFailed, and any error without a kind.
	return 1
}

// usageError is an error in the arguments, with what to type instead.
func usageError(message string, hints ...string) error {
	return &checkpoint.Error{Kind: checkpoint.KindUsage, Message: message, Hints: hints}
}

// refused is an error for something that was not done, because it would lose data or was not
// confirmed.
func refused(message string, hints ...string) error {
	return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: message, Hints: hints}
}
