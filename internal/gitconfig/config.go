// Package gitconfig holds git's configuration: what `git config --list` printed, or what
// the files say that git would read, without starting git. The files are read only where
// every version of git reads them alike (see git-config(1), "Syntax"); ErrAsk otherwise.
package gitconfig

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Config holds every value of every key, in the order in which git reads them: the last
// value of a key wins. Keys are as fold leaves them.
type Config struct {
	values map[string][]string
}

// ParseConfig reads the output of `git config -z --list`.
func ParseConfig(data []byte) *Config {
	c := &Config{values: map[string][]string{}}
	for _, item := range bytes.Split(data, []byte{0}) {
		if len(item) == 0 {
			continue
		}
		key, value, found := bytes.Cut(item, []byte{'\n'})
		v := string(value)
		if !found {
			v = "true" // a key without "=" is a true boolean
		}
		k := fold(string(key))
		c.values[k] = append(c.values[k], v)
	}
	return c
}

// fold lower-cases section and variable, which git compares without case; a
// subsection keeps its case.
func fold(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 || first == last {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// Get is the last value of key and whether there is one.
func (c *Config) Get(key string) (string, bool) {
	v := c.values[fold(key)]
	if len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// All gives every value of key, in order.
func (c *Config) All(key string) []string { return c.values[fold(key)] }

// Keys lists the keys that start with prefix, unsorted.
func (c *Config) Keys(prefix string) []string {
	var out []string
	for k := range c.values {
		if strings.HasPrefix(k, fold(prefix)) {
			out = append(out, k)
		}
	}
	return out
}

// Bool reads a git boolean; def when the key is missing.
func (c *Config) Bool(key string, def bool) (bool, error) {
	v, ok := c.Get(key)
	if !ok {
		return def, nil
	}
	b, err := ParseBool(v)
	if err != nil {
		return def, fmt.Errorf("configuration %s: %w", key, err)
	}
	return b, nil
}

// ParseBool accepts git's spellings of booleans.
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

// Size reads a number with git's suffixes k, m, g; def when the key is missing.
func (c *Config) Size(key string, def int64) (int64, error) {
	v, ok := c.Get(key)
	if !ok {
		return def, nil
	}
	n, err := ParseSize(v)
	if err != nil {
		return def, fmt.Errorf("configuration %s: %w", key, err)
	}
	return n, nil
}

// ParseSize reads bytes with an optional suffix k, m, g, t (powers of 1024; "B"
// and "iB" behind it are allowed).
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
