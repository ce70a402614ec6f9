import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from domain.errors import BadSetting
from domain.fact_check import Verdict
from domain.match import Stance
from domain.post import Reach
from reports.digest import CARDS, LISTED, RenderedDigest, render_digest
from reports.view import ClaimView, DigestView, PostView, Rewording

MakePost = Callable[..., PostView]
MakeClaim = Callable[..., ClaimView]
Golden = Callable[[str, str], None]

HOSTILE = "<img src=x onerror=alert(1)> & {{ 7*7 }} </title>"
ESCAPED = "&lt;img src=x onerror=alert(1)&gt; &amp; {{ 7*7 }} &lt;/title&gt;"
PACKAGED = Path(__file__).parents[3] / "reports" / "templates" / "digest"


def hostile_everywhere(view: DigestView) -> DigestView:
    """The view with the same hostile text wherever a stranger or another system has a say."""

    address = f'https://x.example/"{HOSTILE}'

    def post(shown: PostView) -> PostView:
        own = replace(shown, text=HOSTILE, platform=HOSTILE, language=HOSTILE, url=address)
        words = (HOSTILE,) * 4
        edits = Rewording(words, ((HOSTILE, HOSTILE),), words, words, words)
        return replace(own, evidence=HOSTILE, found_by=HOSTILE, rewording=edits)

    def claim(shown: ClaimView) -> ClaimView:
        posts, debunks = tuple(map(post, shown.posts)), tuple(map(post, shown.debunks))
        queries = tuple(replace(query, words=HOSTILE) for query in shown.queries)
        own = replace(shown, claim=HOSTILE, language=HOSTILE, rating_given=HOSTILE, publisher=HOSTILE, url=address)
        return replace(own, why_watched=HOSTILE, posts=posts, debunks=debunks, queries=queries)

    quiet = tuple(replace(shown, title=HOSTILE, url="javascript:alert(1)") for shown in view.quiet)
    return replace(view, subscription=HOSTILE, claims=tuple(map(claim, view.claims)), notices=(HOSTILE,), quiet=quiet)


def test_a_posts_markup_is_shown_and_never_run(view: DigestView) -> None:
    rendered = render_digest(hostile_everywhere(view))
    assert ESCAPED in rendered.html
    assert "<img src=x" not in rendered.html
    assert rendered.html.count("</title>") == 1
    assert set(re.findall(r"<(\w+)", rendered.html)) <= {
        "a", "b", "bdi", "body", "br", "div", "h1", "h2", "h3", "head", "html", "img", "meta", "p", "span", "style",
        "table", "tbody", "td", "title", "tr",
    }  # fmt: skip
    assert "javascript:" not in rendered.html


def test_a_posts_markup_stays_literal_in_the_text(view: DigestView) -> None:
    rendered = render_digest(hostile_everywhere(view))
    assert f"> {HOSTILE}\n" in rendered.text
    assert "&lt;" not in rendered.text
    assert HOSTILE in rendered.subject


@pytest.mark.parametrize("name", ["digest.html.j2", "digest.j2", "digest.txt", "claims"])
def test_a_teams_template_is_escaped_whatever_its_suffix(view: DigestView, tmp_path: Path, name: str) -> None:
    (tmp_path / "digest").mkdir()
    (tmp_path / name).write_text(
        "{% for claim in digest.claims %}<p>{{ claim.posts[0].text }}</p>{% endfor %}", "utf-8"
    )
    (tmp_path / "digest" / "body.html.j2").write_text(f"<body>{{% include '{name}' %}}</body>", "utf-8")
    rendered = render_digest(hostile_everywhere(view), templates=tmp_path)
    assert f"<p>{ESCAPED}</p>" in rendered.html
    assert "Most seen" not in rendered.html
    assert f"> {HOSTILE}\n" in rendered.text


def test_a_teams_template_that_asks_for_what_is_not_there_is_named_with_its_line(
    view: DigestView, tmp_path: Path
) -> None:
    (tmp_path / "digest").mkdir()
    (tmp_path / "digest" / "body.txt.j2").write_text("one\n{{ digest.colour }}\n", "utf-8")
    with pytest.raises(BadSetting, match=r"body\.txt\.j2, line 2: .*colour.*mail\.templates"):
        render_digest(view, templates=tmp_path)


def test_a_teams_template_with_a_syntax_error_is_named_with_its_line(view: DigestView, tmp_path: Path) -> None:
    (tmp_path / "digest").mkdir()
    (tmp_path / "digest" / "subject.txt.j2").write_text("\n\n{% if %}", "utf-8")
    with pytest.raises(BadSetting, match=r"subject\.txt\.j2, line 3: .*mail\.templates"):
        render_digest(view, templates=tmp_path)


def test_a_template_folder_that_is_missing_is_said_in_one_line(view: DigestView, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"^mail\.templates: there is no folder .*none: create it or unset"):
        render_digest(view, templates=tmp_path / "none")


def test_the_text_reads_as_the_golden_file(view: DigestView, golden: Golden) -> None:
    rendered = render_digest(view)
    golden("digest.txt", f"Subject: {rendered.subject}\n\n{rendered.text}")


def test_an_empty_day_reads_as_the_golden_file(quiet_view: DigestView, golden: Golden) -> None:
    rendered = render_digest(quiet_view)
    golden("empty_day.txt", f"Subject: {rendered.subject}\n\n{rendered.text}")


def test_the_subject_says_what_is_new_in_one_line(view: DigestView) -> None:
    assert render_digest(view).subject == (
        "2 claims repeated in 16 newly found posts, 1 for the first time (morning desk, Fri 27 Nov)"
    )
    assert "\n" not in render_digest(replace(view, subscription="a\r\nBcc: b@c.example\u2028d")).subject


def test_only_debunks_are_not_called_repetitions(view: DigestView, make_claim: MakeClaim) -> None:
    claim = make_claim(new_by_stance={Stance.DEBUNKING: 3}, posts=(), more_posts=0)
    totals = replace(view.totals, repeating_posts=0, debunking_posts=3)
    rendered = render_digest(replace(view, claims=(claim,), totals=totals))
    assert rendered.subject.startswith("Only debunks are new: 3 posts on 1 claim ")
    assert "No new post repeats a claim" in rendered.text
    assert "No new post repeats a claim" in rendered.html


def test_posts_on_the_same_matter_alone_are_not_called_repetitions(view: DigestView, make_claim: MakeClaim) -> None:
    claim = make_claim(new_by_stance={Stance.RELATED: 2}, posts=(), more_posts=0, debunks=())
    totals = replace(view.totals, repeating_posts=0, debunking_posts=0)
    rendered = render_digest(replace(view, claims=(claim,), totals=totals))
    assert rendered.subject.startswith("1 claim with new posts on the same matter, none repeats a claim ")
    assert "2 posts are about the same matter" in rendered.text


def test_a_failure_on_an_empty_day_makes_a_short_mail_that_says_so(quiet_view: DigestView) -> None:
    rendered = render_digest(replace(quiet_view, notices=("Bluesky was not searched: the server was unavailable.",)))
    assert rendered.subject.startswith("Nothing new was found, but the search was not complete")
    assert "Bluesky was not searched: the server was unavailable." in rendered.text
    assert "Bluesky was not searched: the server was unavailable." in rendered.html
    assert len(rendered.text.splitlines()) < 15


def test_a_post_that_nobody_judged_is_never_said_to_spread_a_claim(view: DigestView) -> None:
    rendered = render_digest(view)
    for part in (rendered.subject, rendered.text, rendered.html):
        assert "spread" not in part.lower()
    assert "stance not judged yet" in rendered.text
    assert "stance not judged yet" in rendered.html


def test_a_judged_post_is_said_to_spread_the_claim(
    view: DigestView, make_claim: MakeClaim, make_post: MakePost
) -> None:
    claim = make_claim(new_by_stance={Stance.SPREADING: 1}, posts=(make_post(stance=Stance.SPREADING),), more_posts=0)
    rendered = render_digest(replace(view, claims=(claim,)))
    assert "1 post spreads it" in rendered.text
    assert "spreads the claim" in rendered.html


def test_no_reach_is_a_number_and_unknown_reach_is_not(view: DigestView, make_claim: MakeClaim) -> None:
    zero = make_claim(reach=Reach(likes=0, reposts=0, replies=0, views=0), posts=(), more_posts=0)
    unknown = make_claim(reach=Reach(), posts=(), more_posts=0)
    none = render_digest(replace(view, claims=(zero,)))
    nothing = render_digest(replace(view, claims=(unknown,)))
    assert "0 likes, reposts and replies · 0 views" in none.text
    assert ">0</span><br>views" in none.html
    assert "in all · reach not given" in nothing.text
    assert "likes, reposts, replies</td>" not in nothing.html


def test_texts_from_right_to_left_are_marked_and_our_own_lines_are_not(view: DigestView) -> None:
    html = render_digest(view).html
    assert re.search(r'<h2[^>]* dir="rtl"[^>]*>غسل', html)
    post = re.search(r'<tr><td class="post rtl"[^>]*>.*?</td></tr>', html, re.DOTALL)
    assert post and 'lang="ar"' in post[0] and "border-right:3px" in post[0]
    assert re.search(r'<p class="fine" dir="ltr"[^>]*><b[^>]*>Bluesky', post[0])


def test_each_chart_is_an_inline_image_with_its_numbers_as_words(view: DigestView) -> None:
    rendered = render_digest(view)
    assert re.findall(r'src="cid:([^"]+)"', rendered.html) == [image.cid for image in rendered.images]
    assert rendered.images[0].alt.startswith("posts a day, 7 to 27 Nov: 0, 0,")
    assert rendered.images[0].alt.endswith(", 8; peak 9")
    assert f'alt="{rendered.images[0].alt}"' in rendered.html


def test_equal_charts_are_sent_once(view: DigestView, make_claim: MakeClaim) -> None:
    rendered = render_digest(replace(view, claims=(make_claim(), make_claim())))
    assert len(rendered.images) == 1
    assert rendered.html.count(f"cid:{rendered.images[0].cid}") == 2


def test_times_are_shown_in_the_subscriptions_zone(view: DigestView) -> None:
    assert "Thu 26 Nov, 15:02" in render_digest(view).text
    assert "Thu 26 Nov, 09:02" in render_digest(replace(view, zone="America/New_York")).text


def test_a_late_digest_says_so(view: DigestView) -> None:
    rendered = render_digest(replace(view, late=True))
    assert "This digest is late" in rendered.text
    assert "This digest is late" in rendered.html


def test_a_day_without_searches_is_never_called_a_day_without_news(quiet_view: DigestView) -> None:
    rendered = render_digest(replace(quiet_view, totals=replace(quiet_view.totals, searches=0)))
    assert rendered.subject.startswith("No search was carried out (")
    for part in (rendered.subject, rendered.text, rendered.html):
        assert "Nothing new" not in part
        assert "o search was carried out" in part


def test_older_posts_found_now_are_told_from_those_posted_since(view: DigestView, make_claim: MakeClaim) -> None:
    rendered = render_digest(view)
    assert "16 newly found posts since Thu 26 Nov, 08:00, 5 of them posted since then." in rendered.text
    assert "5 of them posted since then" in rendered.html
    assert "18 newly found posts, 7 posted since Thu 26 Nov, 08:00, 64 in all" in rendered.text
    assert ">4 posted since</span>" in rendered.html
    recent = make_claim(since_by_stance={Stance.UNJUDGED: 15, Stance.DEBUNKING: 3})
    simple = render_digest(replace(view, claims=(recent,), totals=replace(view.totals, posted_since=16)))
    assert "16 new posts since Thu 26 Nov, 08:00." in simple.text
    assert "posted since" not in simple.text + simple.html


def test_the_preheader_and_the_list_count_the_same_posts(view: DigestView) -> None:
    html = render_digest(view).html
    preheader = re.search(r'<div class="preview"[^>]*>(.*?)</div>', html, re.DOTALL)
    assert preheader and preheader[1].startswith("15 newly found posts: Tap water")
    assert re.search(r'<td class="many"[^>]*>15</td>', html)


def test_the_list_on_top_is_short_and_the_rest_is_listed_below(view: DigestView, make_claim: MakeClaim) -> None:
    claims = tuple(make_claim(claim=f"claim no. {n}.") for n in range(CARDS + 3))
    html = render_digest(replace(view, claims=claims)).html
    top = html[: html.index("<h2")]
    assert top.count('class="many"') == LISTED
    assert f"{CARDS + 3 - LISTED} more below" in top
    assert html.count('class="many"') == LISTED + 3
    assert f"claim no. {CARDS + 2}." in html


def test_what_holds_for_all_claims_is_not_said_at_each(view: DigestView, make_claim: MakeClaim) -> None:
    first = make_claim(total_posts=18)
    rendered = render_digest(replace(view, claims=(first, first)))
    for part in (rendered.text, rendered.html):
        assert "first posts found" not in part
        assert part.count("No post of any of these claims had been found before.") == 1
        assert "in all" not in part
    assert "first posts found" in render_digest(replace(view, claims=(first, make_claim()))).html


def test_a_stance_that_is_not_judged_is_said_once_a_claim(view: DigestView, make_claim: MakeClaim) -> None:
    rendered = render_digest(replace(view, claims=(make_claim(),)))
    assert rendered.text.count("stance not judged yet") == rendered.html.count("stance not judged yet") == 1
    assert "debunks the claim" in rendered.text


def test_what_rewriting_gained_is_said_in_text_and_html(view: DigestView) -> None:
    rendered = render_digest(view)
    html = " ".join(re.sub(r"<(?!br)[^>]*>", "", rendered.html).split())
    for part in (" ".join(rendered.text.split()), html):
        assert (
            "tap AND water AND (banned OR forbidden), which leaves out “whole”, “city”; has “forbidden” for “banned”; "
            "the claim as it is would not have found it"
        ) in part
        assert part.count("would not have found it") == 1
        assert "Of 12 posts that edited queries found, the claim as it is would have found 1." in part
        assert (
            "Matches in 100 posts read: 6.2 by learned queries (68 in 1,102 posts, 103 queries), "
            "2.1 by plain ones, asked to compare (3 in 141 posts, 11 queries)."
        ) in part


def test_a_claim_that_finds_none_of_the_posts_is_said_once(view: DigestView, make_claim: MakeClaim) -> None:
    rendered = render_digest(replace(view, claims=(make_claim(claim_would_find=0),)))
    for part in (rendered.text, rendered.html):
        assert part.count("the claim as it is would") == 1
        assert "the claim as it is would have found none." in part


def test_nothing_is_said_of_gains_that_are_not_known(view: DigestView, make_claim: MakeClaim) -> None:
    claim = make_claim(edited_found=0, posts=(), debunks=())
    rendered = render_digest(replace(view, claims=(claim,), comparison=None))
    for part in (rendered.text, rendered.html):
        assert "edited queries" not in part
        assert "Matches in 100 posts" not in part


def test_queries_that_are_not_shown_are_counted(view: DigestView) -> None:
    rendered = render_digest(view)
    assert "  - and 3 more\n" in rendered.text
    assert ">and 3 more</p>" in rendered.html


def test_a_post_cannot_write_lines_of_our_own_into_the_text(
    view: DigestView, make_claim: MakeClaim, make_post: MakePost
) -> None:
    forged = "first\r\nSubject: x\u2028----\x85NOT COMPLETE\nlast"
    claim = make_claim(claim=forged, posts=(make_post(forged, evidence=forged),), debunks=())
    lines = render_digest(replace(view, claims=(claim,), notices=())).text.splitlines()
    assert not [line for line in lines if line.startswith(("Subject:", "NOT COMPLETE", "----N"))]
    assert "    > last" in lines


def test_styles_are_inlined_and_only_the_rules_for_small_and_dark_screens_stay(view: DigestView) -> None:
    html = render_digest(view).html
    assert re.search(r'<h1 style="[^"]*font:700 26px', html)
    assert re.findall(r"@media \(([^)]*)\)", html) == ["max-width: 480px", "prefers-color-scheme: dark"]
    assert html.count("<style") == 1


def test_500_matches_are_rendered_in_less_than_a_second(
    view: DigestView, make_claim: MakeClaim, make_post: MakePost
) -> None:
    posts = tuple(make_post(f"Tap water is banned, copy {n}") for n in range(10))
    large = replace(view, claims=tuple(make_claim(claim=f"claim {n}", posts=posts) for n in range(50)))
    render_digest(view)
    start = time.perf_counter()
    rendered = render_digest(large)
    assert time.perf_counter() - start < 1
    assert rendered.text.count("Tap water is banned, copy ") == 500
    assert rendered.html.count("Tap water is banned, copy ") == CARDS * 10, "the first claims only, see CARDS"


def test_300_new_posts_are_counted_and_few_are_shown(
    view: DigestView, make_claim: MakeClaim, make_post: MakePost
) -> None:
    claim = make_claim(
        new_by_stance={Stance.UNJUDGED: 300},
        since_by_stance={Stance.UNJUDGED: 300},
        posts=(make_post(),) * 3,
        more_posts=297,
        debunks=(),
        total_posts=12_300,
    )
    rendered = render_digest(replace(view, claims=(claim,)))
    assert "300 new posts, 12,300 in all · " in rendered.text
    assert "… and 297 more posts." in rendered.text
    assert "and 297 more posts" in rendered.html
    assert len(rendered.html.encode()) < 102_000  # where Gmail cuts


def test_the_least_a_view_can_hold_is_rendered(quiet_view: DigestView) -> None:
    bare = ClaimView(
        claim="c", language="und", verdict=Verdict.UNKNOWN, rating_given="",
        publisher="p", url=None, published_at=None, why_watched="", total_posts=0, new_by_stance={}, since_by_stance={},
        reach=Reach(),
    )  # fmt: skip
    rendered = render_digest(replace(quiet_view, claims=(bare,)))
    assert isinstance(rendered, RenderedDigest)
    assert rendered.images == ()


@pytest.mark.parametrize("template", sorted(PACKAGED.glob("*.j2")), ids=lambda path: path.name)
def test_templates_hold_no_arithmetic(template: Path) -> None:
    tree = Environment().parse(template.read_text("utf-8"))
    arithmetic = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow)
    assert [node.lineno for kind in arithmetic for node in tree.find_all(kind)] == []
