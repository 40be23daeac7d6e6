package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/sys/gather"
)

// Signature is the author or committer of a commit: the person, and the time to the second.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Person returns "Name <email>".
func (s Signature) Person() string { return s.Name + " <" + s.Email + ">" }

// String returns the signature as it is written in a commit object: "Name <email> <seconds>
// <zone>".
func (s Signature) String() string {
	return fmt.Sprintf("%s %d %s", s.Person(), s.When.Unix(), s.When.Format("-0700"))
}

// Commit is a commit object. Other holds all headers that have no field here (gpgsig, encoding,
// mergetag), as complete lines.
type Commit struct {
	OID               name.OID // set when it was read; Encode does not use it
	Tree              name.OID
	Parents           []name.OID
	Author, Committer Signature
	Other             string
	Message           string
}

// MadeOn returns the commit on which a checkpoint was made, or "". The last parent is the record commit.
func (c Commit) MadeOn() name.OID {
	if len(c.Parents) != 2 {
		return ""
	}
	return c.Parents[0]
}

// Encode returns the content of the commit object. Other stands after the committer, where git
// writes such headers.
func (c Commit) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n%s\n%s", c.Author, c.Committer, c.Other, c.Message)
	return b.Bytes()
}

// Commits reads and writes commits, and tells how they follow from one another.
type Commits struct {
	at      *Location
	objects *Objects
	trees   *Trees
}

// Write writes a commit object and returns its id.
func (c *Commits) Write(ctx context.Context, commit Commit) (name.OID, error) {
	return c.objects.Write(ctx, "commit", commit.Encode())
}

// ParseCommit decodes the content of a commit object. It returns an error if tree, author or
// committer is missing or malformed.
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

// parseSignature parses "Name <email> <seconds> <zone>". The date may be missing, as in commits of
// some old tools. An unreadable zone is read as UTC.
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

// Read reads a commit by id or ref name. It also finds commits that InPacks has not handed to
// git yet.
func (c *Commits) Read(ctx context.Context, spec string) (Commit, error) {
	if o, ok := c.objects.unpacked(spec, "commit"); ok {
		return ParseCommit(o.OID, o.Data)
	}
	o, err := c.objects.Batch().Typed(ctx, spec, "commit")
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", spec, err)
	}
	return ParseCommit(o.OID, o.Data)
}

// TreeOf returns the tree of a commit, and an error if the commit or that tree cannot be read.
func (c *Commits) TreeOf(ctx context.Context, commit name.OID) (name.OID, error) {
	read, err := c.Read(ctx, string(commit))
	if err == nil {
		_, err = c.trees.Read(ctx, read.Tree)
	}
	return read.Tree, err
}

// IsShallow reports whether the repository is a shallow clone, in which commits may lack their
// parents.
func (c *Commits) IsShallow() bool {
	_, err := os.Stat(filepath.Join(c.at.CommonDir, "shallow"))
	return err == nil
}

// Shallow returns the commits of a shallow clone whose parents it lacks.
func (c *Commits) Shallow() (map[name.OID]bool, error) {
	data, err := os.ReadFile(filepath.Join(c.at.CommonDir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return gather.Set(strings.Fields(string(data)), func(oid string) name.OID { return name.OID(oid) }), nil
}

// ErrShallow says that a history is not complete because the clone is shallow.
var ErrShallow = errors.New("cut off, because the clone is shallow")

// Identity returns the author and the committer for a new commit, by git's rules: GIT_AUTHOR_NAME,
// then author.name, then user.name, and so on. If there is no name or address, it is that of this
// program. So unlike in `git commit`, a missing identity is never an error: nobody should lose a
// checkpoint because git is not configured.
func (c *Commits) Identity(when time.Time) (author, committer Signature) {
	pick := func(role string) Signature {
		get := func(field string) string {
			env := gitconfig.Getenv(c.at.env, "GIT_"+strings.ToUpper(role+"_"+field))
			return cmp.Or(cleanPerson(env), cleanPerson(c.configured(role+"."+field)), cleanPerson(c.configured("user."+field)))
		}
		return Signature{
			Name:  cmp.Or(get("name"), "git-checkpoint"),
			Email: cmp.Or(get("email"), cleanPerson(gitconfig.Getenv(c.at.env, "EMAIL")), "git-checkpoint@localhost"),
			When:  when,
		}
	}
	return pick("author"), pick("committer")
}

// configured returns a configuration value, or "".
func (c *Commits) configured(key string) string {
	v, _ := c.at.Config.Get(key)
	return v
}

// cleanPerson removes characters from a name or address that would break a commit header, and from
// its ends the punctuation that git removes too.
func cleanPerson(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == '<' || c == '>' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
	return strings.Trim(s, " .,:;\"'\\")
}
