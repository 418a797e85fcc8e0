"""HDFS for tests and the demo: a NameNode and a DataNode from Maven's artifacts, with or without Kerberos.

The same servers run on the node's address inside the cluster's network namespace, and on loopback without a cluster.
"""
