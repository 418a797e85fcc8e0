"""The work queue of objects on a virtual clock."""

from __future__ import annotations

from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.queue import WorkQueue
from tests.support.virtual_time import VirtualTime


def queue_on(time: VirtualTime) -> WorkQueue[Key]:
    """A queue whose late keys nobody asks for."""
    return WorkQueue(
        namespace_of=lambda key: key.namespace,
        clock=time.seconds,
        call_later=time.call_later,
        on_late=lambda _: None,
    )
