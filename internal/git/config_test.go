package git

import (
	"testing"
)

func TestParseConfigAgainstGit(t *testing.T) {
	f := newFixture(t)
	f.Write(".git/config", `
[core]
	repositoryformatversion = 0
	Bare = false
[Remote "Or.Igin"]
	URL = one
	url = "two\nlines = here"
[checkpoint]
	flag
	empty =
	maxFileSize = 100m
[checkpoint "batch_complete"]
	Enabled = off
`)
	c := f.open().Config
	for key, want := range map[string]string{
		"remote.Or.Igin.url": "two\nlines = here", "CHECKPOINT.flag": "true", "checkpoint.empty": "",
		"checkpoint.batch_complete.ENABLED": "off",
	} {
		if got, ok := c.Get(key); !ok || got != want {
			t.Errorf("%s = %q, %v", key, got, ok)
		}
	}
	if _, ok := c.Get("remote.or.igin.url"); ok {
		t.Error("a subsection lost its case")
	}
	if all := c.All("remote.Or.Igin.url"); len(all) != 2 || all[0] != "one" {
		t.Errorf("%q", all)
	}
	if _, ok := c.Get("lines"); ok {
		t.Error("a newline in a value made a key")
	}
	for key, want := range map[string]bool{"checkpoint.flag": true, "checkpoint.empty": false, "checkpoint.batch_complete.enabled": false, "no.such": true} {
		if got, err := c.Bool(key, true); err != nil || got != want {
			t.Errorf("%s: %v %v", key, got, err)
		}
	}
	if n, err := c.Size("checkpoint.maxfilesize", 1); n != 100<<20 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if _, err := c.Bool("remote.Or.Igin.url", false); err == nil {
		t.Error("no boolean was taken for one")
	}
}
