"""What became of a search. The last four are different things, and none of them is "no results"."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Found:
    count: int
    incomplete: str = ""  # why the platform gave no more

    def __str__(self) -> str:
        return f"found {self.count}" + (f", incomplete: {self.incomplete}" if self.incomplete else "")


@dataclass(frozen=True, slots=True)
class RateLimited:
    until: datetime

    def __str__(self) -> str:
        return f"rate limited until {self.until:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True)
class BudgetUsedUp:
    until: datetime | None

    def __str__(self) -> str:
        return "budget used up until " + (f"{self.until:%Y-%m-%d}" if self.until else "it is topped up")


@dataclass(frozen=True, slots=True)
class NotPermitted:
    why: str

    def __str__(self) -> str:
        return f"not permitted: {self.why}"


@dataclass(frozen=True, slots=True)
class Unavailable:
    why: str

    def __str__(self) -> str:
        return f"unavailable: {self.why}"


Outcome = Found | RateLimited | BudgetUsedUp | NotPermitted | Unavailable
