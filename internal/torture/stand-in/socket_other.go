//go:build !unix

package main

import "errors"

func socket(string) error { return errors.New("there are no sockets in the file system here") }
