"""Joins the parts: connectors get their index, the matcher its fact-checks, the policies their statistics."""

import logging
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from connectors.protocol import Connector, ConnectorContext
from connectors.unusable import UnusableConnector
from daemon.database import open_database, writable_home
from daemon.delivery import Postman, postman
from daemon.service import Encode, Service
from daemon.settings import ConnectorSettings, Settings
from daemon.store import fact_checks
from domain.clock import Clock, system_clock
from domain.errors import BadArtifact, BadInput, BadSetting
from domain.query import EndpointKind
from domain.search_index import SearchIndex
from models.rewriting.policy import Rewriter

if TYPE_CHECKING:
    from models.backbone import Encoder, EncoderChoice
    from models.ranking.matcher import Matcher
    from models.ranking.second_opinion import SecondOpinion

logger = logging.getLogger(__name__)

_GROUP = "claimwatch.connectors"
_STORED_DIM = 384  # of the columns that embeddings are kept in


@contextmanager
def open_service(settings: Settings, clock: Clock = system_clock) -> Iterator[Service]:
    """Everything a command works with; closed at the end of the block."""
    with open_database(settings) as database:
        encoder = partial(load_encoder, settings.match.encoder)
        matcher = partial(build_matcher, second_opinion=settings.match.second_opinion)
        service = Service(settings, clock, database, _open_connectors, encoder, matcher, build_rewriter)
        with closing(service):
            yield service


def _open_connectors(service: Service) -> Mapping[str, Connector]:
    return open_connectors(service.settings, service.clock, index_for(service.encode))


def open_connectors(
    settings: Settings, clock: Clock, make_index: Callable[[EndpointKind], SearchIndex]
) -> Mapping[str, Connector]:
    """The search endpoints of the settings, by name; one that cannot be set up is there and says why at each search."""
    if not settings.connectors:
        return {}
    context = _contexts(settings, clock, make_index)
    return {name: _usable_or_not(given, context(name)) for name, given in settings.connectors.items()}


def open_connector(
    settings: Settings,
    name: str,
    given: ConnectorSettings,
    clock: Clock,
    make_index: Callable[[EndpointKind], SearchIndex],
) -> Connector:
    """One search endpoint, of the settings or not. Raises BadSetting or BadInput where it cannot be set up."""
    return _open(given, _contexts(settings, clock, make_index)(name))


def _contexts(
    settings: Settings, clock: Clock, make_index: Callable[[EndpointKind], SearchIndex]
) -> Callable[[str], ConnectorContext]:
    """What connectors are given, by their names."""
    folder, salt = writable_home(settings.home), pseudonym_key(settings)
    return lambda name: ConnectorContext(name, salt, clock, folder, make_index)


def pseudonym_key(settings: Settings) -> str:
    """The secret that keys authors' pseudonyms, made at first use: without it no one can tell who is behind one."""
    path = writable_home(settings.home) / "pseudonym.key"
    try:
        if not path.exists():
            _write_once(path, secrets.token_hex(32))
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise BadSetting(f"{path} cannot be read ({exc}): put back the key that authors were stored under") from exc
    if not key:
        raise BadSetting(f"{path} is empty: put back the key that authors were stored under, or delete the file")
    return key


def _write_once(path: Path, text: str) -> None:
    """Whole or not at all, and never over a file that another process has written meanwhile."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".key-") as file:  # readable by its owner alone
        file.write(text)
        file.flush()
        with suppress(FileExistsError):
            os.link(file.name, path)


def _usable_or_not(given: ConnectorSettings, context: ConnectorContext) -> Connector:
    try:
        return _open(given, context)
    except (BadSetting, BadInput) as exc:
        logger.error("connector unusable", extra={"connector": context.name, "reason": str(exc)})
        return UnusableConnector(context.name, str(exc))


def _open(given: ConnectorSettings, context: ConnectorContext) -> Connector:
    provided = {entry.name: entry for entry in entry_points(group=_GROUP)}
    if given.type not in provided:
        known = ", ".join(sorted(provided))
        raise BadSetting(f"connectors.{context.name}.type: there is no connector {given.type!r}: choose one of {known}")
    try:
        build = provided[given.type].load()
    except (ImportError, AttributeError) as exc:
        where = provided[given.type].value
        raise BadSetting(
            f"connectors.{context.name}.type: {given.type} names {where}, which fails: {exc}: correct the entry point"
        ) from exc
    connector: Connector = build(given.options, context)
    return connector


def index_for(encode: Encode) -> Callable[[EndpointKind], SearchIndex]:
    """Makes an empty index of a kind."""

    def make(kind: EndpointKind) -> SearchIndex:
        if kind is EndpointKind.RANKED:
            from models.retrieval.bm25 import BM25Index

            return BM25Index()
        if kind is EndpointKind.BOOLEAN:
            from models.retrieval.boolean import BooleanIndex

            return BooleanIndex()
        from models.retrieval.knn import KnnIndex

        return KnnIndex(encode)

    return make


def load_encoder(chosen: "EncoderChoice") -> "Encoder":
    """None: the packaged one. Raises BadArtifact also for an encoder whose vectors the database has no room for."""
    from models.backbone import Encoder

    encoder = Encoder.load(chosen)
    if encoder.dim != _STORED_DIM:
        raise BadArtifact(
            f"{chosen} makes vectors of {encoder.dim} numbers, the database keeps {_STORED_DIM}: choose another encoder"
        )
    return encoder


def build_matcher(
    stored: fact_checks.StoredFactChecks, encoder: "Encoder", *, second_opinion: bool = False
) -> "Matcher":
    from models.ranking.calibration import Calibration
    from models.ranking.matcher import Matcher

    multilingual = encoder.languages is None
    calibration = Calibration.load(multilingual=multilingual)
    if calibration.encoder != encoder.version:
        _warn_of_other_encoder(calibration.encoder, encoder.version)
    return Matcher(
        stored.fact_checks, stored.vectors, encoder, calibration,
        aliases=stored.aliases, companion=companion_encoder() if multilingual else None,
        opinion=load_opinion() if second_opinion else None,
    )  # fmt: skip


@cache
def companion_encoder() -> "Encoder":
    """The packaged encoder beside the multilingual one: both together know English better than either."""
    return load_encoder(None)


@cache
def load_opinion() -> "SecondOpinion":
    """Raises BadArtifact where the language model is not installed. Once: a matcher is built whenever fact-checks
    change, and the model takes half a gigabyte."""
    from models.ranking.generative import second_opinion, tuned_model

    return second_opinion(tuned_model())


@cache
def _warn_of_other_encoder(fitted: str, used: str) -> None:
    """Once: a matcher is built whenever fact-checks change."""
    logger.warning("confidences were fitted with another encoder", extra={"fitted": fitted, "used": used})


def build_rewriter(service: Service, connector: Connector, language: str) -> Rewriter:
    """The policy that the settings name, for claims of one language."""
    return rewriter_for(
        service, connector.kind, language, counts=service.settings.search.ask_counts and connector.prices.estimate == 0
    )


def rewriter_for(
    service: Service, kind: EndpointKind, language: str, name: str | None = None, *, counts: bool = False
) -> Rewriter:
    """The policy of a name (None: as set). Raises BadInput for another name, BadArtifact for unusable weights."""
    from models.rewriting.policies import rewriter

    search = service.settings.search
    return rewriter(
        name or search.policy, kind=kind, language=language, encode=service.encode,
        queries=search.queries_per_claim, reads=search.reads_per_query, counts=counts,
        control=search.control_share,
    )  # fmt: skip


def open_postman(settings: Settings) -> Postman:
    url = settings.smtp_url.get_secret_value() if settings.smtp_url else None
    return postman(url, settings.home / "outbox", timeout_s=settings.mail.timeout_s)
