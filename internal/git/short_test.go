package git

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Almost every draw of a property starts git processes here, so a short run has few of them.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		if err := flag.Set("rapid.checks", "15"); err != nil { // of which rapid tries a fifth
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
