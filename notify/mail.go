package notify

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/wneessen/go-mail"

	"feedex/reading"
	"feedex/safehtml"
)

// defaultMailServer is where mail goes that names no server: to this machine, as its other programs send theirs.
const defaultMailServer = "smtp://localhost"

// A mailServer is what Receiver.Server says. Its URL is smtps://user@host:465 for a server that is spoken to by TLS
// from the begin, and smtp://user@host:587 for one that has to go over to it, unless it is this machine.
type mailServer struct {
	host, user string
	port       int
	tls        bool
}

// readMailServer reads the URL of a server. The error wraps reading.ErrReceiver.
func readMailServer(text string) (mailServer, error) {
	u, err := url.Parse(cmp.Or(text, defaultMailServer))
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Path != "" && u.Path != "/" {
		return mailServer{}, fmt.Errorf("%w: server %.60q: want smtp://USER@HOST:587 or smtps://USER@HOST:465",
			reading.ErrReceiver, text)
	}
	if _, has := u.User.Password(); has {
		return mailServer{}, fmt.Errorf("%w: server: the password has a place of its own, and none in the address",
			reading.ErrReceiver)
	}
	s := mailServer{host: u.Hostname(), user: u.User.Username(), tls: u.Scheme == "smtps"}
	port := u.Port()
	switch {
	case port != "":
	case s.tls:
		port = "465"
	case s.here():
		port = "25"
	default:
		port = "587"
	}
	if s.port, err = strconv.Atoi(port); err != nil || s.port < 1 || s.port > 65535 {
		return mailServer{}, fmt.Errorf("%w: server: there is no port %.10q", reading.ErrReceiver, port)
	}
	return s, nil
}

// here reports whether the server is this machine, to which nothing need be encrypted.
func (s mailServer) here() bool {
	if s.host == "localhost" {
		return true
	}
	a := net.ParseIP(s.host)
	return a != nil && a.IsLoopback()
}

// mail sends a message by SMTP (RFC 5321).
func (t *Teller) mail(ctx context.Context, r *reading.Receiver, b *bulletin) error {
	server, err := readMailServer(r.Server)
	if err != nil {
		return err
	}
	letter, err := newLetter(r.Address, b)
	if err != nil {
		return err
	}
	policy := mail.TLSMandatory
	switch {
	case server.tls:
		policy = mail.NoTLS // the connection has it already
	case server.here():
		policy = mail.TLSOpportunistic
	}
	options := []mail.Option{ // whose time is for each step: ctx ends the whole before
		mail.WithPort(server.port), mail.WithTimeout(2 * deliverTime), mail.WithTLSPolicy(policy),
		mail.WithTLSConfig(t.tlsFor(server.host)),
		mail.WithDialContextFunc(func(dial context.Context, network, address string) (net.Conn, error) {
			return t.dialMail(ctx, dial, r, server, network, address)
		}),
	}
	if r.Secret != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthPlain),
			mail.WithUsername(cmp.Or(server.user, r.Address)), mail.WithPassword(r.Secret))
	}
	client, err := mail.NewClient(server.host, options...)
	if err != nil {
		return fmt.Errorf("%w: %w", reading.ErrReceiver, err)
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if takes, _ := session.Extension("SMTPUTF8"); !takes && strings.IndexFunc(r.Address, beyondASCII) >= 0 {
		err = errors.New("the server takes no address with letters beyond ASCII: it does not offer SMTPUTF8")
	} else {
		err = declinedMail(client.SendWithSMTPClient(session, letter))
	}
	_ = client.CloseWithSMTPClient(session) // what it says when it hangs up does not matter
	if letter.IsDelivered() {
		return nil // nor does what it says afterwards
	}
	return err
}

func beyondASCII(r rune) bool { return r > unicode.MaxASCII }

// declinedMail is a declined where a server refuses for ever the message and not who it is for, and else the error as
// it is.
func declinedMail(err error) error {
	var e *mail.SendError
	if !errors.As(err, &e) || e.ErrorCode()/100 != 5 || e.Reason == mail.ErrSMTPRcptTo {
		return err
	}
	said, _, _ := strings.Cut(strings.TrimPrefix(e.Error(), e.Reason.String()+": "), ", affected ")
	return declined{status: safehtml.Label(said), unfit: true}
}

// dialMail connects to a mail server: for as long as sending lasts.
func (t *Teller) dialMail(sending, dial context.Context, r *reading.Receiver, s mailServer, network,
	address string) (net.Conn, error) {
	connect := t.Dial
	if r.Local {
		connect = t.DialLocal
	}
	conn, err := connect(dial, network, address)
	if err != nil {
		return nil, err
	}
	quiet := &quietConn{Conn: conn, left: maxMailSaid}
	context.AfterFunc(sending, func() { quiet.Close() })
	if !s.tls {
		return quiet, nil
	}
	encrypted := tls.Client(quiet, t.tlsFor(s.host))
	if err := encrypted.HandshakeContext(dial); err != nil {
		return nil, errors.Join(err, quiet.Close())
	}
	return encrypted, nil
}

// maxMailSaid is how much a mail server may say in a session, in bytes.
const maxMailSaid = 256 << 10

// A quietConn is read from so far: the library has no bound for what it keeps of an answer.
type quietConn struct {
	net.Conn
	left int
}

func (c *quietConn) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the server says too much")
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// tlsFor is how TLS is spoken with a mail server.
func (t *Teller) tlsFor(host string) *tls.Config {
	return &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, RootCAs: t.Roots}
}

// newLetter makes the message. The address is the person's own, and stands for who sends it.
func newLetter(address string, b *bulletin) (*mail.Msg, error) {
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := m.FromFormat("feedex", address); err != nil {
		return nil, fmt.Errorf("%w: %w", reading.ErrReceiver, err)
	}
	if err := m.To(address); err != nil {
		return nil, fmt.Errorf("%w: %w", reading.ErrReceiver, err)
	}
	m.Subject(strings.ReplaceAll(b.title(), "=?", "= ?")) // or what a publisher wrote would be decoded (RFC 2047)
	m.SetMessageIDWithValue(b.id + "@feedex.invalid")
	m.SetDate()
	m.SetGenHeader(mail.HeaderUserAgent, "feedex")
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no program answers it
	m.SetBodyString(mail.TypeTextPlain, b.letter())
	return m, nil
}
