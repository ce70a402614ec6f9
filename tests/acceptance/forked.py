"""Commands in processes forked from one that has the libraries loaded, which takes longer than most commands do.

All else is as with the console script: a process, an environment, a folder and an exit code of its own.
"""

import atexit
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_LOADED = ["daemon.cli.main", "models.bert", "models.ranking.matcher", "numba", "wordfreq"]
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(_LOADED)


def run_forked(
    arguments: Sequence[str], environment: Mapping[str, str], folder: Path, out: Path, err: Path, *, timeout_s: float
) -> int:
    """The exit code; what was said is in `out` and `err`. Raises TimeoutExpired where it goes on for too long."""
    process = _processes.Process(target=_command, args=(arguments, dict(environment), folder, out, err))
    process.start()
    process.join(timeout_s)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise subprocess.TimeoutExpired(["claimwatch", *arguments], timeout_s)
    return process.exitcode


def _command(arguments: Sequence[str], environment: Mapping[str, str], folder: Path, out: Path, err: Path) -> None:
    for stream, path in ((1, out), (2, err)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["claimwatch", *arguments]
    from daemon.cli.main import main

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # as an interpreter does at its end: a database's server is stopped there
