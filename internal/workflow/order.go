package workflow

// CheckOrder is the part of Check that does not depend on the new state: the order of steps. A
// caller can ask it before it runs the command of a step.
func (d *Definition) CheckOrder(c Change) []Violation {
	if t, known := d.trigger(c.Trigger); known && t.Exempt {
		return nil
	}
	return d.checkOrder(c)
}
