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
const cacheHeader = "checkpoint journal cache 4\n"

const maxRecord = MaxMessage * 2

// Types of records.
const (
	recordMerge = iota
	recordEvent
	recordBase // the first create of a block whose record others are relative to
	recordNext // a create, as what differs from the block's base
)

// block is how many nodes share a base at most.
const block = 1024

// Encode is the whole journal as a cache.
func (l *Log) Encode() []byte {
	return l.AppendTo(make([]byte, 0, len(cacheHeader)+len(l.nodes)*192), 0)
}

// AppendTo appends the records of the nodes from the given number on (Len counts
// them); from 0 the header comes first. A cache that was written or decoded when the
// journal had n nodes is brought up to date by the bytes of AppendTo(nil, n).
func (l *Log) AppendTo(dst []byte, from int) []byte {
	if from == 0 {
		dst = append(dst, cacheHeader...)
	}
	var payload []byte
	base := none
	for i := int32(from) &^ (block - 1); int(i) < len(l.nodes); i++ {
		if i%block == 0 {
			base = none
		}
		kind := byte(recordEvent)
		switch plain := l.nodes[i].plain(len(l.edges.of(i))); {
		case l.nodes[i].class == classMerge:
			kind = recordMerge
		case plain && base == none:
			kind, base = recordBase, i
		case plain && l.session(i) == l.session(base):
			kind = recordNext
		}
		if int(i) < from {
			continue
		}
		if kind == recordNext {
			payload = l.appendNext(payload[:0], i, base)
		} else {
			payload = l.appendWhole(payload[:0], kind, i)
		}
		dst = binary.AppendUvarint(dst, uint64(len(payload)))
		dst = append(dst, payload...)
		dst = binary.LittleEndian.AppendUint32(dst, recordSum(i, payload))
	}
	return dst
}

// appendWhole appends a payload: type, OID, parents as distances, committer date, and
// the event.
func (l *Log) appendWhole(dst []byte, kind byte, i int32) []byte {
	dst = appendText(append(dst, kind), string(l.oid(i)))
	parents := l.edges.of(i)
	dst = binary.AppendUvarint(dst, uint64(len(parents)))
	for _, p := range parents {
		dst = binary.AppendUvarint(dst, uint64(i-p))
	}
	dst = binary.AppendVarint(dst, l.committed(i).Unix())
	if kind == recordMerge {
		return dst
	}
	return appendEvent(dst, l.event(i))
}

// Decode reads a cache. The journal keeps the data, which must not change any more.
func Decode(data []byte) (*Log, error) {
	l, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read journal cache: %w", err)
	}
	return l, nil
}

func decode(data []byte) (*Log, error) {
	if len(data) > math.MaxUint32 || len(data) < len(cacheHeader) || string(data[:len(cacheHeader)]) != cacheHeader {
		return nil, errors.New("it is no cache of this version")
	}
	l, err := split(data)
	if err != nil {
		return nil, err
	}
	count := len(l.nodes)
	parts := make([]decoder, min(count/partSize+1, runtime.GOMAXPROCS(0)))
	errs := make([]error, len(parts))
	var wait sync.WaitGroup
	for k := range parts {
		from, to := int32(k*count/len(parts)), int32((k+1)*count/len(parts))
		parts[k] = decoder{Log: l, edges: edges{from: from}}
		wait.Go(func() { errs[k] = parts[k].part(from, to) })
	}
	wait.Wait()
	for k := range parts {
		if errs[k] != nil {
			return nil, errs[k]
		}
		l.edges.join(parts[k].edges)
	}
	if int(l.edges.line) == count { // it is in its order
		return l, nil
	}
	return finish(l)
}

// grows is for how many more nodes there is room at once: what follows is mostly one.
const grows = 8

// partSize is for how many records it is worth to start a goroutine.
const partSize = 1024

// split finds the records. The bases come first, because all others of their blocks need
// them.
func split(data []byte) (*Log, error) {
	l := &Log{data: data, nodes: make([]node, 0, len(data)/smallRecord+grows)}
	var bases []int32
	base := none // of the block
	for at := len(cacheHeader); at < len(data); {
		size, head := binary.Uvarint(data[at:])
		from, n := at+max(head, 0), len(l.nodes)
		if head <= 0 || size == 0 || size > maxRecord || uint64(len(data)-from) < size+4 || n >= MaxNodes {
			return nil, fmt.Errorf("record %d does not fit", n)
		}
		if n%block == 0 {
			base = none
		}
		if data[from] == recordBase {
			if base != none {
				return nil, fmt.Errorf("record %d is a second base", n)
			}
			base = int32(n)
			bases = append(bases, base)
		}
		l.nodes = append(l.nodes, node{at: uint32(from), size: uint32(size), base: base})
		at = from + int(size) + 4
	}
	if len(l.nodes) == 0 {
		return nil, errors.New("it is empty")
	}
	d := decoder{Log: l}
	for _, i := range bases {
		if err := d.node(i); err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
	}
	return l, nil
}

// smallRecord is about the size of most.
const smallRecord = 128

// recordSum is seeded with the record's number, so that a record holds only in its
// own place.
func recordSum(number int32, payload []byte) uint32 {
	return crc32.Update(uint32(number), castagnoli(), payload)
}

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// decoder makes nodes of their records, one after the other.
type decoder struct {
	*Log        // the nodes know their records
	edges edges // of this part
}

// part reads some of the records.
func (d *decoder) part(from, to int32) error {
	for i := from; i < to; i++ {
		if err := d.node(i); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	return nil
}

func (d *decoder) node(i int32) error {
	n, record := &d.nodes[i], d.record(i)
	if binary.LittleEndian.Uint32(d.data[n.at+n.size:]) != recordSum(i, record) {
		return errors.New("it has a wrong checksum")
	}
	r := reader{rest: record[1:]}
	if record[0] == recordNext {
		base := d.base(i)
		if base == none || base > i {
			return errors.New("its block has no base before it")
		}
		if err := d.parent(i, r.next(n, &d.nodes[base])); err != nil {
			return err
		}
		d.edges.end()
		return r.end()
	}
	own := Node{OID: name.OID(r.text())}
	count := r.uint()
	if count > uint64(len(r.rest)) {
		return errors.New("it has more parents than fit")
	}
	for range count {
		distance := r.uint()
		if err := d.parent(i, distance); err != nil {
			return err
		}
		own.Parents = append(own.Parents, d.recorded(i-int32(distance)))
	}
	d.edges.end()
	own.CommitterTime = time.Unix(r.int(), 0).UTC()
	switch record[0] {
	case recordMerge:
	case recordEvent, recordBase:
		own.Event = &Event{OID: own.OID, Parents: own.Parents}
		r.event(own.Event)
	default:
		return fmt.Errorf("its type is %d", record[0])
	}
	if n.own != nil {
		return nil // split has read it, and others look at it
	}
	n.own = &own
	n.tell(own.Event)
	if record[0] == recordBase && !n.plain(len(own.Parents)) {
		return errors.New("it cannot be a base")
	}
	return r.end()
}

// parent adds one by its distance.
func (d *decoder) parent(i int32, distance uint64) error {
	if distance == 0 || distance > uint64(i) {
		return errors.New("a parent is not before it")
	}
	d.edges.parent(i - int32(distance))
	return nil
}

// end demands that all was read.
func (r *reader) end() error {
	if r.broken || len(r.rest) > 0 {
		return errors.New("it does not read to its end")
	}
	return nil
}

// finish orders the nodes. All but the last must have a child, or the end of an
// append was lost and the last is not the tip of what is here.
func finish(l *Log) (*Log, error) {
	childOf := make([]bool, len(l.nodes))
	for i := range l.nodes {
		for _, p := range l.edges.of(int32(i)) {
			childOf[p] = true
		}
	}
	for i, c := range childOf {
		if c == (i == len(childOf)-1) {
			return nil, fmt.Errorf("record %d is not below the last one", i)
		}
	}
	var err error
	if l.order, err = foldOrder(l); err != nil {
		return nil, err
	}
	l.settle()
	return l, nil
}
