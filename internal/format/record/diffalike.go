package record

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// This file finds, of the objects in an array that have no id, those that became another one.

// alike returns for the indexes of old objects the indexes of those that they became: first the pairs
// that have most in common, then, of the rest, two at the same index.
func (d *differ) alike(path string, was, is [][]byte, gone, come []int) map[int]int {
	unnamed := func(items [][]byte, at []int) (left []trait) {
		for _, i := range at {
			item := items[i]
			if kind(item) == '{' && !slices.ContainsFunc(d.identity(path), func(member string) bool { return memberOf(item, member) != nil }) {
				left = append(left, trait{at: i, members: maps.Collect(members(item))})
			}
		}
		return left
	}
	old, new := unnamed(was, gone), unnamed(is, come)
	became, taken := map[int]int{}, map[int]bool{}
	for _, p := range pairs(old, new) {
		if _, paired := became[p.from]; !paired && !taken[p.to] {
			became[p.from], taken[p.to] = p.to, true
		}
	}
	for _, o := range old {
		_, paired := became[o.at]
		if !paired && !taken[o.at] && slices.ContainsFunc(new, func(n trait) bool { return n.at == o.at }) {
			became[o.at], taken[o.at] = o.at, true
		}
	}
	return became
}

// trait is an object of an array with its index.
type trait struct {
	at      int
	members map[string][]byte
}

// couple is an old and a new object with what they have in common, in thousandths.
type couple struct{ from, to, common int }

// leastAlike is what two objects at different indexes must have in common to be the same one: more than
// a third, because those of one kind often share the member that says so.
const leastAlike = 334

// pairs returns the couples that are alike, the most alike first. It returns none if
// comparing them would take too long.
func pairs(old, new []trait) (found []couple) {
	const maxAlike = 1 << 20 // bounds the comparisons of members in one array, as somebody else may have written it
	cost := 0
	for _, n := range new {
		cost += len(old) * (len(n.members) + 1)
	}
	if cost > maxAlike {
		return nil
	}
	for _, o := range old {
		for _, n := range new {
			if common := o.common(n); common >= leastAlike {
				found = append(found, couple{o.at, n.at, common})
			}
		}
	}
	distance := func(c couple) int { return max(c.from-c.to, c.to-c.from) }
	slices.SortStableFunc(found, func(a, b couple) int { return cmp.Or(b.common-a.common, distance(a)-distance(b)) })
	return found
}

// common returns what two objects have in common: the share of members that are equal, where texts
// are compared by their words.
func (t trait) common(other trait) int {
	same := 0
	for name, value := range t.members {
		same += similarity(value, other.members[name])
	}
	return same / max(len(t.members), len(other.members), 1)
}

// similarity returns how much of a member is the same, in thousandths.
func similarity(a, b []byte) int {
	const maxWords = 1000 // the length of the longest text, in bytes, of which words are compared
	switch {
	case b == nil:
		return 0
	case string(a) == string(b):
		return 1000
	case kind(a) != '"' || kind(b) != '"' || len(a) > maxWords || len(b) > maxWords:
		return 0
	}
	words := map[string]bool{}
	for word := range strings.FieldsSeq(unquote(a)) {
		words[word] = false
	}
	all, both := len(words), 0
	for word := range strings.FieldsSeq(unquote(b)) {
		counted, known := words[word]
		if !known {
			all++
		} else if !counted {
			both++
		}
		words[word] = true
	}
	return 1000 * both / max(all, 1)
}
