package workflow

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// Names that the guard puts into an expression; none can be typed by an author.
const (
	meterName = "__meter"
	tickName  = "__tick"
	addName   = "__add"
	inName    = "__in"
)

// functionWeight is how much more a function does with a value than an operator.
const functionWeight = 3

// guard walks a parsed expression, refuses what could not be bounded, meters the
// body of every loop and counts what the meter charges for:
//
//   - no variables, ranges, slices, patterns, methods, or calls of anything but
//     the functions of the language, so that work grows with the text only;
//   - "+" adds numbers only, because texts that double fill the memory; "in" takes
//     an absent list as empty, as the functions do;
//   - what may look at a whole value (==, in, contains, a function) is heavy.
type guard struct {
	language *language
	nodes    int
	heavy    int
	err      error
}

// Visit is called for children before their parents.
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
		if callee, ok := n.Callee.(*ast.IdentifierNode); !ok || !g.language.has(callee.Value) {
			g.refuse("a call of anything but the functions of rules")
		}
		g.heavy += functionWeight
	case *ast.BuiltinNode:
		if _, ok := g.language.loops[n.Name]; !ok {
			g.refuse("a call of %s", n.Name)
		}
		if n.Name == "map" && len(n.Arguments) > 1 && weight(n.Arguments[1]) > 0 {
			g.refuse("map with more than a choice of members")
		}
	case *ast.BinaryNode:
		g.binary(node, n)
	case *ast.PredicateNode:
		n.Node = metered(n.Node, g.nodes)
	}
}

func (g *guard) refuse(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("an expression may not have "+format, args...)
	}
}

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

// call puts a function of ours in the place of an operator.
func call(node *ast.Node, name string, n *ast.BinaryNode) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: []ast.Node{n.Left, n.Right}})
}

// metered puts a charge before the body of a loop. It charges for the body as a
// whole, loops inside it included, which is more than enough.
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

// weight counts the heavy steps of a subtree.
func weight(node ast.Node) int {
	c := counter{}
	ast.Walk(&node, &c)
	return c.heavy
}

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
