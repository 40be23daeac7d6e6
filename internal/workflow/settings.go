package workflow

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// KeyValue is one configuration setting.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Configuration translates a foreign configuration document (as JSON) into
// settings of ours; what the definition does not map is left out.
func (d *Definition) Configuration(document json.RawMessage) ([]KeyValue, error) {
	if err := checkDocument(document); err != nil {
		return nil, err
	}
	root := gjson.ParseBytes(document)
	var found []KeyValue
	for _, s := range d.Settings {
		before, after, wild := strings.Cut(s.From, "*")
		if !wild {
			found = appendSetting(found, s, s.Key, root.Get(s.From))
			continue
		}
		group := root
		if before != "" {
			group = root.Get(strings.TrimSuffix(before, "."))
		}
		if !group.IsObject() {
			continue
		}
		group.ForEach(func(name, value gjson.Result) bool {
			if after != "" {
				value = value.Get(strings.TrimPrefix(after, "."))
			}
			if isWord(name.String()) {
				found = appendSetting(found, s, strings.Replace(s.Key, "*", name.String(), 1), value)
			}
			return true
		})
	}
	return found, nil
}

// appendSetting takes scalars only; "all" is how people write no limit.
func appendSetting(found []KeyValue, s Setting, key string, value gjson.Result) []KeyValue {
	switch value.Type {
	case gjson.String, gjson.Number, gjson.True, gjson.False:
	default:
		return found
	}
	text := value.String()
	if strings.HasSuffix(key, ".keep") && text == "all" {
		text = "-1"
	}
	return append(found, KeyValue{key, text + s.Suffix})
}
