package workflow

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"
)

// Bounds of one expression.
const (
	maxExpression = 2000
	maxNodes      = 300
)

// scope is the set of variables that an expression of one kind may name.
type scope struct {
	name string
	vars types.Map
}

func sessionScope() scope {
	return scope{"session", types.Map{
		"state": types.Any, "record": types.Any, "workflow": types.String, "session": types.String,
	}}
}

func ruleScope() scope {
	return scope{"rule", types.Map{
		"old": types.Any, "new": types.Any,
		"status": types.String, "old_status": types.String, "trigger": types.String, "session": types.String,
		"step": types.Int, "step_name": types.String, "iteration": types.String, "rounds": types.Int, "milestone": types.Bool, "topic": types.String, "handed": types.Bool,
		"live": types.Any, "skipped": types.Any, "now": types.Int, "started": types.Int,
	}}
}

func resumeScope() scope {
	return scope{"resume", types.Map{
		"state": types.Any, "error": types.Any, "current": types.Any,
		"status": types.String, "session": types.String, "workflow": types.String, "branch": types.String, "age": types.String,
		"step": types.Int, "step_name": types.String, "next_step": types.Any, "next_name": types.String,
		"steps_done": types.Any, "steps_left": types.Any, "files": types.Any,
		"completed": types.Any, "pending": types.Any, "done": types.Any, "total": types.Any, "point": types.String,
	}}
}

// ruleScope adds the definition's own values to the variables of rules.
func (d *Definition) ruleScope() scope {
	s := ruleScope()
	s.name = "rule with values"
	for name := range d.Values {
		s.vars[name] = types.Any
	}
	return s
}

// program is a compiled expression with what its work is estimated by.
type program struct {
	scope string
	text  string
	code  *vm.Program
	nodes int
	heavy int
}

// compile checks text against the scope's variables; want is "bool" for
// conditions and "" for any value. It is cached, because the same definition is
// asked many times in one run.
func (d *Definition) compile(s scope, text, want string) (*program, error) {
	key := s.name + "\x00" + want + "\x00" + text
	d.cache.Lock()
	defer d.cache.Unlock()
	if p, ok := d.cache.programs[key]; ok {
		return p, nil
	}
	if d.cache.programs == nil {
		d.cache.programs, d.cache.language = map[string]*program{}, newLanguage()
	}
	p, err := d.cache.language.compile(s, text, want)
	if err != nil {
		return nil, err
	}
	d.cache.programs[key] = p
	return p, nil
}

// compile takes visitors that see the expression after the guard.
func (l *language) compile(s scope, text, want string, then ...ast.Visitor) (*program, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("%d characters are more than %d in an expression", len(text), maxExpression)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the expression is empty")
	}
	g := &guard{language: l}
	options := []expr.Option{l.use, expr.Env(s.vars), expr.Patch(g), expr.MaxNodes(maxNodes), expr.Optimize(false)}
	for _, v := range then {
		options = append(options, expr.Patch(v))
	}
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
	return &program{scope: s.name, text: text, code: code, nodes: g.nodes, heavy: g.heavy}, nil
}

// language is what expressions may call: our functions, and of the library's only
// what loops over a list, because the guard meters every turn of those.
type language struct {
	functions conf.FunctionsTable
	loops     conf.FunctionsTable
}

func newLanguage() *language {
	l := &language{functions: conf.FunctionsTable{}, loops: conf.FunctionsTable{}}
	for name, f := range functions() {
		types := make([]reflect.Type, len(f.types))
		for i, t := range f.types {
			types[i] = reflect.TypeOf(t).Elem()
		}
		l.functions[name] = &builtin.Function{Name: name, Func: f.call, Types: types}
	}
	for _, f := range builtin.Builtins {
		switch f.Name {
		case "all", "any", "none", "one", "count", "find", "findIndex", "filter", "map":
			l.loops[f.Name] = f
		}
	}
	return l
}

// has reports whether an author may call the function.
func (l *language) has(name string) bool {
	_, ok := l.functions[name]
	return ok && !strings.HasPrefix(name, "_")
}

// use is the option that puts the language in the place of the library's. The
// tables are shared, because filling them costs as much as compiling.
func (l *language) use(c *conf.Config) {
	c.Functions, c.Builtins = l.functions, l.loops
}

// meter bounds the work of one evaluation, however many expressions it runs. It
// counts, it does not look at a clock: the same input is always refused or never.
type meter struct {
	left int
	size int
}

const maxWork = 1_000_000_000

var errTooMuch = errors.New("does not end within its bound")

// newMeter takes the texts that the expressions will look at.
func newMeter(texts ...[]byte) *meter {
	m := &meter{left: maxWork, size: 64}
	for _, text := range texts {
		m.size += len(text)
	}
	return m
}

// charge takes the cost of nodes cheap steps and of heavy ones, which may each
// look at everything there is.
func (m *meter) charge(nodes, heavy int) error {
	cost := 50*nodes + heavy*m.size
	if heavy > 0 && cost/heavy < m.size || cost > m.left {
		m.left = 0
		return errTooMuch
	}
	m.left -= cost
	return nil
}

// run evaluates p over vars.
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

// holds evaluates a condition; an absent one holds.
func (d *Definition) holds(m *meter, s scope, text string, vars map[string]any) (bool, error) {
	if text == "" {
		return true, nil
	}
	p, err := d.compile(s, text, "bool")
	if err != nil {
		return false, err
	}
	value, err := m.run(p, vars)
	if err != nil {
		return false, err
	}
	yes, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("expression %q gives %s, not true or false", shorten(text, 120), kind(value))
	}
	return yes, nil
}

// evaluate gives the value of an expression; an absent one gives nil.
func (d *Definition) evaluate(m *meter, s scope, text string, vars map[string]any) (any, error) {
	if text == "" {
		return nil, nil
	}
	p, err := d.compile(s, text, "")
	if err != nil {
		return nil, err
	}
	return m.run(p, vars)
}
