"""Operations that create, evolve and drop a table."""
