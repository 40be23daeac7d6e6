package workflow

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/types"
)

// Numbers is a compiled condition over numbers that have names, such as "none == 0".
type Numbers struct {
	program *program
	names   *wordReader
}

// OverNumbers compiles a condition in the language of Where, without functions.
func OverNumbers(text string, names ...string) (*Numbers, error) {
	s := scope{"numbers", types.Map{}}
	for _, n := range names {
		s.vars[n] = types.Int
	}
	r := &wordReader{words: map[string]bool{}}
	p, err := compile(true, s, text, "bool", r)
	if err == nil && r.calls {
		err = errors.New("there are no functions here")
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the numbers are %v", err, names)
	}
	return &Numbers{p, r}, nil
}

// Asks reports whether a name occurs in the condition.
func (c *Numbers) Asks(name string) bool { return c.names.words[name] }

// Holds evaluates the condition.
func (c *Numbers) Holds(of map[string]int) (bool, error) {
	vars := make(map[string]any, len(of))
	for name, n := range of {
		vars[name] = n
	}
	got, err := newMeter(nil).run(c.program, vars)
	return got == true, err
}
