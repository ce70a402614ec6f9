"""eval and retrain."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.settings import Settings
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
    """MAP@1, MAP@5 and MRR of BM25, encoder and their blends, with 95 % intervals."""
    from models.backbone import Encoder
    from models.evaluation.matching import evaluate_matching

    settings = session.settings()
    encoder = Encoder.load(settings.match.encoder)
    rows = evaluate_matching(_data(settings, data), split, runs, encoder=encoder, cache=settings.home / "cache")
    if json:
        return terminal.say_json({row.name: asdict(row) for row in rows})
    if rows:
        cells = [(r.name, str(r.map1), str(r.map5), str(r.mrr), str(r.gain)) for r in rows]
        terminal.say_table(["ranker", "MAP@1 [95 %]", "MAP@5 [95 %]", "MRR [95 %]", "MAP@5 over bm25 [95 %]"], cells)
    terminal.say(f"run files: {runs}" + ("" if rows else f" (the split {split} has no labels)"))


@retrain_app.command("bm25f")
def retrain_bm25f(
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the settings and their card; default the shipped ones.")
    ] = None,
    seed: int = 0,
) -> None:
    """Tune what a word is worth in claim, title and body: on the train split."""
    from models.ranking.train_bm25 import train

    terminal.say_json(train(_data(session.settings(), data), out, seed=seed))


@retrain_app.command("calibration")
def retrain_calibration(
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the weights and their card; default the shipped ones.")
    ] = None,
    seed: int = 0,
) -> None:
    """Fit what ranks candidates and says how sure a match is: on the train split, measured on dev."""
    from models.ranking.train_calibration import train

    settings = session.settings()
    terminal.say_json(train(_data(settings, data), out, seed=seed, cache=settings.home / "cache"))


def _data(settings: Settings, given: Path | None) -> Path:
    if given:
        return given
    if settings.data:
        return settings.data / "checkthat2022"
    raise BadInput("no data: give --data FOLDER or set CLAIMWATCH_DATA")
