package answer

import (
	"strconv"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
)

// tokensOf returns the number of all tokens that a turn took, or "".
func tokensOf(u *checkpoint.Spending) string {
	if u == nil {
		return ""
	}
	return strconv.FormatInt(u.Total(), 10)
}

// priceOf returns the price of a turn in the user's currency, or "".
func priceOf(u *checkpoint.Spending) string {
	if u == nil || u.Price == nil {
		return ""
	}
	return strconv.FormatFloat(*u.Price, 'f', 4, 64)
}

// usageOf says what a turn took.
func usageOf(u *checkpoint.Spending) string {
	if u == nil {
		return ""
	}
	n := func(of int64) string { return strconv.FormatInt(of, 10) }
	text := n(u.Input) + " in, " + n(u.Cached) + " cached, "
	if u.Written > 0 {
		text += n(u.Written) + " written to a cache, "
	}
	text += n(u.Output) + " out; " + render.Count(int(u.Requests), "request", "requests")
	if price := priceOf(u); price != "" {
		text += "; price " + price
	}
	return text
}
