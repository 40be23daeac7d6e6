package answer

import (
	"strconv"

	"git-checkpoint/internal/core/checkpoint"
)

// tokensOf returns the number of all tokens that a turn used, or "".
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
	return u.PriceWords()
}
