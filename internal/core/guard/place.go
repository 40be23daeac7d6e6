package guard

import (
	"path"
	"slices"

	"git-checkpoint/internal/sys/lazy"
)

// CountingAt returns the findings that count at a path. A "password" in the source of a test is invented
// unless its format says that it is real, so guesses in tests are dropped. This depends on the path
// and not on the content, and is applied to the remembered findings each time a file is seen.
func CountingAt(file string, found []Finding) []Finding {
	if len(found) == 0 || !inTests().MatchString("/"+file) || settings().MatchString(path.Base(file)) {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Guess })
}

// inTests matches paths of tests in the layouts of common languages.
var inTests = lazy.Pattern(`/(?:testdata|__tests__|__fixtures__|fixtures?|tests?|specs?|e2e)/|_test\.\w+$|_spec\.\w+$|\.(?:test|spec)\.\w+$|/test_\w+\.py$|Tests?\.(?:java|kt|cs|swift)$`)

// settings matches files from which programs read real credentials, even in a directory of
// tests.
var settings = lazy.Pattern(`(?i)^\.?env\b|\.env$|^\.(?:netrc|npmrc|pypirc|pgpass)$|^\.?(?:\w+[_-])?credentials(?:\.(?:json|ya?ml|ini|toml|txt|csv|xml|properties))?$`)
