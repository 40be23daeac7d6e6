// Package chart draws what was measured as SVG, for the documents. It owns the drawing
// and what others have published about themselves; it refuses to measure, and draws the
// same picture from the same numbers.
package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is a value at a size.
type Point struct{ X, Y float64 }

// Dash is how the line of a series is drawn.
type Dash string

// The kinds: what was measured in this run, the yardstick beside it, and what others say.
const (
	Ours      Dash = ""
	Yardstick Dash = "7 4"
	Published Dash = "2 4"
)

// Series is one line.
type Series struct {
	Name   string
	Dash   Dash
	Points []Point
}

// Lines is a chart of lines over sizes; both axes are logarithmic.
type Lines struct {
	Title, Note, XLabel, YLabel string
	Series                      []Series
}

// What the picture measures, in its own units.
const (
	width, height           = 860.0, 470.0
	left, right, top, under = 74.0, 250.0, 62.0, 78.0
	plotRight               = width - right
	plotBottom              = height - under
)

// palette is told apart by people who do not see all colours, on white.
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#5b5b5b", "#b8860b", "#56b4e9", "#000000"}

// SVG draws the chart; without a point there is nothing to draw, and it is empty.
func (l Lines) SVG() string {
	xs, ys := l.axes()
	if len(xs.ticks) == 0 || len(ys.ticks) == 0 {
		return ""
	}
	var b strings.Builder
	open(&b, l.Title, l.Note)
	grid(&b, xs, ys, l.XLabel, l.YLabel)
	for i, s := range l.Series {
		colour := palette[i%len(palette)]
		var path []string
		for _, p := range s.drawable() {
			x, y := xs.place(p.X), ys.place(p.Y)
			path = append(path, fmt.Sprintf("%.1f,%.1f", x, y))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"><title>%s: %s</title></circle>`+"\n", x, y, colour, html.EscapeString(s.Name), number(p.Y))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", strings.Join(path, " "), colour, s.Dash)
		legend(&b, i, colour, s)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// axes span all points.
func (l Lines) axes() (xs, ys axis) {
	var across, up []float64
	for _, s := range l.Series {
		for _, p := range s.drawable() {
			across, up = append(across, p.X), append(up, p.Y)
		}
	}
	return decades(across, left, plotRight), decades(up, plotBottom, top)
}

// drawable leaves out what has no place on a logarithmic axis.
func (s Series) drawable() []Point {
	return slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return !positive(p.X) || !positive(p.Y) })
}

func positive(v float64) bool {
	return v > 0 && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// axis places values on a line between two points of the picture.
type axis struct {
	from, to  float64 // in the picture
	low, high float64 // powers of ten
	ticks     []float64
}

// decades is an axis over all values, from a round number to a round number.
func decades(values []float64, from, to float64) axis {
	a := axis{from: from, to: to}
	if len(values) == 0 {
		return a
	}
	a.low, a.high = roundDown(slices.Min(values)), roundUp(slices.Max(values))
	if a.low == a.high {
		a.high = a.low * 10
	}
	steps := []float64{1}
	if a.high/a.low <= 1000 {
		steps = []float64{1, 2, 5}
	}
	for decade := math.Pow(10, math.Floor(math.Log10(a.low))); decade <= a.high; decade *= 10 {
		for _, s := range steps {
			if v := decade * s; v >= a.low*0.999 && v <= a.high*1.001 {
				a.ticks = append(a.ticks, v)
			}
		}
	}
	return a
}

func roundDown(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range []float64{5, 2} {
		if v >= decade*s {
			return decade * s
		}
	}
	return decade
}

func roundUp(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range []float64{1, 2, 5} {
		if v <= decade*s*1.000001 {
			return decade * s
		}
	}
	return decade * 10
}

func (a axis) place(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// number is short: 1k, 20k, 1.5.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
