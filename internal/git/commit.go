package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
)

// Signature is who made a commit and when, to the second.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Person is "Name <email>".
func (s Signature) Person() string { return s.Name + " <" + s.Email + ">" }

func (s Signature) String() string {
	b := make([]byte, 0, len(s.Name)+len(s.Email)+32)
	b = append(append(append(append(b, s.Name...), " <"...), s.Email...), "> "...)
	b = append(strconv.AppendInt(b, s.When.Unix(), 10), ' ')
	if _, offset := s.When.Zone(); offset == 0 {
		return string(append(b, "+0000"...))
	}
	return string(s.When.AppendFormat(b, "-0700"))
}

// Commit is a commit object. Headers that this program does not write (gpgsig,
// encoding) are in Other, whole lines.
type Commit struct {
	OID               name.OID // filled by reading
	Tree              name.OID
	Parents           []name.OID
	Author, Committer Signature
	Other             string
	Message           string
}

// Encode gives the object's content.
func (c Commit) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n%s\n%s", c.Author, c.Committer, c.Other, c.Message)
	return b.Bytes()
}

// WriteCommit writes a commit object.
func (r *Repo) WriteCommit(ctx context.Context, c Commit) (name.OID, error) {
	return r.WriteObject(ctx, "commit", c.Encode())
}

// ParentsOf reads the parents of a commit object, and nothing else of it. It appends to
// parents, which may be nil.
func ParentsOf(parents []name.OID, data []byte) []name.OID {
	_, rest, _ := bytes.Cut(data, []byte{'\n'}) // the tree
	for {
		line, below, _ := bytes.Cut(rest, []byte{'\n'})
		parent, is := bytes.CutPrefix(line, []byte("parent "))
		if !is {
			return parents
		}
		parents, rest = append(parents, name.OID(parent)), below
	}
}

// ParseCommit decodes a commit object.
func ParseCommit(oid name.OID, data []byte) (Commit, error) {
	c := Commit{OID: oid}
	head, message, _ := strings.Cut(string(data), "\n\n")
	c.Message = message
	var author, committer bool
	var other strings.Builder
	for more := true; more; {
		var line string
		line, head, more = strings.Cut(head, "\n")
		key, value, _ := strings.Cut(line, " ")
		var err error
		switch key {
		case "tree":
			c.Tree, err = name.ParseOID(value)
		case "parent":
			var p name.OID
			p, err = name.ParseOID(value)
			c.Parents = append(c.Parents, p)
		case "author":
			author = true
			c.Author, err = parseSignature(value)
		case "committer":
			committer = true
			c.Committer, err = parseSignature(value)
		default:
			other.WriteString(line)
			other.WriteByte('\n')
		}
		if err != nil {
			return c, fmt.Errorf("damaged commit %s: %w", oid, err)
		}
	}
	c.Other = other.String()
	if c.Tree == "" || !author || !committer {
		return c, fmt.Errorf("damaged commit %s: no tree, author or committer", oid)
	}
	return c, nil
}

func parseSignature(s string) (Signature, error) {
	end := strings.LastIndexByte(s, '>')
	start := strings.IndexByte(s, '<')
	if start < 0 || end < start {
		return Signature{}, fmt.Errorf("signature %q", s)
	}
	sig := Signature{Name: strings.TrimSpace(s[:start]), Email: s[start+1 : end]}
	date, rest, _ := strings.Cut(strings.TrimSpace(s[end+1:]), " ")
	if date == "" {
		return sig, nil
	}
	sec, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		return sig, fmt.Errorf("signature date %q", date)
	}
	zone := time.UTC
	if offset := strings.TrimSpace(rest); offset != "" && offset != "+0000" {
		if t, err := time.Parse("-0700", offset); err == nil {
			_, offset := t.Zone()
			zone = time.FixedZone("", offset)
		}
	}
	sig.When = time.Unix(sec, 0).In(zone)
	return sig, nil
}

// ReadCommit reads a commit by id or ref.
func (r *Repo) ReadCommit(ctx context.Context, spec string) (Commit, error) {
	if o, ok := r.unpacked(spec, "commit"); ok {
		return ParseCommit(o.OID, o.Data)
	}
	o, err := r.Batch().Typed(ctx, spec, "commit")
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", spec, err)
	}
	return ParseCommit(o.OID, o.Data)
}

// History reads all commits reachable from tip that none of known reaches, in
// one process. Of their further headers Other has the encoding alone; a message in
// another encoding is given in UTF-8.
func (r *Repo) History(ctx context.Context, tip name.OID, known ...name.OID) ([]Commit, error) {
	const format = "%H%x00%T%x00%P%x00%ad%x00%cd%x00%an <%ae>%x00%cn <%ce>%x00%e%x00%B%x00"
	const fields = 9
	args := []string{"rev-list", "--no-commit-header", "--encoding=UTF-8", "--date=raw", "--format=" + format, string(tip)}
	for _, k := range known {
		args = append(args, "^"+string(k))
	}
	res, err := r.Run(ctx, Cmd{Args: append(args, "--")})
	if err != nil {
		return nil, fmt.Errorf("read history of %s: %w", tip, err)
	}
	parts := strings.Split(string(res.Stdout), "\x00")
	var out []Commit
	for f := range slices.Chunk(parts, fields) {
		if len(f) < fields {
			break // the newline after the last one
		}
		c := Commit{OID: name.OID(strings.TrimPrefix(f[0], "\n")), Tree: name.OID(f[1]), Message: f[8]}
		if f[7] != "" {
			c.Other = "encoding " + f[7] + "\n"
		}
		for _, p := range strings.Fields(f[2]) {
			c.Parents = append(c.Parents, name.OID(p))
		}
		if c.Author, err = parseSignature(f[5] + " " + f[3]); err != nil {
			return nil, fmt.Errorf("read history of %s: %w", tip, err)
		}
		if c.Committer, err = parseSignature(f[6] + " " + f[4]); err != nil {
			return nil, fmt.Errorf("read history of %s: %w", tip, err)
		}
		out = append(out, c)
	}
	return out, r.checkWhole(out)
}

// checkWhole refuses a history that a shallow clone cut off: git shows the last
// commit that it has as if it had no parents.
func (r *Repo) checkWhole(commits []Commit) error {
	data, err := os.ReadFile(filepath.Join(r.CommonDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read where the clone is shallow: %w", err)
	}
	cut := map[name.OID]bool{}
	for line := range strings.Lines(string(data)) {
		cut[name.OID(strings.TrimSpace(line))] = true
	}
	for _, c := range commits {
		if cut[c.OID] {
			return fmt.Errorf("history of %s: %w", c.OID, ErrShallow)
		}
	}
	return nil
}

// ErrShallow is a history that is cut off because the clone is shallow.
var ErrShallow = errors.New("cut off, the clone is shallow; `git fetch --unshallow` brings the rest")

// Identity is who acts: what git would take from environment and configuration,
// else this program. A missing identity is never an error.
func (r *Repo) Identity(when time.Time) (author, committer Signature) {
	pick := func(role string) Signature {
		get := func(field string) string {
			for _, v := range []string{
				gitconfig.Getenv(r.env, "GIT_"+strings.ToUpper(role+"_"+field)), r.configured(role + "." + field), r.configured("user." + field),
			} {
				if v = cleanPerson(v); v != "" {
					return v
				}
			}
			return ""
		}
		s := Signature{Name: get("name"), Email: get("email"), When: when}
		if s.Email == "" {
			s.Email = cleanPerson(gitconfig.Getenv(r.env, "EMAIL"))
		}
		if s.Name == "" {
			s.Name = "git-checkpoint"
		}
		if s.Email == "" {
			s.Email = "git-checkpoint@localhost"
		}
		return s
	}
	return pick("author"), pick("committer")
}

func (r *Repo) configured(key string) string {
	v, _ := r.Config.Get(key)
	return v
}

// cleanPerson drops what would break a commit header.
func cleanPerson(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == '<' || c == '>' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
	return strings.Trim(s, " .,:;\"'\\")
}
