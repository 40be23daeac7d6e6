package chart_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"git-checkpoint/internal/test/bench"
	"git-checkpoint/internal/test/bench/chart"
)

// wellFormed parses a picture and returns the centres of its points.
func wellFormed(t *testing.T, picture string) (points [][2]float64) {
	t.Helper()
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return points
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, picture)
		}
		start, is := token.(xml.StartElement)
		if !is || start.Name.Local != "circle" {
			continue
		}
		var p [2]float64
		for _, a := range start.Attr {
			value, _ := strconv.ParseFloat(a.Value, 64)
			switch a.Name.Local {
			case "cx":
				p[0] = value
			case "cy":
				p[1] = value
			}
		}
		points = append(points, p)
	}
}

// A factor of ten is the same distance everywhere on an axis, larger values are higher and
// further to the right, and no point is outside the frame.
func TestLines(t *testing.T) {
	l := chart.Lines{Title: "a < b & c", Series: []chart.Series{
		{Name: "<one>", Points: []chart.Point{{10, 1}, {100, 10}, {1000, 100}}},
		{Name: "two", Dash: chart.Yardstick, Points: []chart.Point{{10, 5}}},
	}}
	points := wellFormed(t, l.SVG())
	if len(points) != 4 {
		t.Fatalf("%d points", len(points))
	}
	for _, p := range points {
		if p[0] < 74 || p[0] > 610 || p[1] < 62 || p[1] > 392 {
			t.Errorf("%v is outside the frame", p)
		}
	}
	first, second := points[1][0]-points[0][0], points[2][0]-points[1][0]
	if first <= 0 || math.Abs(first-second) > 0.11 {
		t.Errorf("steps of %.1f and %.1f", first, second)
	}
	if up := points[0][1] - points[1][1]; up <= 0 || math.Abs(up-(points[1][1]-points[2][1])) > 0.11 {
		t.Errorf("more is not as much higher: %v", points)
	}
}

// Numbers that no axis can show draw nothing, and nothing wrong.
func TestNothingToDraw(t *testing.T) {
	for _, p := range []chart.Point{{0, 0}, {-1, 5}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if got := (chart.Lines{Series: []chart.Series{{Points: []chart.Point{p}}}}).SVG(); strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
			t.Errorf("%v:\n%s", p, got)
		}
	}
	if got := chart.Of(&bench.Report{}); len(got) != 0 {
		t.Errorf("charts of nothing: %v", got)
	}
	wellFormed(t, chart.Lines{Series: []chart.Series{{Points: []chart.Point{{5, 5}}}}}.SVG())
}

// Words of a chart may have any characters.
func TestWords(t *testing.T) {
	const words = `a < "b" & c`
	wellFormed(t, chart.Bars{Title: words, Note: words, YLabel: words, Names: []string{words}, Groups: []chart.Group{{Name: words, Values: []float64{1}}}}.SVG())
	wellFormed(t, chart.Lines{Title: words, Note: words, XLabel: words, YLabel: words, Series: []chart.Series{{Name: words, Points: []chart.Point{{5, 5}}}}}.SVG())
}

// The charts and the table in the documents agree with the numbers stored beside them.
func TestDocuments(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "charts", "measured.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report bench.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), report.Table()) {
		t.Error("the table in performance.md is not that of charts/measured.json: `make bench BENCH='-record docs'` writes both")
	}
	pictures := chart.Of(&report)
	for name, picture := range pictures {
		wellFormed(t, picture)
		kept, err := os.ReadFile(filepath.Join(docs, "charts", name))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(kept), picture); diff != "" {
			t.Errorf("%s is drawn differently:\n%s", name, diff)
		}
	}
	for _, m := range regexp.MustCompile(`charts/(\w+\.svg)`).FindAllStringSubmatch(string(document), -1) {
		if pictures[m[1]] == "" && report.Effort == "full" { // a quick run has no large repository
			t.Errorf("performance.md shows %s, which nothing draws", m[1])
		}
	}
}
