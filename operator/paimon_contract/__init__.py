"""What the operator and the Spark side agree on: job, result, exit codes, names of environment variables.

Dataclasses of the standard library only, because both images install this package. It imports none of our code.
"""
