"""The observer of a catalog: a small process that looks at the metadata of its tables, again and again, without a JVM.

It only reads. What it finds is advice to the operator: it holds no right in Kubernetes.
"""
