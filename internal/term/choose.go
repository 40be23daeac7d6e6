package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
)

// Item is one entry of a list to choose from.
type Item struct {
	Key  string // what the user types for it
	Line string // what is shown and searched, key included; it may have color codes
}

// listed is the number of items shown at once. Further ones are found by typing a part of their
// text.
const listed = 20

// colourCode matches color codes, which a search must ignore.
var colourCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })

// Choose shows items and asks the user for one of them, by its key or by a part of its text. If
// several items match, it shows these and asks again; an empty line shows all items again. It
// returns the index in items, or ErrQuit if the user chose nothing.
func (t *Terminal) Choose(ctx context.Context, question string, items []Item) (int, error) {
	if len(items) == 0 {
		return 0, ErrQuit
	}
	all := make([]int, len(items))
	for i := range items {
		all[i] = i
	}
	shown, note := all, ""
	for {
		line, err := t.prompt(ctx, list(items, shown)+note+question+" (q quits) ")
		switch {
		case errors.Is(err, io.EOF), err == nil && line == "q":
			return 0, ErrQuit
		case err != nil:
			return 0, err
		case line == "":
			shown, note = all, ""
			continue
		}
		found := search(items, line)
		switch len(found) {
		case 0:
			note = fmt.Sprintf("Nothing matches %q.\n", line)
		case 1:
			return found[0], nil
		default:
			shown, note = found, ""
		}
	}
}

// list returns the lines of the items shown, up to the limit.
func list(items []Item, shown []int) string {
	var b strings.Builder
	for _, i := range shown[:min(len(shown), listed)] {
		b.WriteString(items[i].Line + "\n")
	}
	if more := len(shown) - listed; more > 0 {
		fmt.Fprintf(&b, "  … and %d more: type part of one to find it\n", more)
	}
	return b.String()
}

// search returns the indexes of the items that match what was typed. A complete key wins over a
// part of a line: "3" is item 3, not every item that contains a 3.
func search(items []Item, line string) (found []int) {
	for i, item := range items {
		if item.Key == line {
			return []int{i}
		}
		text := strings.ToLower(colourCode().ReplaceAllString(item.Line, ""))
		if strings.Contains(text, strings.ToLower(line)) {
			found = append(found, i)
		}
	}
	return found
}
