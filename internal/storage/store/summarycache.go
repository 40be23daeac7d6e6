package store

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/gather"
)

// cachedSummary is what a list shows of a checkpoint. It is remembered, because the commit never changes;
// only whether its objects still exist is checked each time.
type cachedSummary struct {
	objects  string // binary ids of C, M, M's tree and the record, joined
	checksum string // of the record, binary
	created  time.Time
	files    int    // number of changed files
	reasons  string // for which paths were left out: the distinct ones, in order, each with a newline
	message  string
}

// skipped returns one path for each reason. The paths themselves are not remembered.
func (g cachedSummary) skipped() (all []record.Skipped) {
	for reason := range strings.Lines(g.reasons) {
		all = append(all, record.Skipped{Reason: strings.TrimSuffix(reason, "\n")})
	}
	return all
}

// summaryCache is the cache file with the older checkpoints of a long session, so that a list does not
// have to read thousands of records. Like the cached journal it is disposable, and it is used only
// if every record in it is intact.
type summaryCache struct {
	path  string
	of    map[name.OID]cachedSummary // by C
	count int                        // records in the file, including those that no list uses any more
	size  int64                      // of the file when it was read
	fresh []byte                     // encoded records that the file does not have yet
}

// maxGlances is the size in bytes of the largest cache file that is read.
const (
	summaryCachePrefix = "list-"
	summaryCacheHeader = "checkpoint list cache 3 " // 1 and 2 remember records that are refused now
	checksumSize       = 32
	maxGlances         = 256 << 20
)

// readSummaryCache reads the cache of a session. It is empty if the file does not exist or is damaged.
func (s *records) readSummaryCache(session name.Session) *summaryCache {
	g := &summaryCache{of: map[name.OID]cachedSummary{}}
	path, err := s.local.file(summaryCachePrefix + string(session))
	if err != nil {
		return g
	}
	g.path = path
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxGlances {
		return g
	}
	data, err := os.ReadFile(path)
	if err != nil || g.decode(data, s.repo.Format, s.repo.HashLen()) != nil {
		*g = summaryCache{path: path, of: map[name.OID]cachedSummary{}}
		return g
	}
	g.size = int64(len(data))
	return g
}

var errGlances = errors.New("the cache of lists is damaged")

// decode decodes a cache file: a header line, then records. A record is the length of its payload
// as a varint, the payload, and a CRC-32C of the payload. The CRC is seeded with the number of the
// record, so that a moved or lost record is noticed.
func (g *summaryCache) decode(data []byte, format string, hashLen int) error {
	header := summaryCacheHeader + format + "\n"
	text := string(data)
	if !strings.HasPrefix(text, header) {
		return errGlances
	}
	g.of = make(map[name.OID]cachedSummary, len(data)/150)
	for at := len(header); at < len(data); g.count++ {
		// The payload has four ids (C, M, M's tree, the record), the record's checksum, the time in
		// milliseconds as a varint, the number of files as a varint, the reasons for paths left out with their
		// length as a varint, and the message.
		size, n := binary.Uvarint(data[at:])
		from := at + max(n, 0)
		if n <= 0 || uint64(len(data)-from) < size+4 || size < uint64(4*hashLen+checksumSize+2) {
			return errGlances
		}
		to := from + int(size)
		if binary.LittleEndian.Uint32(data[to:]) != summarySum(g.count, data[from:to]) {
			return errGlances
		}
		entry := cachedSummary{objects: text[from : from+4*hashLen], checksum: text[from+4*hashLen : from+4*hashLen+checksumSize]}
		rest := from + 4*hashLen + checksumSize
		created, n := binary.Varint(data[rest:to])
		files, m := binary.Uvarint(data[rest+max(n, 0) : to])
		if n <= 0 || m <= 0 {
			return errGlances
		}
		rest += n + m
		reasons, n := binary.Uvarint(data[rest:to])
		if rest += max(n, 0); n <= 0 || uint64(to-rest) < reasons {
			return errGlances
		}
		entry.created, entry.files = time.UnixMilli(created).UTC(), int(files)
		entry.reasons, entry.message = text[rest:rest+int(reasons)], text[rest+int(reasons):to]
		g.of[name.OID(hex.EncodeToString(data[from:from+hashLen]))] = entry
		at = to + 4
	}
	return nil
}

// summarySum returns the checksum of the record with that number.
func summarySum(number int, payload []byte) uint32 {
	return crc32.Update(uint32(number), crc32.MakeTable(crc32.Castagnoli), payload)
}

// remember adds a checkpoint that was read and found to be intact.
func (g *summaryCache) remember(s *Summary) {
	var payload []byte
	for _, oid := range []name.OID{s.Commit, s.record, s.tree, s.blob} {
		raw, err := hex.DecodeString(string(oid))
		if err != nil || len(raw) == 0 {
			return
		}
		payload = append(payload, raw...)
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(s.Checksum, checksumPrefix))
	if err != nil || len(sum) != checksumSize {
		return
	}
	payload = append(payload, sum...)
	payload = binary.AppendVarint(payload, s.CreatedAt.UnixMilli())
	payload = binary.AppendUvarint(payload, uint64(s.Files))
	each := gather.Set(s.Skipped, func(sk record.Skipped) string { return strings.ReplaceAll(sk.Reason, "\n", " ") + "\n" })
	reasons := strings.Join(slices.Sorted(maps.Keys(each)), "")
	payload = append(binary.AppendUvarint(payload, uint64(len(reasons))), reasons...)
	payload = append(payload, s.Message...)
	g.fresh = binary.AppendUvarint(g.fresh, uint64(len(payload)))
	g.fresh = append(g.fresh, payload...)
	g.fresh = binary.LittleEndian.AppendUint32(g.fresh, summarySum(g.count, payload))
	g.count++
}

// save appends the new records. used is the number of checkpoints that the list looked up. If the
// file has far more records than that, because most of the checkpoints were pruned, it is deleted,
// and the next list writes a new one.
func (g *summaryCache) save(format string, used int) {
	switch {
	case g.path == "" || len(g.fresh) == 0 && g.count <= 2*used+1000:
	// The limit leaves room for short sessions, where deleting the file is not worthwhile.
	case g.count > 2*used+1000:
		os.Remove(g.path) //nolint:errcheck // it is disposable
	case g.size == 0:
		writeFile(g.path, append([]byte(summaryCacheHeader+format+"\n"), g.fresh...)) //nolint:errcheck // as above
	default:
		appendFile(g.path, g.size, g.fresh) //nolint:errcheck // the next one writes it
	}
}

const checksumPrefix = "sha256:"

// fill sets the fields of a summary that a list shows; the others stay empty.
func (s *Summary) fill(g cachedSummary) {
	s.Summary = record.Summary{
		ID: s.ID, Session: s.Session, CreatedAt: g.created, Files: g.files, Message: g.message,
		Checksum: checksumPrefix + hex.EncodeToString([]byte(g.checksum)),
	}
	s.remembered, s.Skipped = g.objects, g.skipped()
}
