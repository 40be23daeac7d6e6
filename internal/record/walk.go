package record

// visitor is told of the tokens of a JSON text in order. A token is as written;
// at is its offset.
type visitor interface {
	open(bracket byte)
	key(raw []byte, at int) error
	scalar(raw []byte, at int) error
	close()
}

// walk visits a text that encoding/json found valid, in one pass and without
// recursion.
func walk(data []byte, v visitor) error {
	s := scanner{data: data}
	brackets := make([]byte, 0, 128)
	wantKey := false
	for {
		c := s.peek()
		at := s.at
		switch c {
		case 0:
			return nil
		case '{', '[':
			brackets = append(brackets, c)
			wantKey = c == '{'
			v.open(c)
			s.at++
		case '}', ']':
			brackets = brackets[:max(0, len(brackets)-1)]
			v.close()
			s.at++
		case ',':
			wantKey = len(brackets) > 0 && brackets[len(brackets)-1] == '{'
			s.at++
		case ':':
			wantKey = false
			s.at++
		default:
			var err error
			if raw := s.scalar(); wantKey {
				err = v.key(raw, at)
			} else {
				err = v.scalar(raw, at)
			}
			if err != nil {
				return err
			}
		}
	}
}
