package guard

import (
	"bytes"
	"strings"
)

// finder finds many keywords in one pass over a text: those with a capital letter as they are spelled, others without
// regard to the case of ASCII letters. It looks at three
// bytes at a time: of each keyword it knows the three that are rarest in texts, and only where they occur, it compares
// the whole keyword. All bytes that are no letters share a few classes, so that three classes fit in 15 bits.
type finder struct {
	class [256]uint8
	rare  [1 << 15 / 64]uint64 // has a bit for each three classes that belong to a keyword
	of    [1 << 15]uint16      // has the number of a list for three classes; list 0 is empty
	lists [][]keyword
}

// keyword is a word; number is that of the caller, and at is where its rare three bytes end.
type keyword struct {
	word       []byte
	equal      func(text, word []byte) bool
	number, at int
}

// newFinder returns a finder for words of at least three bytes.
func newFinder(words []string) *finder {
	f := &finder{lists: make([][]keyword, 1)}
	for b := range 256 {
		switch c := lower(byte(b)); {
		case 'a' <= c && c <= 'z':
			f.class[b] = c - 'a' + 1
		case '0' <= c && c <= '9':
			f.class[b] = 27
		case c == '_':
			f.class[b] = 28
		case c == '-':
			f.class[b] = 29
		case c == ':' || c == '/' || c == '.' || c == '=':
			f.class[b] = 30
		case c != ' ' && c != '\n':
			f.class[b] = 31
		}
	}
	for number, spelled := range words {
		word, equal := strings.ToLower(spelled), bytes.EqualFold
		if word != spelled {
			equal = bytes.Equal
		}
		at, most := 0, -1
		for i := 2; i < len(word); i++ {
			if bits := rarity(word[i-2 : i+1]); bits > most {
				at, most = i, bits
			}
		}
		three := f.three([]byte(word[at-2 : at+1]))
		f.rare[three>>6] |= 1 << (three & 63)
		if f.of[three] == 0 {
			f.of[three] = uint16(len(f.lists)) // fewer than a thousand
			f.lists = append(f.lists, nil)
		}
		f.lists[f.of[three]] = append(f.lists[f.of[three]], keyword{[]byte(spelled), equal, number, at})
	}
	return f
}

func (f *finder) three(text []byte) uint32 {
	return uint32(f.class[text[0]])<<10 | uint32(f.class[text[1]])<<5 | uint32(f.class[text[2]])
}

// rarity says how unusual three bytes are, in bits. Signs are rarer than letters.
func rarity(three string) int {
	bits := 0
	for i := range 2 {
		first, second := three[i], three[i+1]
		if isLetter(first) && isLetter(second) {
			bits += int(surprise[26*int(first-'a')+int(second-'a')] - '0')
		} else {
			bits += 7
		}
	}
	return bits
}

// find calls hit for each keyword in text, with the offset of its first byte, in order of where the rare bytes stand.
// It stops when hit returns false.
func (f *finder) find(text []byte, hit func(number, at int) bool) {
	three := uint32(0)
	for i, b := range text {
		three = (three<<5 | uint32(f.class[b])) & (1<<15 - 1)
		if f.rare[three>>6]>>(three&63)&1 == 0 || i < 2 {
			continue
		}
		for _, k := range f.lists[f.of[three]] {
			from := i - k.at
			if from >= 0 && from+len(k.word) <= len(text) && k.equal(text[from:from+len(k.word)], k.word) && !hit(k.number, from) {
				return
			}
		}
	}
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
