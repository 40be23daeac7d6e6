package chart

import (
	"fmt"
	"html"
	"strings"
)

// Bars is a chart with groups of bars.
type Bars struct {
	Title, Note, YLabel string
	// Names of the bars in a group, for the legend.
	Names  []string
	Groups []Group
}

// Group is one group of bars. A value of 0 means that a bar is missing.
type Group struct {
	Name   string
	Values []float64
}

// SVG returns the chart, or "" if it has no values.
func (c Bars) SVG() string {
	highest := 0.0
	for _, g := range c.Groups {
		for _, v := range g.Values {
			highest = max(highest, v)
		}
	}
	// An empty chart would be a frame without meaning, so none is drawn.
	if highest == 0 {
		return ""
	}
	highest = roundUp(highest)
	var b strings.Builder
	open(&b, c.Title, c.Note)
	// Horizontal lines at six round values.
	for i := range 6 {
		v := highest * float64(i) / 5
		y := plotBottom - (plotBottom-top)*float64(i)/5
		line(&b, left, y, plotRight, y)
		text(&b, left-8, y+4, "end", 12, number(v))
	}
	fmt.Fprintf(&b, `<text transform="translate(20 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+plotBottom)/2, html.EscapeString(c.YLabel))
	room := (plotRight - left) / float64(len(c.Groups))
	bar := room * 0.7 / float64(len(c.Names))
	for i, g := range c.Groups {
		x := left + room*(float64(i)+0.15)
		text(&b, x+room*0.35, plotBottom+18, "middle", 12, g.Name)
		for k, v := range g.Values {
			tall := (plotBottom - top) * v / highest
			fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x+bar*float64(k), plotBottom-tall, bar*0.92, tall, palette[k%len(palette)])
			if v > 0 {
				text(&b, x+bar*(float64(k)+0.46), plotBottom-tall-4, "middle", 11, number(v))
			}
		}
	}
	for i, name := range c.Names {
		legend(&b, i, palette[i%len(palette)], Series{Name: name})
	}
	b.WriteString("</svg>\n")
	return b.String()
}
