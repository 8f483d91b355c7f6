package reading

import (
	"encoding/base32"
	"strings"
	"time"
	"unicode"
)

// A Command is what the owner wrote to the node by a message, or another message that came where those are heard.
type Command struct {
	Message string    // its ID, by which its server goes on behind it
	Sent    time.Time // whole seconds
	Answer  string    // what the node answers; "" for a message that is no command
}

// WordBytes is how many bytes of chance the word holds that stands before commands: nobody guesses it, and it can be
// typed.
const WordBytes = 10

// NewWord is the word that those bytes make: four times four letters and digits.
func NewWord(chance [WordBytes]byte) string {
	text := strings.ToLower(base32.StdEncoding.EncodeToString(chance[:]))
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
}

// WordHash is how a word is kept. Capitals and hyphens, which phones put in and people leave out, do not matter.
func WordHash(word string) Hash {
	return HashOf(strings.ToLower(strings.ReplaceAll(word, "-", "")))
}

// Ordered is what a message says behind the word, and whether it begins with it.
func (h Hash) Ordered(message string) (rest string, ok bool) {
	message = strings.TrimSpace(message)
	end := strings.IndexFunc(message, unicode.IsSpace)
	if end < 0 {
		end = len(message)
	}
	return strings.TrimSpace(message[end:]), h != (Hash{}) && WordHash(message[:end]) == h
}
