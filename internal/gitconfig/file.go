package gitconfig

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrAsk means that only git can tell: something is included, comes from the environment,
// or is written in a way that not all versions of git read alike. The caller starts git.
var ErrAsk = errors.New("only git can tell")

// ReadFiles reads the configuration of a user and of the repository whose own file is local,
// as `git config --list` would give it with the environment env. A missing file is empty.
func ReadFiles(env []string, local string) (*Config, error) {
	c := &Config{values: map[string][]string{}}
	files, err := configFiles(env)
	if err != nil {
		return nil, err
	}
	for _, path := range append(files, local) {
		if err := c.readFile(path); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// configFiles lists the files that git reads before that of the repository.
func configFiles(env []string) ([]string, error) {
	var files []string
	switch v, set := getenv(env, "GIT_CONFIG_NOSYSTEM"); {
	case !set:
		files = append(files, systemFile)
	default:
		if no, err := ParseBool(v); err != nil || !no {
			return nil, ErrAsk
		}
	}
	if global, set := getenv(env, "GIT_CONFIG_GLOBAL"); set {
		if !filepath.IsAbs(global) {
			return nil, ErrAsk
		}
		return append(files, global), nil
	}
	home := Getenv(env, "HOME")
	if !filepath.IsAbs(home) {
		return nil, ErrAsk
	}
	xdg := filepath.Join(home, ".config")
	if v := Getenv(env, "XDG_CONFIG_HOME"); v != "" {
		if xdg = v; !filepath.IsAbs(v) {
			return nil, ErrAsk
		}
	}
	return append(files, filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig")), nil
}

func (c *Config) readFile(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(data) > 1<<20 || bytes.IndexByte(data, 0) >= 0 {
		return ErrAsk
	}
	f := configFile{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), config: c}
	return f.read()
}

// configFile reads git's configuration syntax, see git-config(1), byte by byte.
type configFile struct {
	data    []byte
	at      int
	section string // with its subsection and a dot
	config  *Config
}

// next gives a newline at the end of the file, and for "\r\n".
func (f *configFile) next() byte {
	f.at++
	if f.at > len(f.data) {
		return '\n'
	}
	if c := f.data[f.at-1]; c != '\r' || f.at == len(f.data) || f.data[f.at] != '\n' {
		return c
	}
	f.at++
	return '\n'
}

func (f *configFile) ended() bool { return f.at > len(f.data) }

func (f *configFile) read() error {
	var err error
	for comment := false; err == nil; {
		c := f.next()
		switch {
		case c == '\n' && f.ended():
			return nil
		case c == '\n':
			comment = false
		case comment, c == ' ', c == '\t':
		case c == '#', c == ';':
			comment = true
		case c == '[':
			err = f.header()
		case isLetter(c) && f.section != "":
			f.at--
			err = f.variable()
		default:
			err = ErrAsk
		}
	}
	return err
}

// header reads `section]` or `section "subsection"]`. What includes is git's to follow.
func (f *configFile) header() error {
	start := f.at
	for c := f.next(); c != ']'; c = f.next() {
		if c == ' ' {
			return f.subsection(string(f.data[start : f.at-1]))
		}
		if !isKey(c) && c != '.' {
			return ErrAsk
		}
	}
	return f.enter(string(f.data[start:f.at-1]), ".")
}

func (f *configFile) subsection(section string) error {
	var sub strings.Builder
	if f.next() != '"' {
		return ErrAsk
	}
	for c := f.next(); c != '"'; c = f.next() {
		if c == '\\' {
			c = f.next()
		}
		if c == '\n' {
			return ErrAsk
		}
		sub.WriteByte(c)
	}
	if f.next() != ']' {
		return ErrAsk
	}
	return f.enter(section, "."+sub.String()+".")
}

func (f *configFile) enter(section, rest string) error {
	section = strings.ToLower(section)
	if section == "" || strings.HasPrefix(section, "include") {
		return ErrAsk
	}
	f.section = section + rest
	return nil
}

// variable reads `name`, which is true, or `name = value`.
func (f *configFile) variable() error {
	start := f.at
	for f.at < len(f.data) && isKey(f.data[f.at]) {
		f.at++
	}
	key := fold(f.section + string(f.data[start:f.at]))
	c := f.next()
	for c == ' ' || c == '\t' {
		c = f.next()
	}
	value := "true"
	if c != '\n' {
		if c != '=' {
			return ErrAsk
		}
		var err error
		if value, err = f.value(); err != nil {
			return err
		}
	}
	f.config.values[key] = append(f.config.values[key], value)
	return nil
}

// value reads up to the end of the line. White space around it is dropped.
func (f *configFile) value() (string, error) { //nolint:gocyclo // a state machine, better read in one piece
	var v []byte
	spaces, quoted, comment := 0, false, false
	for c := f.next(); c != '\n' || quoted; c = f.next() {
		switch {
		case c == '\n', c == '\r':
			return "", ErrAsk
		case comment:
			continue
		case !quoted && c == '\t' && len(v) > 0 && !f.blank():
			return "", ErrAsk // a space in git before 2.45, a tab in later ones
		case !quoted && (c == ' ' || c == '\t'):
			if len(v) > 0 {
				spaces++
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
			continue
		case spaces > 0 && (c == '"' || c == '\\'):
			return "", ErrAsk // these spaces can be read as some at the end
		}
		v = append(v, strings.Repeat(" ", spaces)...)
		spaces = 0
		if c == '"' {
			quoted = !quoted
		} else if c != '\\' {
			v = append(v, c)
		} else if c = f.next(); c != '\n' { // else the line goes on
			if c = unescape(c); c == 0 {
				return "", ErrAsk
			}
			v = append(v, c)
		}
	}
	return string(v), nil
}

// unescape gives what a backslash makes of a byte; 0 where git refuses it.
func unescape(c byte) byte {
	if i := strings.IndexByte("tbn\\\"", c); i >= 0 {
		return "\t\b\n\\\""[i]
	}
	return 0
}

// blank reports whether nothing but white space or a comment follows on the line.
func (f *configFile) blank() bool {
	rest := bytes.TrimLeft(f.data[f.at:], " \t\r")
	return len(rest) == 0 || rest[0] == '\n' || rest[0] == '#' || rest[0] == ';'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isKey(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

// Getenv is the last value of key in an environment of KEY=value lines; empty without one.
func Getenv(env []string, key string) string {
	v, _ := getenv(env, key)
	return v
}

func getenv(env []string, key string) (value string, set bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}
