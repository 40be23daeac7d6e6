package why

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
)

// The index is trusted, so it ends with a seal that only this repository's key makes: the tag of
// AES-GCM over all before it, which is as fast as a checksum, and the nonce.
const (
	tagSize   = 16
	nonceSize = 12
	sealSize  = tagSize + nonceSize
)

func sealer(key []byte) (cipher.AEAD, error) {
	own := sha256.Sum256(append([]byte(magic), key...)) // the key has another use, too
	block, err := aes.NewCipher(own[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// sealed appends the seal.
func sealed(data, key []byte) ([]byte, error) {
	s, err := sealer(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, nonceSize)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return append(append(data, s.Seal(nil, nonce, nil, data)...), nonce...), nil
}

// opened returns the data without the seal. The error says that the seal is not that of the data.
func opened(data, key []byte) ([]byte, error) {
	s, err := sealer(key)
	if err != nil {
		return nil, err
	}
	at := max(0, len(data)-sealSize)
	tag := data[at:max(at, len(data)-nonceSize)]
	nonce := make([]byte, nonceSize)
	copy(nonce, data[at+len(tag):])
	_, err = s.Open(nil, nonce, tag, data[:at])
	return data[:at], err
}
