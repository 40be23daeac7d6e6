//go:build !unix

package store

import "os"

func mapFile(path string) ([]byte, error) { return os.ReadFile(path) }
