package feed

import (
	"strconv"
	"strings"
	"time"
)

// earliest is the first believable date. A date before it is a clock's zero or a program's null, written in some time
// zone.
var earliest = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)

// instant is the date that a publisher wrote, in whole seconds of UTC, or the zero time where it is
// unknown: not there, not readable, or not believable. parsed is gofeed's reading of it, for forms
// that parseDate does not know.
func (b *builder) instant(written string, parsed *time.Time) time.Time {
	t, ok := parseDate(written)
	if !ok {
		if parsed == nil {
			return time.Time{}
		}
		t = *parsed
	}
	if t.Before(earliest) || t.After(b.latest) {
		return time.Time{}
	}
	return time.Unix(t.Unix(), 0).UTC()
}

// parseDate reads the two families of dates that feeds use, RFC 3339 and RFC 5322, with the liberties
// that publishers take: parts left out, one digit for two, other separators, month names of other
// languages; and the seconds or milliseconds of Unix. gofeed knows most of these forms too, but takes a zone name that
// it does not know from the time zone of the machine, so that two nodes would date the same entry differently; here
// such a name means UTC. The day of the week is ignored.
func parseDate(s string) (time.Time, bool) {
	p := dateParser{rest: strings.TrimSpace(s)}
	if n, digits := p.long(); p.rest == "" && !p.bad {
		switch digits {
		case 9, 10:
			return time.Unix(n, 0).UTC(), true
		case 13:
			return time.UnixMilli(n).UTC(), true
		}
	}
	p = dateParser{rest: strings.TrimSpace(s)}
	if len(p.rest) > 64 {
		return time.Time{}, false
	}
	if p.date(); p.bad {
		return time.Time{}, false
	}
	p.clock()
	zone := p.zone()
	if p.bad || p.rest != "" || p.month < 1 || p.month > 12 || p.day < 1 || p.day > days(p.year, p.month) ||
		p.hour > 24 || p.hour == 24 && p.minute+p.second > 0 || p.minute > 59 || p.second > 60 {
		return time.Time{}, false
	}
	return time.Date(p.year, time.Month(p.month), p.day, p.hour, p.minute, p.second-zone, 0, time.UTC), true
}

// days is the number of days of a month.
func days(year, month int) int {
	return time.Date(year, time.Month(month+1), 0, 0, 0, 0, 0, time.UTC).Day()
}

// A dateParser takes a date apart from left to right.
type dateParser struct {
	rest                                   string
	year, month, day, hour, minute, second int
	bad                                    bool
}

// date reads the day: "2006-01-02", "2006/1/2", "2006-01" or "20060102", else "Mon, 2 Jan 2006" and its kin.
func (p *dateParser) date() {
	n, digits := p.number()
	switch digits {
	case 4:
		p.year, p.month, p.day = n, 1, 1
	case 8:
		p.year, p.month, p.day = n/10000, n/100%100, n%100
	default:
		p.wordyDate(n, digits)
		return
	}
	if digits == 4 && p.take("-/") {
		p.month, _ = p.number()
		if p.take("-/") {
			p.day, _ = p.number()
		}
	}
	p.bad = p.bad || p.rest != "" && !p.take("Tt ")
}

// wordyDate reads day, month and year in any order that begins with the day, the month or the name
// of the weekday. The first number has been read.
func (p *dateParser) wordyDate(n, digits int) {
	if digits > 0 {
		p.day = n
	} else if name := p.word(); !p.take(",") {
		p.month = months[fold(name)] // "Mar 3", but "mar, 3 jan" is a Tuesday
	}
	for !p.bad && (p.day == 0 || p.month == 0 || p.year == 0) {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n.,-")
		switch n, digits := p.number(); {
		case digits == 0 && p.month == 0:
			p.month = months[fold(p.word())]
			p.bad = p.month == 0
		case p.day == 0 && (digits == 1 || digits == 2):
			p.day = n
			p.bad = n == 0
		case p.month != 0 && digits == 4:
			p.year = n
			p.bad = n == 0
		case p.month != 0 && digits == 2 && n < 50: // RFC 5322 §4.3
			p.year = 2000 + n
		case p.month != 0 && digits == 2:
			p.year = 1900 + n
		default:
			p.bad = true
		}
	}
	p.take(",")
}

// clock reads "15:04:05.999", "150405", "1504" or "3:04 pm", or nothing.
func (p *dateParser) clock() {
	p.blanks()
	n, digits := p.number()
	if digits == 0 {
		return
	}
	switch digits {
	case 4:
		p.hour, p.minute = n/100, n%100
	case 6:
		p.hour, p.minute, p.second = n/10000, n/100%100, n%100
	default:
		p.hour = n
		p.bad = p.bad || digits > 2 || !p.take(":")
		p.minute, digits = p.number()
		p.bad = p.bad || digits == 0
		if p.take(":") {
			p.second, digits = p.number()
			p.bad = p.bad || digits == 0
		}
	}
	if p.take(".,") {
		_, digits = p.number()
		p.bad = p.bad || digits == 0
	}
	p.blanks()
	for half, pm := range []string{"am", "pm"} {
		if len(p.rest) >= 2 && strings.EqualFold(p.rest[:2], pm) {
			p.rest = p.rest[2:]
			p.bad = p.bad || p.hour < 1 || p.hour > 12
			p.hour = p.hour%12 + 12*half
		}
	}
}

// zone reads "Z", "+01:00", "-0500", "-0500 EST", "GMT", "EST", "GMT+2", or nothing, and returns seconds east of UTC.
func (p *dateParser) zone() int {
	p.blanks()
	offset := zones[strings.ToUpper(p.word())]
	sign := 1
	switch {
	case p.take("-"):
		sign = -1
	case !p.take("+"):
		p.comment()
		return offset
	}
	n, digits := p.number()
	hours, minutes := n, 0
	if digits > 2 {
		hours, minutes = n/100, n%100
	} else if p.take(":") {
		minutes, _ = p.number()
	}
	p.bad = p.bad || digits == 0 || digits > 4 || hours > 14 || minutes > 59
	p.comment()
	return sign * (hours*3600 + minutes*60)
}

// comment skips a zone's name behind its offset, "+0100 (CET)" or "+0000 UTC".
func (p *dateParser) comment() {
	p.blanks()
	if _, known := zones[strings.ToUpper(p.rest)]; known || strings.EqualFold(p.rest, "UTC") ||
		strings.EqualFold(p.rest, "GMT") {
		p.rest = ""
	}
	if strings.HasPrefix(p.rest, "(") && strings.HasSuffix(p.rest, ")") {
		p.rest = ""
	}
}

// number reads the digits of what fits into an int, or of a fraction.
func (p *dateParser) number() (n, digits int) {
	all, digits := p.long()
	return int(all), digits
}

// long reads digits, and returns how many there were.
func (p *dateParser) long() (n int64, digits int) {
	for digits < len(p.rest) && digit(p.rest[digits]) {
		digits++
	}
	n, err := strconv.ParseInt(p.rest[:digits], 10, 64)
	p.bad = p.bad || digits > 0 && err != nil
	p.rest = p.rest[digits:]
	return n, digits
}

// word reads letters.
func (p *dateParser) word() string {
	i := strings.IndexAny(p.rest, " \t\r\n,.+-():0123456789")
	if i < 0 {
		i = len(p.rest)
	}
	w := p.rest[:i]
	p.rest = p.rest[i:]
	return w
}

// take reads one of the characters.
func (p *dateParser) take(chars string) bool {
	if p.rest == "" || !strings.Contains(chars, p.rest[:1]) {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *dateParser) blanks() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// fold shortens the name of a month to the letters that tell it from the others in every language
// of the table.
func fold(name string) string {
	r := []rune(strings.ToLower(name))
	n := 3
	if len(r) > 3 && (string(r[:3]) == "jui" || string(r[:3]) == "mar") {
		n = 4
	}
	return string(r[:min(n, len(r))])
}

// months are the names of months in English, German, French, Spanish, Portuguese, Italian and Dutch.
var months = map[string]int{
	"jan": 1, "ene": 1, "gen": 1, "jän": 1,
	"feb": 2, "fév": 2, "fev": 2,
	"mar": 3, "marc": 3, "mars": 3, "mär": 3, "mrz": 3, "marz": 3, "maa": 3, "mrt": 3, "març": 3,
	"apr": 4, "avr": 4, "abr": 4,
	"may": 5, "mai": 5, "mag": 5, "mei": 5,
	"jun": 6, "juin": 6, "giu": 6,
	"jul": 7, "juil": 7, "lug": 7,
	"aug": 8, "aoû": 8, "aou": 8, "ago": 8,
	"sep": 9, "set": 9,
	"oct": 10, "okt": 10, "out": 10, "ott": 10,
	"nov": 11,
	"dec": 12, "dez": 12, "déc": 12, "dic": 12,
}

// zones are the zone names of RFC 5322 §4.3 and those that feeds use beside them, in seconds east of
// UTC. Where a name has several meanings the most frequent in feeds is taken, as gofeed does.
var zones = map[string]int{
	"EST": -5 * 3600, "EDT": -4 * 3600, "CST": -6 * 3600, "CDT": -5 * 3600,
	"MST": -7 * 3600, "MDT": -6 * 3600, "PST": -8 * 3600, "PDT": -7 * 3600,
	"AKST": -9 * 3600, "AKDT": -8 * 3600, "HST": -10 * 3600,
	"WEST": 3600, "BST": 3600, "CET": 3600, "MEZ": 3600, "CEST": 2 * 3600, "MESZ": 2 * 3600,
	"EET": 2 * 3600, "EEST": 3 * 3600, "MSK": 3 * 3600,
	"JST": 9 * 3600, "KST": 9 * 3600, "AEST": 10 * 3600, "AEDT": 11 * 3600,
	"NZST": 12 * 3600, "NZDT": 13 * 3600,
}
