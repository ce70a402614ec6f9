"""A small collection of fact-checks and the real, packaged encoder."""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.fact_check import FactCheck, Verdict
from domain.ids import FactCheckId
from models.backbone import Encoder
from models.ranking.fact_check_text import embedding_text

MakeFactCheck = Callable[..., FactCheck]
Embed = Callable[[Sequence[FactCheck]], NDArray[np.float32]]


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="session")
def embed(encoder: Encoder) -> Embed:
    return lambda facts: encoder.encode([embedding_text(fact.claim, fact.title) for fact in facts])


@pytest.fixture(scope="session")
def make() -> MakeFactCheck:
    numbers = count(1)

    def make(claim: str, *, title: str = "", body: str = "", language: str = "en", key: str = "") -> FactCheck:
        number = next(numbers)
        return FactCheck(
            id=FactCheckId(number),
            key=key or f"fc.example/{number}",
            claim=claim,
            title=title,
            body=body,
            url=None,
            publisher="Example Facts",
            language=language,
            verdict=Verdict.FALSE,
            rating_given="False",
            published_at=None,
        )

    return make


@pytest.fixture(scope="session")
def facts(make: MakeFactCheck) -> list[FactCheck]:
    return [
        make(
            "Lindmouth banned fluoride after tests showed its tap water lowered children's IQ.",
            title="Lindmouth did not ban fluoride",
            body="The town never added any. Its natural level is 0.2 milligrams a litre.",
            key="fc.example/a/42",
        ),
        make(
            "The Kestrel Bridge in Port Alder will close permanently on 1 December.",
            title="Kestrel Bridge stays open",
            body="Traffic goes on. The council of Port Alder will repaint the railings of the bridge in spring.",
        ),
        make("Sliced onions in your socks draw out toxins and cure the flu.", title="Onions in socks cure nothing"),
        make("A solar storm will leave the earth in darkness for six days.", title="No six days of darkness"),
        make("Microwaves make food radioactive and destroy all of its vitamins."),
        make(
            "El ayuntamiento de Valle Sereno multará con 300 euros a quien tienda la ropa en el balcón.",
            title="No hay multas por tender la ropa",
            language="es",
        ),
        make(
            "El colegio público de Valle Sereno prohíbe el pan a los niños en el comedor.",
            title="El colegio no ha prohibido el pan",
            language="es",
        ),
    ]
