"""Stands for `aws --endpoint-url ... s3 cp FILE s3://BUCKET/KEY`, where the AWS command line is not installed.

`python -m tests.support.s3_copy FILE s3://BUCKET/KEY`, with the variables of AWS's clients.
"""

from __future__ import annotations

import sys

import boto3
from botocore.config import Config


def main(source: str, target: str) -> None:
    """Uploads the file."""
    bucket, _, key = target.removeprefix("s3://").partition("/")
    client = boto3.client("s3", config=Config(s3={"addressing_style": "path"}))
    client.upload_file(source, bucket, key)


if __name__ == "__main__":
    main(*sys.argv[1:])
