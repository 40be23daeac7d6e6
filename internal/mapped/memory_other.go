//go:build !unix

package mapped

import (
	"errors"
	"os"
)

func memory(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }
