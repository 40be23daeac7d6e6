package odb

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
)

// errShort says that a stream goes on behind what there is of it, errFull that it gives
// more than there is room for, errEarly that it gives less, errStream that it is none.
var (
	errShort  = errors.New("the compressed stream is cut off")
	errFull   = errors.New("the compressed stream holds more than it has to")
	errEarly  = errors.New("the compressed stream holds less than it has to")
	errStream = errors.New("no compressed stream")
)

// inflater inflates streams of which all is in memory, and whose length is known.
// compress/flate reads a byte at a time and needs three times as long for what is as
// small as a commit. It is as strict as zlib, by which git reads: what zlib refuses must
// not be read here.
type inflater struct {
	in   []byte
	at   int    // of the next byte that is not in bits
	bits uint64 // the next ones, the lowest first
	have uint   // how many there are
	past uint   // how many of them stand behind the end of in
	done int    // how much came out

	literal, distance table
	known             bool // these are the tables that are fixed
	lengths           [maxLiterals + maxDistances]uint8
}

// The numbers of symbols, and of bits that one look into a table decides.
const (
	maxLiterals  = 288
	maxDistances = 32
	maxLengths   = 19
	literalBits  = 10
	distanceBits = 8
	lengthBits   = 7
)

// inflate fills out from a zlib stream at the beginning of in, and says how long that is.
func (z *inflater) inflate(out, in []byte) (int, error) {
	n, err := z.inflateUpTo(out, in)
	if err == nil && z.done < len(out) {
		return 0, errEarly
	}
	return n, err
}

// inflateUpTo is inflate of a stream that may have less than out has room for: done says
// how much came.
func (z *inflater) inflateUpTo(out, in []byte) (int, error) {
	z.done = 0
	if len(in) < 2 {
		return 0, errShort
	}
	if in[0]&0x0f != 8 || in[0]>>4 > 7 || (uint(in[0])<<8|uint(in[1]))%31 != 0 || in[1]&0x20 != 0 {
		return 0, errStream
	}
	z.in, z.at, z.bits, z.have, z.past = in, 2, 0, 0, 0
	err := z.blocks(out)
	z.in = nil
	switch end := z.at - int(z.have-z.past)/8; {
	case z.past > z.have: // bits were used that are not there
		return 0, errShort
	case err != nil:
		return 0, err
	case len(in) < end+4:
		return 0, errShort
	case binary.BigEndian.Uint32(in[end:]) != adler32.Checksum(out[:z.done]):
		return 0, errStream
	default:
		return end + 4, nil
	}
}

// fill makes sure of 48 bits, more than one length with its distance has.
func (z *inflater) fill() {
	if z.at+8 <= len(z.in) {
		z.bits |= binary.LittleEndian.Uint64(z.in[z.at:]) << z.have
		more := (63 - z.have) / 8
		z.at += int(more)
		z.have += 8 * more
		return
	}
	for z.have <= 48 {
		if z.at < len(z.in) {
			z.bits |= uint64(z.in[z.at]) << z.have
			z.at++
		} else {
			z.past += 8
		}
		z.have += 8
	}
}

func (z *inflater) take(n uint) uint {
	v := uint(z.bits & (1<<n - 1))
	z.bits >>= n
	z.have -= n
	return v
}

func (z *inflater) blocks(out []byte) (err error) {
	done := 0
	defer func() { z.done = done }()
	for last := false; !last; {
		z.fill()
		last = z.take(1) == 1
		switch z.take(2) {
		case 0:
			done, err = z.stored(out, done)
		case 1:
			if err = z.fixed(); err == nil {
				done, err = z.compressed(out, done)
			}
		case 2:
			if err = z.dynamic(); err == nil {
				done, err = z.compressed(out, done)
			}
		default:
			err = errStream
		}
		if err == nil && z.past > z.have {
			err = errShort
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (z *inflater) stored(out []byte, done int) (int, error) {
	z.take(z.have % 8)
	z.fill()
	n, not := z.take(16), z.take(16)
	if n != not^0xffff {
		return done, errStream
	}
	if z.past > z.have {
		return done, errShort
	}
	z.at -= int(z.have-z.past) / 8 // the whole bytes that were taken ahead
	z.bits, z.have, z.past = 0, 0, 0
	if room := len(out) - done; int(n) > room && room <= len(z.in)-z.at {
		return done + copy(out[done:], z.in[z.at:]), errFull
	}
	if int(n) > len(z.in)-z.at {
		return done, errShort
	}
	copy(out[done:], z.in[z.at:z.at+int(n)])
	z.at += int(n)
	return done + int(n), nil
}

// fixed makes the codes that every inflater knows. They stay until a block brings its own.
func (z *inflater) fixed() error {
	if z.known {
		return nil
	}
	var count [maxWord + 1]uint16
	l := z.lengths[:maxLiterals]
	for i := range l {
		switch {
		case i < 144:
			l[i] = 8
		case i < 256:
			l[i] = 9
		case i < 280:
			l[i] = 7
		default:
			l[i] = 8
		}
		count[l[i]]++
	}
	if err := z.literal.make(&literals, l, &count); err != nil {
		return err
	}
	d := z.lengths[:maxDistances]
	for i := range d {
		d[i] = 5
	}
	z.known = true
	return z.distance.make(&distances, d, &[maxWord + 1]uint16{5: maxDistances})
}

// dynamic reads the codes of a block. The lengths of their words are themselves in a code,
// whose own lengths come in an order of their own.
func (z *inflater) dynamic() error {
	order := [maxLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	words, backs, n := int(z.take(5))+257, int(z.take(5))+1, int(z.take(4))+4
	if words > 286 || backs > 30 {
		return errStream
	}
	z.known = false
	var first [maxLengths]uint8
	var count [2][maxWord + 1]uint16 // of the words of literals, and of distances
	for i := range n {
		if z.have < 3 {
			z.fill()
		}
		l := uint8(z.take(3))
		first[order[i]] = l
		count[0][l]++
	}
	if err := z.distance.make(&lengths, first[:], &count[0]); err != nil {
		return err
	}
	count[0] = [maxWord + 1]uint16{}
	l := z.lengths[:words+backs]
	clear(l)
	for i := z.lengthsQuickly(l, words, &count); i < len(l); {
		symbol, repeat, ok := z.lengthOf()
		if symbol == repeated && i > 0 {
			symbol = uint(l[i-1])
		}
		if !ok || repeat > len(l)-i || symbol == repeated {
			return errStream
		}
		if symbol == 0 {
			i += repeat
			continue
		}
		for range repeat {
			l[i] = uint8(symbol)
			of := 0
			if i >= words {
				of = 1
			}
			count[of][symbol]++
			i++
		}
	}
	if l[256] == 0 { // no word ends the block
		return errStream
	}
	if err := z.literal.make(&literals, l[:words], &count[0]); err != nil {
		return err
	}
	return z.distance.make(&distances, l[words:], &count[1])
}

// lengthsQuickly is the beginning of that, as long as there is enough to read that little
// needs to be asked, and all is as usual. It says how far it came.
func (z *inflater) lengthsQuickly(l []uint8, words int, count *[2][maxWord + 1]uint16) int {
	in, at, bits, have, i := z.in, z.at, z.bits, z.have, 0
	for i < len(l) && len(in)-at >= 8 {
		bits |= binary.LittleEndian.Uint64(in[at:]) << (have & 63)
		at += int(63-have) >> 3
		have |= 56
		for have >= lengthBits+7 && i < len(l) {
			e := z.distance.look(bits)
			symbol, left := e.value(), bits>>e.length()
			repeat, extra := 1, uint(0)
			switch {
			case symbol == repeated && i > 0:
				symbol, repeat, extra = uint(l[i-1]), 3+int(left&3), 2
			case symbol == 17:
				symbol, repeat, extra = 0, 3+int(left&7), 3
			case symbol == 18:
				symbol, repeat, extra = 0, 11+int(left&0x7f), 7
			}
			if e == 0 || symbol > maxWord || repeat > len(l)-i {
				z.at, z.bits, z.have = at, bits, have
				return i
			}
			bits, have = left>>extra, have-e.length()-extra
			if symbol == 0 {
				i += repeat
				continue
			}
			for end := i + repeat; i < end; i++ {
				l[i] = uint8(symbol)
				of := 0
				if i >= words {
					of = 1
				}
				count[of][symbol&maxWord]++
			}
		}
	}
	z.at, z.bits, z.have = at, bits, have
	return i
}

// repeated says that the length before comes again.
const repeated = 16

// lengthOf reads the length of some words that follow each other.
func (z *inflater) lengthOf() (length uint, repeat int, ok bool) {
	if z.have < 14 {
		z.fill()
	}
	e := z.distance.look(z.bits)
	if e == 0 || z.past > z.have {
		return 0, 0, false
	}
	z.take(e.length())
	switch symbol := e.value(); symbol {
	case repeated:
		return repeated, 3 + int(z.take(2)), true
	case 17:
		return 0, 3 + int(z.take(3)), true
	case 18:
		return 0, 11 + int(z.take(7)), true
	default:
		return symbol, 1, true
	}
}

// compressed reads literals, and lengths with distances, to the end of a block.
func (z *inflater) compressed(out []byte, done int) (int, error) {
	for done = z.quickly(out, done); ; {
		z.fill()
		e := z.literal.look(z.bits)
		z.take(e.length())
		switch e.kind() {
		case kindLiteral:
			if done == len(out) {
				return done, errFull
			}
			out[done] = byte(e.value())
			done++
		case kindEnd:
			return done, nil
		case kindNone:
			return done, errStream
		default:
			n := int(e.value() + z.take(e.extra()))
			e = z.distance.look(z.bits)
			z.take(e.length())
			if e.kind() != kindBase {
				return done, errStream
			}
			back := int(e.value() + z.take(e.extra()))
			if back > done {
				return done, errStream
			}
			if n > len(out)-done {
				return repeat(out, done, back, len(out)-done), errFull
			}
			done = repeat(out, done, back, n)
		}
	}
}

// quickly is compressed as long as there is enough to read and to write that little needs
// to be asked, and all is as usual. It says how far it came.
func (z *inflater) quickly(out []byte, done int) int {
	in, at, bits, have := z.in, z.at, z.bits, z.have
	for len(in)-at >= 16 && len(out)-done >= 3 {
		z.at, z.bits, z.have = at, bits, have
		began := done
		bits |= binary.LittleEndian.Uint64(in[at:]) << (have & 63)
		at += int(63-have) >> 3
		have |= 56
		e := z.literal.look(bits)
		bits >>= e.length()
		have -= e.length()
		if e.kind() == kindLiteral {
			out[done] = byte(e.value())
			done++
			e = z.literal.look(bits)
			bits >>= e.length()
			have -= e.length()
			if e.kind() == kindLiteral {
				out[done] = byte(e.value())
				done++
				e = z.literal.look(bits)
				bits >>= e.length()
				have -= e.length()
				if e.kind() == kindLiteral {
					out[done] = byte(e.value())
					done++
					continue
				}
			}
			bits |= binary.LittleEndian.Uint64(in[at:]) << (have & 63)
			at += int(63-have) >> 3
			have |= 56
		}
		n := int(e.value()) + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		have -= e.extra()
		d := z.distance.look(bits)
		bits >>= d.length()
		have -= d.length()
		back := int(d.value()) + int(bits&(1<<d.extra()-1))
		bits >>= d.extra()
		have -= d.extra()
		if e.kind() != kindBase || d.kind() != kindBase || back > done || n > len(out)-done {
			return began
		}
		done = repeat(out, done, back, n)
	}
	z.at, z.bits, z.have = at, bits, have
	return done
}

// repeat copies n bytes from back before; what is copied may be what was just copied.
func repeat(out []byte, done, back, n int) int {
	const few = 16
	if n <= few && back >= few/2 && len(out)-done >= few { // what is too much is written over
		binary.LittleEndian.PutUint64(out[done:], binary.LittleEndian.Uint64(out[done-back:]))
		binary.LittleEndian.PutUint64(out[done+8:], binary.LittleEndian.Uint64(out[done-back+8:]))
		return done + n
	}
	if back >= n {
		return done + copy(out[done:done+n], out[done-back:])
	}
	for end := done + n; done < end; {
		done += copy(out[done:end], out[done-back:done])
	}
	return done
}
