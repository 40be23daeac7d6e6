package answer

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/inspect"
)

// Formatted is the answer of list with --format. With Null each checkpoint ends with a NUL.
type Formatted struct {
	Sessions []inspect.Listing
	Format   string
	Null     bool
	Fields   map[name.OID]map[string]string // by commit, what GitPlaceholders stand for
}

func (a Formatted) shows() any { return Listed{Sessions: a.Sessions}.shows() }

// placeholder matches what begins with % in a format.
var placeholder = lazy.Pattern(`%(\([a-z]*\)|x[0-9a-fA-F]{2}|[acn%][a-zA-Z]?|.)?`)

// CheckFormat returns an error that names a placeholder that is not known.
func CheckFormat(format string) error {
	for _, found := range placeholder().FindAllString(format, -1) {
		if _, known := expand(found, inspect.Item{}, render.View{}); !known && !gits().MatchString(found) {
			return fmt.Errorf("--format does not know %q", found)
		}
	}
	return nil
}

// gits matches the placeholders that git fills in from the commit of a checkpoint.
var gits = lazy.Pattern(`^%([ac][NeElLdDis]|cn|[TtPpDdf])$`)

// GitPlaceholders returns those of a format that git fills in.
func GitPlaceholders(format string) []string {
	return slices.DeleteFunc(placeholder().FindAllString(format, -1), func(found string) bool { return !gits().MatchString(found) })
}

// text writes the checkpoints, in a format of the user's and as they are for programs.
func (a Formatted) text(p *page) {
	end := "\n"
	if a.Null {
		end = "\x00"
	}
	for _, l := range a.Sessions {
		for _, item := range newestFirst(l.Items) {
			text := placeholder().ReplaceAllStringFunc(a.Format, func(found string) string {
				value, _ := expand(found, item, p.view)
				if value = cmp.Or(value, a.Fields[item.Commit][found]); a.Null || strings.HasPrefix(found, "%x") {
					return value
				}
				return render.EscapeLines(value) // what others wrote may end at a terminal through a pipe, too
			})
			if p.err == nil {
				_, p.err = io.WriteString(p.w, text+end)
			}
		}
	}
}

// expand returns what a placeholder stands for.
func expand(found string, item inspect.Item, v render.View) (value string, known bool) {
	rest := ""
	switch {
	case strings.HasPrefix(found, "%n"), strings.HasPrefix(found, "%%"): // the pattern may have taken one more letter
		found, rest = found[:2], found[2:]
	case strings.HasPrefix(found, "%x"):
		b, err := strconv.ParseUint(strings.TrimPrefix(found, "%x"), 16, 8)
		return string([]byte{byte(b)}), err == nil
	}
	message := cmp.Or(item.Row.Message, item.Message)
	subject, body, _ := strings.Cut(message, "\n")
	moment, age, author := render.UTC(item.CreatedAt.Time), v.Age(item.CreatedAt.Time), makerCell(item).Text()
	seconds := strconv.FormatInt(item.CreatedAt.Unix(), 10)
	value, known = map[string]string{
		"%h": item.Commit.Short(), "%H": string(item.Commit),
		"%(number)": typed(item), "%(id)": string(item.ID), "%(label)": item.Label, "%(session)": string(item.Session),
		"%(message)": message, "%B": message, "%(subject)": subject, "%s": subject, "%b": strings.TrimSpace(body),
		"%(time)": moment, "%aI": moment, "%cI": moment, "%at": seconds, "%ct": seconds, "%ar": age, "%cr": age,
		"%(by)": author, "%an": author, "%n": "\n", "%%": "%",
	}[found]
	return value + rest, known
}
