package record

import "maps"

// Tokens counts what an agent's requests to a model used.
type Tokens struct {
	Input    int64 `json:"input"`             // read by the model, without what came from a cache or was written to one
	Cached   int64 `json:"cached"`            // came from a cache
	Written  int64 `json:"written,omitempty"` // was written to a cache
	Output   int64 `json:"output"`            // with the model's reasoning
	Requests int64 `json:"requests"`
}

// Total returns the number of all tokens.
func (t Tokens) Total() int64 { return t.Input + t.Cached + t.Written + t.Output }

// Plus returns the sum of both.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Cached + o.Cached, t.Written + o.Written, t.Output + o.Output, t.Requests + o.Requests}
}

// Minus returns what t has more than o, and never less than nothing.
func (t Tokens) Minus(o Tokens) Tokens {
	return Tokens{
		max(0, t.Input-o.Input), max(0, t.Cached-o.Cached), max(0, t.Written-o.Written), max(0, t.Output-o.Output), max(0, t.Requests-o.Requests),
	}
}

// Usage is what a turn of an agent used, in all and by model.
type Usage struct {
	Tokens
	Models map[string]Tokens `json:"models"`
}

// Add adds what requests to a model used. An empty name is a model that is not known.
func (u *Usage) Add(model string, t Tokens) {
	const mostModels = 64 // bounds the models of which the tokens are told apart
	if t == (Tokens{}) {
		return
	}
	u.Tokens = u.Plus(t)
	if _, known := u.Models[model]; model == "" || !known && len(u.Models) == mostModels {
		return
	}
	if u.Models == nil {
		u.Models = map[string]Tokens{}
	}
	u.Models[model] = u.Models[model].Plus(t)
}

// UsageOf returns the usage of one model.
func UsageOf(model string, t Tokens) (u Usage) {
	u.Add(model, t)
	return u
}

// Join adds another usage.
func (u *Usage) Join(o Usage) {
	models := map[string]Tokens{}
	maps.Copy(models, u.Models)
	for model, t := range o.Models {
		models[model] = models[model].Plus(t)
	}
	if u.Tokens = u.Plus(o.Tokens); len(models) > 0 {
		u.Models = models
	}
}

// Since returns what u has more than before.
func (u Usage) Since(before Usage) Usage {
	more := Usage{Tokens: u.Minus(before.Tokens)}
	for model, t := range u.Models {
		if d := t.Minus(before.Models[model]); d != (Tokens{}) {
			if more.Models == nil {
				more.Models = map[string]Tokens{}
			}
			more.Models[model] = d
		}
	}
	return more
}
