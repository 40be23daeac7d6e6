package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

var (
	ancestorPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:HEAD|head|@)?((?:[~^]\d{0,4})*)$`) })
	backPattern     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-(\d{1,4})$|^(?:HEAD|@)@?\{(\d{1,4})\}$`) })
)

// MeantParent gives what stands here for git's HEAD~1, HEAD^ or -1; empty for anything else.
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

// FileIn splits <checkpoint>:<path>, as git writes a file of a commit. A session with the
// name before the colon comes first.
func FileIn(ctx context.Context, s *Service, session, typed string) (ref, path string, ok bool) {
	ref, path, ok = strings.Cut(typed, ":")
	if !ok || ref == "refs" || strings.HasPrefix(ref, "refs/") {
		return typed, "", false
	}
	if in, err := name.ParseSession(ref); err == nil {
		if _, err := s.Store.State(ctx, in); err == nil {
			inner, path, ok := strings.Cut(path, ":")
			return ref + ":" + inner, path, ok
		}
	}
	_, err := s.Resolve(ctx, session, ref)
	if discarded := (*discardedError)(nil); err != nil && !errors.As(err, &discarded) {
		return typed, "", false
	}
	return ref, path, true
}

// fileHint adds to an error about the session of <session>:<ref> what else may be meant.
func fileHint(err error, session, ref string) error {
	var known *Error
	if errors.As(err, &known) && (numberPattern().MatchString(session) || parentPattern().MatchString(session) || strings.HasPrefix(session, "cp-")) {
		known.Hints = append(known.Hints, fmt.Sprintf("a file of checkpoint %s: `git checkpoint rollback %s -- %s`", session, session, ref))
	}
	return err
}
