"""Moves orphans away that two reports name, and removes for good what was moved away long ago.

Before each batch, the references are read again, and each file is compared with what the reports say of it. After each
batch they are read once more: a file that is referenced by then is moved back, and the run ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.files import ChangeFailedError, ListedFile, StorageFiles
from spark_apps.orphans.quarantine import MovedFiles, Quarantine
from spark_apps.orphans.references import References
from spark_apps.orphans.times import Moment
from spark_apps.progress import log_step

PER_BATCH: Final = 1_000
MOST: Final = 20_000
"""Files that one run moves away. The next run goes on."""


@dataclass
class Counted:
    """Files and their bytes."""

    files: int = 0
    bytes: int = 0

    def add(self, file: ListedFile) -> None:
        """Counts one more."""
        self.files += 1
        self.bytes += file.size


@dataclass
class Removal:
    """One run over the table at `location`."""

    files: StorageFiles
    location: str
    references: References
    quarantine: Quarantine
    at: Moment
    run: str
    """Name and UID of the run."""
    require_alone: Callable[[], None]
    """Raises RunError when somebody else has committed."""
    moved: Counted = field(default_factory=Counted)
    removed: Counted = field(default_factory=Counted)

    def move_away(self, agreed: Sequence[ListedFile]) -> None:
        """Moves the first MOST files away, in batches. Leaves those that the storage cannot move."""
        largest = self.files.largest_move
        chosen = [each for each in agreed if largest is None or each.size <= largest][:MOST]
        for number, start in enumerate(range(0, len(chosen), PER_BATCH), 1):
            self._move_batch(f"{self.run}-{number}", chosen[start : start + PER_BATCH])
            log_step(f"{self.moved.files} files were moved away")

    def _move_batch(self, name: str, wanted: Sequence[ListedFile]) -> None:
        self.require_alone()
        referenced = self.references.referenced()
        safe = [each for each in wanted if each.name not in referenced and self._is_unchanged(each)]
        if not safe:
            return
        batch = self.quarantine.begin(name, self.at, safe)
        try:
            for each in safe:
                batch.move_away(each)
                self.moved.add(each)
        finally:
            self._check(batch)  # also what was moved before one that could not be

    def _check(self, batch: MovedFiles) -> None:
        moved = list(batch.present())
        try:
            self._restore_referenced(batch, moved)
        except UnreadableError:  # one of them may be what is missing
            batch.restore_each(moved)
            raise

    def _is_unchanged(self, file: ListedFile) -> bool:
        now = self.files.status(f"{self.location}/{file.path}")
        return now is not None and (now.size, now.modified_ms) == (file.size, file.modified_ms)

    def restore_referenced(self) -> None:
        """Moves back what earlier runs have moved away and is referenced again."""
        for batch in self.quarantine.batches():
            self._restore_referenced(batch, list(batch.present()))

    def remove_old(self, older_than_ms: int) -> None:
        """Removes for good what was moved away at least this long ago. Nothing that is referenced.

        References are looked for by the names that were known at the start. Another name stays: a driver that was taken
        for dead has moved it away since.
        """
        for batch in self.quarantine.batches():
            if batch.moved_at is None or self.at.since(batch.moved_at) < older_than_ms:
                continue
            present = list(batch.present())
            self._restore_referenced(batch, present)
            for each in present:
                if each.name in self.references.wanted:
                    batch.remove(each)
                    self.removed.add(each)
            batch.close()

    def _restore_referenced(self, batch: MovedFiles, moved: Sequence[ListedFile]) -> None:
        """Moves back what is referenced although it was moved away. Then nothing more is done, and the run fails."""
        referenced = self.references.referenced() if moved else set()
        back = [each for each in moved if each.name in referenced]
        batch.restore_each(back)
        if back:
            raise RunError(
                "Spec",
                "OrphanReferenced",
                f"{back[0].path} was moved away, is referenced again, and was moved back, like {len(back) - 1} more",
                "find out who restored a snapshot or committed old files, and set retention.orphanFiles.mode to Report "
                "until then",
                field="spec.retention.orphanFiles.mode",
            )


def restore_all(quarantine: Quarantine) -> Counted:
    """Moves all files back that were not removed for good: all that can be, before it raises ChangeFailedError."""
    restored, failed = Counted(), None
    for batch in quarantine.batches():
        present = list(batch.present())
        try:
            batch.restore_each(present)
        except ChangeFailedError as error:
            failed = failed or error
        for each in present:
            restored.add(each)
        batch.close()
    if failed is not None:
        raise failed
    return restored


def kept_in(quarantine: Quarantine) -> Iterator[ListedFile]:
    """The files that were moved away and can be moved back."""
    for batch in quarantine.batches():
        yield from batch.present()
