"""A real single-node Kubernetes on one bare Linux machine, for demo, tests and development: `python -m tests.cluster`.

node         the cluster of this checkout: up, down, outages
services     its processes: etcd, API server, containerd, S3 server, kubelet, ...
network      the network namespace they live in; `forward` leads into it from loopback ports of the host
cgroups      the cgroup they live in, by which `cleanup` finds every one of them
layout       names, directories and ports, different for each checkout
programs     Go programs built from the module proxy; `packages`: Debian packages
images       Dockerfile and Dockerfile.spark, built without a network from contexts the host prepares
apiserver    only etcd and an API server, for tests that write the Pods' status themselves
release      the operator on the node, by its Helm chart; `demo` shows the life cycle of one table
"""
