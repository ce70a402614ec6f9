"""The learned policy of boolean platforms that do not count: the queries that are expected to bring the most.

Each next query is chosen in the light of what the earlier ones brought: what they found is found already, what they did
not find is in posts that hold other words of the claim.
"""

from dataclasses import dataclass

from domain.fact_check import Claim
from domain.query import Query
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.learned.patterns import choose
from models.rewriting.policy import History, searches_of


@dataclass(frozen=True, slots=True)
class LearnedBoolean:
    """`reads`: posts that one query may read. `most` queries a claim, fewer where more would cost more than they bring.

    English claims only.
    """

    foreseer: Foreseer
    most: int = 3
    reads: float = 100 / 3

    @property
    def name(self) -> str:
        return f"retention@{self.foreseer.retention.version}"

    def next(self, claim: Claim, history: History) -> Query | None:
        planned = self.plan(claim, history)
        return planned[0] if planned else None

    def plan(self, claim: Claim, history: History = ()) -> list[Query]:
        """The queries that are left to ask, as far as can be told now."""
        outlook = self.foreseer.outlook(claim.text)
        left = self.most - sum(result.query.policy == self.name for result in searches_of(history))
        if outlook is None or left <= 0:
            return []
        now = outlook.after(history, self.reads)
        chosen = choose(now.odds(), now.space.finds, now.background, most=left, reads=self.reads, but=now.asked)
        return [self.foreseer.query(outlook, number, policy=self.name) for number in chosen]
