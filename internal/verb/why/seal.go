package why

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
)

// The index is trusted, so it ends with a seal that only this repository's key makes: AES-GCM over all before it, which is
// as fast as a checksum.
const sealSize = 12 + 16 // a nonce and a tag

func sealer(key []byte) (cipher.AEAD, error) {
	own := sha256.Sum256(append([]byte(magic), key...)) // the key has another use, too
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// sealed appends the seal.
func sealed(data, key []byte) ([]byte, error) {
	s, err := sealer(key)
	if err != nil {
		return nil, err
	}
	return append(data, s.Seal(nil, nil, nil, data)...), nil
}

// opened returns the data without the seal. The error says that the seal is not that of the data.
func opened(data, key []byte) ([]byte, error) {
	s, err := sealer(key)
	if err != nil {
		return nil, err
	}
	at := max(0, len(data)-sealSize)
	_, err = s.Open(nil, nil, data[at:], data[:at])
	return data[:at], err
}
