package checkpoint

import (
	"encoding/json"

	"git-checkpoint/internal/workflow"
)

// whereExpression compiles --where; nil without one.
func (s *Service) whereExpression(text string) (func(json.RawMessage) (bool, error), error) {
	if text == "" {
		return nil, nil
	}
	fits, err := workflow.Where(text)
	if err != nil {
		return nil, usage("an expression over the record, such as state.metrics.build_pass", "--where: %v", err)
	}
	return fits, nil
}
