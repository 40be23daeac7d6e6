package chart

import (
	"fmt"
	"strings"
)

// Bars is a chart of groups of bars beside each other.
type Bars struct {
	Title, Note, YLabel string
	Names               []string // of the bars of a group, for the legend
	Groups              []Group
}

// Group is one group: a bar for each name, a value of 0 for one that is not there.
type Group struct {
	Name   string
	Values []float64
}

// SVG draws the chart; without a value it is empty.
func (c Bars) SVG() string {
	highest := 0.0
	for _, g := range c.Groups {
		for _, v := range g.Values {
			highest = max(highest, v)
		}
	}
	if highest == 0 {
		return ""
	}
	highest = roundUp(highest)
	var b strings.Builder
	open(&b, c.Title, c.Note)
	for i := range 6 {
		v := highest * float64(i) / 5
		y := plotBottom - (plotBottom-top)*float64(i)/5
		line(&b, left, y, plotRight, y)
		text(&b, left-8, y+4, "end", 12, number(v))
	}
	fmt.Fprintf(&b, `<text transform="translate(20 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (top+plotBottom)/2, c.YLabel)
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
