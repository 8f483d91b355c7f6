package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/reading"
	"feedex/settings"
)

func newPassword() *cobra.Command {
	c := &cobra.Command{
		Use:   "password",
		Short: "Let feed readers in, and the owner at the node's pages",
		Long: `Passwords for programs that read through the node and keep there what is read, starred and filed: one for each
program, so that one can be taken back without the others. A program is given the address at which the node serves
feed readers, the name of the password as user name, and the password. For one that speaks the API of Google Reader,
as most do, the address is http://127.0.0.1:7791, or http://127.0.0.1:7791/api/greader.php where it asks for that of
FreshRSS; for one of Miniflux or Nextcloud News http://127.0.0.1:7791, for one of Fever http://127.0.0.1:7791/fever/.

A password opens the node's pages too: one for a reader what there is to read there, and one that is made with --owner
all settings, as http://127.0.0.1:7791/settings.

All of it works while a node runs and while none does.`,
		Example: `  feedex password add newsboat
  feedex password list
  feedex password remove newsboat`,
	}
	c.AddCommand(newPasswordAdd(), newPasswordList(), newPasswordRemove())
	return c
}

func newPasswordAdd() *cobra.Command {
	var asJSON, owner bool
	var person string
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a password and show it once",
		Long: `Make a password for one program and show it, with the user name that belongs to it: NAME, of letters, digits and
. _ - + @. The node keeps no more than hashes of it, so it is not shown again.

It opens what feed readers do: reading, marks and stars, and what is followed and how that is filed. With --owner it
opens the node's pages as well, with all settings and passwords. With --person what is read and marked by it is that
person's, as 'feedex person' has them, and not the owner's; with both it opens to them, of settings and passwords, the
passwords of their own readers.`,
		Example: `  feedex password add newsboat
  feedex password add --owner owner@example.com
  feedex password add --person Ann ann-phone
  feedex password add --person Ann --owner ann`,
		Args: oneArg("password"),
	}
	onArchive(c, func(c *cobra.Command, data string, args []string) error {
		name := args[0]
		if err := reading.CheckPasswordName(name); err != nil {
			return settings.UsageError{Err: err}
		}
		scope := reading.ReaderScope
		if owner {
			scope = reading.OwnerScope
		}
		p := control.PasswordRequest{Name: name, Person: person, Scope: scope}
		var secret string
		err := maintain(c.Context(), data, true, func(k control.Maintenance) (err error) {
			if secret, err = k.AddPassword(c.Context(), p); err != nil {
				err = fmt.Errorf("add password %q: %w", name, err)
			}
			return err
		})
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(c.OutOrStdout(), struct {
				User     string `json:"user"`
				Password string `json:"password"`
			}{name, secret})
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "user      %s\npassword  %s\n", name, secret)
		return err
	})
	personFlag(c, &person)
	c.Flags().BoolVar(&owner, "owner", false, "let it open the node's pages and their settings as well")
	jsonFlag(c.Flags(), &asJSON)
	return c
}

func newPasswordList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the passwords by their names",
		Long: `List the names of the passwords, whether each is for a reader or the owner, whose it is, when it was made and when a
program last came in by it, to the hour. The passwords themselves are not kept.`,
		Args: noArgs,
	}
	return keptListing(c, "no passwords yet: make one with 'feedex password add NAME'", passwordsOf,
		func(w io.Writer, lines []listedPassword) error { return printPasswords(w, lines, time.Now()) })
}

// A listedPassword is a password as it is listed.
type listedPassword struct {
	Name    string        `json:"name"`
	Scope   reading.Scope `json:"scope"`
	Person  string        `json:"person"`
	Created time.Time     `json:"created"`
	Used    time.Time     `json:"used,omitzero"`
}

func passwordsOf(c *cobra.Command, r archiveFile) (lines []listedPassword, err error) {
	list, err := r.Passwords(c.Context())
	if err != nil {
		return nil, err
	}
	people, err := r.People(c.Context())
	names := make(map[reading.PersonID]string, len(people))
	for _, p := range people {
		names[p.ID] = p.Name
	}
	for _, p := range list {
		lines = append(lines, listedPassword{p.Name, p.Scope, names[p.Person], p.Created, p.Used})
	}
	return lines, err
}

// printPasswords writes a table for people.
func printPasswords(w io.Writer, list []listedPassword, now time.Time) error {
	t := newTable(0, 5, "NAME", "FOR", "PERSON", "MADE", "USED")
	for _, p := range list {
		used := "never"
		if !p.Used.IsZero() {
			used = ago(p.Used, now)
		}
		t.row(p.Name, string(p.Scope), printable(p.Person), ago(p.Created, now), used)
	}
	return t.write(w)
}

func newPasswordRemove() *cobra.Command {
	c := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Take a password back",
		Long:    `Take a password back: the program that has it comes in no more. What it marked stays.`,
		Example: "  feedex password remove newsboat",
		Args:    oneArg("password"),
	}
	return onMaintained(c, false, func(c *cobra.Command, k control.Maintenance, args []string) error {
		return k.RemovePassword(c.Context(), args[0])
	})
}
