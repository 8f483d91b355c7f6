package websub

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"feedex/internal/when"
)

// look is after what time the hub looks for something new without having been told: entries that were changed are
// delivered then, and subscriptions end that are over.
const look = 10 * time.Minute

// Run verifies requests and delivers what is new until ctx ends. Work that was under way is given up then.
func (h *Hub) Run(ctx context.Context) error {
	list, err := h.Store.HubSubscriptions(ctx)
	if err != nil {
		return fmt.Errorf("load subscriptions: %w", err)
	}
	h.mu.Lock()
	for _, s := range list {
		h.subs[keyOf(&s)] = &activeSubscription{HubSubscription: s, stale: true}
	}
	h.mu.Unlock()
	var workers sync.WaitGroup
	defer workers.Wait()
	retry := time.NewTimer(0)
	defer retry.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case q := <-h.asked:
			h.work(ctx, &workers, func() { h.verify(ctx, q) })
			continue
		case <-tick.C:
			h.Wake()
		case <-retry.C:
		case <-h.wake:
		}
		for _, x := range h.due(ctx, time.Now()) {
			h.work(ctx, &workers, func() { h.deliver(ctx, x) })
		}
		retry.Reset(h.nap(time.Now()))
	}
}

// work has f done by another goroutine, when there is a place for it, and the hub look again at its end.
func (h *Hub) work(ctx context.Context, workers *sync.WaitGroup, f func()) {
	select {
	case h.working <- struct{}{}:
	case <-ctx.Done():
		return
	}
	workers.Go(func() {
		f()
		<-h.working
		h.again()
	})
}

// Wake tells the hub that there may be something new. It never blocks.
func (h *Hub) Wake() {
	h.mu.Lock()
	for _, x := range h.subs {
		x.stale = true
	}
	h.mu.Unlock()
	h.again()
}

// again has Run look at what is due.
func (h *Hub) again() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// due are the subscriptions that something is to be delivered to, marked as busy, in their order. Those that are over
// it forgets.
func (h *Hub) due(ctx context.Context, now time.Time) (list []*activeSubscription) {
	var over []*activeSubscription
	h.mu.Lock()
	for _, x := range h.subs {
		switch {
		case x.busy:
		case !now.Before(x.Expires):
			over = append(over, x)
		case x.Failures > 0 && !when.Due(now, x.Next, lastRetry):
		case x.stale || x.Failures > 0:
			x.busy, x.stale = true, false
			list = append(list, x)
		}
	}
	h.mu.Unlock()
	for _, x := range over {
		h.dropIf(ctx, x)
	}
	slices.SortFunc(list, func(a, b *activeSubscription) int {
		return cmp.Or(cmp.Compare(a.Callback, b.Callback), cmp.Compare(a.Topic, b.Topic))
	})
	return list
}

// nap is how long nothing is to be tried again.
func (h *Hub) nap(now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	nap := look
	for _, x := range h.subs {
		if x.Failures > 0 && !x.busy {
			nap = min(nap, max(x.Next.Sub(now), 0))
		}
	}
	return nap
}

// drop forgets a subscription. The caller holds keeping, so that the store does not lose what is kept meanwhile.
func (h *Hub) drop(ctx context.Context, k key) {
	h.mu.Lock()
	delete(h.subs, k)
	h.mu.Unlock()
	if err := h.Store.Drop(ctx, k.callback, k.topic); err != nil && ctx.Err() == nil {
		h.Log.Error("subscription not forgotten", "err", err)
	}
}

// dropIf forgets a subscription unless it has been renewed meanwhile.
func (h *Hub) dropIf(ctx context.Context, x *activeSubscription) {
	h.keeping.Lock()
	defer h.keeping.Unlock()
	h.mu.Lock()
	k := keyOf(&x.HubSubscription)
	current := h.subs[k] == x
	h.mu.Unlock()
	if current {
		h.drop(ctx, k)
	}
}
