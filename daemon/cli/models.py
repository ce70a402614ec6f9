"""eval and retrain."""

import os
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from domain.errors import BadInput

app = typer.Typer()
eval_app = typer.Typer(no_args_is_help=True, help="Measure the models on a data set.")
retrain_app = typer.Typer(no_args_is_help=True, help="Fit a model anew.")
Data = Annotated[Path | None, typer.Option(help="Folder of the data set; default checkthat2022 under CLAIMWATCH_DATA.")]


@eval_app.command("matching")
def eval_matching(
    data: Data = None,
    split: Annotated[str, typer.Option(help="train, dev, test2021 or test.")] = "dev",
    runs: Annotated[Path, typer.Option(help="Folder for the run files (ids only).")] = Path("bench/results/runs"),
    json: JsonFlag = False,
) -> None:
    """MAP@1, MAP@5 and MRR of BM25, KNN and their fusion, with 95 % intervals."""
    from models.backbone import Encoder
    from models.evaluation.matching import evaluate_matching

    settings = session.settings()
    encoder = Encoder.load(settings.match.encoder)
    table = evaluate_matching(_data(data), split, runs, encoder=encoder, cache=settings.home / "cache")
    if json:
        return terminal.say_json(table)
    terminal.say_table(["row", "MAP@1", "MAP@5", "MRR", "95 % of MAP@5"], [])


@retrain_app.command("calibration")
def retrain_calibration(
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the weights and their card; default the shipped ones.")
    ] = None,
    seed: int = 0,
) -> None:
    """Fit how sure a match is: on the train split, measured on dev."""
    from models.ranking.train_calibration import train

    settings = session.settings()
    card = train(_data(data), out, seed=seed)
    terminal.say_json(card)
    del settings


def _data(given: Path | None) -> Path:
    if given:
        return given
    if root := os.environ.get("CLAIMWATCH_DATA"):
        return Path(root) / "checkthat2022"
    raise BadInput("no data: give --data FOLDER or set CLAIMWATCH_DATA")
