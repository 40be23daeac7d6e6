package workflow

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
)

// Names that the guard inserts into expressions. Authors cannot use them: the guard refuses
// identifiers that start with "_".
const (
	meterName = "__meter"
	tickName  = "__tick"
	addName   = "__add"
	inName    = "__in"
)

// numbersName is the one function of authors that makes values from nothing. The guard passes it the
// meter.
const numbersName = "numbers"

// functionWeight is how many heavy operations a function call counts for. A function may look at
// its arguments several times.
const functionWeight = 3

// guard is a visitor that makes a parsed expression safe to run. It refuses what could run without
// a bound, puts a charge in front of every loop body, and counts the operations that the meter
// charges for:
//
//   - It allows no variables, ranges, slices, patterns or methods, and no calls except those of our
//     own functions and of the library's loops. The work of what is left depends on the length of
//     the expression and the size of the data, and nothing else.
//   - "+" becomes a call of add, which adds only numbers: a text that is doubled repeatedly would
//     fill the memory. "in" becomes a call of in, which treats an absent list as empty.
//   - numbers gets the meter, so that it can charge for what it makes.
//   - An operation that may look at a whole value (==, in, contains, a function) is heavy.
type guard struct {
	language *language
	// nodes counts all nodes visited, heavy the operations that may look at a whole value.
	nodes int
	heavy int
	err   error
}

// Reset and ShouldRepeat make the library run the guard after all other visitors, directly before it
// checks the types for good. Both would allow more than one run, which the guard does not need.
func (g *guard) Reset() {}

// ShouldRepeat is always false.
func (g *guard) ShouldRepeat() bool { return false }

// Visit is called by the library for each node, children before their parents.
func (g *guard) Visit(node *ast.Node) {
	g.nodes++
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, "_") || strings.HasPrefix(n.Value, "$") {
			g.refuse("the name %q", n.Value)
		}
	case *ast.VariableDeclaratorNode:
		g.refuse("let")
	case *ast.SequenceNode:
		g.refuse("a sequence with ;")
	case *ast.SliceNode:
		g.refuse("a slice")
	case *ast.CallNode:
		g.call(n)
	case *ast.BuiltinNode:
		if _, ok := g.language.loops[n.Name]; !ok {
			g.refuse("a call of %s", n.Name)
		}
		// A heavy operation in the body could make a large value for each item, and the meter does
		// not see the size of results. What remains is choosing members, as in map(list, .name).
		if n.Name == "map" && len(n.Arguments) > 1 && weight(n.Arguments[1]) > 0 {
			g.refuse("map with more than a selection of members")
		}
	case *ast.BinaryNode:
		g.binary(node, n)
	case *ast.PredicateNode:
		n.Node = metered(n.Node, g.nodes)
	}
}

// call handles a call of one of our functions.
func (g *guard) call(n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok || !g.language.has(callee.Value) {
		g.refuse("a call of something that is not a function for rules")
	}
	counted := ok && callee.Value == numbersName
	if counted {
		n.Arguments = append(n.Arguments, &ast.IdentifierNode{Value: meterName})
	}
	// The library has checked types before, for visitors only. It would take the type of a call
	// from there and not report an unknown name in its arguments.
	if counted || g.language.strict {
		n.SetNature(nature.Nature{})
	}
	g.heavy += functionWeight
}

// refuse records the first construct that is not allowed.
func (g *guard) refuse(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("an expression may not have "+format, args...)
	}
}

// binary handles an operator with two operands.
func (g *guard) binary(node *ast.Node, n *ast.BinaryNode) {
	switch n.Operator {
	case "..", "matches":
		g.refuse("the operator %q", n.Operator)
	case "+":
		call(node, addName, n)
	case "in":
		g.heavy += weigh(n)
		call(node, inName, n)
	default:
		g.heavy += weigh(n)
	}
}

// call replaces an operator with a call of one of our functions.
func call(node *ast.Node, name string, n *ast.BinaryNode) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: []ast.Node{n.Left, n.Right}})
}

// metered puts a call of tick in front of the body of a loop. nodes is the count of the whole
// expression so far, so it covers at least the body; loops inside are charged by their own ticks as
// well. Charging too much is acceptable, too little is not.
func metered(body ast.Node, nodes int) ast.Node {
	tick := &ast.CallNode{
		Callee: &ast.IdentifierNode{Value: tickName},
		Arguments: []ast.Node{
			&ast.IdentifierNode{Value: meterName},
			&ast.IntegerNode{Value: nodes},
			&ast.IntegerNode{Value: weight(body)},
		},
	}
	return &ast.SequenceNode{Nodes: []ast.Node{tick, body}}
}

// weight counts the heavy operations in a subtree.
func weight(node ast.Node) int {
	c := counter{}
	ast.Walk(&node, &c)
	return c.heavy
}

// counter counts heavy operations in a tree that the guard has already rewritten.
type counter struct{ heavy int }

func (c *counter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.CallNode:
		switch callee, ok := n.Callee.(*ast.IdentifierNode); {
		case ok && callee.Value == inName:
			c.heavy++
		case !ok || !strings.HasPrefix(callee.Value, "_"):
			c.heavy += functionWeight
		}
	case *ast.BinaryNode:
		c.heavy += weigh(n)
	}
}

// weigh returns 1 if an operator is heavy. A comparison with a literal is not: it stops at the
// first difference, and the literal is bounded by the length of the expression.
func weigh(n *ast.BinaryNode) int {
	switch n.Operator {
	case "and", "or", "&&", "||", "??", "-", "*", "/", "%", "**", "^":
		return 0
	case "==", "!=", "<", "<=", ">", ">=":
		if isLiteral(n.Left) || isLiteral(n.Right) {
			return 0
		}
	}
	return 1
}

func isLiteral(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return true
	}
	return false
}
