"""Permission to commit: table claims, foreign commits, commit safety."""
