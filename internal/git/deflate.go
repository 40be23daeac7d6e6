package git

import (
	"bytes"

	"github.com/klauspost/compress/zlib"
)

// deflater compresses objects, one at a time.
type deflater struct {
	level       int
	out         bytes.Buffer
	fast, codes *zlib.Writer // kept, because making one costs as much as writing ten small objects
}

// append compresses the parts of an object to the end of out.
func (d *deflater) append(parts ...[]byte) error {
	const small = 1 << 10 // not worth another try
	at, size := d.out.Len(), 0
	for _, part := range parts {
		size += len(part)
	}
	err := d.write(&d.fast, d.level, parts)
	// Where nothing occurs twice, as in base64, this library stores the content as it is. git uses Huffman codes.
	if err == nil && d.level != zlib.NoCompression && size > small && d.out.Len()-at > size {
		d.out.Truncate(at)
		err = d.write(&d.codes, zlib.HuffmanOnly, parts)
	}
	return err
}

func (d *deflater) write(z **zlib.Writer, level int, parts [][]byte) (err error) {
	if *z == nil {
		*z, err = zlib.NewWriterLevel(&d.out, level)
	} else {
		(*z).Reset(&d.out)
	}
	for _, part := range parts {
		if err == nil {
			_, err = (*z).Write(part)
		}
	}
	if err == nil {
		err = (*z).Close()
	}
	return err
}
