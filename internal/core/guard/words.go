package guard

import (
	"math"

	"git-checkpoint/internal/sys/gather"
)

// This file tells words from random letters, by how often one letter follows another in
// words.

// surprise has a digit for each pair of letters, indexed by 26*first + second: how unusual
// it is that the second follows the first, in bits, at most 9. It was counted over 14,000
// words and parts of names in programs and their documentation.
const surprise = "" +
	"75447659597353949343668769" + // a
	"35553679368277469446389869" + // b
	"36563654594467369543569979" + // c
	"46642568389577479446567879" + // d
	"46435568799453757334767589" + // e
	"46544377399366359445599869" + // f
	"48662654399564458446587989" + // g
	"29752789399657369464597968" + // h
	"56445559999442359544959795" + // i
	"36962559497967369936395999" + // j
	"47761558399565668635787979" + // k
	"38652779396387379754578949" + // l
	"25662789397657439746589999" + // m
	"47443538496676479733669989" + // n
	"66357669697442549344455899" + // o
	"38563665497478349354587979" + // p
	"99658999699497869557098997" + // q
	"38552669396656369544667969" + // r
	"58473764396567548643486958" + // s
	"38572684299567469345588759" + // t
	"54565559499442649433999799" + // u
	"36661686398666469756797999" + // v
	"28663774398684459346798799" + // w
	"34343486499767638653778689" + // x
	"56574788499543529524996986" + // y
	"36781969499778489858866976" // z

// isWordy reports whether the letters of a value form words rather than being random: a
// name, a path, a sentence, a call in a program. In names such as tokenFor a capital begins
// another word.
func isWordy(value []byte) bool {
	// Random letters come to typical bits per pair, and the sum over n pairs strays by a few
	// times stray*sqrt(n). Words come to about 4 bits.
	const typical, stray = 6.08, 2.3
	pairs, bits, most := 0, 0, gather.Count(value, isWord)
	for i := 1; i < len(value); i++ {
		first, second := value[i-1], value[i]
		if !isLetter(first) || !isLetter(second) || first >= 'a' && second < 'a' {
			continue
		}
		pairs++
		bits += int(surprise[26*int(lower(first)-'a')+int(lower(second)-'a')] - '0')
	}
	if pairs == 0 || pairs*5 < most*2 { // mostly digits, or letters that stand alone
		return false
	}
	// One random value in 200 falls below.
	n := float64(pairs)
	return float64(bits) < n*min(typical-2.8*stray/math.Sqrt(n), 4.9)
}

func isLetter(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }
