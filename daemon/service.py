"""What every job and command works with: settings, clock, database, search endpoints, models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import psycopg

from connectors.protocol import Connector
from daemon.database import Database
from daemon.settings import Settings
from daemon.store import fact_checks
from domain.clock import Clock
from models.rewriting.policy import Rewriter

if TYPE_CHECKING:  # numpy takes a third of the time in which a light command starts
    import numpy as np
    from numpy.typing import NDArray

    from models.backbone import Encoder
    from models.ranking.matcher import Matcher

Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]


@dataclass
class Service:
    """Connectors open and models load at first use, so that a light command stays light."""

    settings: Settings
    clock: Clock
    database: Database
    open_connectors: Callable[["Service"], Mapping[str, Connector]]
    load_encoder: Callable[[], "Encoder"]
    build_matcher: Callable[[fact_checks.StoredFactChecks, "Encoder"], "Matcher"]
    build_rewriter: Callable[["Service", Connector, str], Rewriter]
    _matcher: tuple[object, "Matcher"] | None = field(default=None, repr=False)
    _rewriters: dict[tuple[str, str], Rewriter] = field(default_factory=dict, repr=False)

    @cached_property
    def connectors(self) -> Mapping[str, Connector]:
        """The search endpoints that are set up, by name."""
        return self.open_connectors(self)

    def close(self) -> None:
        """Let go of what was opened, the database aside."""
        for connector in vars(self).get("connectors", {}).values():
            connector.close()

    @cached_property
    def encoder(self) -> "Encoder":
        return self.load_encoder()

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embeddings, (n, dim); the encoder loads when first needed."""
        return self.encoder.encode(texts)

    def matcher(self, conn: psycopg.Connection) -> "Matcher":
        """The matcher over all prepared fact-checks, built anew when they have changed."""
        state = fact_checks.state(conn, self.encoder.version)
        if self._matcher is None or self._matcher[0] != state:
            stored = fact_checks.all_prepared(conn, self.encoder.version, self.encoder.dim)
            self._matcher = (state, self.build_matcher(stored, self.encoder))
        return self._matcher[1]

    def rewriter(self, connector: Connector, language: str) -> Rewriter:
        """The connector's rewriting policy for claims of a language."""
        key = (connector.name, language)
        if key not in self._rewriters:
            self._rewriters[key] = self.build_rewriter(self, connector, language)
        return self._rewriters[key]
