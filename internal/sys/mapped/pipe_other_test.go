//go:build !unix

package mapped

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
