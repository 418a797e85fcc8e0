//go:build tools

// Package tools names the program, so that `go mod tidy` keeps its dependencies.
package tools

import _ "k8s.io/kube-state-metrics/v2"
