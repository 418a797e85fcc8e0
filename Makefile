# Everything runs from here; `make help` lists the targets. Caches live in $(PAIMON_OPERATOR_CACHE), outside the checkout.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
cache_home := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)
export PAIMON_OPERATOR_CACHE ?= $(cache_home)/paimon-operator
# Valid for every checkout: mypy compares the contents of files.
export MYPY_CACHE_DIR ?= $(PAIMON_OPERATOR_CACHE)/mypy
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SPARK_STAMP := $(VENV)/.installed-spark
NODE := $(BIN)/python -m tests.cluster
# Processes that run tests side by side in `make test`: more than cores, because tests on the node mostly wait.
TEST_PROCESSES ?= 5
# Where the demo's table lives: s3, hdfs or kerberos.
STORAGE ?= s3
# Whose Spark images `up`, `deploy` and `demo` build: the newest engine's whose jars can be had, or all.
ENGINES ?= newest
UNIT := tests/api tests/benchmarks tests/contract tests/core tests/engines tests/export tests/generate tests/installation tests/kube tests/lint tests/runtime tests/schema tests/spark_apps tests/support

.PHONY: help venv lint format unit coverage properties test test-long long-properties long-apiserver long-node long-storages long-faults long-releases long-matrix long-manifests long-rescales long-histories test-chart test-apiserver test-spark test-e2e test-faults test-alone generate images image-context push load release lock up down deploy demo bench bench-fleet bench-long-life clean

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)$$/  \1\t\2/' | expand -t 20

$(STAMP): pyproject.toml constraints.txt
	@echo "==> Python environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
	@touch $@

# PyPI has pyspark as a source archive of 318 MB only; its wheel is built once per machine, for the images too.
$(SPARK_STAMP): $(STAMP)
	@wheel=$$($(BIN)/python -m tests.cluster pyspark | tail -n 1); \
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --find-links "$$(dirname "$$wheel")" \
		--editable '.[dev,spark]'
	@touch $@

venv: $(SPARK_STAMP) ## Python environment with the operator, pyspark and the development tools

lint: $(STAMP) ## ruff, mypy, the import contracts, and the checks of tools/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.lint

format: $(STAMP) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(SPARK_STAMP) ## Write everything generated: CRDs, engine data, the pages of fields, reasons, metrics, attacks and rules, the chart's table of values
	$(BIN)/python -m paimon_operator.generate.crd crds
	$(BIN)/python -m paimon_operator.generate.run_types charts/paimon-operator/files/run-types.yaml
	$(BIN)/python -m paimon_operator.generate.reasons_page docs/reasons.md
	$(BIN)/python -m paimon_operator.generate.metrics_page docs/metrics.md
	$(BIN)/python -m paimon_operator.generate.api_page docs/api.md
	$(BIN)/python -m tests.apiserver.attacks.page docs/access.md
	$(BIN)/python -m tests.support.table_rules.page docs/rules.md
	$(BIN)/python -m tools.engines.generate
	$(BIN)/python -m tests.support.generated_manifests.kept tests/support/generated_manifests/kept.txt
	$$($(NODE) binaries helm-docs | tail -n 1) --chart-search-root charts

unit: $(SPARK_STAMP) ## Tests of the code alone: no network, no server
	mkdir -p build
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --seconds-to=build/seconds-unit.json $(COVERED) $(UNIT)

coverage: COVERED = --cov --cov-report=term:skip-covered
coverage: unit ## The same with the branch coverage of core and api: twice as long; fails below the value in pyproject.toml

properties: $(SPARK_STAMP) ## 10,000 random worlds of each property test (500 of the slow ones); an hour
	mkdir -p build
	PROPERTY_EXAMPLES=10000 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m worlds \
		-o junit_family=xunit2 --timeout=5400 --seconds-to=build/seconds-properties.json --junitxml=build/junit-properties.xml $(UNIT)

test-chart: $(STAMP) ## The chart's own suite (helm-unittest), and its alerts (promtool); seconds
	$$($(NODE) binaries helm-unittest | tail -n 1) --strict charts/paimon-operator
	promtool=$$($(NODE) binaries promtool | tail -n 1); \
	$$promtool check rules charts/paimon-operator/files/alerts.yaml; \
	$$promtool test rules tests/alerts/*_test.yaml

test-apiserver: $(STAMP) ## The operator against a real API server; the tests decide what becomes of its Pods
	$(BIN)/python -m pytest tests/apiserver

test-spark: $(SPARK_STAMP) ## Real Spark with every Paimon engine whose jars can be had, on file://, S3, HDFS and PostgreSQL
	$(BIN)/python -m pytest tests/spark

test-e2e bench: ENGINES = all
test-e2e: $(SPARK_STAMP) deploy ## The whole on a real node, without what is long
	$(BIN)/python -m pytest -m 'not long' tests/e2e
	$(BIN)/python -m tests.support.secret_search

# What is written down by the calls that take ten moments of each fault. The commit is that of the checkout now.
FAULTS_ENV = changed=$$(git status --porcelain --untracked-files=no -- . ':!docs/faults.*' ':!docs/test-long.*'); \
	export FAULT_COMMIT=$$(git rev-parse --short=7 HEAD)$${changed:+-dirty} FAULT_REPORT=docs/faults.jsonl; \
	export FAULT_SEED=$${FAULT_SEED:-$$RANDOM} FAULT_MOMENTS=$${FAULT_MOMENTS:-10}

test-faults: $(SPARK_STAMP) deploy ## Ten random moments of each fault; adds to docs/faults.md (FAULT_SEED repeats, FAULT_MOMENTS=n, FAULTS='kubelet or operator')
	$(FAULTS_ENV); code=0; \
	$(BIN)/python -m pytest -v -n 3 --dist loadgroup $(if $(FAULTS),-k '$(FAULTS)') tests/e2e/test_faults.py || code=$$?; \
	$(BIN)/python -m tests.e2e.fault_report docs/faults.jsonl docs/faults.md; \
	exit $$code

# Not $(MAKE) where it is used: for that word `make -n test` would run the whole recipe.
SELF := $(MAKE) --no-print-directory
PYTEST = $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadgroup --no-loadscope-reorder --durations=25 -o junit_family=xunit2
# Leaves a cluster as it found it.
AS_FOUND = mkdir -p build; was_up=$$($(NODE) status >/dev/null 2>&1 && echo yes || echo no); \
	trap '[ "$$was_up" = yes ] || $(NODE) down' EXIT

# For the Go programs that tests start, as kubectl. Servers have it from tests/cluster/processes.py anyway.
test test-long: export GOGC = 400

# Go programs that single tests use. To build one on a slow machine takes longer than a test may.
OF_TESTS := kube-state-metrics local-path-provisioner prometheus

# The linters, the unit tests and the chart's own tests run, and those programs are built, while the cluster starts.
# What they say is shown afterwards.
test: $(SPARK_STAMP) ## Set up everything and prove all that a change can break
	@$(AS_FOUND); \
	{ $(SELF) lint unit test-chart && $(NODE) binaries $(OF_TESTS); } >build/checks.log 2>&1 & checks=$$!; \
	up=0; $(NODE) up || up=$$?; \
	wait $$checks || { cat build/checks.log; exit 1; }; cat build/checks.log; [ $$up = 0 ]; \
	$(BIN)/python -m tests.cluster.release; \
	$(PYTEST) -m 'not long' --seconds-to=build/seconds.json --junitxml=build/junit.xml \
		tests/apiserver tests/spark tests/e2e; \
	$(BIN)/python -m tests.support.measured_alone build/seconds-unit.json build/seconds.json; \
	$(BIN)/python -m tests.support.secret_search; \
	$(BIN)/python -m tests.support.engine_coverage build/junit.xml $$($(BIN)/python -c 'from tests.cluster import release; print(*release.engines())')

# Each part runs whatever becomes of the one before, and is in the report as soon as it ends.
PARTS ?= properties apiserver node storages faults releases matrix manifests rescales histories
test-long: $(SPARK_STAMP) ## Hours: soak, ten moments of each fault, releases, whole engine matrix; adds to docs/test-long.md (PARTS=properties, apiserver, node, storages, faults, releases, matrix, manifests, rescales or histories: one part)
	@$(AS_FOUND); $(FAULTS_ENV); rm -f $(PARTS:%=build/junit-%.xml) $(PARTS:%=build/seconds-%.json); \
	$(NODE) up; \
	$(BIN)/python -m tests.cluster.release; \
	code=0; \
	for part in $(PARTS); do \
		began=$$(date +%s); \
		$(SELF) long-$$part || code=1; \
		$(BIN)/python -m tests.support.long_report docs/test-long.jsonl docs/test-long.md $$FAULT_COMMIT $$began \
			build/junit-$$part.xml || code=1; \
	done; \
	$(BIN)/python -m tests.support.secret_search || code=1; \
	exit $$code

long-properties: properties coverage

long-apiserver:
	@$(PYTEST) -m long --junitxml=build/junit-apiserver.xml tests/apiserver

# Faults, the life of a table on each storage, and tests that build images or clusters or change the node's release are
# parts of their own, so that a part is proven in one sitting, and no test loses its operator to another one.
E2E_FAULTS := $(addprefix tests/e2e/test_,faults.py exactly_once.py operator_killed.py shared_drivers.py)
E2E_RELEASES := $(addprefix tests/e2e/test_,architectures.py cluster_lifecycle.py image_context.py install_from_a_registry.py make_release.py own_cluster.py platform.py quickstart.py release_lifecycle.py)
E2E_STORAGES := $(addprefix tests/e2e/test_,claims.py happy_path.py hdfs.py hive_metastore.py jdbc_metastore.py observer.py production_s3.py tutorials.py)
long-node:
	@$(PYTEST) -m long --junitxml=build/junit-node.xml $(patsubst %,--ignore=%,$(E2E_FAULTS) $(E2E_RELEASES) $(E2E_STORAGES)) tests/e2e

long-storages:
	@$(PYTEST) -m long --junitxml=build/junit-storages.xml $(E2E_STORAGES)

long-faults:
	@code=0; $(PYTEST) -m long --junitxml=build/junit-faults.xml $(E2E_FAULTS) || code=1; \
	$(BIN)/python -m tests.e2e.fault_report docs/faults.jsonl docs/faults.md || code=1; \
	exit $$code

# The images of the earlier release are built before the tests: beside five tests, the build exceeds the limit of a test.
long-releases:
	@code=0; $(BIN)/python -m tests.cluster.earlier || code=1; \
	$(PYTEST) -m long --junitxml=build/junit-releases.xml $(E2E_RELEASES) || code=1; \
	exit $$code

# Every test of Spark runs on every engine, in four parts, so that each is proven in one sitting.
MANIFESTS := $(addprefix tests/spark/test_,generated_manifests.py key_types.py)
RESCALES := $(addprefix tests/spark/test_,rescale_storages.py rescale_interrupted.py executors.py)
HISTORIES := $(addprefix tests/spark/test_,evolution_histories.py schedules.py edited_schedules.py operated_schedules.py)
long-matrix: SELECTED = $(patsubst %,--ignore=%,$(MANIFESTS) $(RESCALES) $(HISTORIES)) tests/spark
long-manifests: SELECTED = $(MANIFESTS)
long-rescales: SELECTED = $(RESCALES)
long-histories: SELECTED = $(HISTORIES)
long-matrix long-manifests long-rescales long-histories: long-%:
	@code=0; $(PYTEST) --whole-matrix --seconds-to=build/seconds-$*.json --junitxml=build/junit-$*.xml \
		$(SELECTED) || code=1; \
	$(BIN)/python -m tests.support.measured_alone build/seconds-$*.json || code=1; \
	exit $$code

test-alone: $(SPARK_STAMP) ## Measure each test alone that took over 60 s in `make test`; writes tests/measured_alone.json
	@$(AS_FOUND); $(NODE) up; \
	$(BIN)/python -m tests.cluster.release; \
	$(BIN)/python -m tests.support.measured_alone --record build/seconds-unit.json build/seconds.json

images: $(SPARK_STAMP) ## Build the operator's image and one Spark image per engine
	$(NODE) images

image-context: $(SPARK_STAMP) ## Fill build/image-context, for a docker build of your own
	$(NODE) context

push load release: ENGINES = all
push: $(STAMP) ## Build the images with docker, podman or buildah, and push them: make push REGISTRY=registry.example.com/data (ENGINES=newest, all or ids)
	$(BIN)/python -m tools.images.publish --engines $(ENGINES) --registry $(REGISTRY)

load: $(STAMP) ## Build them and run a command with each: make load LOAD="kind load docker-image"
	$(BIN)/python -m tools.images.publish --engines $(ENGINES) --load "$(LOAD)"

release: $(STAMP) ## Build and push images and chart of this version, with their contents and notes: make release REGISTRY=... (ENGINES as for push; PLAIN_HTTP=1: without TLS)
	$(BIN)/python -m tools.release --engines $(ENGINES) --registry $(REGISTRY) $(if $(PLAIN_HTTP),--plain-http)

lock: $(STAMP) ## Write the hashed lists of packages for the images, for each architecture
	$(BIN)/python -m tools.images.lock

up: $(STAMP) ## Start the one-node Kubernetes with S3 server, operator, and namespace shop with its catalog (ENGINES=all)
	$(NODE) up --engines $(ENGINES)
	@$(BIN)/python -c 'from tests.cluster import release; release.ready_cluster()'
	@echo "now: source build/cluster/env && kubectl -n shop get pcat,pt,prun"

deploy: $(STAMP) ## The same, with the operator as it is in this checkout
	$(NODE) up --engines $(ENGINES)
	$(BIN)/python -m tests.cluster.release

down: $(STAMP) ## Stop the cluster; leaves no process, mount, interface or namespace behind
	$(NODE) down

# What the demo on a cluster of the user's reads from its environment.
export REGISTRY LOAD ENGINES BUILDER BUILD_FLAGS PUSH_FLAGS S3_IMAGE YES
ifeq ($(CLUSTER),current)
demo: $(STAMP) ## One table's life, from kubectl apply to merged rows; STORAGE=hdfs or kerberos: on HDFS; CLUSTER=current: on your own cluster
	$(BIN)/python -m tests.cluster.current
else
demo: deploy
	$(BIN)/python -m tests.cluster.demo $(STORAGE)
endif

bench: $(SPARK_STAMP) deploy ## Figures, side by side in one run
	$(BIN)/python -m tools.benchmarks.apply_to_ready
	$(BIN)/python -m tools.benchmarks.footprint
	$(BIN)/python -m tools.benchmarks.first_statement
	$(BIN)/python -m tools.benchmarks.executors 1000000 20000000
	$(BIN)/python -m tools.benchmarks.lost_commits
	$(BIN)/python -m tools.benchmarks.observe_fleet
	$(BIN)/python -m tools.benchmarks.maintenance_day
	$(BIN)/python -m tools.benchmarks.turns
	$(BIN)/python -m tools.benchmarks.batching

bench-fleet: $(STAMP) ## What fleets of tables cost the operator, on an API server without nodes: make bench-fleet TABLES="100 1000 10000"
	@missed=0; for program in "fleet $(TABLES)" "fleet.kopf_floor $(TABLES)" fleet.history fleet.ticks fleet.neighbour; do \
	  echo "==> tools.benchmarks.$$program"; $(BIN)/python -m tools.benchmarks.$$program || missed=1; done; exit $$missed

bench-long-life: $(STAMP) ## Whether the operator grows in eight hours, ten times as fast
	$(BIN)/python -m tools.benchmarks.fleet.long_life

clean: $(STAMP) ## Remove what was built in this checkout; caches stay
	$(NODE) down --purge
	rm -rf build dist .ruff_cache .pytest_cache .coverage
