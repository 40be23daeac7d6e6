package gitconfig_test

import (
	"testing"

	"git-checkpoint/internal/git/gitconfig"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "5": 5, "1k": 1024, "2M": 2 << 20, "3 GiB": 3 << 30, "1TB": 1 << 40, "-1": -1} {
		if got, err := gitconfig.ParseSize(in); got != want || err != nil {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
	for _, in := range []string{"", "k", "b", "1.5g", "9223372036854775807k", "99999999t", "one", "1kk"} {
		if got, err := gitconfig.ParseSize(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("core.bare\nfalse\x00a.B.c\nx\x00flag\x00"))
	f.Add([]byte("\n\x00.\n.\x00..\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := gitconfig.ParseConfig(data)
		for _, k := range c.Keys("") {
			if _, ok := c.Get(k); !ok {
				t.Errorf("key %q is listed and not found", k)
			}
			c.Bool(k, false) //nolint:errcheck // must only not panic
			c.Size(k, 0)     //nolint:errcheck // as above
		}
	})
}
