//go:build !unix

package main

import "errors"

// socket always fails here.
func socket(string) error { return errors.New("there are no sockets in the file system here") }
