package cli

import (
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
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

// rejectedSaid is the exit code of report --check when a condition does not hold. It is the code of
// checkpoint.KindRejected.
const rejectedSaid exitCode = 6

// invalidIf is the error for an answer that reported damage, or nil.
func invalidIf(damaged bool) error {
	if damaged {
		return invalid
	}
	return nil
}

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// codeOf maps the kind of an error to the exit code. The man page (man.txt) documents the codes. 128
// and 129 are the codes of git for a fatal error and for wrong usage, 130 is what a shell reports
// for a process that Ctrl+C ended.
func codeOf(kind checkpoint.Kind) int {
	codes := map[checkpoint.Kind]int{
		checkpoint.KindNotFound: 3, checkpoint.KindRefused: 4, checkpoint.KindInvalid: int(invalid),
		checkpoint.KindRejected: 6, checkpoint.KindConflict: 7, checkpoint.KindNothing: int(nothingSaid),
		checkpoint.KindUnusable: 128, checkpoint.KindUsage: 129, checkpoint.KindInterrupt: 130,
	}
	if code, known := codes[kind]; known {
		return code
	}
	// KindFailed, and any error without a kind.
	return 1
}

// refused is an error for something that was not done, because it would lose data or was not
// confirmed.
func refused(message string, hints ...string) error {
	return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: message, Hints: hints}
}
