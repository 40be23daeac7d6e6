// Package gather makes lists and sets of what the elements of a list have.
package gather

// List returns what each element gives, in order; for no elements an empty list, which is [] in JSON.
func List[T, R any](from []T, give func(T) R) []R {
	out := make([]R, len(from))
	for i, one := range from {
		out[i] = give(one)
	}
	return out
}

// Those returns the elements that fit, in a list of its own, and nil if none does.
func Those[T any](from []T, fits func(T) bool) (out []T) {
	for _, one := range from {
		if fits(one) {
			out = append(out, one)
		}
	}
	return out
}

// Count returns how many elements fit.
func Count[T any](from []T, fits func(T) bool) (n int) {
	for _, one := range from {
		if fits(one) {
			n++
		}
	}
	return n
}

// Set returns what the elements give as a set.
func Set[T any, K comparable](from []T, give func(T) K) map[K]bool {
	out := make(map[K]bool, len(from))
	for _, one := range from {
		out[give(one)] = true
	}
	return out
}

// SetOf returns the elements as a set.
func SetOf[K comparable](from []K) map[K]bool { return Set(from, func(one K) K { return one }) }

// Map returns what the elements give as a map; of several with one key the last counts.
func Map[T any, K comparable, V any](from []T, give func(T) (K, V)) map[K]V {
	out := make(map[K]V, len(from))
	for _, one := range from {
		key, value := give(one)
		out[key] = value
	}
	return out
}
