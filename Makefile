# Tasks for developers and operators. `make` lists the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
COVERAGE := $(PY) -m coverage
NPM := npm --prefix web
ENGINE ?= docker
WORKERS ?= auto
TAG ?= dev
export KIND_CLUSTER ?= atajo
export KIND_NODE_IMAGE PYTHON_IMAGE NODE_IMAGE NGINX_IMAGE MONGODB_IMAGE
# Percent of lines and branches of Python code that the tests run. Raise it when they reach more.
MIN_COVERAGE := 97
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

# prerequisites.sh installs helm and mongod here.
export PATH := $(PATH):$(CURDIR)/.cache/bin

# Keep what the caller has on the path.
export PYTHONPATH := $(CURDIR):$(CURDIR)/proto/gen$(if $(PYTHONPATH),:$(PYTHONPATH))

# A step removes its stamp first and touches it last, so that make repeats an interrupted step.
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
WHEELS := $(VENV)/.wheels
NODE := web/node_modules/.stamp
WEB := web/node_modules/.built

PYTHON_CODE := services gateway deploy charts tests
PACKAGES := admin analytics auth gateway links reconciler shared
NGINX_EDGE := deploy/nginx/edge
WEB_EDGE := web/src/lib
TRAILING := services/shared/trailing.py
SCRIPTS := gateway/use_cases/unicode_scripts.py
DASHBOARDS := charts/atajo/monitoring/dashboards
PROTOS := $(sort $(wildcard proto/atajo/*/*/*.proto))
WEB_SOURCES := $(shell find web/src web/public web/build web/scripts 2>/dev/null) \
	$(wildcard web/*.html web/*.json web/*.ts) docs/reference/openapi.json

##@ Use

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: $(RUN) $(WEB) ## Run Atajo on http://localhost:8080 until Ctrl-C
	@exec $(PY) -m deploy.local

.PHONY: dev
dev: $(RUN) $(WEB) ## Run Atajo with reload: pages on http://localhost:5173, Python on each change
	@exec $(PY) -m deploy.local.reload

.PHONY: docs
docs: ## List the documents
	@for file in README.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md docs/*/*.md charts/*/*.md; do \
		printf '  %-48s %s\n' "$$file" "$$(sed -n '1s/^# //p' "$$file")"; done

##@ Deploy

.PHONY: images
images: engine ## Build the images atajo/app, atajo/web and atajo/atajo; TAG=, ENGINE=, PYTHON_IMAGE=, NODE_IMAGE=, NGINX_IMAGE=
	@$(call build,app)
	@$(call build,web)
	@$(call build,atajo)
	@$(ENGINE) images --filter reference='atajo/*:$(TAG)'

.PHONY: chart-package
chart-package: $(DEV) helm ## Package the chart in dist/: REPOSITORY=https://…, IMAGES=registry/path, CHARTS=registry/path
	@rm -rf dist/chart
	@$(PY) -m deploy.chart.package dist/chart "$${REPOSITORY-}" "$${IMAGES-}" "$${CHARTS-}"
	@helm package dist/chart --destination dist

.PHONY: kind-up
kind-up: kind-tools ## Run Atajo on a local kind cluster, or upgrade it; KIND_NODE_IMAGE=, MONGODB_IMAGE=
	@bash deploy/kind/up.sh

.PHONY: kind-down
kind-down: kind-tools ## Delete the kind cluster and its data
	@kind delete cluster --name $(KIND_CLUSTER)

.PHONY: monitor
monitor: $(RUN) prometheus ## Monitor a running Atajo with Prometheus, alerts and runbooks, until Ctrl-C
	@exec $(PY) -m deploy.monitoring

# A release, as .github/workflows/release.yml runs it. IMAGES and CHARTS are registry and path, such as
# docker.io/atajo; REPOSITORY is a URL. What was pushed is recorded in dist/.
PUBLISH = --platform linux/amd64,linux/arm64 --sbom=true --provenance=mode=max --push

.PHONY: release-check
release-check: ## Check that a tag and all files name one version: make release-check TAG=v1.1.0
	@$(PYTHON) -m deploy.release.versions "$${TAG-}"

.PHONY: release-images
release-images: TAG := $(VERSION)
release-images: engine ## Build the images for amd64 and arm64, push and sign them: make release-images IMAGES=docker.io/atajo
	@mkdir -p dist
	@$(foreach image,app web atajo,$(call build,$(image),$(PUBLISH) --metadata-file dist/$(image).json,$(IMAGES));)
	@$(call sign,"$(IMAGES)")

.PHONY: release-chart
release-chart: ## Package the chart for these images, push and sign it: CHARTS=ghcr.io/owner/charts, IMAGES=, REPOSITORY=
	@$(MAKE) chart-package CHARTS="$${CHARTS,,}"
	@helm push "dist/atajo-$(VERSION).tgz" "oci://$${CHARTS,,}" 2>&1 | tee dist/chart.txt
	@$(call sign)

.PHONY: release-page
release-page: ## Create the release on GitHub, with its text from CHANGELOG.md: IMAGES=, REPOSITORY=
	@$(PYTHON) -m deploy.release.notes dist "$(IMAGES)" "$${REPOSITORY-}" >dist/notes.md
	@gh release create "v$(VERSION)" --verify-tag --title "Atajo $(VERSION)" --notes-file dist/notes.md \
		$(if $(findstring -,$(VERSION)),--prerelease) compose.yaml "dist/atajo-$(VERSION).tgz"

##@ Operate

.PHONY: backup
backup: $(RUN) ## Back up a running Atajo on SQLite: make backup TO=folder
	@exec $(PY) -m deploy.local backup -- "$${TO-}"

.PHONY: restore
restore: $(RUN) ## Replace the data of a stopped Atajo by a backup: make restore FROM=folder
	@exec $(PY) -m deploy.local restore -- "$${FROM-}"

.PHONY: remove-link
remove-link: $(RUN) ## Delete a link permanently: make remove-link CODE=k7Qm2_xB
	@exec $(PY) -m deploy.local remove-link -- "$${CODE-}"

.PHONY: remove-account
remove-account: $(RUN) ## Delete an account and its links: make remove-account EMAIL=a@example.com
	@exec $(PY) -m deploy.local remove-account -- "$${EMAIL-}"

.PHONY: reset-link
reset-link: $(RUN) ## Print a URL with which an owner sets a new password, once, within an hour: make reset-link EMAIL=a@example.com
	@exec $(PY) -m deploy.local reset-link -- "$${EMAIL-}"

.PHONY: invite
invite: $(RUN) ## Print a URL with which somebody registers an account, once, within 7 days; EMAIL=
	@exec $(PY) -m deploy.local invite -- "$${EMAIL-}"

.PHONY: role
role: $(RUN) ## Make an account an administrator or a member: make role EMAIL=a@example.com ROLE=administrator
	@exec $(PY) -m deploy.local role -- "$${EMAIL-}" "$${ROLE-}"

.PHONY: reports
reports: $(RUN) ## List reports that await a decision, most reported links first; AFTER=
	@exec $(PY) -m deploy.local reports -- "$${AFTER-}"

.PHONY: block
block: $(RUN) ## Block a link, a host or a path: make block WHAT=k7Qm2_xB CLASS=phishing (malware, spam, illegal, other); COMMENT=
	@exec $(PY) -m deploy.local block -- "$${WHAT-}" "$${CLASS-}" "$${COMMENT-}"

.PHONY: unblock
unblock: $(RUN) ## Remove a block: make unblock WHAT=evil.example; COMMENT=
	@exec $(PY) -m deploy.local unblock -- "$${WHAT-}" "$${COMMENT-}"

.PHONY: dismiss
dismiss: $(RUN) ## Dismiss the reports of a link: make dismiss CODE=k7Qm2_xB; COMMENT=
	@exec $(PY) -m deploy.local dismiss -- "$${CODE-}" "$${COMMENT-}"

.PHONY: why
why: $(RUN) ## Explain why a link, host or URL is blocked: make why CODE=k7Qm2_xB, or WHAT=evil.example
	@exec $(PY) -m deploy.local why -- "$${CODE-$${WHAT-}}"

.PHONY: decisions
decisions: $(RUN) ## List decisions (blocks, unblocks, dismissals), newest first; FIND=text, PAGE=
	@exec $(PY) -m deploy.local decisions -- "$${PAGE-}" "$${FIND-}"

##@ Verify

# Tests start the product's processes a thousand times: let them compile their sources once.
test test-e2e test-all: export PYTHONDONTWRITEBYTECODE :=

# T names a folder below tests/, or a path. Tests of a package need no browser, no nginx and no helm.
TESTS = $(if $(T),$(if $(wildcard tests/$(firstword $(subst ::, ,$(T)))),tests/$(T),$(T)))
IS_PACKAGE = $(filter $(PACKAGES),$(firstword $(subst /, ,$(patsubst tests/%,%,$(T)))))
IS_SQLITE = $(filter sqlite,$(STORE))
ONLY = $(if $(K),($(K)))$(if $(K),$(if $(IS_SQLITE), and ))$(if $(IS_SQLITE),not mongo)
TOOLS = $(if $(IS_PACKAGE),$(if $(IS_SQLITE),,mongo),$(if $(T),test-tools,ready))

.PHONY: test
test: $(DEV) $(WEB) $(TOOLS) ## Run all tests except e2e and slow ones, or some: make test T=links K=blocklist; STORE=sqlite, PYTEST=, WORKERS=
	@exec $(PY) -m pytest -n $(WORKERS) -m "not slow$(if $(T)$(K),, and not e2e)" $(if $(ONLY),-k "$(ONLY)") $(PYTEST) $(TESTS)

.PHONY: test-e2e
test-e2e: $(DEV) $(WEB) test-tools ## Run the tests in browsers, of QR codes and of API clients, except slow ones; PYTEST=, WORKERS=
	@exec $(PY) -m pytest -n $(WORKERS) -m "e2e and not slow" $(PYTEST)

.PHONY: test-all
test-all: export PAGES_COVERAGE = -- --coverage
test-all: $(DEV) $(WEB) ready ## Run all tests, with a report of their coverage in reports/coverage; PYTEST=, WORKERS=
	@rm -rf reports/coverage/python*
	@$(COVERAGE) run -m pytest -n $(WORKERS) $(PYTEST)
	@$(COVERAGE) combine --quiet
	@$(COVERAGE) html --quiet
	@$(COVERAGE) report --format=total >reports/coverage/python-total
	@$(MAKE) check-coverage

# Download what the other tests need while the tests of the pages use the cores.
.PHONY: ready
ready: $(NODE)
	@$(MAKE) --jobs=2 test-pages test-tools

.PHONY: test-pages
test-pages: $(NODE) ## Run the unit tests of the pages
	@$(NPM) test $(PAGES_COVERAGE)

# One at a time, because of apt-get's lock.
.PHONY: test-tools
test-tools: mongo
	@for tool in browser helm prometheus nginx apache; do bash deploy/local/prerequisites.sh --$$tool; done

.PHONY: image-test
image-test: $(DEV) images $(if $(T),,compose browser) ## Build, inspect and run the images, and compose.yaml; EARLIER= tag of the image to upgrade from, T=deployment/images
	@exec env ATAJO_TEST_IMAGES=$(TAG) ATAJO_TEST_EARLIER_IMAGE=$(EARLIER) ATAJO_TEST_ENGINE=$(ENGINE) \
		$(PY) -m pytest -s -m engine $(if $(T),tests/$(T),tests/deployment/images tests/deployment/compose)

.PHONY: kind-test
kind-test: $(DEV) $(WEB) browser kind-tools ## Test upgrades, scaling and kills on the kind cluster; report in reports/
	@exec $(PY) -m pytest -m cluster tests/deployment/cluster

.PHONY: faults
faults: $(DEV) mongo ## Kill and freeze processes at random under load; SEED=, KILLS=, STORE=
	@exec $(PY) -m tests.system.faults.run

.PHONY: fuzz
fuzz: $(DEV) ## Send random requests until Ctrl-C; FOR= seconds, SEED=, CASE=
	@exec $(PY) -m tests.system.fuzz.run

.PHONY: fuzz-api
fuzz-api: $(DEV) ## Send 100,000 random requests to the REST API by its description; CALLS=, SEED=
	@exec $(PY) -m tests.system.api.fuzz

.PHONY: drill
drill: $(DEV) mongo prometheus ## Break what the alerts watch, and check that the right ones fire; DRILL=
	@exec $(PY) -m tests.deployment.monitoring.drill

.PHONY: bench
bench: $(DEV) ## Measure redirects and creations on one core, compared with nginx
	@exec $(PY) -m tests.performance.bench

.PHONY: bench-memory
bench-memory: $(DEV) $(WEB) ## Measure the memory of all processes, idle and at full load
	@exec $(PY) -m tests.performance.memory

.PHONY: bench-attack
bench-attack: $(DEV) $(WEB) mongo ## Measure what a user notices while a stranger attacks; STORE=
	@bash deploy/local/prerequisites.sh --nginx
	@exec $(PY) -m tests.performance.attack

.PHONY: bench-blocklists
bench-blocklists: $(DEV) ## Measure creations while a blocklist of a million hosts is read
	@exec $(PY) -m tests.performance.blocklists

.PHONY: bench-sweep
bench-sweep: $(DEV) mongo ## Measure the rescan of a million links after a blocklist changed
	@exec $(PY) -m tests.performance.sweep

.PHONY: bench-import
bench-import: $(DEV) mongo ## Measure an import of 100,000 rows, and redirects meanwhile
	@exec $(PY) -m tests.performance.imports

.PHONY: bench-scale
bench-scale: $(DEV) mongo ## Measure operations with 10 million links and 100 million visits
	@exec $(PY) -m tests.performance.scale

.PHONY: bench-sustained
bench-sustained: $(DEV) mongo ## Measure how many visits a second are counted for five minutes, on both stores
	@exec $(PY) -m tests.performance.sustained

.PHONY: qr-time
qr-time: $(DEV) $(WEB) browser ## Measure the verdict on a QR code as on a phone; fails above the budget
	@exec $(PY) -m tests.system.e2e.stage node web/scripts/verdict.mjs {url}

.PHONY: check
check: check-python check-web check-coverage check-proto check-edge check-unicode check-nginx check-locks check-dashboards check-chart check-images check-documents check-workflows ## Check format, lint, types, import contracts, generated files, documents, the contents of images, workflows

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
	@$(PY) -m deploy.trailing | diff $(TRAILING) - || { echo "$(TRAILING) is not current: make edge" >&2; exit 1; }
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PY) -m deploy.edge "$$fresh"; \
	for module in "$$fresh"/*; do diff $(WEB_EDGE)/$${module##*/} "$$module" || { echo "$(WEB_EDGE) is not current: make edge" >&2; exit 1; }; done

.PHONY: check-unicode
check-unicode: $(DEV)
	@$(PY) -m deploy.unicode_scripts | diff $(SCRIPTS) - || { echo "$(SCRIPTS) is not current: make unicode" >&2; exit 1; }

.PHONY: check-nginx
check-nginx: $(DEV)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PY) -m gateway.nginx.includes "$$fresh"; \
	diff -r $(NGINX_EDGE) "$$fresh" || { echo "$(NGINX_EDGE) is not current: make nginx" >&2; exit 1; }

# Generated values, Helm lint, Kubernetes schemas, and comparison with the golden manifests.
.PHONY: check-chart
check-chart: $(DEV) helm
	@$(PY) -m deploy.chart.values --check
	@$(PY) -m tests.deployment.chart.check

.PHONY: check-dashboards
check-dashboards: $(DEV)
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(PY) -m deploy.monitoring.dashboards "$$fresh"; \
	diff -r $(DASHBOARDS) "$$fresh" || { echo "The dashboards are not current: make dashboards" >&2; exit 1; }

# Follow the Dockerfile without an engine, from the files that .dockerignore leaves.
.PHONY: check-images
check-images: $(DEV) $(NODE)
	@$(PY) -m tests.deployment.images.build

.PHONY: check-documents
check-documents: $(DEV)
	@$(PY) -m tests.performance.capacity --check
	@$(PY) -m tests.deployment.documents.reference --check
	@$(PY) -m pytest -n 0 --durations=0 tests/deployment/documents

# Without shellcheck and pyflakes, so that every machine finds the same.
.PHONY: check-workflows
check-workflows: actionlint
	@actionlint -shellcheck= -pyflakes=

# The pages' own limits are in web/vite.config.ts.
.PHONY: check-coverage
check-coverage:
	@total=$$(cat reports/coverage/python-total 2>/dev/null) || { echo "make test-all measures the coverage."; exit 0; }; \
	[ "$$total" -ge $(MIN_COVERAGE) ] || { echo "Tests run $$total % of the Python code, less than $(MIN_COVERAGE) %." >&2; exit 1; }

# Lock files must not name the package index of the machine that wrote them.
.PHONY: check-locks
check-locks: $(WHEELS)
	@! grep -nE '://|^--' requirements.txt requirements-dev.txt || { echo "A Python lock contains a URL." >&2; exit 1; }
	@! grep -n '"resolved"' web/package-lock.json || { echo "The npm lock contains a URL." >&2; exit 1; }

.PHONY: screenshots
screenshots: $(DEV) $(WEB) browser ## Take screenshots of every page, in both themes and two widths, into reports/
	@exec $(PY) -m tests.system.e2e.stage node web/scripts/screenshots.mjs {url} reports/screenshots

.PHONY: picture
picture: $(DEV) $(WEB) browser ## Take the picture of the README
	@exec $(PY) -m tests.system.e2e.picture docs/images/atajo.webp

.PHONY: lighthouse
lighthouse: $(DEV) $(WEB) browser ## Measure the pages with Lighthouse; fails below the budget
	@exec $(PY) -m tests.system.e2e.stage node web/scripts/lighthouse.mjs {url} reports/lighthouse

.PHONY: audit
audit: $(DEV) $(NODE) ## Check the locked dependencies for known vulnerabilities
	@$(PY) -m pip_audit -r requirements-dev.txt --require-hashes --disable-pip --progress-spinner off
	@$(NPM) audit

##@ Change

.PHONY: fmt
fmt: $(DEV) $(NODE) ## Format the code, and fix what can be fixed
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format
	@$(NPM) run fmt

.PHONY: proto
proto: $(DEV) ## Generate proto/gen from proto/
	@rm -rf proto/gen
	@mkdir -p proto/gen
	@$(call generate,proto/gen)

.PHONY: edge
edge: $(DEV) ## Generate from deploy/edge.toml what Python, nginx and the pages need
	@$(PY) -m deploy.trailing > $(TRAILING).new && mv $(TRAILING).new $(TRAILING)
	@$(MAKE) nginx
	@$(PY) -m deploy.edge $(WEB_EDGE)

.PHONY: unicode
unicode: $(DEV) ## Generate the table of Unicode's scripts
	@$(PY) -m deploy.unicode_scripts > $(SCRIPTS).new && mv $(SCRIPTS).new $(SCRIPTS)

.PHONY: nginx
nginx: $(DEV) ## Generate only nginx's part of that
	@$(PY) -m gateway.nginx.includes $(NGINX_EDGE)

.PHONY: chart-values
chart-values: $(DEV) ## Generate the chart's values.yaml and the tables of its README from values.schema.json
	@$(PY) -m deploy.chart.values

.PHONY: chart-golden
chart-golden: $(DEV) helm ## Update the chart's golden manifests
	@$(PY) -m tests.deployment.chart.check --golden

.PHONY: dashboards
dashboards: $(DEV) ## Generate the Grafana dashboards from deploy/monitoring/dashboards.py
	@$(PY) -m deploy.monitoring.dashboards $(DASHBOARDS)

.PHONY: capacity
capacity: $(DEV) ## Compute the tables of docs/performance.md from measured costs
	@$(PY) -m tests.performance.capacity

.PHONY: reference
reference: $(DEV) ## Generate docs/reference from the code: openapi.json, tables of settings, functions, metrics and alerts
	@$(PY) -m tests.deployment.documents.reference

.PHONY: lock
lock: $(DEV) ## Update the lock files; UPGRADE=1 takes newer versions
	@$(COMPILE) --group=dev --output-file=requirements-dev.txt pyproject.toml
	@$(COMPILE) --constraints=requirements-dev.txt --output-file=requirements.txt pyproject.toml
	@$(NPM) $(if $(UPGRADE),update,install) --package-lock-only --ignore-scripts

.PHONY: clean
clean: ## Delete everything that was installed or built; .data stays
	rm -rf $(VENV) web/node_modules web/dist web/coverage reports dist
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

.PHONY: compose
compose: engine
	@bash deploy/local/prerequisites.sh --compose $(ENGINE)

.PHONY: kind-tools
kind-tools:
	@bash deploy/local/prerequisites.sh --kind

.PHONY: helm
helm: | prerequisites
	@bash deploy/local/prerequisites.sh --helm

# Asks the package index, so only after a change.
$(WHEELS): requirements.txt requirements-dev.txt web/package-lock.json $(DEV)
	@rm -f $@
	@$(PY) -m tests.deployment.locks.check
	@touch $@

.PHONY: actionlint
actionlint:
	@bash deploy/local/prerequisites.sh --actionlint

INSTALL = $(PY) -m pip install --quiet --disable-pip-version-check --require-hashes

# Without its stamp the environment is incomplete: start over.
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

# No package needs its install script, so none is run.
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

# Build an image. Arguments: its name, which is that of a stage, further options, and its place if that is not atajo.
define build
$(ENGINE) build --file deploy/images/Dockerfile --target $(1) --tag $(or $(3),atajo)/$(1):$(TAG) $(2) \
	$(foreach base,PYTHON_IMAGE NODE_IMAGE NGINX_IMAGE,$(if $($(base)),--build-arg $(base)=$($(base)))) \
	--build-arg VERSION=$(VERSION) --build-arg REVISION=$$(git rev-parse HEAD) .
endef

# Sign what was pushed, with the identity of the workflow that runs. Argument: the place of the images, or none for
# the chart.
define sign
pushed=$$($(PYTHON) -m deploy.release.published dist $(1)); \
for reference in $$pushed; do cosign sign --yes "$$reference"; done
endef

define generate
PATH="$(VENV)/bin:$$PATH" $(PY) -m grpc_tools.protoc -I proto \
	--python_out=$(1) --grpc_python_out=$(1) --mypy_out=quiet:$(1) --mypy_grpc_out=quiet:$(1) $(PROTOS)
endef

# The header of each lock has this command. Renovate runs it again, and knows these options only; more are in
# pyproject.toml.
COMPILE = $(PY) -m uv pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --generate-hashes
