package why

// memo remembers what was found out. Its zero value is empty and ready.
type memo[K comparable, V any] struct {
	known map[K]V
	most  int // values are large: beyond so many, all are forgotten; 0: none is
}

// get returns what is known of a key. The first time it finds it out.
func (m *memo[K, V]) get(key K, find func() V) V {
	value, known := m.known[key]
	if known {
		return value
	}
	value = find()
	switch {
	case m.known == nil:
		m.known = map[K]V{}
	case m.most > 0 && len(m.known) > m.most:
		clear(m.known)
	}
	m.known[key] = value
	return value
}
