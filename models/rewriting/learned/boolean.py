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
        left = self.most - sum(result.query.policy == self.name for result in searches_of(history))
        planned = self._chosen(claim, history, min(left, 1))
        return planned[0] if planned else None

    def plan(self, claim: Claim) -> list[Query]:
        """All queries, as far as can be told before any is asked."""
        return self._chosen(claim, (), self.most)

    def _chosen(self, claim: Claim, history: History, most: int) -> list[Query]:
        outlook = self.foreseer.outlook(claim.text)
        if outlook is None:
            return []
        now = outlook.after(history, self.reads)
        chosen = choose(now.odds(), now.space.finds, now.background, most=most, reads=self.reads, but=now.asked)
        return [self.foreseer.query(outlook, number, policy=self.name) for number in chosen]
