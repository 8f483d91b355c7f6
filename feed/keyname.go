package feed

import (
	"slices"
	"strings"
	"unicode"
)

// namesKey reports whether what stands behind a name in an address lets its bearer in, by the parts of the name: those
// of "rss_token_v2" are "rss", "token" and "v2", and those of "feedKey" are "feed" and "key". A value that is one of a
// few plain words is none.
func namesKey(name, value string) bool {
	if slices.Contains(plainValues, strings.ToLower(value)) {
		return false
	}
	for part := range partsOf(name) {
		switch {
		case slices.Contains(harmlessParts, part):
		case slices.Contains(keyParts, part):
			return true
		case part == "p" && strings.Trim(value, "0123456789") != "" && !strings.HasSuffix(value, ".git"):
			return true // short for a password, a page, or a project
		case slices.ContainsFunc(keyStems, func(stem string) bool { return strings.Contains(part, stem) }),
			slices.ContainsFunc(keyBegins, func(begin string) bool { return strings.HasPrefix(part, begin) }),
			slices.ContainsFunc(keyEnds, func(end string) bool { return strings.HasSuffix(part, end) }):
			return true
		}
	}
	return false
}

var (
	// plainValues hold no secret.
	plainValues = []string{"on", "off", "yes", "no", "true", "false", "none", "null"}
	// keyParts are parts of names that say that there is a key.
	keyParts = []string{
		"key", "code", "pass", "pw", "pwd", "pin", "sid", "sig", "sign", "hash", "hmac", "otp", "jwt", "cred", "creds",
		"auth", "authz", "authn", "login", "logon", "sess", "session", "ticket", "nonce", "cookie", "bearer", "tok",
		"passphrase",
	}
	// keyStems, keyBegins and keyEnds do so where a part holds them, begins with them or ends with them.
	keyStems = []string{
		"token", "secret", "passw", "passkey", "credential", "apikey", "sessionid", "sessid", "signature", "privatekey",
	}
	keyBegins = []string{"auth", "login", "logon", "session", "ticket", "cred", "sess"}
	keyEnds   = []string{
		"key", "pass", "auth", "login", "session", "ticket", "code", "sig", "sid", "pwd", "hash", "cookie",
	}
	// harmlessParts do so to nobody but to a program.
	harmlessParts = []string{
		"author", "authors", "authorid", "authorname", "authority", "credit", "credits", "sessions", "tickets", "codes",
		"monkey", "donkey", "turkey", "hockey", "jockey", "whiskey", "disney", "keyword", "keywords",
		"compass", "bypass", "encompass", "trespass",
		"barcode", "postcode", "postalcode", "zipcode", "countrycode", "langcode", "languagecode", "localecode",
		"regioncode", "statecode", "currencycode",
		"airportcode", "stationcode", "geocode", "encode", "decode", "transcode", "unicode", "qrcode",
		"sortkey", "orderkey", "categorykey", "basid", "bassid",
	}
)

// partsOf yields the parts of a name in lower case: what stands between other characters than letters and digits, cut
// where a capital follows a small letter.
func partsOf(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		for word := range strings.FieldsFuncSeq(name, between) {
			begin := 0
			for i := 1; i < len(word); i++ {
				if unicode.IsLower(rune(word[i-1])) && unicode.IsUpper(rune(word[i])) {
					if !yield(strings.ToLower(word[begin:i])) {
						return
					}
					begin = i
				}
			}
			if !yield(strings.ToLower(word[begin:])) {
				return
			}
		}
	}
}
