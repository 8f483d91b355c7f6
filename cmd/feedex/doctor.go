package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"feedex/control"
	"feedex/grade"
)

func newDoctor() *cobra.Command {
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Find out what is wrong with a running node",
		Long:    `Look at what the running node did and say in words what of it is good and what is not.`,
		Example: "  feedex doctor network\n  feedex doctor publisher",
	}
	c.AddCommand(newDoctorPublisher(), newDoctorNetwork())
	return c
}

func newDoctorPublisher() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "publisher [HOST...]",
		Short: "Grade the running node as publishers would",
		Long: `Go through the log of the running node's own requests and grade it for each host, as the publisher would who
looks through theirs: whether requests for a known document are conditional, whether validators come back as
they were given, whether a document is asked for as a whole more than once a day, or while it is fresh, or
while the publisher wants to be left alone, whether subscribing takes one request, whether anything is asked
for twice within a minute, or after it is gone for good, and whether an hour passes between requests that the
publisher does not invite. Where there was no occasion for it, something is not tested; why is said of hosts that are
named.

The log holds the latest 20,000 requests and outlives the node. Only its owner sees it.`,
		Example: "  feedex doctor publisher\n  feedex doctor publisher example.com --json",
		Args: func(_ *cobra.Command, args []string) error {
			for _, a := range args {
				if strings.ContainsAny(a, "/ ") {
					return fmt.Errorf("%q is no host name, such as example.com", a)
				}
			}
			return nil
		},
	}
	withClient(c, func(c *cobra.Command, args []string, client *control.Client) error {
		list, err := client.Publishers(c.Context())
		if err != nil {
			return err
		}
		for i, a := range args {
			args[i] = strings.ToLower(a)
			if !slices.ContainsFunc(list, func(h grade.Assessment) bool { return h.Host == args[i] }) {
				return fmt.Errorf("the log holds no request to %s", a)
			}
		}
		if len(args) > 0 {
			list = slices.DeleteFunc(list, func(h grade.Assessment) bool { return !slices.Contains(args, h.Host) })
		}
		const none = "no requests yet: follow a feed with 'feedex subscribe URL'"
		return printList(c, asJSON, list, none, func(w io.Writer, list []grade.Assessment) error {
			return printHosts(w, list, len(args) > 0, time.Now())
		})
	})
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// printHosts writes the grades of each host for people, and of what is not tested the names alone unless all is set.
func printHosts(out io.Writer, list []grade.Assessment, all bool, now time.Time) error {
	for i := range list {
		h := &list[i]
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s: %s\n", printable(h.Host), h.Mark())
		fmt.Fprintf(out, "  %s for %s within %s, %s not modified, %s failed\n",
			plural(h.Requests, "request", "requests"), plural(h.Addresses, "address", "addresses"),
			roughly(now.Sub(h.Since)), grouped(h.Unchanged), grouped(h.Failed))
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		var untested []string
		for _, g := range h.Grades {
			if g.Mark == grade.NotTested && !all {
				untested = append(untested, g.Respect)
				continue
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", g.Respect, g.Mark, g.Reason)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		if len(untested) > 0 {
			fmt.Fprintf(out, "  not tested: %s\n", strings.Join(untested, ", "))
		}
	}
	return nil
}
