package odb

// patch applies a delta to base. A delta holds the size of the base, the size of the result, and
// then instructions, each of which copies a piece of the base or inserts new bytes. patch refuses
// what git refuses, and a result of more than limit bytes.
func patch(base, delta []byte, limit int64) ([]byte, error) {
	const shortest = 4
	if len(delta) < shortest {
		return nil, ErrUseGit
	}
	from, rest, ok := varint(delta)
	if !ok || from != int64(len(base)) {
		return nil, ErrUseGit
	}
	size, rest, ok := varint(rest)
	if !ok {
		return nil, ErrUseGit
	}
	if size > limit {
		return nil, ErrLarge
	}
	out := make([]byte, 0, size)
	for len(rest) > 0 {
		op := rest[0]
		rest = rest[1:]
		switch {
		// The highest bit says copy. Otherwise op is a number of bytes to insert; 0 is reserved.
		case op&0x80 != 0:
			var at, n int64
			if at, n, rest, ok = piece(op, rest); !ok || at > from || n > from-at || n > size-int64(len(out)) {
				return nil, ErrUseGit
			}
			out = append(out, base[at:at+n]...)
		case op == 0 || int(op) > len(rest) || int(op) > int(size)-len(out):
			return nil, ErrUseGit
		default:
			out = append(out, rest[:op]...)
			rest = rest[op:]
		}
	}
	if int64(len(out)) != size {
		return nil, ErrUseGit
	}
	return out, nil
}

// piece decodes a copy instruction: four bytes of an offset and three bytes of a length, the
// lowest first. Only those bytes are present whose bit in op is set; the others are 0. Length 0
// means 64 KiB. The numbers have 64 bits, because an offset of four bytes can be negative as an int.
func piece(op byte, rest []byte) (at, n int64, _ []byte, ok bool) {
	var parts [7]int64
	for i := range parts {
		if op&(1<<i) == 0 {
			continue
		}
		if len(rest) == 0 {
			return 0, 0, nil, false
		}
		parts[i], rest = int64(rest[0]), rest[1:]
	}
	at = parts[0] | parts[1]<<8 | parts[2]<<16 | parts[3]<<24
	n = parts[4] | parts[5]<<8 | parts[6]<<16
	if n == 0 {
		n = 1 << 16
	}
	return at, n, rest, true
}

// varint decodes a number of seven bits per byte, the lowest first, and returns the rest of b.
func varint(b []byte) (int64, []byte, bool) {
	var n int64
	for i, shift := 0, 0; i < len(b) && shift <= 56; i, shift = i+1, shift+7 {
		n |= int64(b[i]&0x7f) << shift
		if b[i]&0x80 == 0 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}
