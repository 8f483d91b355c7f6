package trace

import "math"

// Package math promises the same results on every platform for its roots only, and a compiler may fuse
// x*y + z into one rounding. The functions here use single operations, each rounded where the conversion
// stands, so that a seed means the same feeds everywhere.

// logarithm is the natural logarithm of x, which is above 0 and finite.
func logarithm(x float64) float64 {
	m, e := math.Frexp(x) // x = m 2^e, m from 1/2; both are exact
	// ln m = 2 artanh z with z = (m-1)/(m+1), at most 1/3 in size: 20 terms are past the last bit.
	z := (m - 1) / (m + 1)
	square := float64(z * z)
	sum, term := 0.0, z
	for k := 1; k < 40; k += 2 {
		sum += float64(term / float64(k))
		term = float64(term * square)
	}
	return float64(float64(e)*math.Ln2) + float64(2*sum)
}

// exponential is e^x, for x between -700 and 700.
func exponential(x float64) float64 {
	n := math.Floor(float64(x/math.Ln2) + 0.5)
	rest := x - float64(n*math.Ln2) // at most ln 2 / 2 in size: 16 terms are past the last bit
	sum, term := 1.0, 1.0
	for k := 1; k <= 16; k++ {
		term = float64(term*rest) / float64(k)
		sum += term
	}
	return math.Ldexp(sum, int(n))
}

// power is x^y, for x above 0.
func power(x, y float64) float64 { return exponential(float64(y * logarithm(x))) }
