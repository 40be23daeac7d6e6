// Package chart draws measurements as SVG for the documents. Of draws all charts of a
// report. Lines and Bars are the two sorts of charts. The same numbers always give the same
// picture. The package measures nothing, but it has numbers that were published about other
// programs (published.go).
package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is a value Y at a size X.
type Point struct{ X, Y float64 }

// Dash is the SVG dash pattern of a line.
type Dash string

// The patterns: measured values of this program, the yardstick beside it, and published
// values.
const (
	Ours      Dash = ""
	Yardstick Dash = "7 4"
	Published Dash = "2 4"
)

// Series is one line of a chart.
type Series struct {
	Name   string
	Dash   Dash
	Points []Point
}

// Lines is a chart of lines. Both axes are logarithmic.
type Lines struct {
	Title, Note, XLabel, YLabel string
	Series                      []Series
}

// Dimensions of the picture in its own units.
const (
	width, height           = 860.0, 470.0
	left, right, top, under = 74.0, 250.0, 62.0, 78.0
	plotRight               = width - right
	plotBottom              = height - under
)

// palette has colours that people with colour blindness can tell apart on white.
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#5b5b5b", "#b8860b", "#56b4e9", "#000000"}

// SVG returns the chart, or "" if it has no points.
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

// axes returns the axes, which span all points.
func (l Lines) axes() (xs, ys axis) {
	var across, up []float64
	for _, s := range l.Series {
		for _, p := range s.drawable() {
			across, up = append(across, p.X), append(up, p.Y)
		}
	}
	return decades(across, left, plotRight), decades(up, plotBottom, top)
}

// drawable returns the points that have a place on logarithmic axes.
func (s Series) drawable() []Point {
	return slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return !positive(p.X) || !positive(p.Y) })
}

// positive reports whether a value has a logarithm.
func positive(v float64) bool {
	return v > 0 && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// axis maps values to positions between two points of the picture.
type axis struct {
	from, to  float64 // positions in the picture
	low, high float64 // the range of values
	ticks     []float64
}

// decades returns an axis over all values, with round numbers at both ends.
func decades(values []float64, from, to float64) axis {
	a := axis{from: from, to: to}
	if len(values) == 0 {
		return a
	}
	a.low, a.high = roundDown(slices.Min(values)), roundUp(slices.Max(values))
	// All values are equal: give the axis a length.
	if a.low == a.high {
		a.high = a.low * 10
	}
	steps := []float64{1}
	// Few decades leave room for ticks in between.
	if a.high/a.low <= 1000 {
		steps = []float64{1, 2, 5}
	}
	// The loop goes one decade at a time and keeps the ticks within the axis.
	for decade := math.Pow(10, math.Floor(math.Log10(a.low))); decade <= a.high; decade *= 10 {
		for _, s := range steps {
			if v := decade * s; v >= a.low*0.999 && v <= a.high*1.001 {
				a.ticks = append(a.ticks, v)
			}
		}
	}
	return a
}

// roundDown returns the next lower number of the form 1, 2 or 5 times a power of ten.
func roundDown(v float64) float64 {
	// The decade is the power of ten at or below the value.
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range []float64{5, 2} {
		if v >= decade*s {
			return decade * s
		}
	}
	return decade
}

// roundUp returns the next higher number of that form.
func roundUp(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range []float64{1, 2, 5} {
		if v <= decade*s*1.000001 {
			return decade * s
		}
	}
	return decade * 10
}

// place returns the position of a value.
func (a axis) place(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// number formats a number in short form: 1k, 20k, 1.5.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
