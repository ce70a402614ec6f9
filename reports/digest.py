"""A digest as subject, text, HTML and images.

Three templates make it: `digest/subject.txt.j2`, `digest/body.txt.j2`, `digest/body.html.j2`. A team's folder is looked
into first, under the same names, and may hold further templates that these include or extend. Whatever becomes part of
the HTML is escaped, by which kind of body asks for it and not by the name of its file; whatever becomes text is not.
"""

import re
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import css_inline
from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateError,
)

from domain.errors import BadSetting
from reports import wording
from reports.sparkline import InlineImage, draw_posts_per_day
from reports.view import ClaimView, DigestView

_FILTERS = {
    "count": wording.count,
    "found": wording.found,
    "number": wording.number,
    "compact": wording.compact,
    "percent": wording.percent,
    "day": wording.day,
    "short_day": wording.short_day,
    "clock": wording.clock,
    "reach": wording.reach,
    "interactions": wording.interactions,
    "stance": wording.stance,
    "stance_counts": wording.stance_counts,
    "rewording": wording.rewording,
    "one_decimal": wording.one_decimal,
    "direction": wording.direction,
    "language_tag": wording.language_tag,
    "line": wording.line,
    "quote_lines": wording.quote_lines,
}


LISTED = 10  # claims that the list at the top of the HTML names
CARDS = 12  # claims that the HTML shows with their posts: a large mail provider cuts messages off at 102 KB


@dataclass(frozen=True, slots=True)
class RenderedDigest:
    """The parts of a mail; the HTML names its images as `cid:…`."""

    subject: str
    text: str
    html: str
    images: tuple[InlineImage, ...]


def render_digest(view: DigestView, *, templates: Path | None = None) -> RenderedDigest:
    """The digest of a view, by the packaged templates or those a team put into `templates` in their place.

    Raises BadSetting, with file and line, where a template of the team cannot be used.
    """
    zone = ZoneInfo(view.zone)
    charts = _charts(view, zone)
    values = {
        "digest": view, "claims": tuple(zip(view.claims, charts, strict=True)), "zone": zone, "cards": CARDS,
        "listed": LISTED, "below": len(view.claims[LISTED:]),
    }  # fmt: skip
    subject = " ".join(_render("digest/subject.txt.j2", values, templates, escaped=False).split())
    text = re.sub(r"\n{3,}", "\n\n", _render("digest/body.txt.j2", values, templates, escaped=False).strip() + "\n")
    html = _render("digest/body.html.j2", values | {"subject": subject}, templates, escaped=True)
    images = {chart.cid: chart for chart in charts[:CARDS] if chart}
    return RenderedDigest(subject, text, _inline_css(html), tuple(images.values()))


def _charts(view: DigestView, zone: ZoneInfo) -> list[InlineImage | None]:
    new_from = view.period_from.astimezone(zone).date()

    def chart(claim: ClaimView) -> InlineImage | None:
        return draw_posts_per_day(claim.posts_per_day, new_from=new_from)

    return [chart(claim) for claim in view.claims]


def _render(name: str, values: dict[str, object], templates: Path | None, *, escaped: bool) -> str:
    try:
        return _environment(templates, escaped=escaped).get_template(name).render(values)
    except TemplateError as exc:
        raise BadSetting(f"{_place(exc, name)}: {exc}: correct the template in the folder of mail.templates") from exc


def _place(error: TemplateError, name: str) -> str:
    """File and line of the template at fault."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
    line = getattr(error, "lineno", None) or (frames[-1].lineno if frames else None)
    file = getattr(error, "filename", None) or (frames[-1].filename if frames else name)
    return f"{file}, line {line}" if line else str(file)


@cache
def _environment(templates: Path | None, *, escaped: bool) -> Environment:
    loaders: list[BaseLoader] = [PackageLoader("reports", "templates")]
    if templates is not None:
        if not templates.is_dir():
            raise BadSetting(f"mail.templates: there is no folder {templates}: create it or unset mail.templates")
        loaders.insert(0, FileSystemLoader(templates))
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS
    return environment


def _inline_css(html: str) -> str:
    """Many mail programs drop style sheets: each rule goes to its elements.

    What cannot, as rules for small or dark screens, stays in a `<style data-css-inline="keep">`.
    """
    inliner = css_inline.CSSInliner(minify_css=True, load_remote_stylesheets=False)
    return inliner.inline(html)
