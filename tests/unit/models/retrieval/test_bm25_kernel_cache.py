import os
import subprocess
import sys
from pathlib import Path

import models

RANK = """
from models.retrieval.bm25 import BM25Index
index = BM25Index()
index.add(["a", "b"], ["a chip", "the sea"])
print([hit.id for hit in index.search_many(["chip"], 5)[0]])
"""


def test_bm25_works_where_numba_can_keep_nothing(tmp_path: Path) -> None:
    """Neither beside the code nor under the home can a folder be made: a file stands in each one's way."""
    package = tmp_path / "models"
    _copy_without_caches(Path(models.__file__).parent / "retrieval", package / "retrieval")
    (package / "retrieval" / "__pycache__").write_text("in the way")
    (tmp_path / "home").write_text("in the way")
    root = Path(models.__file__).parents[1]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "home" / "cache"),
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [sys.executable, "-c", RANK], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert (run.stdout.strip(), run.returncode) == ("['a']", 0), run.stderr


def _copy_without_caches(source: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for module in source.glob("*.py"):
        (target / module.name).write_text(module.read_text())
    (target.parent / "__init__.py").write_text("")
