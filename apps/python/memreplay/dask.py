"""The recordings of many ranks on many machines, by Dask (pip install "memreplay[dask]").

Workers read recordings by path, from a file system that all of them see; what they find out travels
back in memory. The answers are those of memreplay.ranks and memreplay.tune.

    >>> with distributed.Client("scheduler:8786"):
    ...     memreplay.dask.ranks("/scratch/job/snapshots").worst.rank
    5
"""
import os
import socket

import distributed

import memreplay

# Recordings differ in length: tasks enough that no worker waits long for the last one.
SHARDS_OF_A_THREAD = 4
# What tells how a recording is read.
READING = ("columns", "format", "gpu", "reader")


def ranks(paths, client=None, shards=None, **options):
    """memreplay.ranks of all the paths, byte for byte; each shard of the files is a task of one thread.

    paths: recordings, or folders that every worker sees alike
    client: a distributed.Client; the current one
    shards: tasks; 4 for each thread of the cluster
    options: those of memreplay.ranks but shard, merge and tune; jobs is 1, as workers have threads
    Raises InputError where a worker does not see a path.
    """
    for name in ("shard", "merge", "tune"):
        if name in options:
            raise TypeError(f"memreplay.dask.ranks() does without '{name}'")
    client = client or distributed.default_client()
    shards = shards or SHARDS_OF_A_THREAD * max(1, sum(client.nthreads().values()))
    tasks = client.map(_part, [f"{i}/{shards}" for i in range(1, shards + 1)], pure=False, key="memreplay-ranks",
                       paths=_texts(paths), options={"jobs": 1, **options})
    return memreplay.ranks(*client.gather(tasks), merge=True)


def tune(paths, client=None, shards=None, **options):
    """The one setting for all ranks, exactly that of memreplay.tune on a recording of each class of ranks.

    Distributed is the work that grows with the ranks: reading all of them to find the classes, as `ranks`
    does. The search is one task, since each of its batches of settings follows from the one before; it
    runs on all threads of its worker, which has the recordings of all classes in memory. What each of some
    settings comes to on every rank, ranks(paths, strategies=["torch:..."]) distributes.

    options: those of memreplay.tune; threads are those of the worker
    Raises InputError where a recording cannot be read.
    """
    client = client or distributed.default_client()
    found = ranks(paths, client, shards, **{name: options[name] for name in READING if name in options})
    for file in found.unreadable:
        raise memreplay.InputError(file.path, "", file.message, file.message)
    representatives = [one.representative for one in found.classes]
    return client.submit(_tuned, representatives, options, pure=False).result()


def _texts(paths):
    """Paths as texts, one or several."""
    one = isinstance(paths, (str, os.PathLike))
    return [os.fspath(path) for path in ([paths] if one else paths)]


def _part(shard, paths, options):
    for path in paths:
        if not os.path.exists(path):
            raise memreplay.InputError(
                path, "", f"is not there on {socket.gethostname()}; expected a path that every worker sees")
    return memreplay.ranks(*paths, shard=shard, **options)


def _tuned(paths, options):
    threads = distributed.get_worker().state.nthreads
    return memreplay.tune(*paths, **{"threads": threads, **options})
