package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"sync"
	"time"

	"git-checkpoint/internal/name"
)

// A cache is a header and a record per node, parents first, so that a journal that
// grew is saved by appending. A record is its length, its payload and a CRC-32C over
// its number and payload: a flipped bit, a record that is missing and one that moved
// are all found. The cache is disposable; anything odd in it is an error.
// The number in the header changes with what a payload holds and in which order.
const cacheHeader = "checkpoint journal cache 2\n"

const maxRecord = MaxMessage * 2

// Types of records.
const (
	recordMerge = iota
	recordEvent
)

// Encode is the whole journal as a cache.
func (l *Log) Encode() []byte {
	return l.AppendTo(make([]byte, 0, len(cacheHeader)+len(l.nodes)*384), 0)
}

// AppendTo appends the records of the nodes from the given number on (Len counts
// them); from 0 the header comes first. A cache that was written or decoded when the
// journal had n nodes is brought up to date by the bytes of AppendTo(nil, n).
func (l *Log) AppendTo(dst []byte, from int) []byte {
	if from == 0 {
		dst = append(dst, cacheHeader...)
	}
	var payload []byte
	for i := from; i < len(l.nodes); i++ {
		payload = l.appendNode(payload[:0], int32(i))
		dst = binary.AppendUvarint(dst, uint64(len(payload)))
		dst = append(dst, payload...)
		dst = binary.LittleEndian.AppendUint32(dst, recordSum(i, payload))
	}
	return dst
}

// Decode reads a cache.
func Decode(data []byte) (*Log, error) {
	l, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read journal cache: %w", err)
	}
	return l, nil
}

func decode(data []byte) (*Log, error) {
	if len(data) < len(cacheHeader) || string(data[:len(cacheHeader)]) != cacheHeader {
		return nil, errors.New("it is no cache of this version")
	}
	records, nodes, err := split(data[len(cacheHeader):])
	if err != nil {
		return nil, err
	}
	parts := make([]decoder, min(len(records)/partSize+1, runtime.GOMAXPROCS(0)))
	errs := make([]error, len(parts))
	var wait sync.WaitGroup
	for k := range parts {
		from, to := k*len(records)/len(parts), (k+1)*len(records)/len(parts)
		parts[k] = decoder{nodes: nodes, edges: newEdges(to - from)}
		wait.Go(func() { errs[k] = parts[k].part(records, from, to) })
	}
	wait.Wait()
	for k := range parts {
		if errs[k] != nil {
			return nil, errs[k]
		}
		if k > 0 {
			parts[0].edges.join(parts[k].edges)
		}
	}
	return finish(&Log{nodes: nodes, edges: parts[0].edges})
}

// partSize is for how many records it is worth to start a goroutine.
const partSize = 1024

// split checks the frame of every record before anything is made of it, and begins the
// node of each with its id. Both share one copy of the data.
func split(data []byte) (records []string, nodes []Node, err error) {
	text := string(data)
	records = make([]string, 0, len(data)/256)
	nodes = make([]Node, 0, len(data)/256)
	for at := 0; at < len(data); {
		size, n := binary.Uvarint(data[at:])
		from := at + max(n, 0)
		if n <= 0 || size == 0 || size > maxRecord || uint64(len(data)-from) < size+4 || len(records) >= MaxNodes {
			return nil, nil, fmt.Errorf("record %d does not fit", len(records))
		}
		to := from + int(size)
		if binary.LittleEndian.Uint32(data[to:]) != recordSum(len(records), data[from:to]) {
			return nil, nil, fmt.Errorf("record %d has a wrong checksum", len(records))
		}
		r := reader{rest: text[from+1 : to]}
		nodes = append(nodes, Node{OID: name.OID(r.text())})
		records = append(records, text[from:to])
		at = to + 4
	}
	if len(records) == 0 {
		return nil, nil, errors.New("it is empty")
	}
	return records, nodes, nil
}

// recordSum is seeded with the record's number, so that a record holds only in its
// own place.
func recordSum(number int, payload []byte) uint32 {
	return crc32.Update(uint32(number), crc32.MakeTable(crc32.Castagnoli), payload)
}

// appendNode appends a payload: type, OID, parents as distances, committer date, and
// the event.
func (l *Log) appendNode(dst []byte, i int32) []byte {
	n := &l.nodes[i]
	kind := byte(recordMerge)
	if n.Event != nil {
		kind = recordEvent
	}
	dst = appendText(append(dst, kind), string(n.OID))
	parents := l.edges.of(i)
	dst = binary.AppendUvarint(dst, uint64(len(parents)))
	for _, p := range parents {
		dst = binary.AppendUvarint(dst, uint64(i-p))
	}
	dst = binary.AppendVarint(dst, n.CommitterTime.Unix())
	if n.Event == nil {
		return dst
	}
	return appendEvent(dst, n.Event)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// decoder makes nodes of records, one after the other.
type decoder struct {
	nodes   []Node // all of the cache; the ids are there
	edges   edges  // of this part
	events  []Event
	parents []name.OID
}

// part decodes some of the records.
func (d *decoder) part(records []string, from, to int) error {
	events := 0
	for _, r := range records[from:to] {
		if r[0] == recordEvent {
			events++
		}
	}
	d.events, d.parents = make([]Event, 0, events), make([]name.OID, 0, to-from) // events never move
	for i := from; i < to; i++ {
		if err := d.node(i, records[i]); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	return nil
}

func (d *decoder) node(i int, payload string) error {
	n := &d.nodes[i]
	r := reader{rest: payload[1:]}
	r.text() // the id
	count := r.uint()
	if count > uint64(len(r.rest)) {
		return errors.New("it has more parents than fit")
	}
	first := len(d.parents)
	for range count {
		distance := r.uint()
		if distance == 0 || distance > uint64(i) { //nolint:gosec // a place in a list
			return errors.New("a parent is not before it")
		}
		p := int32(i - int(distance)) //nolint:gosec // both are places in a list
		d.edges.parent(p)
		d.parents = append(d.parents, d.nodes[p].OID)
	}
	d.edges.end()
	n.Parents = d.parents[first:len(d.parents):len(d.parents)]
	n.CommitterTime = time.Unix(r.int(), 0).UTC()
	switch payload[0] {
	case recordMerge:
	case recordEvent:
		d.events = append(d.events, Event{OID: n.OID, Parents: n.Parents})
		n.Event = &d.events[len(d.events)-1]
		r.event(n.Event)
	default:
		return fmt.Errorf("its type is %d", payload[0])
	}
	if r.broken || r.rest != "" {
		return errors.New("it does not read to its end")
	}
	return nil
}

// finish orders the nodes. All but the last must have a child, or the end of an
// append was lost and the last is not the tip of what is here.
func finish(l *Log) (*Log, error) {
	childOf := make([]bool, len(l.nodes))
	for _, p := range l.edges.to {
		childOf[p] = true
	}
	for i, c := range childOf {
		if c == (i == len(childOf)-1) {
			return nil, fmt.Errorf("record %d is not below the last one", i)
		}
	}
	var err error
	if l.order, err = foldOrder(l.nodes, l.edges); err != nil {
		return nil, err
	}
	l.settle()
	return l, nil
}

// reader takes values off a payload. Once one does not fit it is broken, and every
// further value is empty.
type reader struct {
	rest   string
	broken bool
}

func (r *reader) uint() uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.rest, r.broken = "", true
	return 0
}

func (r *reader) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *reader) text() string {
	size := r.uint()
	if size > uint64(len(r.rest)) || size > math.MaxInt32 {
		r.rest, r.broken = "", true
		return ""
	}
	s := r.rest[:size]
	r.rest = r.rest[size:]
	return s
}
