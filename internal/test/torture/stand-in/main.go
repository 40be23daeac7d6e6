// Command stand-in replaces git-lfs and similar programs in the worlds of package torture.
// It cleans and smudges content, also as a long-running filter process, and creates a
// socket.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// main does what the first argument says. An error goes to standard error, as from any
// filter.
func main() {
	var err error
	switch verb := append(os.Args, "")[1]; verb {
	case "clean", "smudge":
		err = once(convert, verb)
	case "process":
		err = process(os.Stdin, os.Stdout, convert)
	case "lfs-clean", "lfs-smudge":
		err = once(lfs, strings.TrimPrefix(verb, "lfs-"))
	case "lfs-process":
		err = process(os.Stdin, os.Stdout, lfs)
	case "socket":
		err = socket(os.Args[2])
	default:
		err = fmt.Errorf("what is %q?", verb)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stand-in:", err)
		os.Exit(1)
	}
}

// once filters one file, from standard input to standard output.
func once(f filter, verb string) error {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if data, err = f(verb, data); err != nil {
		return err
	}
	_, err = os.Stdout.Write(data)
	return err
}
