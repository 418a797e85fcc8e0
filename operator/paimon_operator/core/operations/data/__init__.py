"""Operations that load rows."""
