package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

var (
	// ancestorPattern matches HEAD~1, @^, ~2^ and the like; the group has all the suffixes.
	ancestorPattern = lazy.Pattern(`^(?:HEAD|head|@)?((?:[~^]\d{0,4})*)$`)
	// backPattern matches -1, @{1} and HEAD@{1}.
	backPattern = lazy.Pattern(`^-(\d{1,4})$|^(?:HEAD|@)@?\{(\d{1,4})\}$`)
)

// MeantParent translates what git users type for an older commit (HEAD~1, HEAD^, -1, @{1}) to this
// program's name for an older checkpoint, such as "@~1". It returns "" for anything else. Only
// hints use it: Resolve does not accept these forms.
func MeantParent(typed string) string {
	back := 0
	if m := backPattern().FindStringSubmatch(typed); m != nil {
		back, _ = strconv.Atoi(m[1] + m[2]) //nolint:errcheck // the pattern bounds it
	} else if m := ancestorPattern().FindStringSubmatch(typed); m != nil && typed != "" {
		for step := range strings.FieldsFuncSeq(strings.NewReplacer("~", " ~", "^", " ^").Replace(m[1]), func(r rune) bool { return r == ' ' }) {
			count := 1
			if len(step) > 1 {
				count, _ = strconv.Atoi(step[1:]) //nolint:errcheck // the pattern bounds it
			}
			back += count
		}
	} else {
		return ""
	}
	if back == 0 {
		return "@"
	}
	return fmt.Sprintf("@~%d", back)
}

// FileIn splits "<checkpoint>:<path>", the syntax that git has for a file in a commit. Because
// "<session>:<checkpoint>" has the same shape, a session with the name before the colon takes
// precedence; then "<session>:<checkpoint>:<path>" is the file. When typed names no file, ok is
// false and ref is typed.
func FileIn(ctx context.Context, s *Sessions, session, typed string) (ref, path string, ok bool) {
	ref, path, ok = strings.Cut(typed, ":")
	if !ok || ref == "refs" || strings.HasPrefix(ref, "refs/") {
		return typed, "", false
	}
	if in, err := SessionCalled(ctx, s.Store, ref); err != nil || in != "" {
		inner, path, ok := strings.Cut(path, ":")
		return ref + ":" + inner, path, ok
	}
	// A discarded checkpoint also counts: the caller reports that error better than "no such
	// checkpoint".
	_, err := s.Resolve(ctx, session, ref)
	if err != nil && !isA[*discardedError](err) {
		return typed, "", false
	}
	return ref, path, true
}

// fileHint extends an unknown-session error. In "<session>:<ref>" the part before the colon looks
// like a checkpoint, so the user may have meant a file of that checkpoint.
func fileHint(err error, session, ref string) error {
	if known, is := errors.AsType[*Error](err); is && (numberPattern().MatchString(session) || parentPattern().MatchString(session) || strings.HasPrefix(session, "cp-")) {
		known.Hints = append(known.Hints, fmt.Sprintf("a file of checkpoint %s: `git checkpoint rollback %s -- %s`", session, session, ref))
	}
	return err
}
