"""The resources that users write and read, as pydantic models."""
