"""Reaching a Dask cluster, or starting one on this machine, for as long as a block runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from fcpair.errors import ClusterError, FcpairError, InputError, require

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local:"
ANSWERS_WITHIN_S = 15
_ONE_THREAD = {f"{name}_NUM_THREADS": 1 for name in ("OMP", "MKL", "OPENBLAS")}
_SETTINGS = {
    # Dask's own also has MALLOC_TRIM_THRESHOLD_, which has each block's memory given back and asked for again
    "distributed.nanny.pre-spawn-environ": _ONE_THREAD,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.comm.timeouts.connect": ANSWERS_WITHIN_S,
}


def check_address(address: str) -> None:
    """Raise InputError unless `address` is `local:N`, or looks like the address of a Dask scheduler."""
    n = address.removeprefix(LOCAL)
    is_valid = n.isdecimal() and int(n) > 0 if address.startswith(LOCAL) else address.rpartition(":")[2].isdecimal()
    if not is_valid:
        raise InputError(
            f"dask is `{address}`; expected local:N for N processes on this machine, or the address of a scheduler, "
            "such as tcp://node1:8786"
        )


@contextmanager
def connect_cluster(address: str, folder: Path) -> Iterator[Client]:
    """A client of the cluster `address`, whose workers all see `folder`.

    `local:N` starts N processes with one thread each on this machine, reached over 127.0.0.1, which end with the block.

    Raises:
        InputError: `address` is neither that nor an address.
        ClusterError: the extra is not installed, no scheduler or no worker is there in time, a worker does not see the
            folder, or the cluster is lost while the block runs.
    """
    check_address(address)
    require("cluster", "`--dask`", "dask", "distributed")
    import dask
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as exit_stack, dask.config.set(_SETTINGS):
        client = exit_stack.enter_context(_open_client(address, exit_stack))
        _check_workers(client, address)
        _check_folder(client, folder)
        try:
            yield client
        except FcpairError:
            raise
        except KilledWorker as error:
            raise ClusterError(f"the same part of the work has crashed its worker several times ({error})") from error
        except (FutureCancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterError(
                f"the cluster {address} was lost; what was encoded is kept, and the same command continues from there"
            ) from error
        except OSError as error:
            raise ClusterError(f"a worker of {address} cannot go on: {error}") from error


def _open_client(address: str, exit_stack: ExitStack) -> Client:
    from distributed import Client, LocalCluster

    if address.startswith(LOCAL):
        cluster = LocalCluster(
            n_workers=int(address.removeprefix(LOCAL)),
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
            scheduler_kwargs={"dashboard": False},
            worker_dashboard_address=None,
        )
        return Client(exit_stack.enter_context(cluster), timeout=ANSWERS_WITHIN_S)
    try:
        return Client(address, timeout=ANSWERS_WITHIN_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address} within {ANSWERS_WITHIN_S} s: {error}") from None


def _check_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=ANSWERS_WITHIN_S)
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {address} has no worker; start one with `dask worker {address}`"
        ) from None


def _check_folder(client: Client, folder: Path) -> None:
    """Raise ClusterError unless every worker sees what is written into the folder here."""
    mark = folder / f".{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise ClusterError(f"vectors cannot be kept in {folder}: {error.strerror}; set FCPAIR_CACHE") from None
    try:
        blind = sorted(worker for worker, sees in client.run(Path.exists, mark).items() if not sees)
    finally:
        mark.unlink()
    if blind:
        raise ClusterError(
            f"{len(blind)} workers, such as {blind[0]}, do not see the folder {folder}; set FCPAIR_CACHE to a folder "
            "that all of them share under one name"
        )
