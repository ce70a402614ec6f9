"""The names under which outcomes are stored."""

from datetime import datetime

from domain.outcome import BudgetUsedUp, Found, NotPermitted, Outcome, RateLimited, Unavailable

Failure = RateLimited | BudgetUsedUp | NotPermitted | Unavailable
_NAMES: dict[type, str] = {
    Found: "found", RateLimited: "rate_limited", BudgetUsedUp: "budget_used_up", NotPermitted: "not_permitted",
    Unavailable: "unavailable",
}  # fmt: skip


def name_of(outcome: Outcome) -> str:
    return _NAMES[type(outcome)]


def restored(name: str, detail: str, until: datetime | None) -> Failure:
    """The failure that was stored under a name."""
    if name == "rate_limited" and until:
        return RateLimited(until)
    if name == "budget_used_up":
        return BudgetUsedUp(until)
    return NotPermitted(detail) if name == "not_permitted" else Unavailable(detail)
