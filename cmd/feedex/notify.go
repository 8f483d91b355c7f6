package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/feed"
	"feedex/notify"
	"feedex/reading"
	"feedex/settings"
)

func newNotify() *cobra.Command {
	c := &cobra.Command{
		Use:   "notify",
		Short: "Be told of what filters catch",
		Long: `Be told at once, or at times of your own, of entries that your filters catch as they come: by a webhook, ntfy,
mail, or Web Push, which browsers and UnifiedPush apps take. All of it goes out from the node, so that it works at home,
and needs no account with anybody beside who passes the messages on.

One is told of what is news: not of what was filled in from the past, nor of what was published more than a day ago, and
of a story that several filters catch, or several feeds have, once. What cannot be delivered waits, and is tried again,
ever more rarely; it outlasts restarts.`,
		Example: `  feedex filter add storms 'storm NOT brain'
  feedex notify add phone ntfy https://ntfy.example/my-topic --filter storms
  feedex notify test phone
  feedex notify list`,
	}
	c.AddCommand(newNotifyAdd(), newNotifyList(), newNotifyTest(), newNotifyRemove())
	return c
}

// receiverFlags are the flags of feedex notify add.
type receiverFlags struct {
	person, secretFile, server, quiet, digest string

	commands, word string // the topic, and what stands before each
	local          *bool
	filters        []string
	most           int
}

func newNotifyAdd() *cobra.Command {
	var x receiverFlags
	c := &cobra.Command{
		Use:   "add NAME KIND ADDRESS",
		Short: "Add a receiver, or change the one of that name",
		Long: fmt.Sprintf(`Have messages go to ADDRESS, under a NAME of your own. KIND says how:

    webhook  a POST with JSON to a URL. With a secret it is signed as Standard Webhooks says: that of a bridge to
             Matrix, XMPP or Apprise, say; see the documents for examples.
    ntfy     a topic of an ntfy server, as https://ntfy.example/TOPIC. The secret is an access token.
    mail     an address of mail. --server names the server that takes it, as smtps://USER@HOST:465 or
             smtp://USER@HOST:587, and the secret is the password there; by default it is this machine's own.
    webpush  a subscription as browsers write it, in JSON; "-" reads it from standard input. The dashboard's page
             Notifications makes one of the browser it is opened in.

The secret is read from a file, once, and shown to nobody. Addresses in private networks, and http, want --local.

With --commands the node takes commands by ntfy, from a topic of the same server, which may be that of ADDRESS:
subscribe URL, unsubscribe URL, list, mute 2h, unmute. Before each stands a word that is made and shown now, once; what
comes without it is passed over. The answers go to ADDRESS, and what is sent while the node is off waits at the server
for a day.

Where there is a receiver of that NAME what no flag names stays, but what is for a server, its secret, --local and
--commands, as long as that stays alone; a mute ends, and --commands makes a new word. Flags without a value, as
--quiet '', take back what they said.

At most %d messages are sent in an hour, or as many as --most says: what comes beyond them goes together with the
next. Times of the day are those of the node's machine, or of TZ in its environment.`,
			reading.DefaultMost),
		Example: `  feedex notify add desk webhook https://hooks.example/in --secret-file ~/hook.secret
  feedex notify add inbox mail me@example.com --server smtps://me@mail.example --digest 08:00,18:00
  feedex notify add phone ntfy http://192.168.1.5/news --local --filter storms --quiet 22:00-07:00
  feedex notify add phone ntfy https://ntfy.example/my-news --secret-file ~/ntfy.token --commands my-orders`,
		Args: cobra.ExactArgs(3),
	}
	onArchive(c, func(c *cobra.Command, data string, args []string) error {
		q, err := x.request(c, args)
		if err != nil {
			return settings.UsageError{Err: err}
		}
		err = maintain(c.Context(), data, true, func(k control.Maintenance) error {
			if err := k.AddReceiver(c.Context(), q); err != nil {
				return fmt.Errorf("add receiver %q: %w", q.Name, err)
			}
			return nil
		})
		if err != nil || x.commands == "" {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "commands at the topic %s begin with a word, which is not shown again:\n"+
			"  %s list\n", x.commands, x.word)
		return err
	})
	f := c.Flags()
	f.StringVar(&x.secretFile, "secret-file", "", "`file` with the secret")
	f.StringVar(&x.server, "server", "", "of mail: `URL` of the server that takes it")
	f.StringVar(&x.commands, "commands", "", "of ntfy: `topic` from which commands are taken")
	choiceFlag(f, &x.local, "local", "it is in your own network")
	f.StringArrayVar(&x.filters, "filter", nil, "only what the filter of that `name` catches (repeatable)")
	f.StringVar(&x.quiet, "quiet", "", "send nothing between these `times` of the day, as 22:00-07:00")
	f.StringVar(&x.digest, "digest", "", "send at these `times` of the day alone, as 08:00,18:00")
	f.Var(numberFlag(&x.most, 1, reading.MostMost, ""), "most",
		fmt.Sprintf("at most n messages an hour, up to %d", reading.MostMost))
	personFlag(c, &x.person)
	_ = c.RegisterFlagCompletionFunc("secret-file", completeFiles())
	_ = c.RegisterFlagCompletionFunc("filter", func(c *cobra.Command, _ []string, word string) ([]string,
		cobra.ShellCompDirective) {
		return completeFilters(c, nil, word)
	})
	return c
}

// request is what is asked of the node, by the flags that were given.
func (x *receiverFlags) request(c *cobra.Command, args []string) (control.ReceiverRequest, error) {
	given := c.Flags().Changed
	q := control.ReceiverRequest{
		ReceiverName: control.ReceiverName{Person: x.person, Name: args[0]}, Kind: reading.ReceiverKind(args[1]),
		Address: args[2], Local: x.local,
	}
	if q.Address == "-" {
		in, err := openInput(c, q.Address)
		if err != nil {
			return q, err
		}
		defer in.Close()
		text, err := io.ReadAll(io.LimitReader(in, reading.MaxReceiverText+1))
		if err != nil {
			return q, fmt.Errorf("read the address: %w", err)
		}
		q.Address = string(text)
	}
	if given("server") {
		q.Server = &x.server
	}
	if given("filter") {
		named := slices.DeleteFunc(x.filters, func(name string) bool { return name == "" })
		q.Filters = &named
	}
	if given("most") {
		q.Most = &x.most
	}
	if given("commands") {
		q.Commands = &x.commands
	}
	if x.commands != "" {
		var chance [reading.WordBytes]byte
		rand.Read(chance[:])
		x.word = reading.NewWord(chance)
		q.Word = reading.WordHash(x.word)
	}
	var errs [3]error
	if given("secret-file") {
		q.Secret, errs[0] = x.secret()
	}
	if given("quiet") {
		q.Quiet, errs[1] = parseQuiet(x.quiet)
	}
	if given("digest") {
		q.Digest, errs[2] = parseDigest(x.digest)
	}
	return q, errors.Join(errs[:]...)
}

// secret is what the file holds, none where none is named.
func (x *receiverFlags) secret() (*string, error) {
	if x.secretFile == "" {
		return new(""), nil
	}
	text, err := os.ReadFile(x.secretFile)
	if err != nil {
		return nil, hintedError{fmt.Errorf("read the secret: %w", err), "name a file that holds it"}
	}
	if secret := strings.TrimSpace(string(feed.UTF8(text))); secret != "" {
		return &secret, nil
	}
	return nil, fmt.Errorf("read the secret: there is nothing in %s", x.secretFile)
}

// parseQuiet reads from when to when nothing is sent, "" for always.
func parseQuiet(text string) (*[2]reading.TimeOfDay, error) {
	var quiet [2]reading.TimeOfDay
	if text == "" {
		return &quiet, nil
	}
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return nil, fmt.Errorf("--quiet %.40q: want two times of the day, as 22:00-07:00", text)
	}
	var errs [2]error
	quiet[0], errs[0] = reading.ParseTimeOfDay(strings.TrimSpace(from))
	quiet[1], errs[1] = reading.ParseTimeOfDay(strings.TrimSpace(to))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("--quiet: %w", err)
	}
	if quiet[0] == quiet[1] {
		return nil, fmt.Errorf("--quiet %s ends when it begins: want two times of the day, as 22:00-07:00", text)
	}
	return &quiet, nil
}

// parseDigest reads the times of a digest, "" for none: a list all the same, for what is null in JSON stays as it was.
func parseDigest(text string) (*[]reading.TimeOfDay, error) {
	digest := []reading.TimeOfDay{}
	for _, text := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		at, err := reading.ParseTimeOfDay(text)
		if err != nil {
			return nil, fmt.Errorf("--digest: %w", err)
		}
		digest = append(digest, at)
	}
	return &digest, nil
}

// A listedReceiver is a receiver as it is listed, without what is secret.
type listedReceiver struct {
	Name     string               `json:"name"`
	Person   string               `json:"person"`
	Kind     reading.ReceiverKind `json:"kind"`
	Address  string               `json:"address"`
	All      bool                 `json:"all"`                // it is told of all filters that do not mute
	Filters  []string             `json:"filters,omitempty"`  // else of these; none is left where there are none
	Commands string               `json:"commands,omitempty"` // the topic from which commands are taken
	Deaf     string               `json:"deaf,omitempty"`     // why none are heard
	Muted    time.Time            `json:"muted,omitzero"`     // until then nothing is sent
	Secret   bool                 `json:"secret"`             // there is one
	Hours    string               `json:"hours"`              // when it is told, in words
	Due      time.Time            `json:"due,omitzero"`       // by these hours what waits is sent then
	Waiting  int                  `json:"waiting"`
	Failures int                  `json:"failures"`
	Problem  string               `json:"problem,omitempty"`
	Next     time.Time            `json:"next,omitzero"`
	Ended    bool                 `json:"ended,omitempty"`
}

func newNotifyList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the receivers, and what waits for them",
		Long: `List where you are told, of which filters and when, how many entries wait to be told and until when, and what
went wrong last. Secrets are not shown, but whether there is one.`,
		Args: noArgs,
	}
	return keptListing(c, "no receivers yet: add one with 'feedex notify add NAME KIND ADDRESS'", receiversOf,
		printReceivers)
}

func receiversOf(c *cobra.Command, r archiveFile) (lines []listedReceiver, err error) {
	people, err := r.People(c.Context())
	if err != nil {
		return nil, err
	}
	list, err := r.Receivers(c.Context())
	if err != nil {
		return nil, err
	}
	filters := make(map[reading.FilterID]string)
	names := make(map[reading.PersonID]string)
	for _, p := range people {
		names[p.ID] = p.Name
		of, err := r.Shelf(p.ID).Filters(c.Context())
		if err != nil {
			return nil, err
		}
		for i := range of {
			filters[of[i].ID] = of[i].Name
		}
	}
	for i := range list {
		x := &list[i]
		waiting, err := r.CountWaiting(c.Context(), x.ID)
		if err != nil {
			return nil, err
		}
		line := listedReceiver{
			Name: x.Name, Person: names[x.Person], Kind: x.Kind, Address: notify.Shown(x), Waiting: waiting,
			All: x.Only == nil, Failures: x.Failures, Problem: x.Problem, Next: x.Next, Ended: x.Ended,
			Commands: x.Commands, Deaf: x.Deaf, Secret: x.Secret != "", Hours: x.Hours.Words(),
		}
		now := time.Now()
		if x.MutedAt(now) {
			line.Muted = x.Muted
		}
		if line.Due, err = dueOf(c.Context(), r, x, now); err != nil {
			return nil, err
		}
		for _, id := range x.Only {
			line.Filters = append(line.Filters, filters[id])
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// dueOf is until when what waits for a receiver does by its hours, zero for no longer.
func dueOf(ctx context.Context, r archiveFile, x *reading.Receiver, now time.Time) (time.Time, error) {
	waiting, _, err := r.Waiting(ctx, x.ID, 1)
	if err != nil || len(waiting) == 0 {
		return time.Time{}, err
	}
	told, err := r.ToldSince(ctx, x.ID, now.Add(-time.Hour))
	if err != nil {
		return time.Time{}, err
	}
	if due := x.Due(now, waiting[0].Arrived, told); due.After(now) {
		return due, nil
	}
	return time.Time{}, nil
}

// printReceivers writes a table for people, and below each receiver why something waits.
func printReceivers(w io.Writer, list []listedReceiver) error {
	t := newTable(0, 5, "NAME", "KIND", "ADDRESS", "FILTERS", "WHEN", "WAITING")
	for _, r := range list {
		filters := "all"
		if !r.All {
			filters = cmp.Or(strings.Join(r.Filters, ", "), "none: they are gone")
		}
		hours := r.Hours
		if r.Secret {
			hours += ", with a secret"
		}
		t.row(printable(r.Name), string(r.Kind), printable(r.Address), printable(filters), hours, grouped(r.Waiting))
		clock := func(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }
		if !r.Muted.IsZero() {
			t.note("mute until " + clock(r.Muted))
		}
		if r.Problem != "" {
			t.note(printable(r.Problem))
		}
		if r.Next.After(time.Now()) {
			t.note("it is tried again at " + clock(r.Next))
		} else if !r.Due.IsZero() {
			t.note("what waits is sent at " + clock(r.Due))
		}
		if r.Deaf != "" {
			t.note("commands are not heard: " + printable(r.Deaf))
		}
	}
	return t.write(w)
}

func newNotifyTest() *cobra.Command {
	var person string
	c := &cobra.Command{
		Use:   "test NAME",
		Short: "Send a receiver a message now",
		Long: `Have the running node send a receiver a message, to see that it comes. Quiet hours and bounds do not hold for it,
and nothing is noted of how it goes.`,
		Args: oneArg("receiver"),
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		if err := client.TryReceiver(c.Context(), control.ReceiverName{Person: person, Name: args[0]}); err != nil {
			return fmt.Errorf("receiver %q was not told: %w", args[0], err)
		}
		_, err := fmt.Fprintln(c.OutOrStdout(), "it has taken the message")
		return err
	})
	personFlag(c, &person)
	return c
}

func newNotifyRemove() *cobra.Command {
	var person string
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a receiver and what waits for it",
		Args:  oneArg("receiver"),
	}
	onMaintained(c, false, func(c *cobra.Command, k control.Maintenance, args []string) error {
		return k.RemoveReceiver(c.Context(), control.ReceiverName{Person: person, Name: args[0]})
	})
	personFlag(c, &person)
	return c
}
