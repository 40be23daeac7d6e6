package record

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (d *differ) array(path string, old, new []byte) {
	was, is := slices.Collect(elements(old)), slices.Collect(elements(new))
	for _, member := range d.identity(path) {
		from, to := idsOf(was, member), idsOf(is, member)
		if from.usable && to.usable && (from.quoted == to.quoted || len(was) == 0 || len(is) == 0) {
			d.byID(path, old, new, from, to)
			return
		}
	}
	d.byValue(path, old, new, was, is)
}

// ids are the elements of an array by their id. They are usable where a gjson query
// finds each by it: every element an object, all ids different and of one type.
type ids struct {
	member string
	usable bool
	quoted bool     // strings, not integers
	order  []string // as they stand in a query
	items  map[string][]byte
}

func idsOf(array [][]byte, member string) ids {
	found := ids{member: member, items: make(map[string][]byte, len(array))}
	for i, item := range array {
		raw := identifier(item, member)
		query, ok := queryValue(raw)
		if _, twice := found.items[query]; !ok || twice {
			return ids{}
		}
		if quoted := raw[0] == '"'; i == 0 {
			found.quoted = quoted
		} else if quoted != found.quoted {
			return ids{}
		}
		found.order = append(found.order, query)
		found.items[query] = item
	}
	found.usable = true
	return found
}

func identifier(item []byte, member string) []byte {
	for name, value := range members(item) {
		if name == member {
			return value
		}
	}
	return nil
}

// queryValue spells an id for #(member==…). gjson compares numbers as doubles and reads
// a text that begins with '~' as something else; such ids cannot be asked for. '@'
// and ',' are spelled so that Get does not count them as modifiers and parts.
func queryValue(id []byte) (string, bool) {
	if len(id) == 0 || id[0] != '"' {
		return string(id), isSmallInteger(id)
	}
	text := unquote(id)
	if strings.HasPrefix(text, "~") {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if isControl(r) || strings.ContainsRune(`"\@,`, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String(), true
}

func (d *differ) byID(path string, old, new []byte, from, to ids) {
	var parts, queries []string
	for _, id := range from.order {
		if !bytes.Equal(from.items[id], to.items[id]) {
			queries = append(queries, id)
		}
	}
	for _, id := range to.order {
		if from.items[id] == nil {
			queries = append(queries, id)
		}
	}
	for _, id := range queries {
		parts = append(parts, "#("+from.member+"=="+id+")")
	}
	if !d.canName(path, parts) {
		d.whole(path, old, new)
		return
	}
	before := len(d.changes)
	for i, id := range queries {
		d.pair(join(path, parts[i]), from.items[id], to.items[id])
	}
	if len(d.changes) == before {
		d.whole(path, old, new)
	}
}

// byValue pairs equal values; of what is left over, two objects at the same place are one that
// changed, and the rest was removed or added.
func (d *differ) byValue(path string, old, new []byte, was, is [][]byte) {
	gone, come := leftOver(was, is), leftOver(is, was)
	if len(gone)+len(come) == 0 {
		d.whole(path, old, new)
		return
	}
	var parts []string
	for _, i := range slices.Concat(gone, come) {
		parts = append(parts, strconv.Itoa(i))
	}
	if !d.canName(path, parts) {
		d.whole(path, old, new)
		return
	}
	stays := d.changedInPlace(path, was, is, gone, come)
	for n, i := range gone {
		if stays[i] {
			d.pair(join(path, parts[n]), was[i], is[i])
		} else {
			d.add(join(path, parts[n]), Removed, was[i], nil)
		}
	}
	for n, i := range come {
		if !stays[i] {
			d.add(join(path, parts[len(gone)+n]), Added, nil, is[i])
		}
	}
}

// changedInPlace gives the indexes at which both sides have an object without an id.
func (d *differ) changedInPlace(path string, was, is [][]byte, gone, come []int) map[int]bool {
	unnamed := func(item []byte) bool {
		return kind(item) == '{' && !slices.ContainsFunc(d.identity(path), func(member string) bool { return identifier(item, member) != nil })
	}
	left, stays := map[int]bool{}, map[int]bool{}
	for _, i := range gone {
		left[i] = unnamed(was[i])
	}
	for _, i := range come {
		stays[i] = left[i] && unnamed(is[i])
	}
	return stays
}

// leftOver gives the indexes of the items that have no equal partner among others.
func leftOver(items, others [][]byte) []int {
	partners := make(map[string]int, len(others))
	for _, other := range others {
		partners[identity(other)]++
	}
	var alone []int
	for i, item := range items {
		if key := identity(item); partners[key] > 0 {
			partners[key]--
		} else {
			alone = append(alone, i)
		}
	}
	return alone
}
