"""One module per operation, with a function `run(job, session)`."""
