package workflow

// CheckOrder is the part of Check that a step's command need not have run for:
// the order of steps.
func (d *Definition) CheckOrder(c Change) []Violation {
	if t, known := d.trigger(c.Trigger); known && t.Exempt {
		return nil
	}
	return d.checkOrder(c)
}
