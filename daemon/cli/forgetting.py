"""forget: a post or an author, everywhere."""

from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from domain.errors import BadInput

app = typer.Typer()


@app.command()
def forget(
    platform: Annotated[str, typer.Option(help="As the digest names it: x, reddit, bluesky, mastodon/HOST.")],
    post: Annotated[str | None, typer.Option(help="Id of the post on its platform.")] = None,
    author: Annotated[
        str | None, typer.Option(help="Author: number on X, name on Reddit, DID on Bluesky, name@server on Mastodon.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Remove a post, or all posts of an author, with every trace of them; a receipt follows."""
    from dataclasses import asdict

    from daemon.keeping import forget_author, forget_post, holds_platform
    from daemon.wiring import pseudonym_key

    if (post is None) == (author is None) or not (post or author or "").strip():
        raise BadInput("give one of --post and --author: forget removes a post or all posts of an author")
    if not (platform := platform.strip()):
        raise BadInput("--platform is empty: name the platform as the digest does, x or mastodon/HOST, say")
    with session.service() as service:
        known = holds_platform(service, platform)
        if post is not None:
            purged = forget_post(service, platform, post.strip())
        else:
            purged = forget_author(service, platform, (author or "").strip(), pseudonym_key(service.settings))
    if json:
        return terminal.say_json(asdict(purged))
    if not known:
        typer.echo(f"no post of a platform {platform!r} is held: is its name as the digest shows it?", err=True)
    if not purged.posts:
        return terminal.say("nothing of it was stored; it will not be taken in from now on")
    rows = [
        ("posts", purged.posts),
        ("matches", purged.matches),
        ("stored mails", purged.mails),
        ("files", len(purged.files)),
    ]
    terminal.say_table(["removed", ""], rows)
    terminal.say("it will not be taken in again; mails that were sent cannot be called back")
