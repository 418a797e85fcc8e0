//go:build tools

// Package tools names the program, so that `go mod tidy` keeps its dependencies.
package tools

import _ "github.com/rancher/local-path-provisioner"
