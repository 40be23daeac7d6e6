package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// filter cleans or smudges the content of a file. verb is "clean" or "smudge".
type filter func(verb string, data []byte) ([]byte, error)

// convert replaces a word in the repository. A file that has the replacement on disk
// already does not come back as it was, which is the difficult case for a rollback.
func convert(verb string, data []byte) ([]byte, error) {
	if verb == "clean" {
		return bytes.ReplaceAll(data, []byte("equal"), []byte("STORED")), nil
	}
	return bytes.ReplaceAll(data, []byte("STORED"), []byte("equal")), nil
}

// largestPacket is the largest payload of a packet in git's protocol, in bytes.
const largestPacket = 65516

// process speaks git's protocol for long-running filters, version 2.
func process(in io.Reader, out io.Writer, f filter) error {
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	// The handshake: git names itself and its versions, and then its capabilities.
	if _, err := readList(r); err != nil {
		return err
	}
	writeList(w, "git-filter-server", "version=2")
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := readList(r); err != nil {
		return err
	}
	writeList(w, "capability=clean", "capability=smudge")
	for {
		if err := w.Flush(); err != nil {
			return err
		}
		// Each request has a list of settings, an empty packet, and the content.
		request, err := readList(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := readAll(r)
		if err != nil {
			return err
		}
		verb := ""
		for _, line := range request {
			if v, ok := strings.CutPrefix(line, "command="); ok {
				verb = v
			}
		}
		if data, err = f(verb, data); err != nil {
			// An error concerns one file only. The process goes on with the next one.
			fmt.Fprintln(os.Stderr, "stand-in:", err)
			writeList(w, "status=error")
			continue
		}
		writeList(w, "status=success")
		for len(data) > 0 {
			n := min(len(data), largestPacket)
			writePacket(w, data[:n])
			data = data[n:]
		}
		// Two empty lists: the end of the content, and no change of the status.
		w.WriteString("0000") //nolint:errcheck // Flush says it
		w.WriteString("0000") //nolint:errcheck // Flush says it
	}
}

// readPacket returns the payload of a packet, or nil for the packet that ends a list.
func readPacket(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil || n == 0 {
		return nil, err
	}
	data := make([]byte, n-4)
	_, err = io.ReadFull(r, data)
	return data, err
}

// readAll reads packets up to the end of a list and returns their content.
func readAll(r io.Reader) (all []byte, err error) {
	for {
		p, err := readPacket(r)
		if err != nil || p == nil {
			return all, err
		}
		all = append(all, p...)
	}
}

// readList reads a list of lines.
func readList(r io.Reader) (lines []string, err error) {
	for {
		p, err := readPacket(r)
		if err != nil || p == nil {
			return lines, err
		}
		lines = append(lines, strings.TrimSuffix(string(p), "\n"))
	}
}

// writePacket writes one packet: four hexadecimal digits with the length, and the payload.
func writePacket(w io.Writer, data []byte) {
	fmt.Fprintf(w, "%04x%s", len(data)+4, data) //nolint:errcheck // Flush says it
}

// writeList writes a list of lines and its end.
func writeList(w io.Writer, lines ...string) {
	for _, l := range lines {
		writePacket(w, []byte(l+"\n"))
	}
	io.WriteString(w, "0000") //nolint:errcheck // Flush says it
}
