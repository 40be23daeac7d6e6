package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/transfer"
)

// caseCount and seed of the random documents: CASES of each layout, from SEED on.
func caseCount(t *testing.T) (cases int, seed uint64) {
	t.Helper()
	cases, seed = 20, 1
	if testing.Short() {
		cases = 5
	}
	for key, set := range map[string]func(uint64){"CASES": func(n uint64) { cases = int(n) }, "SEED": func(n uint64) { seed = n }} {
		if v := os.Getenv(key); v != "" {
			n, err := strconv.ParseUint(v, 10, 31)
			if err != nil {
				t.Fatal(err)
			}
			set(n)
		}
	}
	return cases, seed
}

// perWorld is how many documents share a repository.
const perWorld = 20

// Random documents of each layout are exported byte for byte as they were imported, and their states
// are right in between. Written in another layout, they are valid documents of that layout.
func TestRandomDocuments(t *testing.T) {
	cases, from := caseCount(t)
	for i, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			done := 0
			for seed := from; done < cases; seed++ {
				g := &gen{Rand: rand.New(rand.NewPCG(seed, uint64(i))), dir: t.TempDir(), said: map[string]json.RawMessage{}}
				generators()[format](g, min(perWorld, cases-done))
				done += len(g.said)
				if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { roundTrip(t, g, format) }) {
					return
				}
			}
			t.Logf("%d documents of %s from seed %d on", done, format, from)
		})
	}
}

func generators() map[string]func(*gen, int) {
	return map[string]func(*gen, int){
		GoTeam: (*gen).goTeam, UltraCreate: (*gen).ultraCreate, Orchestrate: (*gen).orchestrate, Crunch: (*gen).crunch, Pipeline: (*gen).pipeline,
	}
}

func roundTrip(t *testing.T, g *gen, format string) {
	w := newWorld(t)
	in := w.bringIn(g.dir, func(r *ImportRequest) { r.Format = format })
	if in.Added != len(g.said) {
		t.Errorf("%d of %d documents came in: %v", in.Added, len(g.said), in.Warnings)
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		heard := map[string]bool{}
		for _, session := range in.Sessions {
			a, err := transfer.ReadArchive(ctx, s.Rules, name.Session(session))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range a.Checkpoints {
				key := c.Import.Path
				if want, said := g.said[key]; !said || !holds(c.Record.State, want) {
					t.Errorf("%s says\n%s\nand its state is\n%s", key, spelled(gjson.ParseBytes(want)), spelled(gjson.ParseBytes(c.Record.State)))
				}
				heard[key] = true
			}
		}
		if len(heard) != len(g.said) {
			t.Errorf("%d of %d documents are there", len(heard), len(g.said))
		}
		return repair.Validate(ctx, s.Sessions, repair.ValidateRequest{All: true}, func(v repair.Validated) error {
			if !v.OK {
				t.Errorf("validate: %+v", v)
			}
			return nil
		})
	})
	out := filepath.Join(t.TempDir(), "out")
	w.takeOut(out, format)
	compareTrees(t, g.dir, out)
	for _, from := range []string{g.dir, out} {
		if again := w.bringIn(from, func(r *ImportRequest) { r.Format = format }); again.Added+again.Changed != 0 {
			t.Errorf("again from %s: %d added, %d changed", from, again.Added, again.Changed)
		}
	}
	// No other layout takes them, and nothing is written there.
	for _, other := range Formats() {
		to := filepath.Join(t.TempDir(), other)
		_, err := w.tryExport(ExportRequest{To: to, Format: other, Sessions: in.Sessions})
		if _, made := os.Stat(to); (err == nil || made == nil) != (other == format) {
			t.Errorf("as %s: %v, made: %v", other, err, made == nil)
		}
	}
}

// spelled is JSON with texts spelled in one way; the order of members and the digits of
// numbers stay.
func spelled(v gjson.Result) json.RawMessage {
	o, values := &object{}, []json.RawMessage{}
	switch {
	case v.IsObject():
		v.ForEach(func(key, value gjson.Result) bool {
			o.raw(key.Str, spelled(value))
			return true
		})
		return o.json()
	case v.IsArray():
		for _, e := range v.Array() {
			values = append(values, spelled(e))
		}
		return encode(values)
	case v.Type == gjson.String:
		return encode(v.Str)
	}
	return json.RawMessage(v.Raw)
}

// holds reports whether a state has all members that a document said, as they were.
func holds(state, said json.RawMessage) bool {
	want, have := members(spelled(gjson.ParseBytes(said))), members(spelled(gjson.ParseBytes(state)))
	for _, name := range want.names {
		if !bytes.Equal(want.values[name], have.values[name]) {
			return false
		}
	}
	return len(want.names) > 0 || len(have.names) == 0
}

// compareTrees compares files byte for byte, databases row by row.
func compareTrees(t *testing.T, want, have string) {
	t.Helper()
	a, b := contents(t, want), contents(t, have)
	for p, content := range a {
		if got, there := b[p]; !there || got != content {
			t.Errorf("%s went in as\n%q\nand came out as\n%q (%v)", p, content, got, there)
		}
		delete(b, p)
	}
	for p := range b {
		t.Errorf("%s came out of nothing", p)
	}
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, file) //nolint:errcheck // it is below
		if to, err := os.Readlink(file); err == nil {
			out[rel] = "→ " + to
			return nil
		}
		if filepath.Ext(file) == ".db" {
			rows, err := readDatabase(file)
			for _, row := range rows {
				out[rel+"#"+row.ID] = string(encode(row))
			}
			return err
		}
		data, err := os.ReadFile(file)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gen generates documents. said has the states that they should become, by path.
type gen struct {
	*rand.Rand
	dir  string
	said map[string]json.RawMessage
}

func (g *gen) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *gen, of ...T) T { return of[g.IntN(len(of))] }

// odd are texts that some reader takes for something else.
func odd() []string {
	return []string{
		"", " ", "true", "no", "null", "~", "0123", "1e3", "0x1f", "1_000", "2026-01-01", "12:30:45", "- a", "# c", "a # b", "a: b", "a:", ":a", " lead", "trail ", "'q'", `"d"`,
		"back\\slash", "[a]", "{b}", "&a", "*a", "!t", "%x", "@at", "`b`", "|", ">", "?", "---", "...", "<<", "=", "two\nlines", "ends\n", "ends\n\n", "\n begins", "tab\there",
		"cr\r\nlf", "nul\u0001", "\u0085", "\u2028", "\ufeff", "ünïcödé", "日本", "🙂", "a\u0301", "\u202e", strings.Repeat("long ", 300), "</script>", "$(rm)", "a,b", "a]b", "key: [1, 2]", "-", "--", "1.", ".5", "+1", ".inf", ".nan", "0o17", "yes: no",
	}
}

func (g *gen) text() string {
	if g.chance(25) {
		return pick(g, odd()...)
	}
	return g.word() + pick(g, "", " "+g.word(), ", "+g.word()+" ("+g.word()+")")
}

func (g *gen) word() string {
	return pick(g, "alpha", "beta", "gamma", "delta", "unit", "branch", "Ω") + strconv.Itoa(g.IntN(1000))
}

func (g *gen) number() json.RawMessage {
	return json.RawMessage(pick(g, "0", "-1", "7", "1.50", "-0.0", "9007199254740993", "90071992547409931", "123456789012345678901234567890", "0.1", "3.14159265358979323846", "1e400", "2.5E-7", "-12", strconv.Itoa(g.IntN(1e6))))
}

// value is any JSON.
func (g *gen) value(depth int) json.RawMessage {
	switch n := g.IntN(10); {
	case n < 4:
		return encode(g.text())
	case n < 6:
		return g.number()
	case n < 7:
		return json.RawMessage(pick(g, "true", "false", "null"))
	case depth <= 0:
		return json.RawMessage(pick(g, "[]", "{}"))
	case n < 8:
		return g.list(depth)
	}
	o := &object{}
	for range g.IntN(4) {
		o.raw(g.text(), g.value(depth-1))
	}
	return o.json()
}

func (g *gen) list(depth int) json.RawMessage {
	var out []json.RawMessage
	for range g.IntN(4) {
		out = append(out, g.value(depth-1))
	}
	return encode(out)
}

func (g *gen) texts() []string {
	var out []string
	for range g.IntN(4) {
		out = append(out, g.text())
	}
	return out
}

// strew removes some members, adds unknown ones, and changes the order. Named members are kept.
func (g *gen) strew(o *object, keep ...string) *object {
	for range g.IntN(3) {
		if name := "x_" + g.text(); o.values[name] == nil {
			o.raw(name, g.value(3))
		}
	}
	out := &object{}
	names := slices.Clone(o.names)
	if g.chance(40) {
		g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	for _, name := range names {
		if slices.Contains(keep, name) || !g.chance(15) {
			out.raw(name, o.values[name])
		}
	}
	return out
}

// at is the time of the n-th document of something, with its spellings.
func (g *gen) at(n int) (time.Time, string) {
	at := time.Date(2026, 2, 3, 10, 5*n, g.IntN(60), 0, time.UTC)
	return at, pick(g, at.Format("2006-01-02T15:04:05Z"), at.Format("2006-01-02T15:04:05.000Z"), at.In(time.FixedZone("", 3600)).Format(time.RFC3339))
}

// file writes a document in one of the ways that JSON is written.
func (g *gen) file(p string, doc json.RawMessage) {
	var b bytes.Buffer
	var err error
	switch g.IntN(4) {
	case 0:
		b.Write(doc)
	case 1:
		err = json.Indent(&b, doc, "", "\t")
	default:
		err = json.Indent(&b, doc, "", "  ")
	}
	b.WriteString(pick(g, "", "\n", "\r\n", "\n\n"))
	if err != nil {
		panic(err)
	}
	g.write(p, b.Bytes())
}

func (g *gen) write(p string, content []byte) {
	file := filepath.Join(g.dir, filepath.FromSlash(p))
	if err := os.MkdirAll(path.Dir(file), 0o777); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, content, 0o666); err != nil {
		panic(err)
	}
}
