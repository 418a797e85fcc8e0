"""Failures of S3, as the two clients (Paimon's S3FileIO, Hadoop's S3A) and AWS's SDK report them.

They belong to no single warehouse: input files may lie on S3 whatever the storage of the warehouse. So they are part
of the common patterns.
"""

from __future__ import annotations

from spark_apps.failures.patterns import failure_pattern


def _answered(code: int, words: str) -> str:
    """An answer over HTTP, as clients tell it. The number alone may be a task's, a snapshot's or a row's."""
    return rf"(status( code)?|response code|error code|HTTP(/1\.1)?):? {code}\b|\b{code} ({words})"


S3_PATTERNS = (
    failure_pattern(
        r"PKIX path|unable to find valid certification path|SSLPeerUnverifiedException|SSLHandshakeException|"
        r"No subject alternative|CertificateException",
        "Environment",
        "CertificateNotTrusted",
        "The storage's certificate is not trusted",
        "put the certificate of its authority into a ConfigMap as ca.crt and name that in caConfigMapRef",
    ),
    failure_pattern(
        r"NoAuthWithAWSException|Unable to load (AWS )?credentials|Access key must be specified|No AWS Credentials|"
        r"(No AWS|Profile file contained no|AWS) (profile named|credentials for profile)|profile file",
        "Environment",
        "SecretNotFound",
        "No credentials for the storage were given",
        "set them in the catalog's Secret; without one, give the service account of the Spark pods an identity",
    ),
    failure_pattern(
        r"AccessDenied(?!Exception)|Access Denied",
        "Environment",
        "AccessDenied",
        "The storage does not permit this to these credentials",
        "grant what is missing to the owner of the keys in the catalog's Secret",
    ),
    failure_pattern(
        r"SignatureDoesNotMatch|InvalidAccessKeyId|InvalidSecurity|InvalidClientTokenId|ExpiredToken|InvalidToken|"
        r"AccessDeniedException|No user exists with the provided access key|" + _answered(403, "Forbidden"),
        "Environment",
        "CredentialsRefused",
        "The storage refuses the credentials",
        "correct the keys in the catalog's Secret, or what they may do",
    ),
    failure_pattern(
        r"Bad Request \(Service: (Amazon )?S3[;,] Status Code: 400",  # the answer to a HEAD has no room for a word more
        "Environment",
        "CredentialsRefused",
        "The storage refuses the request without saying why",
        "look for a session token that has expired, then for a wrong region",
    ),
    failure_pattern(
        r"NoSuchBucket|bucket does not exist|Bucket .{0,80}does not exist|UnknownStoreException",
        "Environment",
        "BucketNotFound",
        "The bucket does not exist",
        "create the bucket, or correct the catalog's warehouse or location",
    ),
    failure_pattern(
        r"UnknownHostException|Connection refused|connect timed out|ConnectException|NoRouteToHost|"
        r"Unable to execute HTTP request|SocketTimeoutException|"
        r"Connection reset|NoHttpResponse|SdkClientException|"
        + _answered(500, "Internal")
        + "|"
        + _answered(503, "Service|Slow"),
        "Infrastructure",
        "StorageUnreachable",
        "The storage does not answer",
        "check the catalog's endpoint and the network",
    ),
)
