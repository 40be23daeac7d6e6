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
// Nearly all events are creates, and a command needs few of them whole. So a create is only scanned
// when the file is loaded, for what the fold asks of every node, and parsed when somebody asks for
// its event (cachelazy.go). All other events are parsed at once.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"git-checkpoint/internal/format/name"
)

// cacheHeader is the first line of the file. Its number must change with every change of the
// payloads, including the order of the table in textFields.
const cacheHeader = "checkpoint journal cache 9\n"

// maxRecord limits the length of a payload, in bytes. Only a damaged file exceeds it.
const maxRecord = MaxMessage * 2

// Types of records, the first byte of a payload.
const (
	recordMerge = iota
	recordEvent
	recordCreate // an event too; see classCreate
)

// smallRecord is a typical size of a record in bytes, used to guess the number of nodes.
const smallRecord = 256

// Encode returns the whole journal as the content of a cache file.
func (l *Log) Encode() []byte {
	return l.AppendTo(make([]byte, 0, len(cacheHeader)+len(l.nodes)*2*smallRecord), 0)
}

// AppendTo appends to dst the records of all nodes from number from on, and for 0 also the header.
// A cache file that was written or decoded when the journal had n nodes (Len) is brought up to date
// by appending AppendTo(nil, n) to it.
func (l *Log) AppendTo(dst []byte, from int) []byte {
	if from == 0 {
		dst = append(dst, cacheHeader...)
	}
	var payload []byte
	for i := int32(from); int(i) < len(l.nodes); i++ {
		payload = l.appendRecord(payload[:0], i)
		dst = binary.AppendUvarint(dst, uint64(len(payload)))
		dst = append(dst, payload...)
		dst = binary.LittleEndian.AppendUint32(dst, recordSum(i, payload))
	}
	return dst
}

// appendRecord appends the payload of a node: type, committer date in seconds, commit id, number of
// parents, each parent as the distance to its number, and the event unless it is a merge.
func (l *Log) appendRecord(dst []byte, i int32) []byte {
	own := l.nodes[i].own
	if own == nil {
		return append(dst, l.record(i)...)
	}
	kind := byte(recordEvent)
	switch l.nodes[i].class {
	case classMerge:
		kind = recordMerge
	case classCreate:
		kind = recordCreate
	}
	dst = appendText(binary.AppendVarint(append(dst, kind), own.CommitterTime.Unix()), string(own.OID))
	parents := l.edges.parentsOf(i)
	dst = binary.AppendUvarint(dst, uint64(len(parents)))
	for _, p := range parents {
		dst = binary.AppendUvarint(dst, uint64(i-p))
	}
	if own.Event == nil {
		return dst
	}
	return appendEvent(dst, own.Event)
}

// recordSum returns the checksum of a record. The record's number is the initial value of the CRC,
// so that a record is valid in its own place only.
func recordSum(number int32, payload []byte) uint32 {
	return crc32.Update(uint32(number), crc32.MakeTable(crc32.Castagnoli), payload)
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

// decode does the work of Decode, without saying in errors what was read.
func decode(data []byte) (*Log, error) {
	if int64(len(data)) > math.MaxUint32 || len(data) < len(cacheHeader) || string(data[:len(cacheHeader)]) != cacheHeader {
		return nil, errors.New("it is no cache of this version")
	}
	const grows = 8 // the spare capacity of slices that the next event will be appended to. A command writes one event or a few
	guess := len(data)/smallRecord + grows
	l := &Log{data: data, nodes: make([]node, 0, guess), edges: edges{start: make([]int32, 0, guess+1), to: make([]int32, 0, guess)}}
	var last []byte // the id of the checkpoint that the node before introduces
	for at := len(cacheHeader); at < len(data); {
		size, head := binary.Uvarint(data[at:])
		from, n := at+max(head, 0), len(l.nodes)
		if head <= 0 || size == 0 || size > maxRecord || uint64(len(data)-from) < size+4 || n >= MaxNodes {
			return nil, fmt.Errorf("record %d does not fit", n)
		}
		at = from + int(size) + 4
		if binary.LittleEndian.Uint32(data[at-4:]) != recordSum(int32(n), data[from:at-4]) {
			return nil, fmt.Errorf("record %d: it has a wrong checksum", n)
		}
		var err error
		if last, err = l.decodeNode(node{at: uint32(from), size: uint32(size)}, last); err != nil {
			return nil, fmt.Errorf("record %d: %w", n, err)
		}
	}
	if len(l.nodes) == 0 {
		return nil, errors.New("it is empty")
	}
	return finish(l)
}

// decodeNode reads the record of n and appends n to the journal. It returns the id of the checkpoint that a
// create introduces; last is that of the node before.
func (l *Log) decodeNode(n node, last []byte) ([]byte, error) {
	i := int32(len(l.nodes))
	l.nodes = append(l.nodes, n)
	record := l.record(i)
	r := reader{rest: record[1:]}
	committed, oid := r.int(), r.raw()
	for left := r.count(); left > 0; left-- {
		distance := r.uint()
		if distance == 0 || distance > uint64(i) {
			return nil, errors.New("a parent is not before it")
		}
		l.edges.parent(i - int32(distance))
	}
	l.edges.end()
	switch record[0] {
	case recordCreate:
		return r.create(&l.nodes[i], &l.nodes[max(i-1, 0)], last)
	case recordMerge, recordEvent:
	default:
		return nil, fmt.Errorf("its type is %d", record[0])
	}
	own := Node{OID: name.OID(oid), Parents: l.parents(i), CommitterTime: time.Unix(committed, 0).UTC()}
	if record[0] == recordEvent {
		own.Event = r.event(own.OID, own.Parents)
	}
	l.nodes[i].own = &own
	l.nodes[i].copyFacts(own.Event)
	return nil, r.end()
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
	if l.edges.isLine() { // it is in the order of the fold already
		return l, nil
	}
	childOf := make([]bool, len(l.nodes))
	for _, p := range l.edges.to {
		childOf[p] = true
	}
	for i, c := range childOf {
		if c == (i == len(childOf)-1) {
			return nil, fmt.Errorf("record %d is not below the last one", i)
		}
	}
	l.sort()
	return l, nil
}
