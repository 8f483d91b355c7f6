package control

import (
	"context"
	"net/http"
	"strconv"

	"feedex/archive/jsonl"
	"feedex/feed"
)

// What a Client asks and a node serves. Other than as an ownerCall are asked Numbered, Search, Query and FirstPolls.
var (
	callStatus     = question("/status", Owner.Status)
	callNeighbors  = question("/neighbors", Owner.Neighbors)
	callFeeds      = question("/feeds", Owner.Feeds)
	callPublishers = question("/publishers", Owner.Publishers)
	callRecommend  = question("/recommend", Owner.Recommend)

	callDecline       = ofFeed("/decline", Owner.Decline)
	callSubscribe     = change("/subscribe", Owner.Subscribe).checked(checkWish)
	callFollowAddress = patient("/settle", Owner.FollowAddress).checked(
		func(w *FollowAddress) error { return checkWish(&w.Subscribe) })
	callFollowList = request("/follow", func(o Owner, ctx context.Context, r listRequest) ([]NoFolder, error) {
		return o.FollowList(ctx, r.Subscribe, r.Arranged)
	}).checked(func(r *listRequest) error { return checkWish(&r.Subscribe) })
	callRefresh = request("/refresh", Owner.Refresh).checked(
		func(list *[]feed.URL) error { return checkURLs(*list) })
	callUnsubscribe  = ofFeed("/unsubscribe", Owner.Unsubscribe)
	callSetRetention = change("/bound", Owner.SetRetention)
	callArrange      = change("/arrange", Owner.Arrange)

	callPull = patient("/pull", func(o Owner, ctx context.Context, r pullRequest) (PullReport, error) {
		return o.Pull(ctx, r.Entries)
	})
	callFetchArchive = patient("/page", func(o Owner, ctx context.Context, r archiveRequest) (ArchiveDocument, error) {
		return o.FetchArchive(ctx, r.Feed, r.Document)
	}).checked((*archiveRequest).check)
	callImport = bulky("/import", func(o Owner, ctx context.Context, lines []jsonl.Line) (importAnswer, error) {
		added, err := o.Import(ctx, lines)
		return importAnswer{added}, err
	}).checked(checkLines)
	callVacuum = patient("/vacuum", func(o Owner, ctx context.Context, _ none) (none, error) {
		return none{}, o.Vacuum(ctx)
	})

	callAddPassword = request("/password/add", func(o Owner, ctx context.Context,
		p PasswordRequest) (passwordAnswer, error) {
		secret, err := o.AddPassword(ctx, p)
		return passwordAnswer{secret}, err
	})
	callRemovePassword = named("/password/remove", Owner.RemovePassword)
	callAddPerson      = named("/person/add", Owner.AddPerson)
	callRemovePerson   = named("/person/remove", Owner.RemovePerson)
	callAddFilter      = request("/filter/add", Owner.AddFilter)
	callStandFilter    = change("/filter/standing", Owner.StandFilter)
	callRemoveFilter   = request("/filter/remove", func(o Owner, ctx context.Context,
		f FilterRemoval) (removedFilter, error) {
		rule, err := o.RemoveFilter(ctx, f)
		return removedFilter{rule}, err
	})
	callAddReceiver    = change("/receiver/add", Owner.AddReceiver)
	callRemoveReceiver = change("/receiver/remove", Owner.RemoveReceiver)
	callTryReceiver    = patient("/receiver/try", func(o Owner, ctx context.Context, r ReceiverName) (none, error) {
		return none{}, o.TryReceiver(ctx, r)
	})

	callSiteFeeds = patient("/site", func(o Owner, ctx context.Context, r nameRequest) (siteAnswer, error) {
		feeds, err := o.SiteFeeds(ctx, r.Name)
		return siteAnswer{feeds}, err
	})
	callJoin = patient("/join", func(o Owner, ctx context.Context, j JoinRequest) (joinAnswer, error) {
		peer, err := o.Join(ctx, j)
		return joinAnswer{peer}, err
	})
	callNameSource = patient("/source", func(o Owner, ctx context.Context, r nameRequest) (sourceAnswer, error) {
		s, err := o.NameSource(ctx, r.Name)
		return sourceAnswer{s}, err
	}).checked(func(r *nameRequest) error { _, _, err := ReadSource(r.Name); return err })
	callForgetSource = named("/source/remove", Owner.ForgetSource)
	callUseDHT       = change("/dht", func(o Owner, ctx context.Context, r dhtRequest) error {
		return o.UseDHT(ctx, r.On)
	})
)

// NewHandler serves an Owner as JSON over HTTP. A user who may open the socket is the owner: there is no other check,
// so the socket belongs to its user alone. The answer to a failure is a refusal: 400 where the request was wrong, 503
// where time ran out, 500 for the rest. What takes long is answered by 200 at once, and its body says how it ended.
func NewHandler(o Owner) http.Handler {
	mux := http.NewServeMux()
	for _, call := range []interface{ serve(*http.ServeMux, Owner) }{
		callStatus, callNeighbors, callFeeds, callPublishers, callRecommend, callDecline, callSubscribe,
		callFollowAddress, callFollowList, callRefresh, callUnsubscribe, callSetRetention, callArrange, callPull,
		callFetchArchive, callImport, callVacuum, callAddPassword, callRemovePassword, callAddPerson,
		callRemovePerson, callAddFilter, callStandFilter, callRemoveFilter, callAddReceiver, callRemoveReceiver,
		callTryReceiver, callSiteFeeds, callJoin, callNameSource, callForgetSource, callUseDHT,
	} {
		call.serve(mux, o)
	}
	mux.HandleFunc("GET /feeds/{number}", func(w http.ResponseWriter, r *http.Request) {
		number, _ := strconv.ParseInt(r.PathValue("number"), 10, 64)
		u, err := o.Numbered(r.Context(), number)
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, u)
	})
	mux.HandleFunc("POST /search", serveSearch(o))
	mux.HandleFunc("POST /query", serveQuery(o))
	mux.HandleFunc("POST /polls", servePolls(o))
	return mux
}
