package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// passes is check without its one pass.
func passes(data []byte, depth int) bool {
	return utf8.Valid(data) && tooDeep(data, depth) < 0 && json.Valid(data) && walk(data, &strict{data: data}) == nil
}

// What one pass finds sound passes every check, and ordinary texts are found sound.
func TestSound(t *testing.T) {
	sure := []string{
		`{}`, `[]`, ` [ ] `, `""`, `0`, `-0`, `1.5e+10`, `-12E-3`, `true`, `{"a":{"a":[null,false,"\n\u00e9\\"]},"b":""}`,
		strings.Repeat("[", 20) + strings.Repeat("]", 20), "{\n  \"a\" : 1 ,\r\t\"b\":[ 1 , 2 ]\n}\n",
	}
	unsure := []string{`{"a":1,"\u0062":2}`, `"\ud83d\ude00"`, manyMembers(maxNames + 1)}
	wrong := []string{
		``, ` `, `{`, `[`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{,}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{"a":1}{}`, `[]]`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `0x1`,
		`tru`, `truee`, `nul`, `"`, `"\`, `"\u12"`, `"\x"`, "\"\n\"", "\"\x00\"", `"\ud800"`, `{1:2}`, `{"a":1]`, `[1}`, "\xff", strings.Repeat("[", 21) + strings.Repeat("]", 21),
	}
	for _, text := range sure {
		if !sound([]byte(text), 20) || !passes([]byte(text), 20) {
			t.Errorf("%s is not found sound", text)
		}
	}
	for _, text := range unsure {
		if sound([]byte(text), 20) || !passes([]byte(text), 20) {
			t.Errorf("%.40s: it takes more to see", text)
		}
	}
	for _, text := range wrong {
		if sound([]byte(text), 20) || passes([]byte(text), 20) {
			t.Errorf("%q is found sound", text)
		}
	}
}

func manyMembers(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"%d":%d`, i, i)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Whatever stands in a text that is nearly right: one pass takes no more than all.
func TestSoundNearly(t *testing.T) {
	data, err := Seal(example(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if !sound(data, MaxDepth) {
		t.Error("a record is not found sound")
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := append([]byte(nil), data...)
		for range rapid.IntRange(1, 3).Draw(rt, "edits") {
			i := rapid.IntRange(0, len(text)-1).Draw(rt, "at")
			c := rapid.SampledFrom([]byte("{}[]\",:\\ 0-1.eutnx\n\x80\xff\x00")).Draw(rt, "byte")
			if rapid.Bool().Draw(rt, "insert") {
				text = append(text[:i], append([]byte{c}, text[i:]...)...)
			} else {
				text[i] = c
			}
		}
		if utf8.Valid(text) && sound(text, MaxDepth) && !passes(text, MaxDepth) {
			rt.Fatalf("found sound: %s", text)
		}
	})
}

func FuzzSound(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}],"c":"\u00e9"}`), 3)
	f.Add([]byte(`{"a":1,"a":2}`), 3)
	f.Fuzz(func(t *testing.T, data []byte, depth int) {
		if utf8.Valid(data) && depth < 1000 && sound(data, depth) && !passes(data, depth) {
			t.Fatalf("%q", data)
		}
	})
}
