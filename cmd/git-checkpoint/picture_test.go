//go:build !windows

package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// pictured are the commands of the tour that the picture shows, by how they begin.
func pictured() []string {
	return []string{"git checkpoint list", "git checkpoint rollback", "cat shop.go spec.md", "git checkpoint undo"}
}

// The picture on the README's first screen shows what the tour shows. `make golden` draws it again.
func TestPictureOfTheTour(t *testing.T) {
	var lines []string
	commands := tour(t, readme)
	for _, want := range pictured() {
		for i, c := range commands {
			if strings.HasPrefix(c.command, want) {
				lines = append(lines, "$ "+c.command)
				lines = append(lines, strings.Split(strings.TrimRight(c.shown, "\n"), "\n")...)
				commands = commands[i+1:]
				break
			}
		}
	}
	if len(lines) < 20 {
		t.Fatalf("the picture has %d lines", len(lines))
	}
	drawn := screenshot(lines)
	if err := xml.Unmarshal([]byte(drawn), &struct{ XMLName xml.Name }{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "tour.svg")
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		if err := os.WriteFile(file, []byte(drawn), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "docs/tour.svg", string(kept), drawn)
}

// screenshot draws lines as a terminal shows them.
func screenshot(lines []string) string {
	const wide, high, margin = 7.8, 18.0, 16.0
	columns := 60
	for _, l := range lines {
		columns = max(columns, utf8.RuneCountInString(l))
	}
	width, height := float64(columns)*wide+2*margin, float64(len(lines))*high+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\">\n", width, height, width, height)
	b.WriteString("<title>A session in a terminal: a list of steps, a rollback and its undo</title>\n")
	fmt.Fprintf(&b, "<rect width=\"%.0f\" height=\"%.0f\" rx=\"8\" fill=\"#1d2027\"/>\n", width, height)
	b.WriteString("<g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\" fill=\"#d8dce4\" xml:space=\"preserve\">\n")
	for i, l := range lines {
		var text strings.Builder
		xml.EscapeText(&text, []byte(l)) //nolint:errcheck // a builder takes everything
		fmt.Fprintf(&b, "<text x=\"%.0f\" y=\"%.0f\"%s>%s</text>\n", margin, margin+float64(i)*high+13, colour(l), text.String())
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// colour tells commands, answers and questions apart.
func colour(line string) string {
	switch {
	case strings.HasPrefix(line, "$ "):
		return ` fill="#ffffff" font-weight="bold"`
	case strings.HasPrefix(line, "✓"):
		return ` fill="#8fd18f"`
	case strings.Contains(line, "Continue? [y/N]"):
		return ` fill="#e8c26a"`
	}
	return ""
}
