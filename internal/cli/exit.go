package cli

import (
	"fmt"

	"git-checkpoint/internal/checkpoint"
)

// exitCode ends the program without a word: the answer has said it all.
type exitCode int

// differs is what --exit-code gives when there is something to see.
const differs exitCode = 2

// invalid is what validate gives when it found something, which it has told.
const invalid exitCode = 5

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// codeOf is the one place where kinds become exit codes.
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
	return 1
}

func usageError(message string, hints ...string) error {
	return &checkpoint.Error{Kind: checkpoint.KindUsage, Message: message, Hints: hints}
}

func refused(message string, hints ...string) error {
	return &checkpoint.Error{Kind: checkpoint.KindRefused, Message: message, Hints: hints}
}
