package agent

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/gather"
)

// Chat says how a conversation goes on from the end of an earlier turn: as a new one, beside the
// old one which stays as it is. Without Go the agent cannot do that.
type Chat struct {
	// Turn says that the id of the turn names the place. Otherwise the place is a position in the
	// transcript, and its id is that of the last line of the turn, found by ID.
	Turn bool     `json:"turn"`
	ID   []string `json:"id"`
	// Next describes the line of the transcript with which a prompt begins. If such lines name
	// their turn, Of leads to its id, and another line of the same turn does not begin a prompt.
	Next Line     `json:"next"`
	Of   []string `json:"of"`
	// Rewinds says that the person can go back in the conversation itself, and take the files back with it: no event tells.
	Rewinds bool `json:"rewinds"`
	// Parent leads to the id of the conversation that this one is a copy of, in a line near the beginning.
	Parent []string `json:"parent"`
	// Last are the lines that belong to the conversation. What follows the last of them is the agent's own
	// bookkeeping, and is left out of a copy.
	Last    []Line `json:"last"`
	Renamed bool   `json:"renamed"` // says that the copy of a transcript gets a new id in place of the old one
	// Without is an XML element that is left out of the copy where a text begins with it: the agent would
	// leave out the whole text.
	Without string `json:"without"`
	// Copy is where the copy goes, relative to the directory of the transcript; "{id}" is the new id. Empty:
	// into the git directory.
	Copy string `json:"copy"`
	Here bool   `json:"here"` // says that the agent goes back to the directory where the conversation began
	// Consent says that the user has to agree to it, because the copy goes into the agent's own files.
	Consent bool     `json:"consent"`
	Server  *Maker   `json:"server"` // makes the new conversation, if there is no copy
	Go      []string `json:"go"`     // the command that goes on; "{file}" is the copy, and "{id}" the new id
}

// Maker is a program of the agent that makes conversations.
type Maker struct {
	Command []string `json:"command"`
	// Password is the variable with the password for its web server, and User the name; empty: it speaks
	// JSON-RPC on its standard input and output.
	Password string `json:"password"`
	User     string `json:"user"`
	// Make are the calls that make the new conversation, and Remove those that remove it. In their texts
	// "{session}", "{place}", "{directory}", "{id}" and what calls found are replaced.
	Make   []Call `json:"make"`
	Remove []Call `json:"remove"`
}

// Call is a call of a method, or a request to a path such as "POST /session". After an answer that
// is an error, no other call is made.
type Call struct {
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
	// Find has gjson paths into the answer, for texts of later calls. "id" must be found.
	Find   map[string]string `json:"find"`
	Notice bool              `json:"notice"` // says that no answer comes
}

// Can reports whether a conversation with the agent can go on from an earlier turn.
func (c Chat) Can() bool { return len(c.Go) > 0 }

// window is how much of a transcript before a place is compared, in bytes.
const window = 64 << 10

// Bounds of a transcript that is read, in bytes.
const (
	longestChat = 256 << 20
	longestLine = 64 << 20
	chatTail    = 1 << 20
)

// Errors about a transcript that has changed.
var (
	errOther = errors.New("the transcript is not the one that was recorded any more")
	errLong  = errors.New("the transcript is too long")
)

// PlaceIn returns where the conversation stands: at the end of the whole lines of the transcript, or
// before the first line of another turn.
func (c Chat) PlaceIn(transcript io.ReaderAt, size int64, turn string) (p record.Position, err error) {
	from := max(0, size-chatTail)
	text, err := io.ReadAll(io.NewSectionReader(transcript, from, size-from))
	if err != nil {
		return p, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if from > 0 { // the first line may have begun before
		_, rest, _ := bytes.Cut(whole, []byte("\n"))
		from += int64(len(whole) - len(rest))
		whole = rest
	}
	if len(whole) == 0 && from > 0 {
		return p, errLong
	}
	begun := false
	for line := range bytes.Lines(whole) {
		l, valid := parsed(line)
		if of := short(l, c.Of); valid && of != "" && c.Next.fits(l) {
			if begun && of != turn {
				break
			}
			begun = of == turn
		}
		from += int64(len(line))
		if id := short(l, c.ID); valid && id != "" && c.ends(l) {
			p.ID = id
		}
	}
	p.Offset = from
	p.Before, err = digestBefore(transcript, from)
	return p, err
}

// ParentIn returns the id of the conversation that the one of a transcript is a copy of, or "".
func (c Chat) ParentIn(transcript io.ReaderAt, id string) string {
	for line, err := range linesOf(io.NewSectionReader(transcript, 0, chatTail)) {
		if err != nil {
			break
		}
		if l, valid := parsed(line); valid {
			if parent := short(l, c.Parent); parent != "" && parent != id {
				return parent
			}
		}
	}
	return ""
}

// digestBefore returns the digest of what comes before a place in a file.
func digestBefore(f io.ReaderAt, at int64) (string, error) {
	from := max(0, at-window)
	digest := sha256.New()
	n, err := io.Copy(digest, io.NewSectionReader(f, from, at-from))
	if err == nil && n != at-from {
		err = errOther
	}
	return hex.EncodeToString(digest.Sum(nil)), err
}

// Same returns an error if a transcript has changed before a place.
func (c Chat) Same(transcript io.ReaderAt, p record.Position) error {
	if p.Offset < 0 || p.Offset > longestChat {
		return errOther
	}
	now, err := digestBefore(transcript, p.Offset)
	if err == nil && now != p.Before {
		err = errOther
	}
	return err
}

// Cut writes the transcript up to the end of the turn at a place. Lines that the agent wrote late belong
// to the turn, too. The strings that are the old id get the new one.
func (c Chat) Cut(to io.Writer, transcript io.ReaderAt, p record.Position, turn string, ids [2]string) error {
	if err := c.Same(transcript, p); err != nil {
		return err
	}
	end, err := c.end(transcript, p.Offset, turn, p.Missing)
	if err != nil {
		return err
	}
	element := regexp.MustCompile(`"<` + c.Without + `>(?:[^"\\]|\\.)*?</` + c.Without + `>(?:\\[nr])*`)
	for line, err := range linesOf(io.NewSectionReader(transcript, 0, end)) {
		if err != nil {
			return err
		}
		if c.Without != "" {
			line = element.ReplaceAll(line, []byte(`"`))
		}
		if c.Renamed {
			line = bytes.ReplaceAll(line, quotedID(ids[0]), quotedID(ids[1]))
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
	return c.Same(transcript, p) // it may have been rewritten meanwhile
}

// quotedID returns an id, or any text, as a JSON string.
func quotedID(id string) []byte {
	text, _ := json.Marshal(id) //nolint:errcheck,errchkjson // a string
	return text
}

// Prompts counts the lines with which a prompt begins in a part of a transcript. What cannot be
// read counts as having none.
func (c Chat) Prompts(part io.Reader) (count int) {
	for line, err := range linesOf(part) {
		if l, valid := parsed(line); err == nil && valid && c.Next.fits(l) {
			count++
		}
	}
	return count
}

// end returns where the turn that stood at a place ends. missing is how many prompts up to this
// turn come after the place.
func (c Chat) end(transcript io.ReaderAt, at int64, turn string, missing int) (int64, error) {
	end := at
	for line, err := range linesOf(io.NewSectionReader(transcript, at, longestChat-at)) {
		if err != nil {
			return 0, err
		}
		l, valid := parsed(line)
		if valid && c.begins(l, turn) {
			if missing == 0 {
				break
			}
			missing--
		}
		at += int64(len(line))
		if valid && c.ends(l) {
			end = at
		}
	}
	return end, nil
}

// begins reports whether a line begins a prompt that is not of the turn.
func (c Chat) begins(line gjson.Result, turn string) bool {
	return c.Next.fits(line) && (len(c.Of) == 0 || short(line, c.Of) != turn)
}

// ends reports whether a line belongs to the conversation.
func (c Chat) ends(line gjson.Result) bool {
	return slices.ContainsFunc(c.Last, func(l Line) bool { return l.fits(line) })
}

// parsed returns a whole line of a transcript. encoding/json bounds how deep it may be.
func parsed(line []byte) (gjson.Result, bool) {
	if !bytes.HasSuffix(line, []byte("\n")) || !json.Valid(line) {
		return gjson.Result{}, false
	}
	return gjson.ParseBytes(line), true
}

// linesOf iterates over the lines of a file.
func linesOf(r io.Reader) func(yield func([]byte, error) bool) {
	return func(yield func([]byte, error) bool) {
		buffered := bufio.NewReaderSize(r, window)
		for {
			var line []byte
			part, err := buffered.ReadSlice('\n')
			for errors.Is(err, bufio.ErrBufferFull) && len(line) < longestLine {
				line = append(line, part...)
				part, err = buffered.ReadSlice('\n')
			}
			line = append(line, part...)
			if len(line) > longestLine {
				err = fmt.Errorf("a line of it is longer than %d MiB", longestLine>>20)
			}
			switch {
			case errors.Is(err, io.EOF):
				if len(line) > 0 {
					yield(line, nil)
				}
				return
			case !yield(line, err) || err != nil:
				return
			}
		}
	}
}

// Filled returns words with texts in place of their names in braces.
func Filled(words []string, texts map[string]string) []string {
	return gather.List(words, func(word string) string { return replaced(word, texts) })
}

func replaced(text string, texts map[string]string) string {
	var pairs []string
	for name, value := range texts {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Text returns the method with texts in place of their names.
func (c Call) Text(texts map[string]string) string { return replaced(c.Method, texts) }

// Values returns the parameters with texts in place of their names. One whose text is empty is left out.
func (c Call) Values(texts map[string]string) map[string]any { return filledValues(c.Params, texts) }

func filledValues(params map[string]any, texts map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range params {
		switch v := value.(type) {
		case string:
			if text := replaced(v, texts); text != "" {
				out[key] = text
			}
		case map[string]any:
			out[key] = filledValues(v, texts)
		default:
			out[key] = value
		}
	}
	return out
}

// Read adds what is found in the answer to texts. It fails if there is no id where one has to be.
func (c Call) Read(answer []byte, texts map[string]string) error {
	if !json.Valid(answer) && len(c.Find) > 0 {
		return errors.New("its answer is not JSON")
	}
	for name, path := range c.Find {
		texts[name] = text(gjson.ParseBytes(answer), []string{replaced(path, texts)})
		if name == "id" && texts[name] == "" {
			return errors.New("its answer has no id")
		}
	}
	return nil
}
