"""A post as a platform gave it, parsed once."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a post went at fetch time; None where the platform does not say."""

    likes: int | None = None
    reposts: int | None = None
    replies: int | None = None
    views: int | None = None

    @property
    def known(self) -> bool:
        return any(n is not None for n in (self.likes, self.reposts, self.replies, self.views))

    @property
    def engagement(self) -> int:
        """Likes, reposts and replies together: what the three most seen posts are chosen by."""
        return (self.likes or 0) + (self.reposts or 0) + (self.replies or 0)


@dataclass(frozen=True, slots=True)
class Post:
    platform: str
    platform_id: str
    text: str
    created_at: datetime
    url: str | None = None
    author: str | None = None  # a pseudonym: keyed hash, never the handle
    links: tuple[str, ...] = ()
    language: str = "und"
    reach: Reach = Reach()
