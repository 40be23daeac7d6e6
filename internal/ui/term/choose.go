package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

// listed is the number of lines shown at once. Further ones are found by typing a part of their
// text.
const listed = 20

// colourCode matches color codes, which a search must ignore.
var colourCode = lazy.Pattern(`\x1b\[[0-9;]*m`)

// Choose shows lines and asks the user for one of them, by its key or by a part of its text. A line
// contains its key, and may have color codes. If several lines match, it shows these and asks again;
// an empty answer shows all again. It returns the index, or ErrQuit if the user chose nothing.
func (t *Terminal) Choose(ctx context.Context, question string, keys, lines []string) (int, error) {
	if len(lines) == 0 {
		return 0, ErrQuit
	}
	all := make([]int, len(lines))
	for i := range lines {
		all[i] = i
	}
	shown, note := all, ""
	for {
		line, err := t.prompt(ctx, list(lines, shown)+note+question+" (q quits) ")
		switch {
		case errors.Is(err, io.EOF), err == nil && line == "q":
			return 0, ErrQuit
		case err != nil:
			return 0, err
		case line == "":
			shown, note = all, ""
			continue
		}
		found := search(keys, lines, line)
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

// list returns the lines that are shown, up to the limit.
func list(lines []string, shown []int) string {
	var b strings.Builder
	for _, i := range shown[:min(len(shown), listed)] {
		b.WriteString(lines[i] + "\n")
	}
	if more := len(shown) - listed; more > 0 {
		fmt.Fprintf(&b, "  … and %d more: type part of one to find it\n", more)
	}
	return b.String()
}

// search returns the indexes of the lines that match what was typed. A complete key takes
// precedence over a part of a line: "3" is the line of 3, not every line that contains a 3.
func search(keys, lines []string, typed string) (found []int) {
	for i, line := range lines {
		if keys[i] == typed {
			return []int{i}
		}
		text := strings.ToLower(colourCode().ReplaceAllString(line, ""))
		if strings.Contains(text, strings.ToLower(typed)) {
			found = append(found, i)
		}
	}
	return found
}
