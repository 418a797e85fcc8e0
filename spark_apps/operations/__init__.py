"""One module per operation, with PARAMETERS and a function `run(job, session)`."""
