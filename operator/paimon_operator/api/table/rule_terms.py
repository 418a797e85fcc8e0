"""Parts of the CEL rules of a PaimonTable that several of them use. `self` is the spec.

`self.?block.?member` reads a block once, where `has(self.block) && has(self.block.member)` reads it twice. The API
server copies all properties of an object at each read.
"""

from __future__ import annotations

from typing import Final

FORBIDDEN: Final = "FieldValueForbidden"
KEYED: Final = "has(self.schema.primaryKeys)"
NAMES: Final = "self.schema.columns.map(c, c.name)"
ENGINE: Final = "self.?mergeEngine.?type.orValue('Deduplicate')"
BUCKET: Final = "self.?bucket.?type.orValue('Default')"
PRODUCER: Final = "self.?changelogProducer.?type.orValue('None')"
GROUPS: Final = "self.?mergeEngine.?partialUpdate.?sequenceGroups.hasValue()"
