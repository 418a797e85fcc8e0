// Nothing of it is built: its archive holds the CRD of a ServiceMonitor, for the chart's tests. A module of its own: see ../node/go.mod.
module paimon-operator.dev/tests/cluster/prometheus-operator

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.85.0
