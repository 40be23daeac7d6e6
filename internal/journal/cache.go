package journal

// A cache file holds a whole journal, because reading ten thousand commits from git takes far
// longer than decoding them from one file. It is a header line and one record per node, parents
// first, so a journal that grew is saved by appending to the file.
//
// A record is the length of its payload as a uvarint, the payload, and a CRC-32C in little endian.
// The checksum covers the record's number as well, so that besides flipped bits it reveals a record
// that is missing, repeated or moved. A cache can always be made again from git, so the decoder
// reports anything unexpected as an error and never repairs.
//
// Consecutive creates differ in little. The first suitable create of each block of 1024 nodes is
// the block's base, and later ones store only what differs from it (cachenext.go). Such a record is
// parsed when somebody asks for its event, not when the file is loaded. All other events are stored
// whole (cacheevent.go).

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

// cacheHeader is the first line of the file. Its number must change with every change of the
// payloads, including the order of the table in texts.
const cacheHeader = "checkpoint journal cache 4\n"

// maxRecord limits the length of a payload, in bytes. Only a damaged file exceeds it.
const maxRecord = MaxMessage * 2

// Types of records, the first byte of a payload.
const (
	recordMerge = iota
	recordEvent
	recordBase // the create that later records of the block are relative to
	recordNext // a create, stored as its difference to the block's base
)

// block is the maximum number of nodes that share a base.
const block = 1024

// Encode returns the whole journal as the content of a cache file.
func (l *Log) Encode() []byte {
	return l.AppendTo(make([]byte, 0, len(cacheHeader)+len(l.nodes)*192), 0)
}

// AppendTo appends to dst the records of all nodes from number from on, and for 0 also the header.
// A cache file that was written or decoded when the journal had n nodes (Len) is brought up to date
// by appending AppendTo(nil, n) to it.
func (l *Log) AppendTo(dst []byte, from int) []byte {
	if from == 0 {
		dst = append(dst, cacheHeader...)
	}
	var payload []byte
	base := none
	// Start at the beginning of the block even if its first records are in the file already, to
	// find its base again.
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

// appendWhole appends the payload of a node that is not relative: type, commit id, number of
// parents, each parent as the distance to its number, committer date in seconds, and the event
// unless it is a merge.
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

// Decode reads a cache file. It returns an error if any record is damaged, missing or of another
// version. The Log keeps data, which must not change any more.
func Decode(data []byte) (*Log, error) {
	l, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read journal cache: %w", err)
	}
	return l, nil
}

// decode splits the file into records and parses these in parallel, each part into edges of its
// own, which are then joined.
func decode(data []byte) (*Log, error) {
	if int64(len(data)) > math.MaxUint32 || len(data) < len(cacheHeader) || string(data[:len(cacheHeader)]) != cacheHeader {
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
	if int(l.edges.line) == count { // a line is in the order of the fold already
		return l, nil
	}
	return finish(l)
}

// grows is the spare capacity of slices that the next event will be appended to. A command writes
// one event or a few.
const grows = 8

// partSize is the number of records from which on another goroutine pays off.
const partSize = 1024

// split finds the bounds of all records and parses the bases. The bases have to come first, because
// the goroutines that parse the other records read them.
func split(data []byte) (*Log, error) {
	l := &Log{data: data, nodes: make([]node, 0, len(data)/smallRecord+grows)}
	var bases []int32
	base := none // of the present block
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

// smallRecord is a typical size of a record in bytes, used to guess the number of nodes.
const smallRecord = 128

// recordSum returns the checksum of a record. The record's number is the initial value of the CRC,
// so that a record is valid in its own place only.
func recordSum(number int32, payload []byte) uint32 {
	return crc32.Update(uint32(number), castagnoli(), payload)
}

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// decoder parses records into nodes, in ascending order of their numbers.
type decoder struct {
	*Log        // all decoders share the nodes, each writes to those of its part only
	edges edges // of the part
}

// part parses the records from number from up to, but not including, to.
func (d *decoder) part(from, to int32) error {
	for i := from; i < to; i++ {
		if err := d.node(i); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	return nil
}

// node verifies and parses the record of node i. A relative record is only scanned for what the
// fold asks for; its event is parsed later, by Log.open.
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
	// split has parsed this base before. Other goroutines may be reading it, so do not write to it.
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

// parent adds a parent of node i, given as the distance between their numbers.
func (d *decoder) parent(i int32, distance uint64) error {
	if distance == 0 || distance > uint64(i) {
		return errors.New("a parent is not before it")
	}
	d.edges.parent(i - int32(distance))
	return nil
}

// end returns an error unless the payload was read exactly to its end.
func (r *reader) end() error {
	if r.broken || len(r.rest) > 0 {
		return errors.New("it does not read to its end")
	}
	return nil
}

// finish sorts the nodes of a journal that is not a line, and checks that every node but the last
// has a child. If one has none, an append to the file was cut off, and the last node is not a tip
// that descends from all the others.
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
