"""Where the passes run: a Dask cluster, or Dask's threads in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from threadpoolctl import ThreadpoolController

# The share of the workers' memory that persisted partitions may take. Workers spill at 0.6.
MEMORY_SHARE = 0.4
# The share of this machine's memory, or that of its container, without a cluster.
LOCAL_MEMORY_SHARE = 0.25


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
    """Computes and persists delayed values with a client, or with Dask's default scheduler.

    Parameters
    ----------
    client : Client or None
        None is the current client of this process if there is one, and Dask's threads otherwise.

    Raises
    ------
    ValueError
        If `client` is something else.
    """

    def __init__(self, client: Any = None) -> None:
        self.dask = import_dask()
        if not (client is None or hasattr(client, "gather")):
            raise ValueError(f"client={client!r}: give a dask.distributed Client, or None")
        self.client = _current_client() if client is None else client
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

    def memory(self) -> float:
        """Return the bytes that persisted partitions may take, in all workers together."""
        if self.client is None:
            from distributed.system import MEMORY_LIMIT

            return LOCAL_MEMORY_SHARE * float(MEMORY_LIMIT)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return MEMORY_SHARE * float(sum(worker["memory_limit"] for worker in workers))


def _current_client() -> Any:
    from distributed.client import _get_global_client

    return _get_global_client()
