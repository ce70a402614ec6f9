"""How well posts are matched: each ranker beside the published ones, confidence, speed, and posts said in other ways.

    PYTHONPATH=. python bench/matching.py --data ../shared/data [--cache FOLDER]
        [--only runs|confidence|parts|speed|robustness] [--rows bm25f encoder …]

runs        MAP@1, MAP@5 and MRR of every run file bench/results/runs/checkthat2022.{dev,test2021}.ROW.trec, which
            `claimwatch eval matching` writes, with 95 % intervals; confidence on dev as the card of its weights has it.
confidence  The same on test2021: posts as they are, and the same with their fact-check taken out, half and half.
parts       The blend refitted with each thing that it weighs left out, posts of the train split out of fold.
speed       The product's matcher with its sentences over 14,231 fact-checks, on the dev posts: first with no title
            embedded yet, then once more on the same posts; and so with the language model's second opinion.
robustness  Each registered ranker (or those of --rows) on posts that say the same otherwise: the edited posts of
            claim_edits beside the same posts unedited, and dev posts with tags, emoji or other letters.

Writes bench/results/matching.json, of which a part that is not asked for stays as it was, and its tables, matching.md.
Settings were chosen on train, out of fold, and dev; test2021, from which claim_edits derives, is scored once.
"""

import argparse
import csv
import json
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import models
from bench.provenance import RESULTS, provenance, write_result
from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.evaluation.bootstrap import paired_interval
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.matching import measure
from models.evaluation.metrics import average_precision, mean
from models.evaluation.qrels import Qrels
from models.evaluation.runs import Run, ranked, read_run
from models.evaluation.vectors import cached_vectors
from models.ranking import generative, train_calibration
from models.ranking.bm25 import FieldSettings
from models.ranking.calibration import Calibration
from models.ranking.evidence import FEATURES
from models.ranking.fact_check_text import embedding_text
from models.ranking.listwise import Example
from models.ranking.matcher import Matcher, PostText
from models.ranking.outcomes import measure as measure_confidence
from models.ranking.outcomes import outcomes
from models.ranking.protocol import Ranker
from models.ranking.second_opinion import SecondOpinion
from models.ranking.train_calibration import Examples, Fold
from models.ranking.training_posts import training_posts
from models.registry import RANKERS, Collection

SEED = 0
SPLITS = {"test2021": "checkthat2021_test", "dev": "checkthat2022_dev"}
PARTS = ("runs", "confidence", "parts", "speed", "robustness")
_CARD = Path(models.__path__[0]) / "weights" / "calibration" / "card.json"
# MAP@1, MAP@5; None where a paper gives none. None of them uses dates. "Loss" rows: the paper's ablation, 2021.
PUBLISHED: Mapping[str, Mapping[str, tuple[float | None, float]]] = {
    "checkthat2021_test": {
        "RIET (loss Mix)": (0.939, 0.960),
        "loss NL3U": (0.931, 0.952),
        "loss HPMI + PoHMI": (0.920, 0.942),
        "loss HPMI": (0.911, 0.940),
        "aschern, winner of 2021": (0.861, 0.883),
        "Sentence-T5": (0.812, 0.862),
        "BM25, prepared": (0.801, 0.855),
    },
    "checkthat2022_dev": {"BM25, all fields": (None, 0.918)},
    "checkthat2022_test": {
        "RIET": (0.9426, 0.9555),
        "BigIR": (0.8995, 0.9211),
        "SimBa": (0.8756, 0.9075),
    },
}
_DEPTH = 5  # fact-checks of a post that MAP@5 looks at
_POSTS_AT_ONCE = 128  # 128 rows over 14,231 fact-checks are 7 MB
_TAGS = ("#news", "#breaking", "#viral", "#mustread", "#today", "#share", "#wow", "#trending", "#update", "#truth")
_EMOJI = ("😂", "😱", "🔥", "👀", "🙏", "😡", "💯", "🤔", "🚨", "👏")
_ADDED = 3  # tags or emoji a post

Posts = Mapping[str, str]  # query id → text
Change = Callable[[str, random.Random], str]


def main() -> None:
    arguments = read_arguments()
    folder = arguments.data / "checkthat2022"
    posts = {split: load_checkthat(folder, split) for split in SPLITS}
    encoder = Encoder.load()
    made: Mapping[str, Callable[[], dict[str, Any]]] = {
        "runs": lambda: ranking(posts),
        "confidence": lambda: {"calibration_test2021": confidence(posts["test2021"], encoder, arguments.cache)},
        "parts": lambda: {"parts_train_out_of_fold": parts(folder, encoder, arguments.cache)},
        "speed": lambda: speed(posts["dev"], encoder, arguments.cache),
        "robustness": lambda: {"robustness": robustness(arguments, posts, encoder)},
    }
    files = [
        folder / "vclaims.jsonl.gz",
        *(folder / f"{s}.{kind}.tsv" for s in SPLITS for kind in ("queries", "qrels")),
    ]
    files += chain.from_iterable(edit_files(arguments.data).values())
    for part in arguments.only:
        new = made[part]()
        found = kept() | new | provenance(files, seed=SEED)
        path = write_result("matching", found)
        path.with_suffix(".md").write_text(tables(found), encoding="utf-8")
    print(tables(kept()))


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds checkthat2022 and claim_edits")
    parser.add_argument("--cache", type=Path, help="folder for embeddings between runs")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="leave the other parts as they are")
    parser.add_argument(
        "--rows", nargs="+", choices=tuple(RANKERS), default=tuple(RANKERS), help="rankers of robustness"
    )
    return parser.parse_args()


def kept() -> dict[str, Any]:
    """What earlier runs wrote."""
    path = RESULTS / "matching.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def ranking(posts: Mapping[str, PostCollection]) -> dict[str, Any]:
    rows = {key: ranking_rows(split, posts[split]) for split, key in SPLITS.items()}
    published = {
        key: {name: {"map1": map1, "map5": map5} for name, (map1, map5) in of.items()} for key, of in PUBLISHED.items()
    }
    return rows | {"published": published, "calibration": calibration_of_card()}


def ranking_rows(split: str, posts: PostCollection) -> dict[str, Any]:
    rows = {}
    for row in measure(run_files(split), posts, seed=SEED):
        intervals = {metric: asdict(getattr(row, metric)) for metric in ("map1", "map5", "mrr", "gain")}
        rows[row.name] = {"map1": round(row.map1.mean, 4), "map5": round(row.map5.mean, 4), "intervals": intervals}
    return rows


def run_files(split: str) -> dict[str, Run]:
    """By row: those of registered rankers in their order, then any other."""
    files = {path.name.split(".")[2]: path for path in (RESULTS / "runs").glob(f"checkthat2022.{split}.*.trec")}
    names = [name for name in RANKERS if name in files] + sorted(files.keys() - RANKERS.keys())
    return {name: read_run(files[name]) for name in names}


def calibration_of_card() -> dict[str, float]:
    figures = json.loads(_CARD.read_text("utf-8"))["metrics"]["dev"]["full"]["large"]
    return {"ece": figures["calibration_error"], "brier": figures["brier"], "none_auroc": figures["auroc"]}


def confidence(posts: PostCollection, encoder: Encoder, cache: Path | None) -> dict[str, float]:
    embedded = train_calibration.embed(posts, encoder, cache)
    examples = train_calibration.build_examples(embedded, FieldSettings.load(), seed=SEED)
    found = measure_confidence(outcomes(Calibration.load(), examples.large))
    return {"ece": found["calibration_error"], "brier": found["brier"], "none_auroc": found["auroc"]}


def parts(folder: Path, encoder: Encoder, cache: Path | None) -> dict[str, dict[str, float]]:
    """MAP and calibration error without each feature. Candidates are found by all of them, as ever."""
    collection = training_posts(folder).collection
    folds = train_calibration.fold_examples(collection, train_calibration.embed(collection, encoder, cache), seed=SEED)
    figures = {"all": train_calibration.out_of_fold(folds)["large"]}
    for number, feature in enumerate(FEATURES):
        figures[f"without {feature}"] = train_calibration.out_of_fold([without(fold, number) for fold in folds])[
            "large"
        ]
    shown = ("map1", "map5", "map1_dates", "map5_dates", "calibration_error", "auroc")
    return {name: {metric: of[metric] for metric in shown} for name, of in figures.items()}


def without(fold: Fold, feature: int) -> Fold:
    """As if nothing were known of the feature, given by its number."""

    def silent(example: Example) -> Example:
        features = example.evidence.features.copy()
        features[:, feature] = 0
        return replace(example, evidence=replace(example.evidence, features=features))

    others, kept = (
        Examples([silent(e) for e in of.large], [silent(e) for e in of.small]) for of in (fold.others, fold.kept)
    )
    return Fold(others, kept)


def speed(posts: PostCollection, encoder: Encoder, cache: Path | None) -> dict[str, Any]:
    facts = posts.fact_checks
    vectors = cached_vectors([embedding_text(f.claim, f.title) for f in facts], encoder, cache)
    counting = Counting(generative.second_opinion(generative.tuned_model()))
    texts = [PostText(text) for text in posts.queries.values()]
    rates = []
    for opinion in (None, counting.opinion):
        matcher = Matcher(facts, vectors, encoder, Calibration.load(), opinion=opinion)
        matcher.match([PostText("a post before the clock starts, so that all code is compiled and read")])
        for _ in range(2):
            start = time.perf_counter()
            matcher.match(texts)
            rates.append(round(len(texts) / (time.perf_counter() - start), 1))
    return {
        "posts_per_s": rates[0],
        "posts_per_s_again": rates[1],
        "posts_per_s_second_opinion": rates[2],
        "posts_per_s_second_opinion_again": rates[3],
        "asked_of": round(counting.asked / 2 / len(texts), 3),
        "threads": torch.get_num_threads(),
    }


class Counting:
    """A second opinion that counts the posts it is asked about."""

    def __init__(self, opinion: SecondOpinion) -> None:
        self.asked = 0
        self._score = opinion.score
        self.opinion = replace(opinion, score=self._counted)

    def _counted(self, post: str, facts: Sequence[FactCheck]) -> NDArray[np.float64]:
        self.asked += 1
        return self._score(post, facts)


def robustness(
    arguments: argparse.Namespace, posts: Mapping[str, PostCollection], encoder: Encoder
) -> dict[str, dict[str, Any]]:
    """Of each way of saying posts otherwise: how many posts, and by row MAP@1 and MAP@5 before and after, and the 95 %
    interval of the change in MAP@5. Rows that are not asked for stay as they were."""
    # Their ids are those of test2021; in the 2022 test the same ids stand for other posts.
    edits = {name: (read_posts(old), read_posts(new)) for name, (old, new) in edit_files(arguments.data).items()}
    found: dict[str, dict[str, Any]] = {name: {"posts": len(before), "rows": {}} for name, (before, _) in edits.items()}
    found |= {f"dev, {name}": {"posts": len(posts["dev"].queries), "rows": {}} for name in CHANGES}
    for name, of in kept().get("robustness", {}).items():
        if name in found:
            found[name]["rows"] |= of["rows"]
    for row, ranker in open_rankers(posts["dev"].fact_checks, arguments.rows, encoder, arguments.cache):
        answer = Answers(ranker, posts["dev"].fact_checks)
        for name, (before, after) in edits.items():
            found[name]["rows"][row] = compare(answer, before, after, posts["test2021"].qrels)
        for name, change in CHANGES.items():
            dev = posts["dev"]
            found[f"dev, {name}"]["rows"][row] = compare(answer, dev.queries, changed(dev.queries, change), dev.qrels)
        print(f"robustness of {row} measured", flush=True)
    return found


def edit_files(data: Path) -> dict[str, tuple[Path, Path]]:
    """The files of claim_edits that come in pairs, unedited and edited, by name."""
    pairs = {}
    for edited in sorted((data / "claim_edits").glob("*__edited_*.tsv")):
        kind, _, what = edited.stem.partition("__edited_")
        original = edited.with_name(f"{kind}__orig_{what}.tsv")
        if original.exists():
            pairs[f"{kind}: {what}"] = (original, edited)
    return pairs


def read_posts(path: Path) -> Posts:
    """Some of the files have tabs, some commas."""
    with path.open(encoding="utf-8", newline="") as file:
        header = file.readline()
        return {row[0]: row[1] for row in csv.reader(file, delimiter="\t" if "\t" in header else ",")}


def open_rankers(
    facts: Sequence[FactCheck], names: Iterable[str], encoder: Encoder, cache: Path | None
) -> Iterable[tuple[str, Ranker]]:
    """One after the other, since each holds an index of its own."""
    vectors = cached_vectors([embedding_text(f.claim, f.title) for f in facts], encoder, cache)
    titles = cached_vectors([f.title or f.claim for f in facts], encoder, cache)
    return ((name, RANKERS[name](Collection(facts, vectors, encoder, titles))) for name in names)


class Answers:
    """What a ranker answers. A text is ranked once: most unedited posts stand in several files."""

    def __init__(self, ranker: Ranker, facts: Sequence[FactCheck]) -> None:
        self._ranker = ranker
        self._facts = facts
        self._known: dict[str, tuple[str, ...]] = {}

    def precisions(self, posts: Posts, qrels: Qrels, k: int) -> dict[str, float]:
        """AP@k of each post, k at most `_DEPTH`."""
        missing = [text for text in dict.fromkeys(posts.values()) if text not in self._known]
        for start in range(0, len(missing), _POSTS_AT_ONCE):
            texts = missing[start : start + _POSTS_AT_ONCE]
            for text, scores in zip(texts, self._ranker.score(texts, self._facts), strict=True):
                self._known[text] = self._best(scores)
        precision = average_precision(k)
        return {query: precision(self._known[text], qrels[query]) for query, text in posts.items()}

    def _best(self, scores: np.ndarray[tuple[int], np.dtype[np.float32]]) -> tuple[str, ...]:
        near = np.flatnonzero(scores >= np.partition(scores, -_DEPTH)[-_DEPTH])
        return tuple(hit.id for hit in ranked((self._facts[i].key, float(scores[i])) for i in near.tolist())[:_DEPTH])


def compare(answers: Answers, before: Posts, after: Posts, qrels: Qrels) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for k in (1, 5):
        unchanged, other = (answers.precisions(posts, qrels, k) for posts in (before, after))
        figures[f"map{k}"] = {"before": round(mean(unchanged), 4), "after": round(mean(other), 4)}
    change = paired_interval(other, unchanged, seed=SEED)
    return figures | {"ci95_map5_change": [round(change.low, 4), round(change.high, 4)]}


def changed(posts: Posts, change: Change) -> Posts:
    """Each post with what was said in it changed. The signature of a quoted post stays: it begins with the last dash
    and is not its author's."""
    texts = {}
    for query, text in posts.items():
        end = text.rfind("—") if "—" in text else len(text)
        texts[query] = change(text[:end], random.Random(f"{SEED} {query}")) + text[end:]
    return texts


def sprinkled(signs: Sequence[str]) -> Change:
    """Puts some of the signs between words, wherever it falls."""

    def change(text: str, generator: random.Random) -> str:
        words = text.split(" ")
        for sign in generator.sample(signs, _ADDED):
            words.insert(generator.randint(0, len(words)), sign)
        return " ".join(words)

    return change


CHANGES: Mapping[str, Change] = {
    f"{_ADDED} tags added": sprinkled(_TAGS),
    f"{_ADDED} emoji added": sprinkled(_EMOJI),
    "UPPER CASE": lambda text, _: text.upper(),
    "lower case": lambda text, _: text.lower(),
}


def tables(found: Mapping[str, Any]) -> str:
    """All of it in Markdown."""
    parts = [
        "# Posts to fact-checks\n\nMade by `bench/matching.py` from matching.json. MAP with 95 % intervals.",
        *(split_table(key, found) for key in (*SPLITS.values(), "checkthat2022_test")),
        confidence_table(found),
        parts_table(found.get("parts_train_out_of_fold", {})),
        speed_line(found),
        robustness_table(found.get("robustness", {})),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def split_table(key: str, found: Mapping[str, Any]) -> str:
    ours = [
        (name, *(_interval(row["intervals"][metric]) for metric in ("map1", "map5", "gain")))
        for name, row in found.get(key, {}).items()
    ]
    theirs = [
        (f"published: {name}", _figure(row["map1"]), _figure(row["map5"]), "")
        for name, row in found.get("published", {}).get(key, {}).items()
    ]
    return f"## {key}\n\n" + markdown(("", "MAP@1", "MAP@5", "MAP@5 over bm25"), [*ours, *theirs])


def confidence_table(found: Mapping[str, Any]) -> str:
    names = {"calibration": "dev (card)", "calibration_test2021": "test2021"}
    rows = [
        (names[key], *(_figure(found[key][name]) for name in ("ece", "brier", "none_auroc")))
        for key in names
        if key in found
    ]
    return "## Confidence\n\n" + markdown(("", "calibration error", "Brier", "AUROC of none fits"), rows)


def speed_line(found: Mapping[str, Any]) -> str:
    if "asked_of" not in found:
        return ""
    return (
        f"Posts a second, {found['threads']} threads: {found['posts_per_s']} at first, {found['posts_per_s_again']}"
        f" once the titles that posts come near are embedded; with the language model's opinion of the"
        f" {100 * found['asked_of']:.0f} % that are likely about one of several fact-checks, of five each,"
        f" {found['posts_per_s_second_opinion']} and {found['posts_per_s_second_opinion_again']}."
    )


def parts_table(found: Mapping[str, Mapping[str, float]]) -> str:
    title = "## What each part is worth\n\nThe blend on the train split, out of fold."
    names = list(next(iter(found.values()), {}))
    rows = [(name, *(_figure(of[metric]) for metric in names)) for name, of in found.items()]
    return title + "\n\n" + markdown(("", *names), rows) if found else ""


def robustness_table(found: Mapping[str, Any]) -> str:
    """MAP@5 before → after, where the change is beyond doubt with a star."""
    names = list(dict.fromkeys(chain.from_iterable(of["rows"] for of in found.values())))
    rows = [
        (name, str(of["posts"]), *(_change(of["rows"][row]) if row in of["rows"] else "–" for row in names))
        for name, of in found.items()
    ]
    title = (
        "## The same said otherwise\n\nMAP@5 before → after; \\* where the 95 % interval of the change leaves out 0."
    )
    return title + "\n\n" + markdown(("", "posts", *names), rows) if found else ""


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _interval(of: Mapping[str, float]) -> str:
    return f"{of['mean']:.3f} [{of['low']:.3f}, {of['high']:.3f}]"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _change(row: Mapping[str, Any]) -> str:
    low, high = row["ci95_map5_change"]
    return f"{row['map5']['before']:.3f} → {row['map5']['after']:.3f}" + ("\\*" if low > 0 or high < 0 else "")


if __name__ == "__main__":
    main()
