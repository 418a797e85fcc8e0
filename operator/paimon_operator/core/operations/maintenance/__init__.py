"""Operations that keep a table healthy."""
