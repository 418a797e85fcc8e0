"""Access to S3, HDFS and volumes."""
