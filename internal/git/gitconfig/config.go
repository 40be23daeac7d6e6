// Package gitconfig holds git's configuration. A Config comes from one of two sources: ParseConfig
// reads the output of `git config -z --list`, and ReadFiles (file.go) reads the files that git
// would read, without starting git.
//
// ReadFiles only accepts what every version of git reads in the same way (see git-config(1),
// "Syntax"). For anything else, such as an include, it returns ErrUseGit, and the caller starts git
// and uses ParseConfig.
package gitconfig

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Config holds all values of all keys. The values of a key are in the order in which git reads
// them, and the last one wins. Keys are normalized with fold.
type Config struct {
	values map[string][]string
}

// ParseConfig parses the output of `git config -z --list`: items "<key>\n<value>", each with a NUL
// at its end.
func ParseConfig(data []byte) *Config {
	c := &Config{values: map[string][]string{}}
	for _, item := range bytes.Split(data, []byte{0}) {
		if len(item) == 0 {
			continue
		}
		key, value, found := bytes.Cut(item, []byte{'\n'})
		v := string(value)
		if !found {
			v = "true" // a key without "=" means true
		}
		k := fold(string(key))
		c.values[k] = append(c.values[k], v)
	}
	return c
}

// fold lower-cases the section and the name of a variable, which git compares without case. A
// subsection, which is what lies between the first and the last dot, keeps its case.
func fold(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 || first == last {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// Get returns the last value of key, and whether there is one.
func (c *Config) Get(key string) (string, bool) {
	v := c.values[fold(key)]
	if len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// All returns every value of key, in order.
func (c *Config) All(key string) []string { return c.values[fold(key)] }

// Keys returns the keys that begin with prefix, in no particular order.
func (c *Config) Keys(prefix string) []string {
	var out []string
	for k := range c.values {
		if strings.HasPrefix(k, fold(prefix)) {
			out = append(out, k)
		}
	}
	return out
}

// Remotes returns the names of the remotes that have a member, such as "url", sorted.
func (c *Config) Remotes(member string) (names []string) {
	for _, key := range c.Keys("remote.") {
		if remote, has := strings.CutSuffix(strings.TrimPrefix(key, "remote."), "."+member); has {
			names = append(names, remote)
		}
	}
	slices.Sort(names)
	return names
}

// Bool returns the value of key as a boolean, or byDefault if there is none or it is invalid. It returns
// an error in the latter case.
func (c *Config) Bool(key string, byDefault bool) (bool, error) {
	return parsed(c, key, byDefault, ParseBool)
}

func parsed[T any](c *Config, key string, def T, parse func(string) (T, error)) (T, error) {
	text, ok := c.Get(key)
	if !ok {
		return def, nil
	}
	v, err := parse(text)
	if err != nil {
		return def, fmt.Errorf("configuration %s: %w", key, err)
	}
	return v, nil
}

// ParseBool parses a boolean in one of git's spellings. A number other than 0 is true.
func ParseBool(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "true", "yes", "on":
		return true, nil
	case "false", "no", "off", "":
		return false, nil
	}
	n, err := ParseSize(v)
	if err != nil {
		return false, fmt.Errorf("not a boolean: %q", v)
	}
	return n != 0, nil
}

// Size returns the value of key as a number of bytes, or def if there is none or it is invalid. It
// returns an error in the latter case.
func (c *Config) Size(key string, def int64) (int64, error) { return parsed(c, key, def, ParseSize) }

// ParseSize parses a number with an optional suffix k, m, g or t, which are powers of 1024. Unlike
// git it also accepts t, and "B" or "iB" after the suffix. The result is between -2^62 and 2^62.
func ParseSize(v string) (int64, error) {
	s := strings.ToLower(strings.TrimSpace(v))
	s = strings.TrimSuffix(strings.TrimSuffix(s, "b"), "i")
	shift := 0
	if s != "" {
		if i := strings.IndexByte("kmgt", s[len(s)-1]); i >= 0 {
			shift, s = 10*(i+1), s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n > (1<<62)>>shift || n < -(1<<62)>>shift {
		return 0, fmt.Errorf("not a size: %q", v)
	}
	return n << shift, nil
}
