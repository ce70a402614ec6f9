"""How long a newcomer waits: the CheckThat fact-checks with embeddings, the same file again, and the demo's day.

    python bench/intake.py --data ../shared/data/checkthat2022

Writes bench/results/intake.json. Wall time of whole commands on a new data folder, embedded database included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.provenance import provenance, write_result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    file = parser.parse_args().data / "vclaims.jsonl.gz"
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        Path(home).chmod(0o755)
        first, first_s = run(home, "import", str(file), "--json")
        second, second_s = run(home, "import", str(file), "--json")
        demo, demo_s = run(home, "demo", "--json")
    result = {
        "import": counts(first) | {"seconds": first_s},
        "import_again": counts(second) | {"seconds": second_s},
        "demo": {"claims": demo["claims"], "posts": demo["posts"], "seconds": demo_s},
    }
    write_result("intake", provenance([file], seed=0) | result)
    for name, row in result.items():
        print(name, row)


def run(home: str, *arguments: str) -> tuple[dict[str, object], float]:
    command = [str(Path(sys.executable).parent / "claimwatch"), *arguments]
    environment = os.environ | {"CLAIMWATCH_HOME": home, "CLAIMWATCH_LOG__LEVEL": "WARNING"}
    start = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    seconds = round(time.perf_counter() - start, 1)
    answer = json.loads(done.stdout)
    return (answer[0] if isinstance(answer, list) else answer), seconds


def counts(answer: dict[str, object]) -> dict[str, object]:
    return {name: answer[name] for name in ("added", "changed", "unchanged", "quarantined")}


if __name__ == "__main__":
    main()
