package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"feedex/archive"
	"feedex/control"
	"feedex/daemon"
	"feedex/reading"
	"feedex/settings"
)

func newPerson() *cobra.Command {
	c := &cobra.Command{
		Use:        "person",
		SuggestFor: []string{"user"},
		Short:      "Let several people read through one node",
		Long: `People who read through the node beside its owner, each with marks, stars, labels, folders, titles of feeds and
passwords of their own. The feeds and what there is of them are the same for all: what one of them follows comes for
everybody, and what anybody starred or labelled is kept. Who follows a feed no more, in a reader of theirs, no longer
sees it, and the others go on to do so; the owner alone has the node follow it no more.

A person comes in by the passwords that 'feedex password add --person' makes, with any reader that takes one. The owner
is a person too, and stays.

All of it works while a node runs and while none does.`,
		Example: `  feedex person add Ann
  feedex password add --person Ann ann-phone
  feedex person list`,
	}
	c.AddCommand(newPersonAdd(), newPersonList(), newPersonRemove())
	return c
}

func newPersonAdd() *cobra.Command {
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a person",
		Long: fmt.Sprintf(`Add a person who reads through the node, by a NAME of one line. They find some of what came last unread, at most
%d entries of each feed, and what comes from now on; what is older counts as read.`, archive.FirstUnread),
		Example: "  feedex person add Ann",
		Args:    oneArg("person"),
	}
	return onArchive(c, func(c *cobra.Command, data string, args []string) error {
		name, err := reading.PersonName(args[0])
		if err != nil {
			return settings.UsageError{Err: err}
		}
		return maintain(c.Context(), data, true, func(k control.Maintenance) error {
			if err := k.AddPerson(c.Context(), name); err != nil {
				return fmt.Errorf("add person %q: %w", name, err)
			}
			return nil
		})
	})
}

// A listedPerson is a person as they are listed.
type listedPerson struct {
	Name      string    `json:"name"`
	Since     time.Time `json:"since,omitzero"`
	Passwords int       `json:"passwords"`
	Folders   int       `json:"folders"`
	Unread    int       `json:"unread"`
	Starred   int       `json:"starred"`
	Labels    int       `json:"labels"`
}

func newPersonList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List who reads through the node",
		Long: `List who reads through the node, the owner first: since when, how many passwords, folders and labels they have, and how
many entries are unread and starred.`,
		Args: noArgs,
	}
	return keptListing(c, "", func(c *cobra.Command, r archiveFile) (lines []listedPerson, err error) {
		people, err := r.People(c.Context())
		if err != nil {
			return nil, err
		}
		for _, p := range people {
			b, err := r.Belongings(c.Context(), p.ID)
			if err != nil {
				return nil, err
			}
			lines = append(lines, listedPerson{p.Name, p.Created, b.Passwords, b.Folders, b.Unread, b.Starred,
				b.Labels})
		}
		return lines, nil
	}, printPeople)
}

// printPeople writes a table for people.
func printPeople(w io.Writer, list []listedPerson) error {
	t := newTable(0, 7, "NAME", "SINCE", "PASSWORDS", "FOLDERS", "LABELS", "UNREAD", "STARRED")
	for _, p := range list {
		since := "ever"
		if !p.Since.IsZero() {
			since = day(p.Since)
		}
		t.row(printable(p.Name), since, grouped(p.Passwords), grouped(p.Folders),
			grouped(p.Labels), grouped(p.Unread), grouped(p.Starred))
	}
	return t.write(w)
}

func newPersonRemove() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a person and all that is theirs",
		Long: `Remove a person, with their passwords, marks, stars, labels, folders, titles of feeds, filters and receivers:
their readers come in no more. Feeds and entries stay, but for those that nobody else starred or labelled and that would
have gone long ago. Without --yes it says what would go, and removes nothing.`,
		Example: `  feedex person remove Ann
  feedex person remove --yes Ann`,
		Args: oneArg("person"),
	}
	onArchive(c, func(c *cobra.Command, data string, args []string) error {
		name := args[0]
		if !yes {
			return readArchive(daemon.DatabasePath(data), func(r archiveFile) error {
				people, err := r.People(c.Context())
				if err != nil {
					return err
				}
				p, err := reading.Named(people, name)
				if err != nil {
					return fmt.Errorf("remove person %q: %w", name, err)
				}
				if p.ID == reading.Owner {
					return fmt.Errorf("remove person %q: %w", name, reading.ErrOwner)
				}
				b, err := r.Belongings(c.Context(), p.ID)
				if err != nil {
					return err
				}
				return fmt.Errorf("with %s go %s, %s, %s, %s, %s, %s and %s: to remove all of it, say --yes",
					printable(name),
					plural(b.Passwords, "password", "passwords"), plural(b.Folders, "folder", "folders"),
					plural(b.Labels, "label", "labels"), plural(b.Filters, "filter", "filters"),
					plural(b.Receivers, "receiver", "receivers"), plural(b.Starred, "star", "stars"),
					plural(b.Unread, "unread mark", "unread marks"))
			})
		}
		return maintain(c.Context(), data, false, func(k control.Maintenance) error {
			return k.RemovePerson(c.Context(), name)
		})
	})
	c.Flags().BoolVar(&yes, "yes", false, "remove all of it")
	return c
}
