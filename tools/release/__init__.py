"""A release: images and chart in a registry, with what they consist of and what changes for users."""
