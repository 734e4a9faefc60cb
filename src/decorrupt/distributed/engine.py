"""Where the passes run: a Dask cluster, or Dask's threads in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController

from decorrupt.features import budget_in_bytes

# Seconds to wait for a scheduler.
CONNECT_SECONDS = 10
# The share of the workers' memory that persisted partitions may take. Workers spill at 0.6.
MEMORY_SHARE = 0.4


def import_dask() -> Any:
    """Return the module dask; raise an ImportError that names the extra if it is missing."""
    try:
        import dask
        import dask.dataframe
    except ImportError as error:
        raise ImportError(
            f"decorrupt.distributed needs Dask ({error.name} is missing): "
            "pip install 'decorrupt[dask]'"
        ) from None
    return dask


class Engine:
    """Computes and persists delayed values with a client, or with Dask's default scheduler."""

    def __init__(self, client: Any = None) -> None:
        self.dask = import_dask()
        self.client = client
        self._linear_algebra = ThreadpoolController()

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """Return the values of all tasks, in their order."""
        if self.client is not None:
            return list(self.client.gather(self.client.compute(list(tasks))))
        # One thread per task: threads of the linear algebra would compete with Dask's.
        with self._linear_algebra.limit(limits=1):
            return list(self.dask.compute(*tasks))

    def persist(self, tasks: Sequence[Any]) -> list[Any]:
        """Return the same tasks with their values kept in memory."""
        if self.client is not None:
            return list(self.client.persist(list(tasks)))
        with self._linear_algebra.limit(limits=1):
            return list(self.dask.persist(*tasks))

    def as_current(self) -> AbstractContextManager[Any]:
        """Return a context in which Dask itself uses this client."""
        return nullcontext() if self.client is None else self.client.as_current()

    def memory(self, memory_budget: Any = None) -> float:
        """Return the bytes that persisted partitions may take, in all workers together."""
        if self.client is None or memory_budget is not None:
            return budget_in_bytes(memory_budget)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return MEMORY_SHARE * float(sum(worker["memory_limit"] for worker in workers))


@contextmanager
def connect(client: Any) -> Iterator[Engine]:
    """Yield the engine of a client, a cluster, a scheduler's address, or None.

    None is the current client of this process if there is one, and Dask's threads otherwise. A
    client that is made here for a cluster or an address is closed at the end.

    Raises
    ------
    ValueError
        If the scheduler cannot be reached, or `client` is something else.
    """
    import_dask()
    if client is None:
        yield Engine(_current_client())
    elif hasattr(client, "scheduler_info") and hasattr(client, "gather"):
        yield Engine(client)
    else:
        made = _make_client(client)
        try:
            yield Engine(made)
        finally:
            made.close()


def _current_client() -> Any:
    from distributed.client import _get_global_client

    return _get_global_client()


def _make_client(client: Any) -> Any:
    from distributed import Client

    if not isinstance(client, str) and not hasattr(client, "scheduler_address"):
        raise ValueError(
            f"client={client!r}: give a dask.distributed Client, a cluster, the address of a "
            "scheduler such as 'tcp://10.0.0.1:8786', or None"
        )
    try:
        return Client(  # type: ignore[no-untyped-call]
            client, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(
            f"client={client!r}: the scheduler cannot be reached within {CONNECT_SECONDS} s "
            f"({type(error).__name__}: {error}). Start one with 'dask scheduler', or leave out "
            "client to use this machine"
        ) from None
