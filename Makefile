# What this Makefile needs is Go, git and make; `make lint` fetches its linter.
GO      ?= go
GIT     ?= git
PREFIX  ?= /usr/local
DESTDIR ?=

comma   := ,
bin     := bin/git-checkpoint
# What "git checkpoint version" prints: "0.2.0 (1f2e3d4c5b6a)", or "0.2.0 (1f2e3d4c5b6a, modified)" where the clone has uncommitted changes.
commit   = $(shell $(GIT) rev-parse --short=12 HEAD 2>/dev/null)
changed  = $(if $(commit),$(shell $(GIT) status --porcelain 2>/dev/null | head -n 1))
version  = $(shell cat VERSION)$(if $(commit), ($(commit)$(if $(changed),$(comma) modified)))
ldflags  = -s -w -X "main.version=$(version)"
target  := $(DESTDIR)$(PREFIX)

.PHONY: build test test-all test-race fuzz test-servers test-agents test-field test-why test-kills test-web test-guard torture roundtrip lint demo bench dist publish-plan install man golden clean

# GIT=/path/to/git runs tests and torture with another git.
path    := $(if $(filter /%,$(GIT)),$(dir $(GIT)):)$(PATH)

# The linker writes through a memory map, which leaves the program in Linux's page cache in
# single pages. A copy lies there in large pieces, and each start takes 3 ms less.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(ldflags)' -o $(bin) ./cmd/git-checkpoint
	cp -p $(bin) $(bin).copy && mv -f $(bin).copy $(bin)

# A sample; it needs no other tool. Without cgo the program starts in two
# thirds of the time, and the tests start it thousands of times. The timeout leaves room
# for a machine that is busy with other things. `make lint` has go vet.
test:
	PATH="$(path)" CGO_ENABLED=0 $(GO) test -vet=off -short -timeout 2h ./...

# All of it: every case, random worlds, data races, fuzzing, servers, and the other
# versions of git that GITS names (GITS="/opt/git-2.30/bin/git …").
GITS ?=
test-all:
	PATH="$(path)" $(GO) test -timeout 2h ./...
	$(MAKE) torture CASES=100
	$(MAKE) test-race fuzz test-servers test-agents test-field test-web
	for git in $(GITS); do $(MAKE) test GIT="$$git" || exit; done

# The race detector needs cgo, and so a C compiler.
test-race:
	@if command -v "$$($(GO) env CC)" >/dev/null; \
	then CGO_ENABLED=1 PATH="$(path)" $(GO) test -race -short -timeout 2h ./internal/...; \
	else echo '*** NOT TESTED: data races, for lack of a C compiler ***'; fi

# Each fuzz target for FUZZTIME. What fails is kept below testdata/fuzz of its package.
FUZZTIME ?= 5s
fuzz:
	@for dir in $$(grep -rlE '^func Fuzz' --include='*_test.go' internal | xargs -n1 dirname | sort -u); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\).*/\1/p' "$$dir"/*_test.go); do \
			$(GO) test "./$$dir" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) || exit; \
		done; \
	done

# Push and fetch over servers that others wrote, on 127.0.0.1: lighttpd, sshd, gitolite.
# Those that are missing are installed where apt is there and we are root; what cannot be
# tested is said.
test-servers:
	@PATH="$(path)" GO="$(GO)" sh .ci/servers

# Repositories that use git-lfs, git-crypt, git-annex or git-filter-repo, and file systems without modes.
# What is missing is installed where apt is there and we are root; what cannot be tested is said.
test-field:
	@PATH="$(path)" GO="$(GO)" sh .ci/field

# Histories in which it is known who made each line: SEEDS of them, of STEPS steps, each rewritten in all ways, or
# in WAYS of them. It prints how many lines got a right answer, and fails for any wrong one.
SEEDS   ?= 5
STEPS   ?= 300
test-why:
	PATH="$(path)" CGO_ENABLED=0 WHY_SEEDS='$(SEEDS)' WHY_STEPS='$(STEPS)' WHY_WAYS='$(WAYS)' $(GO) test ./internal/verb/why -run TestHistories -v -timeout 4h

# What the guard finds in files that are generated from SEED, and in how many files of TREES it finds something. gitleaks is
# measured beside it where it is installed.
TREES ?= $(shell $(GO) env GOMODCACHE):/usr/share:/usr/lib/python3:$(firstword $(wildcard /usr/lib/python3.*))
test-guard:
	GUARD_SEED='$(SEED)' GUARD_CORPUS='$(TREES)' $(GO) test ./internal/core/guard -run 'TestMeasure|TestCorpus' -count 1 -v -timeout 1h

# A rollback that brings 200 files back, killed KILLS times, spread over all its system calls. It needs strace.
KILLS   ?= 1000
test-kills:
	@if command -v strace >/dev/null; \
	then PATH="$(path)" CGO_ENABLED=0 GIT_CHECKPOINT_KILLS=$(KILLS) $(GO) test ./cmd/git-checkpoint -run TestKilledAtSystemCalls -count 1 -timeout 4h; \
	else echo '*** NOT TESTED: kills at system calls, for lack of strace ***'; fi

# The page in a real browser, without a network. SHOTS=docs writes
# the pictures that the documents show.
test-web: build
	@if command -v chromium >/dev/null || command -v google-chrome >/dev/null; \
	then cd .ci/web && GIT_CHECKPOINT='$(CURDIR)/$(bin)' SHOTS='$(if $(SHOTS),$(abspath $(SHOTS)))' $(GO) test -count 1 -timeout 10m ./...; \
	else echo '*** NOT TESTED: the page in a browser, for lack of Chromium ***'; fi

# The real programs of coding agents, with a scripted model on 127.0.0.1. npm installs
# them into a scratch directory, or once into AGENTS; what it does not give is said.
AGENTS ?=
test-agents:
	@PATH="$(path)" GO="$(GO)" AGENTS='$(AGENTS)' sh .ci/agents

# Random worlds, compared with plain git and the disk after each step: CASES of them,
# from SEED on, of the worlds in KIND (with commas; empty: of all in turn), with settings
# of git's in CONFIG (CONFIG=checkpoint.scanner=git). A failure prints its seed and a
# script that does it again.
CASES  ?= 500
SEED   ?= 1
KIND   ?=
CONFIG ?=
torture:
	@PATH="$(path)" $(GO) run ./internal/test/torture/cmd -cases $(CASES) -seed $(SEED) -kind '$(KIND)' -config '$(CONFIG)'

# Random documents of each of the five layouts, in and out: CASES of each, from SEED on.
roundtrip:
	@PATH="$(path)" CASES=$(CASES) SEED=$(SEED) $(GO) test ./internal/verb/interop -run TestRandomDocuments -count 1 -timeout 60m

# The linter is pinned in a module of its own, so that its dependencies are not ours.
lint:
	$(GO) tool -modfile=.ci/lint/go.mod golangci-lint run

# The main job in a scratch repository of its own, each command with its output.
demo: build
	@PATH="$(CURDIR)/bin:$$PATH" sh docs/demo.sh

# This program beside plain git, in repositories made for it. BENCH=--quick ends in two
# minutes; ROW=<pattern> measures some rows, PROFILE=<file> samples the program at them;
# what takes minutes to make is kept in BENCHCACHE.
ROW        ?=
PROFILE    ?=
BENCHCACHE ?= bin/.bench
bench: build
	@$(GO) run ./internal/test/bench/cmd -program $(bin) -cache '$(BENCHCACHE)' -row '$(ROW)' -profile '$(PROFILE)' $(BENCH)

# The files of a release, in dist/: archives, packages, recipes, checksums (docs/release.md). The packager is pinned in a
# module of its own. BASE_URL is where people will download them.
dist:
	$(GO) build -C .ci/dist -o '$(CURDIR)/bin/dist' .
	bin/dist

# What publishing those files would take, and what the owner still has to give. It publishes nothing.
publish-plan:
	$(GO) build -C .ci/dist -o '$(CURDIR)/bin/dist' .
	bin/dist -plan

install: build
	install -d $(target)/bin $(target)/share/man/man1 \
		$(target)/share/bash-completion/completions \
		$(target)/share/zsh/site-functions \
		$(target)/share/fish/vendor_conf.d
	install -m 755 $(bin) $(target)/bin/git-checkpoint
	install -m 644 docs/man/git-checkpoint.1 $(target)/share/man/man1/git-checkpoint.1
	$(bin) completion bash > $(target)/share/bash-completion/completions/git-checkpoint
	$(bin) completion zsh > $(target)/share/zsh/site-functions/_git-checkpoint
	$(bin) completion fish > $(target)/share/fish/vendor_conf.d/git-checkpoint.fish

# Write what is generated and committed anew.
man: build
	$(bin) __man > docs/man/git-checkpoint.1

golden:
	$(GO) test ./internal/ui/cli ./internal/answer -update
	UPDATE_SCRIPTS=1 $(GO) test ./cmd/git-checkpoint

clean:
	rm -rf bin
