"""Paimon's type text -> Paimon's DataType. Only nesting is read here; the rest is left to Paimon's own parser."""

from __future__ import annotations

from typing import Any

from spark_apps.failures.errors import spec_failure


def parse_type(text: str, jvm: Any, field: str) -> Any:
    """The DataType (Java) of e.g. `ARRAY<ROW<sku STRING, n INT>> NOT NULL`. Raises RunError (Spec) naming `field`."""
    reader = _Reader(text, jvm, field)
    parsed = reader.read()
    reader.expect_end()
    return parsed


class _Reader:
    """A cursor over the text; each method reads one form and leaves the cursor behind it."""

    def __init__(self, text: str, jvm: Any, field: str) -> None:
        self._text = text
        self._field = field
        self._at = 0
        self._jvm = jvm
        self._types = jvm.org.apache.paimon.types.DataTypes

    def read(self) -> Any:
        """One type with its nullability."""
        word = self._peek_word().upper()
        read_nested = {"ARRAY": self._array, "MULTISET": self._multiset, "MAP": self._map, "ROW": self._row}.get(word)
        if read_nested is None:
            return self._atomic()
        self._at += len(word)
        self._take("<")
        nested = read_nested()
        self._take(">")
        if self._take_words("NOT", "NULL"):
            return nested.copy(False)
        self._take_words("NULL")
        return nested

    def expect_end(self) -> None:
        """Nothing may follow a whole type."""
        self._skip_spaces()
        if self._at < len(self._text):
            raise self._wrong("the end")

    def _array(self) -> Any:
        return self._types.ARRAY(self.read())

    def _multiset(self) -> Any:
        return self._types.MULTISET(self.read())

    def _map(self) -> Any:
        key = self.read()
        self._take(",")
        return self._types.MAP(key, self.read())

    def _row(self) -> Any:
        fields = self._jvm.java.util.ArrayList()
        while True:
            name = self._name()
            fields.add(self._jvm.org.apache.paimon.types.DataField(fields.size(), name, self.read()))
            self._skip_spaces()
            if not self._text.startswith(",", self._at):
                return self._jvm.org.apache.paimon.types.RowType(fields)
            self._at += 1

    def _name(self) -> str:
        self._skip_spaces()
        if not self._text.startswith("`", self._at):
            word = self._peek_word()
            if not word:
                raise self._wrong("a field's name")
            self._at += len(word)
            return word
        end = self._text.find("`", self._at + 1)
        if end < 0:
            raise self._wrong("a closing `")
        name, self._at = self._text[self._at + 1 : end], end + 1
        return name

    def _atomic(self) -> Any:
        """Up to the comma or angle bracket that closes it, not counting those in parentheses."""
        start, depth = self._at, 0
        while self._at < len(self._text):
            character = self._text[self._at]
            if depth == 0 and character in ",<>":
                break
            depth += {"(": 1, ")": -1}.get(character, 0)
            self._at += 1
        text = self._text[start : self._at].strip()
        try:
            return self._jvm.org.apache.paimon.types.DataTypeJsonParser.parseAtomicTypeSQLString(text)
        except Exception as error:
            raise self._wrong(f"a type, not {text!r}") from error

    def _peek_word(self) -> str:
        self._skip_spaces()
        end = self._at
        while end < len(self._text) and (self._text[end].isalnum() or self._text[end] == "_"):
            end += 1
        return self._text[self._at : end]

    def _take_words(self, *words: str) -> bool:
        start = self._at
        for word in words:
            if self._peek_word().upper() != word:
                self._at = start
                return False
            self._at += len(word)
        return True

    def _take(self, mark: str) -> None:
        self._skip_spaces()
        if not self._text.startswith(mark, self._at):
            raise self._wrong(repr(mark))
        self._at += 1

    def _skip_spaces(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _wrong(self, expected: str) -> Exception:
        return spec_failure(
            "InvalidSpec",
            f"type {self._text!r}: expected {expected} at character {self._at + 1}",
            "write the type as Paimon does, e.g. DECIMAL(12,2) or ARRAY<ROW<sku STRING, n INT>>",
            field=self._field,
        )
