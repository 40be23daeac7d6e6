package git

import (
	"testing"
)

func TestParseConfigAgainstGit(t *testing.T) {
	f := newFixture(t)
	f.write(".git/config", `
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

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "5": 5, "1k": 1024, "2M": 2 << 20, "3 GiB": 3 << 30, "1TB": 1 << 40, "-1": -1} {
		if got, err := ParseSize(in); got != want || err != nil {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{"", "k", "b", "1.5g", "9223372036854775807k", "99999999t", "one", "1kk"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("core.bare\nfalse\x00a.B.c\nx\x00flag\x00"))
	f.Add([]byte("\n\x00.\n.\x00..\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := ParseConfig(data)
		for _, k := range c.Keys("") {
			if _, ok := c.Get(k); !ok {
				t.Errorf("key %q is listed and not found", k)
			}
			c.Bool(k, false) //nolint:errcheck // must only not panic
			c.Size(k, 0)     //nolint:errcheck // as above
		}
	})
}
