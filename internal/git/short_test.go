package git

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// Nearly each draw of a property starts processes of git here, so a sample has few.
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
