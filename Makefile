# make check is the gate, with make e2e; CI runs both unchanged.

GO       ?= go
# Inputs to each fuzz target, by number: an end by the clock can fail one that found nothing (golang/go#75804).
FUZZTIME ?= 2000x
# The folder in which fuzz targets keep inputs that led somewhere, to begin with them the next time; if empty, go's own.
CORPUS   ?=
# For how many seconds make nightly fuzzes, and where it keeps those inputs and the evaluation.
NIGHT    ?= 3600
NIGHTLY  ?= $(HOME)/.cache/feedex/nightly
# For how long make loopback measures.
LOOPBACK ?= 1h
# For how long make processes measures each of its experiments, one after another.
CORONA   ?= 2h
FEEDTREE ?= 30m
GROWTH   ?= 20m
# The packages of which make check has each operator changed, and those of which make mutants has.
MUTATED  ?= search courtesy
CORE     ?= search courtesy trust polling incentive neighbors
# The race detector needs a C compiler; the program itself does not. With it come checks of each use of unsafe pointers: our
# packages have them, and SQLite, which is C translated into Go and would take twice as long, goes without.
RACE     ?= $(if $(shell command -v gcc || command -v clang),-race -gcflags=modernc.org/...=-d=checkptr=0)

# A node and a world run in one goroutine (internal/archtest holds it of the core), and many of them at once in the tests
# of the daemon and of the command. These packages have nothing to show the race detector, which makes half an hour of it.
UNRACED  ?= ./node ./lab/experiment

# Attacks from many networks, full disks, and homes behind routers are tested in namespaces. Where this system has them nothing of that is skipped.
NAMESPACES := $(shell unshare --user --map-root-user --net --mount true 2>/dev/null && echo 1)

.PHONY: build check fmt vet lint tidy test mutated mutants readme fuzz nightly e2e loopback processes figure bench man demo

build: # the program, static
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/feedex ./cmd/feedex

check: fmt vet lint tidy build test mutated readme fuzz
	@test -n "$(NAMESPACES)" || echo "check: NOT TESTED: attacks from many networks, full disks, and (make e2e) homes behind routers: unshare --user --net --mount fails here"
	@test -n "$$FEEDEX_MATERIAL" || echo "check: NOT TESTED: a corpus of real documents, and the traces that the built-in ones were made from: FEEDEX_MATERIAL names no folder with corpus/ and traces/"

fmt:
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt these files:"; echo "$$files"; exit 1; }

vet:
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOARCH=386 $(GO) vet ./...
	cd tools && $(GO) vet ./...

lint:
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	cd e2e && $(GO) tool -modfile=../tools/go.mod staticcheck ./...
	cd tools && $(GO) tool staticcheck ./...

tidy: # go.mod and go.sum say what is used, no more and no less
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	cd e2e && $(GO) mod tidy -diff

test:
	FEEDEX_HAS_NAMESPACES=$(NAMESPACES) $(GO) test $(RACE) -shuffle=on -timeout 40m \
		$$($(GO) list ./... | grep -vxF "$$($(GO) list $(UNRACED))")
	$(GO) test -timeout 40m $(UNRACED)

mutated: # some packages' operators are changed one at a time, and a test notices each: three to seven minutes
	cd tools && $(GO) test ./mutants && $(GO) run ./mutants $(MUTATED)

mutants: # the same with all core packages, for hours
	cd tools && $(GO) run ./mutants $(CORE)

readme: # the program takes every command line of the documents, and the first of them does its work
	$(GO) test -count=1 -run '^TestDocuments' ./cmd/feedex
	$(GO) run ./cmd/feedex demo --for 20s

fuzz: # new inputs to every fuzz target; for more of them, make fuzz FUZZTIME=100000x
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$pkg \
				$(if $(CORPUS),-args -test.fuzzcachedir=$(CORPUS)/$$pkg); \
		done; \
	done

nightly: FUZZTIME = 50000x
nightly: build # for four hours: fuzz, the paper's claims at its size, and docs/evaluation: which of its hashes are stale
	end=$$(($$(date +%s) + $(NIGHT))); while [ $$(date +%s) -lt $$end ]; do \
		$(MAKE) fuzz FUZZTIME=$(FUZZTIME) CORPUS=$(NIGHTLY)/fuzz || exit; done
	GOGC=400 FEEDEX_NIGHTLY=1 $(GO) test -count=1 -v -run '^TestPaperClaimsAtItsSize$$' ./lab/experiment
	bin/feedex lab all --out $(NIGHTLY)/evaluation
	FEEDEX_NIGHTLY=$(NIGHTLY)/evaluation $(GO) test -count=1 -run '^TestEvaluationIsOfThisProgram$$' ./cmd/feedex

e2e: # newsboat, sfeed, rss2email and Chromium use the real program, and two homes behind routers; screenshots are left in e2e/out
	cd e2e && npm ci --ignore-scripts --no-audit --no-fund --silent
	cd e2e && $(GO) vet ./... && FEEDEX_E2E=1 $(GO) test -count=1 -timeout 20m ./...
	@if newer=$$(e2e/newsboat.sh "$$HOME/.cache/feedex/newsboat"); then \
		cd e2e && FEEDEX_E2E=1 FEEDEX_NEWSBOAT=$$newer $(GO) test -count=1 -timeout 20m -run '^TestNewsboat' ./...; \
	else echo "e2e: NOT TESTED: a newsboat newer than the system's: it takes mmdebstrap, root and a mirror of Debian"; fi

loopback: # how evenly, and how often, twenty nodes that are processes poll a feed, measured for LOOPBACK
	cd e2e && $(GO) test -count=1 -timeout 0 -v -run '^TestTwentyProcesses$$' -loopback $(LOOPBACK)

processes: # what nodes that are processes use and bring, as FeedTree's and Corona's authors measured it: docs/evaluation/processes.md
	cd e2e && $(GO) test -count=1 -timeout 0 -v -run '^Test(Periods|Growth)OfProcesses$$' -feedtree $(FEEDTREE) -growth $(GROWTH)
	cd e2e && $(GO) test -count=1 -timeout 0 -v -run '^TestSixtyProcesses$$' -corona $(CORONA)

figure: e2e # the README's picture of the dashboard
	cp e2e/out/dashboard.png docs/figures/dashboard.png

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

man: # docs/man from the commands' own help
	$(GO) test -count=1 -run '^TestManPages$$' ./cmd/feedex -update

demo:
	$(GO) run ./cmd/feedex demo
