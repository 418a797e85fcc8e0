"""What reaches Kubernetes for a run: job, driver Pod, executor Pod template."""
