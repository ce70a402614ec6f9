"""Where a published number comes from: machine, versions, seed and data, written beside it."""

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "numba", "bm25s", "PyStemmer", "pyroaring", "torch", "transformers", "scikit-learn", "ir-measures")


def provenance(data_files: Sequence[Path], seed: int | None) -> dict[str, Any]:
    """JSON object: machine (with its load of the last minute, by which to judge timings), versions of what is
    installed, seed (None: nothing is drawn), sha256 of each data file."""
    return {
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "system": platform.system(), "load": _load()},
        "versions": {"python": platform.python_version(), **_versions()},
        "seed": seed,
        "data": {f"{path.resolve().parent.name}/{path.name}": _sha256(path) for path in data_files},
    }


def write_result(name: str, payload: dict[str, Any]) -> Path:
    """Write bench/results/NAME.json; its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(payload, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _load() -> float:
    return round(os.getloadavg()[0], 1)


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
