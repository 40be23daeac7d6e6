package checkpoint

// This file counts what agents used: the tokens, as the records of their turns say, and what these
// cost at the user's prices.

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/record"
)

// Spending is what the turns of an agent used. Price is what that costs at the prices of the user's
// settings, nil if one is not known.
type Spending struct {
	record.Usage
	Price *float64 `json:"price,omitempty"`
}

// UsageOf returns what the record says that its turn used, or nil.
func (s *Settings) UsageOf(rec *record.Record) *Spending {
	by, _ := rec.Agent()
	return s.Priced(by.Usage)
}

// Priced adds the price.
func (s *Settings) Priced(u *record.Usage) *Spending {
	const perPrice = 1e6 // how many tokens a price in the settings is for
	if u == nil || u.Tokens == (record.Tokens{}) {
		return nil
	}
	price, known, rest := 0.0, true, u.Tokens
	for model, t := range u.Models {
		input, is := s.priceOf(model, "input", math.NaN())
		output, too := s.priceOf(model, "output", math.NaN())
		cached, _ := s.priceOf(model, "cached", input)
		written, _ := s.priceOf(model, "written", input)
		known = known && is && too
		price += (float64(t.Input)*input + float64(t.Cached)*cached + float64(t.Written)*written + float64(t.Output)*output) / perPrice
		rest = rest.Minus(t)
	}
	if !known || rest.Total() > 0 {
		return &Spending{Usage: *u}
	}
	return &Spending{Usage: *u, Price: &price}
}

// Words describes it for people; it returns "" for nil.
func (u *Spending) Words() string {
	if u == nil {
		return ""
	}
	written, requests := "", "requests"
	if u.Written > 0 {
		written = fmt.Sprintf("%d written to a cache, ", u.Written)
	}
	if u.Requests == 1 {
		requests = "request"
	}
	text := fmt.Sprintf("%d in, %d cached, %s%d out; %d %s", u.Input, u.Cached, written, u.Output, u.Requests, requests)
	if u.Price != nil {
		text += "; price " + u.PriceWords()
	}
	return text
}

// PriceWords returns a price that is known, in the user's currency.
func (u *Spending) PriceWords() string { return strconv.FormatFloat(*u.Price, 'f', 4, 64) }

// priceOf returns the price of one kind of token in the settings, or the value of otherwise if it
// is not set.
func (s *Settings) priceOf(model, kind string, otherwise float64) (float64, bool) {
	text, _ := s.Get("checkpoint.price." + model + "." + kind)
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return otherwise, false
	}
	return n, true
}
