// Command stand-in does for the worlds of package torture what git-lfs and other
// programs do elsewhere: it cleans and smudges content, also as a long-running
// filter, and makes a socket.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	var err error
	switch verb := append(os.Args, "")[1]; verb {
	case "clean", "smudge":
		var data []byte
		if data, err = io.ReadAll(os.Stdin); err == nil {
			_, err = os.Stdout.Write(convert(verb, data))
		}
	case "process":
		err = process(os.Stdin, os.Stdout)
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
