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
	strict bool // see compile
	// nodes counts all nodes visited, heavy the operations that may look at a whole value.
	nodes int
	heavy int
	err   error
}

// Reset and ShouldRepeat make the library run the guard after all other visitors, directly before
// it checks the types for the last time. Both would allow more than one run, which the guard does
// not need.
func (g *guard) Reset() {}

// ShouldRepeat is always false.
func (g *guard) ShouldRepeat() bool { return false }

// Visit is called by the library for each node, children before their parents.
func (g *guard) Visit(node *ast.Node) {
	g.nodes++
	g.heavy += heavy(*node)
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
		if loops()[n.Name] == nil {
			g.refuse("a call of %s", n.Name)
		}
		// A heavy operation in the body could make a large value for each item, and the meter does
		// not see the size of results. What remains is choosing members, as in map(list, .name).
		if n.Name == "map" && len(n.Arguments) > 1 && weight(n.Arguments[1]) > 0 {
			g.refuse("map with more than a selection of members")
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "..", "matches":
			g.refuse("the operator %q", n.Operator)
		case "+":
			call(node, addName, n)
		case "in":
			call(node, inName, n)
		}
	case *ast.PredicateNode:
		n.Node = metered(n.Node, g.nodes)
	}
}

// call handles a call of one of our functions.
func (g *guard) call(n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok || !isFunction(callee.Value) {
		g.refuse("a call of %s, which is not a function for rules", n.Callee)
	}
	counted := ok && callee.Value == numbersName
	if counted {
		n.Arguments = append(n.Arguments, &ast.IdentifierNode{Value: meterName})
	}
	// The library has checked types before, for visitors only. It would take the type of a call
	// from there and not report an unknown name in its arguments.
	if counted || g.strict {
		n.SetNature(nature.Nature{})
	}
}

// refuse records the first construct that is not allowed.
func (g *guard) refuse(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("an expression may not have "+format, args...)
	}
}

// call replaces an operator with a call of one of our functions.
func call(node *ast.Node, name string, n *ast.BinaryNode) {
	ast.Patch(node, callOf(name, n.Left, n.Right))
}

func callOf(name string, arguments ...ast.Node) *ast.CallNode {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments}
}

// metered puts a call of tick in front of the body of a loop. nodes is the count of the whole
// expression so far, so it covers at least the body; loops inside are charged by their own ticks as
// well. Charging too much is acceptable, too little is not.
func metered(body ast.Node, nodes int) ast.Node {
	tick := callOf(tickName, &ast.IdentifierNode{Value: meterName}, &ast.IntegerNode{Value: nodes}, &ast.IntegerNode{Value: weight(body)})
	return &ast.SequenceNode{Nodes: []ast.Node{tick, body}}
}

// weight counts the heavy operations in a subtree, which the guard may have rewritten already.
func weight(node ast.Node) int {
	c := counter(0)
	ast.Walk(&node, &c)
	return int(c)
}

// counter is a visitor that counts heavy operations.
type counter int

// Visit is called by the library for each node.
func (c *counter) Visit(node *ast.Node) { *c += counter(heavy(*node)) }

// heavy returns for how many heavy operations a node counts. A comparison with a literal is none: it
// stops at the first difference, and the literal is bounded by the length of the expression.
func heavy(node ast.Node) int {
	const functionWeight = 3 // how many heavy operations a function call counts for. A function may look at its arguments several times
	switch n := node.(type) {
	case *ast.CallNode:
		switch callee, _ := n.Callee.(*ast.IdentifierNode); {
		case callee == nil || !strings.HasPrefix(callee.Value, "_"):
			return functionWeight
		case callee.Value == inName:
			return 1
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "or", "&&", "||", "??", "+", "-", "*", "/", "%", "**", "^":
		case "==", "!=", "<", "<=", ">", ">=":
			if !isLiteral(n.Left) && !isLiteral(n.Right) {
				return 1
			}
		default:
			return 1
		}
	}
	return 0
}

func isLiteral(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return true
	}
	return false
}
