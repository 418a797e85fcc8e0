"""The supported engines: engines.yaml, data generated from their jars, and the loader. Imports none of our code."""
