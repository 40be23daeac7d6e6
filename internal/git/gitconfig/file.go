package gitconfig

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUseGit says that only git can tell: a file includes another one, the environment changes the
// configuration, or something is written in a way that not all versions of git read alike. The
// caller starts git.
var ErrUseGit = errors.New("only git can tell")

// ReadFiles reads the configuration of the machine, of the user, and of the repository, whose file
// is local. It returns what `git config --list` would print with the environment env. A missing
// file counts as empty.
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

// configFiles returns the files that git reads before that of the repository, in git's order.
// Relative paths are not accepted, because git may resolve them in another directory.
func configFiles(env []string) ([]string, error) {
	var files []string
	switch v, set := getenv(env, "GIT_CONFIG_NOSYSTEM"); {
	case !set:
		files = append(files, systemFile)
	// With GIT_CONFIG_NOSYSTEM=true git skips the machine's file. Other values are left to git.
	default:
		if no, err := ParseBool(v); err != nil || !no {
			return nil, ErrUseGit
		}
	}
	if global, set := getenv(env, "GIT_CONFIG_GLOBAL"); set {
		if !filepath.IsAbs(global) {
			return nil, ErrUseGit
		}
		// GIT_CONFIG_GLOBAL replaces both files of the user.
		return append(files, global), nil
	}
	home := Getenv(env, "HOME")
	if !filepath.IsAbs(home) {
		return nil, ErrUseGit
	}
	xdg := filepath.Join(home, ".config")
	if v := Getenv(env, "XDG_CONFIG_HOME"); v != "" {
		if xdg = v; !filepath.IsAbs(v) {
			return nil, ErrUseGit
		}
	}
	return append(files, filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig")), nil
}

// readFile adds the values of one file. Large files, and those with a NUL, are left to git.
func (c *Config) readFile(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(data) > 1<<20 || bytes.IndexByte(data, 0) >= 0 {
		return ErrUseGit
	}
	f := configFile{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), config: c}
	return f.read()
}

// configFile parses one file in git's configuration syntax, byte by byte as git does. The states
// are: between lines (read), in a section header (header, subsection), and in a variable (variable,
// value).
type configFile struct {
	data    []byte
	at      int    // offset of the next byte; beyond the end after the last one
	section string // current section with its subsection and a final dot, such as `branch.main.`
	config  *Config
}

// next returns the next byte. "\r\n" counts as one newline, and so does the end of the file: a last
// line without a newline is valid.
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

// read parses the whole file.
func (f *configFile) read() error {
	var err error
	for comment := false; err == nil; {
		c := f.next()
		switch {
		case c == '\n' && f.at > len(f.data): // the newline for the end of the file
			return nil
		case c == '\n':
			comment = false
		case comment, c == ' ', c == '\t':
		case c == '#', c == ';':
			comment = true
		case c == '[':
			err = f.header()
		case isLetter(c) && f.section != "":
			f.at-- // variable reads the letter again
			err = f.variable()
		default:
			err = ErrUseGit
		}
	}
	return err
}

// header parses `section]`, `section.subsection]` or `section "subsection"]`; the opening bracket
// has been read.
func (f *configFile) header() error {
	start := f.at
	for c := f.next(); c != ']'; c = f.next() {
		if c == ' ' {
			return f.subsection(string(f.data[start : f.at-1]))
		}
		if !isKey(c) && c != '.' {
			return ErrUseGit
		}
	}
	return f.enter(string(f.data[start:f.at-1]), ".")
}

// subsection parses `"subsection"]`. In the quotes, a backslash makes the next byte literal.
func (f *configFile) subsection(section string) error {
	var sub strings.Builder
	if f.next() != '"' {
		return ErrUseGit
	}
	for c := f.next(); c != '"'; c = f.next() {
		if c == '\\' {
			c = f.next()
		}
		if c == '\n' {
			return ErrUseGit
		}
		sub.WriteByte(c)
	}
	if f.next() != ']' {
		return ErrUseGit
	}
	return f.enter(section, "."+sub.String()+".")
}

// enter starts a section. Sections that begin with "include" (include, includeIf) name further
// files; only git evaluates their conditions.
func (f *configFile) enter(section, rest string) error {
	section = strings.ToLower(section)
	if section == "" || strings.HasPrefix(section, "include") {
		return ErrUseGit
	}
	f.section = section + rest
	return nil
}

// variable parses `name`, which means true, or `name = value`.
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
			return ErrUseGit
		}
		var err error
		if value, err = f.value(); err != nil {
			return err
		}
	}
	f.config.values[key] = append(f.config.values[key], value)
	return nil
}

// value parses up to the end of the line. White space at both ends is dropped, as is a comment.
// Spaces are only added to the value when another byte follows them.
//
// Versions of git differ in what they make of tabs inside a value, and of spaces before a quote or
// backslash. Such values return ErrUseGit.
func (f *configFile) value() (string, error) { //nolint:gocyclo // a state machine, better read in one piece
	var v []byte
	spaces, quoted, comment := 0, false, false
	for c := f.next(); c != '\n' || quoted; c = f.next() {
		switch {
		case c == '\n', c == '\r':
			return "", ErrUseGit
		case comment:
			continue
		case !quoted && c == '\t' && len(v) > 0 && !f.blank():
			return "", ErrUseGit // git before 2.45 makes it a space, later versions keep the tab
		case !quoted && (c == ' ' || c == '\t'):
			if len(v) > 0 {
				spaces++
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			comment = true
			continue
		case spaces > 0 && (c == '"' || c == '\\'):
			return "", ErrUseGit // some versions take these spaces for trailing ones
		}
		v = append(v, strings.Repeat(" ", spaces)...)
		spaces = 0
		if c == '"' {
			quoted = !quoted
		} else if c != '\\' {
			v = append(v, c)
		} else if c = f.next(); c != '\n' { // a backslash before the newline continues the line
			if c = unescape(c); c == 0 {
				return "", ErrUseGit
			}
			v = append(v, c)
		}
	}
	return string(v), nil
}

// unescape returns the byte that a backslash and c stand for, or 0 if git refuses that escape.
func unescape(c byte) byte {
	if i := strings.IndexByte("tbn\\\"", c); i >= 0 {
		return "\t\b\n\\\""[i]
	}
	return 0
}

// blank reports whether the rest of the line is white space or a comment.
func (f *configFile) blank() bool {
	rest := bytes.TrimLeft(f.data[f.at:], " \t\r")
	return len(rest) == 0 || rest[0] == '\n' || rest[0] == '#' || rest[0] == ';'
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isKey reports whether c may be part of the name of a section or variable.
func isKey(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

// Getenv returns the value of key in an environment of KEY=value entries, or "". The last entry
// wins.
func Getenv(env []string, key string) string {
	v, _ := getenv(env, key)
	return v
}

// getenv also reports whether key is set: git treats some variables that are set to "" differently
// from unset ones.
func getenv(env []string, key string) (value string, set bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}
