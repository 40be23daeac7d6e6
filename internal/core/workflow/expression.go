package workflow

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// Limits of one expression: characters, and nodes of its syntax tree.
const (
	maxExpression = 2000
	maxNodes      = 300
)

// scope is the set of variables that one kind of expression may use. Its name is part of the cache
// key, so two scopes with different variables must have different names.
type scope struct {
	name string
	vars types.Map
}

// sessionScope has the variables of the templates in the member `session`.
func sessionScope() scope {
	return scope{"session", types.Map{
		"state": types.Any, "record": types.Any, "workflow": types.String, "session": types.String, "now": types.Int,
	}}
}

// ruleScope has the variables of `rules`, `derive` and `values`. overStates sets them.
func ruleScope() scope {
	return scope{"rule", types.Map{
		"old": types.Any, "new": types.Any, "former": types.Any,
		"status": types.String, "old_status": types.String, "trigger": types.String, "session": types.String,
		"step": types.Int, "step_name": types.String, "iteration": types.String, "rounds": types.Int, "milestone": types.Bool, "topic": types.String, "handed": types.Bool,
		"live": types.Any, "skipped": types.Any, "now": types.Int, "started": types.Int,
	}}
}

// resumeScope has the variables of `resume` and `next_action`. newEvaluation sets them.
func resumeScope() scope {
	return scope{"resume", types.Map{
		"state": types.Any, "former": types.Any, "error": types.Any, "current": types.Any,
		"status": types.String, "session": types.String, "workflow": types.String, "branch": types.String, "age": types.String,
		"step": types.Int, "step_name": types.String, "next_step": types.Any, "next_name": types.String,
		"steps_done": types.Any, "steps_left": types.Any, "files": types.Any,
		"completed": types.Any, "pending": types.Any, "done": types.Any, "total": types.Any, "point": types.String,
	}}
}

// ruleScope is the scope of rules and derivations. It has the variables of values and, in addition,
// the definition's own values by name.
func (d *Definition) ruleScope() scope {
	s := ruleScope()
	s.name = "rule with values"
	for name := range d.Values {
		s.vars[name] = types.Any
	}
	return s
}

// program is a compiled expression. nodes and heavy are the numbers that meter.charge takes for one
// run of it.
type program struct {
	text  string
	code  *vm.Program
	nodes int
	heavy int
}

// programs compiles expressions and keeps what it compiled, by scope and text, because one run of the
// program evaluates the same expressions many times, but few of those that a definition has.
type programs struct {
	lock   sync.Mutex
	strict bool // see Check
	done   map[string]*program
}

// compile returns the compiled form of text. want is "bool" for conditions and "" for values of any
// type.
func (c *programs) compile(s scope, text, want string) (*program, error) {
	key := s.name + "\x00" + want + "\x00" + text
	c.lock.Lock()
	defer c.lock.Unlock()
	if p, ok := c.done[key]; ok {
		return p, nil
	}
	p, err := compile(c.strict, s, text, want)
	if err != nil {
		return nil, err
	}
	if c.done == nil {
		c.done = map[string]*program{}
	}
	c.done[key] = p
	return p, nil
}

// compile type-checks text against the variables of s. The visitors in first see the tree as it was
// written, then the guard rewrites it. The library's optimizer is off: it could replace nodes that
// the guard has counted or metered. strict means that arguments of calls are checked too, see Check.
func compile(strict bool, s scope, text, want string, first ...ast.Visitor) (*program, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("an expression has %d characters; the limit is %d", len(text), maxExpression)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the expression is empty")
	}
	g := &guard{strict: strict}
	vars := maps.Clone(s.vars)
	vars[meterName] = types.Any // for what the guard inserts
	// The tables are shared, because filling them costs as much as compiling an expression.
	ours := func(c *conf.Config) { c.Functions, c.Builtins = functions(), loops() }
	options := []expr.Option{ours, expr.Env(vars), expr.MaxNodes(maxNodes), expr.Optimize(false)}
	for _, v := range first {
		options = append(options, expr.Patch(v))
	}
	options = append(options, expr.Patch(g)) // the last of them, see guard.Reset
	if want == "bool" {
		options = append(options, expr.AsBool())
	}
	code, err := expr.Compile(text, options...)
	switch {
	case g.err != nil:
		return nil, g.err
	case err != nil:
		problem, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("expression %q: %s", shorten(text, 120), problem)
	}
	return &program{text: text, code: code, nodes: g.nodes, heavy: g.heavy}, nil
}

// meter limits the work of one evaluation across all the expressions that it runs. It counts
// operations instead of measuring time, so that the same input is always accepted or always
// refused, on every machine.
type meter struct {
	left int // the budget that remains. Nothing runs any more once it is 0
	// size is the cost of one operation that looks at all texts that the expressions can see and at the
	// longest list that numbers made: one for each byte, and valueCost for each value.
	size    int
	longest int // the length of that list
}

// maxWork is the budget of one evaluation, about half a second of processor time. A unit is one to two
// nanoseconds: to compare a number with each of a list takes 50 to 150 ns.
const (
	maxWork    = 300_000_000
	cheapCost  = 15
	valueCost  = 40 // counted in each of the texts, of which an operation looks at one
	numberCost = 60
)

var errTooMuch = errors.New("takes too long")

// newMeter returns a meter for expressions that look at the given texts.
func newMeter(texts ...[]byte) *meter {
	m := &meter{left: maxWork, size: 64}
	for _, text := range texts {
		m.size += len(text)
		for _, before := range []string{",", "[", "{"} {
			m.size += valueCost * bytes.Count(text, []byte(before))
		}
	}
	return m
}

// charge takes the cost of a number of cheap operations (nodes) and of heavy ones, each of which
// may look at all the data. It empties the budget and returns errTooMuch if the cost exceeds it or
// the multiplication overflows.
func (m *meter) charge(nodes, heavy int) error {
	cost := cheapCost*nodes + heavy*m.size
	if heavy > 0 && cost/heavy < m.size || cost > m.left {
		m.left = 0
		return errTooMuch
	}
	m.left -= cost
	return nil
}

// made charges for a list of numbers that did not exist before. From then on a heavy operation may
// look at it.
func (m *meter) made(length int) error {
	if length > m.longest {
		m.size += numberCost * (length - m.longest)
		m.longest = length
	}
	return m.charge(length, 0)
}

// run evaluates p with the given variables. It charges for the expression once; iterations of loops
// are charged by tick while it runs. For that it passes itself as a variable, which it removes from
// vars afterwards.
func (m *meter) run(p *program, vars map[string]any) (any, error) {
	if err := m.charge(p.nodes, p.heavy); err != nil {
		return nil, fmt.Errorf("expression %q %w", shorten(p.text, 120), err)
	}
	vars[meterName] = m
	defer delete(vars, meterName)
	value, err := expr.Run(p.code, vars)
	if err != nil {
		if errors.Is(err, errTooMuch) || m.left == 0 {
			return nil, fmt.Errorf("expression %q %w", shorten(p.text, 120), errTooMuch)
		}
		problem, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("expression %q: %s", shorten(p.text, 120), problem)
	}
	return value, nil
}

// evaluator evaluates expressions and templates over one set of variables, with one budget.
type evaluator struct {
	*programs
	*meter
	scope scope
	vars  map[string]any
}

// evaluatorOver returns an evaluator of the definition's expressions. The variables hold the given texts.
func (d *Definition) evaluatorOver(s scope, vars map[string]any, texts ...[]byte) *evaluator {
	return &evaluator{&d.programs, newMeter(texts...), s, vars}
}

// evaluate returns the value of an expression. An empty expression is nil.
func (e *evaluator) evaluate(text string) (any, error) { return e.evaluateAs("", text) }

func (e *evaluator) evaluateAs(want, text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	p, err := e.compile(e.scope, text, want)
	if err != nil {
		return nil, err
	}
	return e.run(p, e.vars)
}

// holds evaluates a condition. An empty condition is true.
func (e *evaluator) holds(text string) (bool, error) {
	value, err := e.evaluateAs("bool", text)
	if text == "" || err != nil {
		return text == "", err
	}
	yes, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("expression %q gives %s, not true or false", shorten(text, 120), kind(value))
	}
	return yes, nil
}
