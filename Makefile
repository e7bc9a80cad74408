# Everything a developer does with Atajo. `make` alone lists the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
NPM := npm --prefix web
ENGINE ?= docker
WORKERS ?= auto
TAG ?= dev
export KIND_CLUSTER ?= atajo
export KIND_NODE_IMAGE PYTHON_IMAGE NODE_IMAGE NGINX_IMAGE MONGODB_IMAGE
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

# Where prerequisites.sh puts the helm and the mongod it gets.
export PATH := $(PATH):$(CURDIR)/.cache/bin

# What the caller has on the path stays on it.
export PYTHONPATH := $(CURDIR):$(CURDIR)/proto/gen$(if $(PYTHONPATH),:$(PYTHONPATH))

# A stamp is touched last and removed first, so that an interrupted step is done again.
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
NODE := web/node_modules/.stamp
WEB := web/node_modules/.built

PYTHON_CODE := services gateway deploy charts tests
NGINX_EDGE := deploy/nginx/edge
WEB_EDGE := web/src/lib/edge.ts
DASHBOARDS := charts/atajo/monitoring/dashboards
PROTOS := $(sort $(wildcard proto/atajo/*/*/*.proto))
WEB_SOURCES := $(shell find web/src web/public web/build web/scripts 2>/dev/null) \
	$(wildcard web/*.html web/*.json web/*.ts)

##@ Use

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: $(RUN) $(WEB) ## Set up and run Atajo on http://localhost:8080 until Ctrl-C
	@exec $(PY) -m deploy.local

##@ Deploy

.PHONY: images
images: engine ## Build atajo/app and atajo/web; TAG=, PYTHON_IMAGE=, NODE_IMAGE=, NGINX_IMAGE=, ENGINE=
	@$(call build,app,PYTHON_IMAGE)
	@$(call build,web,PYTHON_IMAGE NODE_IMAGE NGINX_IMAGE)
	@$(ENGINE) images --filter reference='atajo/*:$(TAG)'

.PHONY: kind-up
kind-up: kind-tools ## Run Atajo on a kind cluster, or upgrade it; KIND_NODE_IMAGE=, MONGODB_IMAGE=
	@bash deploy/kind/up.sh

.PHONY: kind-down
kind-down: kind-tools ## Remove the kind cluster and all that is in it
	@kind delete cluster --name $(KIND_CLUSTER)

.PHONY: monitor
monitor: $(RUN) prometheus ## Look at a running Atajo with Prometheus, rules and runbooks, until Ctrl-C
	@exec $(PY) -m deploy.monitoring

##@ Look after

.PHONY: backup
backup: $(RUN) ## Copy what a running Atajo keeps in SQLite: make backup TO=folder
	@exec $(PY) -m deploy.local.backup "$${TO-}"

.PHONY: remove-link
remove-link: $(RUN) ## Remove a link for good: make remove-link CODE=k7Qm2_xB
	@exec $(PY) -m services.admin remove-link "$${CODE-}"

.PHONY: remove-account
remove-account: $(RUN) ## Remove an account and its links: make remove-account EMAIL=a@example.com
	@exec $(PY) -m services.admin remove-account "$${EMAIL-}"

.PHONY: reports
reports: $(RUN) ## What people reported, the most often reported links first; AFTER=
	@exec $(PY) -m services.admin reports "$${AFTER-}"

.PHONY: block
block: $(RUN) ## Block a link, a host or a path: make block WHAT=k7Qm2_xB CLASS=phishing (malware, spam, illegal, other); CAUSE=
	@exec $(PY) -m services.admin block "$${WHAT-}" "$${CLASS-}" "$${CAUSE-}"

.PHONY: unblock
unblock: $(RUN) ## Take a block away: make unblock WHAT=evil.example; CAUSE=
	@exec $(PY) -m services.admin unblock "$${WHAT-}" "$${CAUSE-}"

.PHONY: dismiss
dismiss: $(RUN) ## The reports of a link are no reason to block it: make dismiss CODE=k7Qm2_xB; CAUSE=
	@exec $(PY) -m services.admin dismiss "$${CODE-}" "$${CAUSE-}"

.PHONY: decisions
decisions: $(RUN) ## What was blocked, unblocked and dismissed, newest first; PAGE=
	@exec $(PY) -m services.admin decisions "$${PAGE-}"

##@ Verify

# The product's processes are started a thousand times: their sources are compiled once.
test test-all: export PYTHONDONTWRITEBYTECODE :=

.PHONY: test
test: $(DEV) $(WEB) ready ## Set up and pass every test but the slow ones; WORKERS=
	@exec $(PY) -m pytest -n $(WORKERS) -m "not slow"

.PHONY: test-all
test-all: $(DEV) $(WEB) ready ## Every test, the slow ones too; WORKERS=
	@exec $(PY) -m pytest -n $(WORKERS)

# What the other tests need comes over the network while those of the pages have the cores.
.PHONY: ready
ready: $(NODE)
	@$(MAKE) --jobs=2 test-pages test-tools

.PHONY: test-pages
test-pages: $(NODE)
	@$(NPM) test

# One after the other, as apt-get goes.
.PHONY: test-tools
test-tools: mongo
	@for tool in browser helm prometheus nginx; do bash deploy/local/prerequisites.sh --$$tool; done

.PHONY: image-test
image-test: $(DEV) images ## Look into the images, and run them
	@exec env ATAJO_TEST_IMAGES=$(TAG) ATAJO_TEST_ENGINE=$(ENGINE) $(PY) -m pytest -s -m engine tests/deployment/images

.PHONY: kind-test
kind-test: $(DEV) $(WEB) browser kind-tools ## What the kind cluster keeps through upgrades, scaling and kills, into reports/
	@exec $(PY) -m pytest -m cluster tests/deployment/cluster

.PHONY: faults
faults: $(DEV) mongo ## Kill and freeze the parts at random under load; SEED=, KILLS=, STORE=
	@exec $(PY) -m tests.system.faults.run

.PHONY: fuzz
fuzz: $(DEV) ## Send a running product random requests, until Ctrl-C; FOR= seconds, SEED=, CASE=
	@exec $(PY) -m tests.system.fuzz.run

.PHONY: drill
drill: $(DEV) mongo prometheus ## Break what the alerts speak of, and see that the right ones go off; DRILL=
	@exec $(PY) -m tests.deployment.monitoring.drill

.PHONY: bench
bench: $(DEV) ## Measure redirects and creations beside nginx, on one core each
	@exec $(PY) -m tests.performance.bench

.PHONY: bench-memory
bench-memory: $(DEV) $(WEB) ## Measure the memory of all processes together, idle and at full load
	@exec $(PY) -m tests.performance.memory

.PHONY: bench-blocklists
bench-blocklists: $(DEV) ## Measure creations while a list of a million hosts is read, and what it takes
	@exec $(PY) -m tests.performance.blocklists

.PHONY: bench-sweep
bench-sweep: $(DEV) mongo ## Measure how long a million links are looked through when a blocklist changes
	@exec $(PY) -m tests.performance.sweep

.PHONY: bench-scale
bench-scale: $(DEV) mongo ## Measure operations with up to 10 million links, and statistics with 100 million visits
	@exec $(PY) -m tests.performance.scale

.PHONY: qr-time
qr-time: $(DEV) $(WEB) browser ## Measure how long the verdict on a QR code takes a phone; fails above the budget
	@exec $(PY) -m tests.system.e2e.stage node web/scripts/verdict.mjs {url}

.PHONY: check
check: check-python check-web check-proto check-edge check-nginx check-locks check-dashboards check-chart check-capacity ## Lint, types, import direction, format, generated code, budgets

.PHONY: check-python
check-python: $(DEV)
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy $(PYTHON_CODE)
	@$(VENV)/bin/lint-imports

.PHONY: check-web
check-web: $(WEB)
	@$(NPM) run check

.PHONY: check-proto
check-proto: $(DEV)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(call generate,$$fresh); \
	diff -r -x __pycache__ proto/gen "$$fresh" || { echo "proto/gen is not current: make proto" >&2; exit 1; }

.PHONY: check-edge
check-edge: $(DEV)
	@$(PY) -m deploy.edge | diff $(WEB_EDGE) - || { echo "$(WEB_EDGE) is not current: make edge" >&2; exit 1; }

.PHONY: check-nginx
check-nginx: $(DEV)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PY) -m gateway.nginx.includes "$$fresh"; \
	diff -r $(NGINX_EDGE) "$$fresh" || { echo "$(NGINX_EDGE) is not current: make nginx" >&2; exit 1; }

# Helm's own view of the chart, Kubernetes' schemas, and what was rendered before.
.PHONY: check-chart
check-chart: $(DEV) helm
	@$(PY) -m tests.deployment.chart.check

.PHONY: check-dashboards
check-dashboards: $(DEV)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PY) -m deploy.monitoring.dashboards "$$fresh"; \
	diff -r $(DASHBOARDS) "$$fresh" || { echo "The dashboards are not current: make dashboards" >&2; exit 1; }

.PHONY: check-capacity
check-capacity: $(DEV)
	@$(PY) -m tests.performance.capacity --check

# A lock that names an index would send everybody to the one it was made with.
.PHONY: check-locks
check-locks:
	@! grep -nE '://|^--' requirements.txt requirements-dev.txt || { echo "A Python lock names an address." >&2; exit 1; }
	@! grep -n '"resolved"' web/package-lock.json || { echo "The npm lock names an address." >&2; exit 1; }

.PHONY: screenshots
screenshots: $(DEV) $(WEB) browser ## Pictures of every page, both themes, phone and desk, in reports/
	@exec $(PY) -m tests.system.e2e.stage node web/scripts/screenshots.mjs {url} reports/screenshots

.PHONY: lighthouse
lighthouse: $(DEV) $(WEB) browser ## Measure the pages with Lighthouse; fails below the budgets
	@exec $(PY) -m tests.system.e2e.stage node web/scripts/lighthouse.mjs {url} reports/lighthouse

.PHONY: audit
audit: $(DEV) $(NODE) ## Look for known vulnerabilities in what the locks name
	@$(PY) -m deploy.local.audit

##@ Change

.PHONY: fmt
fmt: $(DEV) $(NODE) ## Format, and fix what can be fixed
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format
	@$(NPM) run fmt

.PHONY: proto
proto: $(DEV) ## Generate proto/gen from proto/
	@rm -rf proto/gen
	@mkdir -p proto/gen
	@$(call generate,proto/gen)

.PHONY: edge
edge: nginx ## Generate what nginx and the pages take from deploy/edge.toml
	@$(PY) -m deploy.edge > $(WEB_EDGE)

.PHONY: nginx
nginx: $(DEV) ## Generate what nginx alone takes from deploy/edge.toml
	@$(PY) -m gateway.nginx.includes $(NGINX_EDGE)

.PHONY: chart-golden
chart-golden: $(DEV) helm ## Write what the chart renders into tests/deployment/chart/golden
	@$(PY) -m tests.deployment.chart.check --golden

.PHONY: dashboards
dashboards: $(DEV) ## Generate the Grafana dashboards from deploy/monitoring/dashboards.py
	@$(PY) -m deploy.monitoring.dashboards $(DASHBOARDS)

.PHONY: capacity
capacity: $(DEV) ## Compute the tables of docs/performance.md from measured costs
	@$(PY) -m tests.performance.capacity

.PHONY: lock
lock: $(DEV) ## Write the locks from pyproject.toml and package.json; UPGRADE=1 takes newer versions
	@$(COMPILE) pyproject.toml -o requirements.txt
	@$(COMPILE) pyproject.toml --group dev -c requirements.txt -o requirements-dev.txt
	@$(NPM) $(if $(UPGRADE),update,install) --package-lock-only --ignore-scripts

.PHONY: clean
clean: ## Remove everything that was set up or built; the data folder stays
	rm -rf $(VENV) web/node_modules web/dist web/coverage reports
	rm -rf .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find $(PYTHON_CODE) proto -name __pycache__ -prune -exec rm -rf {} +

# Set-up

.PHONY: prerequisites
prerequisites:
	@bash deploy/local/prerequisites.sh $(PYTHON)

.PHONY: browser
browser: | prerequisites
	@bash deploy/local/prerequisites.sh --browser

.PHONY: mongo
mongo: $(RUN)
	@bash deploy/local/prerequisites.sh --mongo $(PY)

.PHONY: prometheus
prometheus: | prerequisites
	@bash deploy/local/prerequisites.sh --prometheus

.PHONY: engine
engine:
	@bash deploy/local/prerequisites.sh --engine $(ENGINE)

.PHONY: kind-tools
kind-tools:
	@bash deploy/local/prerequisites.sh --kind

.PHONY: helm
helm: | prerequisites
	@bash deploy/local/prerequisites.sh --helm

INSTALL = $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes

# Without its stamp an environment is half-made and starts anew.
$(RUN): requirements.txt | prerequisites
	@echo "Setting up Python packages."
	@[[ -e $@ ]] || $(PYTHON) -m venv --clear $(VENV)
	@rm -f $@
	@$(INSTALL) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(RUN)
	@echo "Setting up Python development packages."
	@rm -f $@
	@$(INSTALL) -r requirements-dev.txt
	@touch $@

# No package here needs its install script: none is run.
$(NODE): web/package.json web/package-lock.json | prerequisites
	@echo "Setting up web packages."
	@rm -f $@
	@$(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB): $(NODE) $(WEB_SOURCES) $(if $(wildcard web/dist/index.html),,unbuilt)
	@echo "Building the web pages."
	@rm -f $@
	@$(NPM) run --silent build
	@touch $@

.PHONY: unbuilt
unbuilt:

# An image, and the base images that can be named for it.
define build
$(ENGINE) build --file deploy/images/$(1).Dockerfile --tag atajo/$(1):$(TAG) \
	$(foreach base,$(2),$(if $($(base)),--build-arg $(base)=$($(base)))) \
	--build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD) .
endef

define generate
PATH="$(VENV)/bin:$$PATH" $(PY) -m grpc_tools.protoc -I proto \
	--python_out=$(1) --grpc_python_out=$(1) --mypy_out=quiet:$(1) --mypy_grpc_out=quiet:$(1) $(PROTOS)
endef

COMPILE = $(PY) -m uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)
