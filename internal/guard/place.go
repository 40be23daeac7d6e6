package guard

import (
	"path"
	"regexp"
	"slices"
	"sync"
)

// At is what findings in a file mean where the file is. What is called a password in the
// source of a test is an invented one, unless its own format says that it is real; the
// content alone does not tell, and the same content may be elsewhere too.
func At(file string, found []Finding) []Finding {
	if !inTests().MatchString("/"+file) || settings().MatchString(path.Base(file)) {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Guess })
}

var inTests = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(?:testdata|__tests__|__fixtures__|fixtures?|tests?|specs?|e2e)/|_test\.\w+$|_spec\.\w+$|\.(?:test|spec)\.\w+$|/test_\w+\.py$|Tests?\.(?:java|kt|cs|swift)$`)
})

// settings are files that a program is run with, also where its tests are.
var settings = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\.?env\b|\.env$|^\.(?:netrc|npmrc|pypirc|pgpass)$|credentials`)
})
