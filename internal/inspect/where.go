package inspect

import (
	"encoding/json"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/workflow"
)

// whereExpression compiles --where; nil without one.
func whereExpression(text string) (func(json.RawMessage) (bool, error), error) {
	if text == "" {
		return nil, nil
	}
	fits, err := workflow.Where(text)
	if err != nil {
		return nil, checkpoint.Usage("an expression over the record, such as state.metrics.build_pass", "--where: %v", err)
	}
	return fits, nil
}
