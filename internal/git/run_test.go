package git_test

import (
	"errors"
	"testing"

	"git-checkpoint/internal/git"
)

// What git says of an object that it cannot read is damage, and what it says of a request is not.
func TestErrorOfDamage(t *testing.T) {
	for said, want := range map[string]bool{
		"fatal: unable to read tree 04a59185a0c5f4047e4fd3fa87b0c84e671b00ee\n":                     true,
		"fatal: unable to read tree (04a59185a0c5f4047e4fd3fa87b0c84e671b00ee)\n":                   true,
		"error: object file .git/objects/04/a59185 is empty\nfatal: loose object 04a5 is corrupt\n": true,
		"error: inflate: data stream error (invalid stored block lengths)\n":                        true,
		"fatal: too-short tree file\n":                                                       true,
		"fatal: malformed mode in tree entry\n":                                              true,
		"fatal: empty filename in tree entry\n":                                              true,
		"fatal: bad object 00d931e676adefd934b2cf7bade575ac6edf692d\n":                       true,
		"error: Could not read 00d931e676adefd934b2cf7bade575ac6edf692d\n":                   true,
		"fatal: missing blob object '00d931e676adefd934b2cf7bade575ac6edf692d'\n":            true,
		"fatal: ambiguous argument 'x': unknown revision or path not in the working tree.\n": false,
		"fatal: unable to access 'http://127.0.0.1/': Could not resolve host\n":              false,
		"fatal: Could not read from remote repository.\n":                                    false,
		"": false,
	} {
		if errors.Is(&git.Error{Args: []string{"log"}, Code: 128, Stderr: said}, git.ErrUnreadable) != want {
			t.Errorf("%q: %t wanted", said, want)
		}
	}
}
