"""The run controller: the state machine of one PaimonRun."""
