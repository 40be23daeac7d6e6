// Command bench measures this program beside plain git and prints a table.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// main ends with exit code 1 if a row could not be measured. An interrupt ends the run.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
