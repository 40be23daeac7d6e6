package chart

import (
	"fmt"
	"html"
	"strings"
)

// open writes the start of the SVG, the title, and the note about the measurement.
func open(b *strings.Builder, title, note string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13" fill="#222">`+"\n", width, height)
	fmt.Fprintf(b, `<rect width="%g" height="%g" fill="#fff"/>`+"\n", width, height)
	text(b, left, 28, "start", 17, title)
	text(b, left, 47, "start", 11, note)
}

// grid draws both axes with their ticks.
func grid(b *strings.Builder, xs, ys axis, xLabel, yLabel string) {
	for _, v := range ys.ticks {
		y := ys.place(v)
		line(b, left, y, plotRight, y)
		text(b, left-8, y+4, "end", 12, number(v))
	}
	for _, v := range xs.ticks {
		x := xs.place(v)
		line(b, x, top, x, plotBottom)
		text(b, x, plotBottom+18, "middle", 12, number(v))
	}
	text(b, (left+plotRight)/2, plotBottom+42, "middle", 13, xLabel)
	fmt.Fprintf(b, `<text transform="translate(20 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+plotBottom)/2, html.EscapeString(yLabel))
}

// legend writes the name of a line beside the plot.
func legend(b *strings.Builder, place int, colour string, s Series) {
	y := top + 14 + 24*float64(place)
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2.5" stroke-dasharray="%s"/>`+"\n", plotRight+14, y-4, plotRight+44, y-4, colour, s.Dash)
	text(b, plotRight+50, y, "start", 12, s.Name)
}

// text writes a text with its anchor at a position.
func text(b *strings.Builder, x, y float64, anchor string, size int, words string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, size, html.EscapeString(words))
}

// line draws a line of the grid.
func line(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", x1, y1, x2, y2)
}
