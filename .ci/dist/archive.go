package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// member is a file in an archive.
type member struct {
	name string
	data []byte
	mode os.FileMode
}

// archiveName is the name of a target's archive without its ending. People unpack a directory of that name.
func (r *release) archiveName(t target) string {
	return fmt.Sprintf("%s-%s-%s", r.Name, r.version, t)
}

func (r *release) archiveFile(t target) string {
	if t.os == "windows" {
		return r.archiveName(t) + ".zip"
	}
	return r.archiveName(t) + ".tar.gz"
}

func (r *release) writeArchives() error {
	for _, t := range r.targets {
		program, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		members := append([]member{{t.program(), program, 0o755}}, r.docs...)
		write := writeTar
		if t.os == "windows" {
			write = writeZip
		}
		var data bytes.Buffer
		if err := write(&data, r.archiveName(t)+"/", members, r.time); err != nil {
			return err
		}
		if err := r.write(r.archiveFile(t), data.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the release. The name may have directories.
func (r *release) write(name string, data []byte) error {
	file := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// writeTar writes members below a directory, owned by root, all of one time.
func writeTar(w io.Writer, dir string, members []member, at time.Time) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.DefaultCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	for _, m := range members {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: dir + m.name, Size: int64(len(m.data)), Mode: int64(m.mode), ModTime: at,
			Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(m.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

func writeZip(w io.Writer, dir string, members []member, at time.Time) error {
	archive := zip.NewWriter(w)
	for _, m := range members {
		header := &zip.FileHeader{Name: dir + m.name, Method: zip.Deflate, Modified: at}
		header.SetMode(m.mode)
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(m.data); err != nil {
			return err
		}
	}
	return archive.Close()
}
