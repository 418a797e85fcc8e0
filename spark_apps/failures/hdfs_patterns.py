"""Failures of HDFS and of its Kerberos login."""

from __future__ import annotations

from spark_apps.failures.patterns import failure_pattern

_HDFS = "spec.storage.hdfs"
_KERBEROS, _KEYTAB = f"{_HDFS}.kerberos", f"{_HDFS}.kerberos.keytabSecretRef"
_KRB5, _SITES = f"{_HDFS}.kerberos.krb5ConfigMapRef", f"{_HDFS}.configMapRef"

HDFS_PATTERNS = (
    failure_pattern(
        r"SIMPLE authentication is not enabled|Client cannot authenticate via",
        "Environment",
        "CredentialsRefused",
        "This HDFS wants a Kerberos ticket",
        "name principal, keytab and krb5.conf in the catalog",
        field=_KERBEROS,
    ),
    failure_pattern(
        r"Failed to specify server's Kerberos principal|Server has invalid Kerberos principal|"
        r"Server not found in Kerberos database",
        "Environment",
        "CredentialsRefused",
        "The NameNode's own principal is not known",
        "set dfs.namenode.kerberos.principal in the hdfs-site.xml of the catalog's ConfigMap as the cluster has it",
        field=_SITES,
    ),
    failure_pattern(
        r"Cannot locate KDC|Cannot locate default realm|Can't get Kerberos realm|Cannot find KDC|No KDC found",
        "Environment",
        "CredentialsRefused",
        "The krb5.conf does not tell where the realm's KDC is",
        "correct the krb5.conf in the catalog's ConfigMap",
        field=_KRB5,
    ),
    failure_pattern(
        r"(?s)(LoginException|KrbException|krb5).*"
        r"(Connection refused|timed out|ICMP Port Unreachable|NoRouteToHost|UnknownHost|Network is unreachable)",
        "Infrastructure",
        "StorageUnreachable",
        "The KDC does not answer",
        "check the KDC in the krb5.conf of the catalog's ConfigMap, and the network",
        field=_KRB5,
    ),
    failure_pattern(
        r"Clock skew too great",
        "Environment",
        "CredentialsRefused",
        "The clocks of the node and of the KDC differ too much",
        "set the clocks",
        field=_KERBEROS,
    ),
    failure_pattern(
        r"LoginException|KerberosAuthException|KrbException|GSSException|GSS initiate failed|"
        r"Client not found in Kerberos database",
        "Environment",
        "CredentialsRefused",
        "The Kerberos login is refused",
        "put a keytab of the catalog's principal, with its current keys, into the catalog's Secret as keytab",
        field=_KEYTAB,
    ),
    failure_pattern(
        r"SafeModeException|Name node is in safe mode",
        "Infrastructure",
        "StorageUnreachable",
        "The NameNode is in safe mode and lets nothing be written",
        "wait until it has left safe mode, or see why it does not",
    ),
    failure_pattern(
        r"QuotaExceeded",
        "Infrastructure",
        "DiskFull",
        "The quota of a directory is used up",
        "raise the quota, or delete what is not needed",
    ),
    failure_pattern(
        r"BlockMissingException|Could not obtain block|could only be written to|Unable to create new block|"
        r"All datanodes .{0,200} are bad|Failed to replace a bad datanode",
        "Infrastructure",
        "StorageUnreachable",
        "No DataNode serves the files",
        "see whether the DataNodes run and have room, and whether pods reach them",
    ),
    failure_pattern(
        r"Permission denied|AccessControlException",
        "Environment",
        "AccessDenied",
        "HDFS does not permit this to the user",
        "give the user the right to read and write there, or name another user",
    ),
    failure_pattern(
        r"Operation category \w+ is not supported in state standby",
        "Infrastructure",
        "StorageUnreachable",
        "Only a NameNode on standby answers",
        "name the nameservice in the warehouse and describe it in hdfs-site.xml, or see why no NameNode is active",
        field=_SITES,
    ),
)
