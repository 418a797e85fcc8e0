"""Many tables on one machine: a real API server and etcd, the real operator on one core, and simulated kubelets."""
