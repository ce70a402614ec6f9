"""eval and retrain."""

from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.settings import Settings
from domain.errors import BadInput
from domain.query import EndpointKind

app = typer.Typer()
eval_app = typer.Typer(no_args_is_help=True, help="Measure the models on a data set.")
retrain_app = typer.Typer(no_args_is_help=True, help="Fit a model anew.")
Data = Annotated[Path | None, typer.Option(help="Folder of the data set; default checkthat2022 under CLAIMWATCH_DATA.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the weights and their card; default the shipped ones.")]
AllData = Annotated[Path | None, typer.Option(help="Folder of all data sets; default CLAIMWATCH_DATA.")]


class Texts(StrEnum):
    POSTS = "posts"
    PASSAGES = "passages"


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


@eval_app.command("rewriting")
def eval_rewriting(
    claims: Annotated[str, typer.Option(help="Claim set and split: fever/paper_dev, fm2/dev, discovery/dev …")],
    endpoint: Annotated[EndpointKind, typer.Option(help="What is searched.")] = EndpointKind.BOOLEAN,
    data: AllData = None,
    json: JsonFlag = False,
) -> None:
    """What the learned policy's queries find, beside the claims as they are, with 95 % intervals of the gain."""
    from models.backbone import Encoder
    from models.evaluation.rewriting.comparison import compare

    settings = session.settings()
    encoder = Encoder.load(settings.match.encoder)
    rows = compare(_all_data(settings, data), claims, endpoint, encoder=encoder, cache=settings.home / "cache")
    if json:
        return terminal.say_json({row.name: row.means | {"gain": str(row.gain)} for row in rows})
    metrics = list(rows[0].means)
    cells = [(row.name, *(f"{row.means[metric]:.4f}" for metric in metrics), str(row.gain)) for row in rows]
    terminal.say_table(["queries", *metrics, f"{metrics[0]} over the claim [95 %]"], cells)


@retrain_app.command("rewriter")
def retrain_rewriter(
    endpoint: Annotated[EndpointKind, typer.Option(help="What is searched.")] = EndpointKind.BOOLEAN,
    texts: Annotated[Texts, typer.Option(help="Of ranked and dense endpoints: what they hold.")] = Texts.POSTS,
    data: AllData = None,
    out: Out = None,
    seed: int = 0,
) -> None:
    """Train the policy that rewrites claims: on the training splits, in minutes."""
    settings = session.settings()
    folder, say = _all_data(settings, data), partial(typer.echo, err=True)
    if endpoint is EndpointKind.BOOLEAN:
        from models.rewriting.learned import train_retention

        return terminal.say_json(train_retention.train(folder, out, seed=seed, say=say))
    from models.rewriting.learned import train_term_weights

    cache = settings.home / "cache"
    card = train_term_weights.train(folder, endpoint, texts.value, out, cache=cache, seed=seed, say=say)
    terminal.say_json(card)


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


@retrain_app.command("encoder")
def retrain_encoder(
    data: Data = None,
    out: Out = None,
    seed: int = 0,
) -> None:
    """Tune the encoder for posts beside fact-checks: on the train split, in half an hour."""
    from models.ranking.train_encoder import train

    settings = session.settings()
    say = partial(typer.echo, err=True)
    terminal.say_json(train(_data(settings, data), out, seed=seed, cache=settings.home / "cache", say=say))


@retrain_app.command("generative")
def retrain_generative(
    data: Data = None,
    loss: Annotated[str, typer.Option(help="hmi, hpmi, hpmi_pohmi, nl3u or mix.")] = "mix",
    out: Out = None,
    seed: int = 0,
) -> None:
    """Tune the small language model to tell a post's fact-checks apart: on the train split, in half an hour."""
    from models.backbone import Encoder
    from models.evaluation.collections import load_checkthat
    from models.evaluation.matching import embedded
    from models.ranking.train_generative import LOSSES, train
    from models.registry import blend

    if loss not in LOSSES:
        raise BadInput(f"there is no loss {loss!r}: choose one of {', '.join(LOSSES)}")
    settings = session.settings()
    folder = _data(settings, data)
    encoder = Encoder.load(settings.match.encoder)
    base = blend(embedded(load_checkthat(folder, "train"), encoder, settings.home / "cache"))
    card = train(folder, base, out, loss=loss, seed=seed, say=partial(typer.echo, err=True))
    terminal.say_json(card)


@retrain_app.command("calibration")
def retrain_calibration(
    data: Data = None,
    out: Out = None,
    seed: int = 0,
    multilingual: Annotated[bool, typer.Option(help="For the multilingual encoder.")] = False,
) -> None:
    """Fit what ranks candidates and says how sure a match is: on the train split, measured on dev."""
    from models.ranking.train_calibration import train

    settings = session.settings()
    cache = settings.home / "cache"
    terminal.say_json(train(_data(settings, data), out, seed=seed, multilingual=multilingual, cache=cache))


def _all_data(settings: Settings, given: Path | None) -> Path:
    folder = given or settings.data
    if folder is None:
        raise BadInput("no data: give --data FOLDER or set CLAIMWATCH_DATA")
    return folder


def _data(settings: Settings, given: Path | None) -> Path:
    if given:
        return given
    if settings.data:
        return settings.data / "checkthat2022"
    raise BadInput("no data: give --data FOLDER or set CLAIMWATCH_DATA")
