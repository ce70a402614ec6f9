"""A local WebSocket server that speaks Jetstream's second version: events from a cursor on, then silence or a cut."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from websockets.sync.server import ServerConnection, serve

_NAME = "network.bsky.jetstream.subscribeEvents"


@dataclass
class Jetstream:
    url: str
    events: list[dict[str, object]] = field(default_factory=list)
    cut_after: int | None = None  # events of a connection, once
    garbage: bool = False  # begin with frames that cannot be read
    cursors: list[int | None] = field(default_factory=list)


def commit(
    seq: int, text: str | None, *, rkey: str = "", did: str = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
) -> dict[str, object]:
    """A post that was made, or (text None) deleted."""
    event: dict[str, object] = {
        "$type": f"{_NAME}#commit", "collection": "app.bsky.feed.post", "did": did, "seq": seq,
        "operation": "delete" if text is None else "create", "rev": "3jzfcijpj2z2a", "rkey": rkey or f"r{seq}",
        "time": f"2026-11-28T07:{seq % 60:02}:00.000000Z",
    }  # fmt: skip
    if text is not None:
        event["record"] = {
            "$type": "app.bsky.feed.post",
            "text": text,
            "createdAt": "2026-11-28T07:00:00.000Z",
            "langs": ["en"],
        }
        event["cid"] = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"
    return event


def account_deleted(seq: int, did: str) -> dict[str, object]:
    time = "2026-11-28T07:59:00.000000Z"
    account = {"active": False, "did": did, "seq": seq, "status": "deleted", "time": time}
    return {"$type": f"{_NAME}#account", "did": did, "seq": seq, "time": time, "account": account}


@contextmanager
def streaming() -> Iterator[Jetstream]:
    """Serve on a free port of this machine until the end of the block."""
    over = threading.Event()

    def talk(socket: ServerConnection) -> None:
        assert socket.request is not None
        asked = parse_qs(urlsplit(socket.request.path).query)
        cursor = int(asked["cursor"][0]) if "cursor" in asked else None
        stream.cursors.append(cursor)
        if stream.garbage:
            socket.send("no json")
            socket.send(json.dumps({"$type": "message", "payload": {"$type": "something.new#later"}}))
        for sent, event in enumerate(e for e in stream.events if cursor is None or int(str(e["seq"])) >= cursor):
            if sent == stream.cut_after:
                stream.cut_after = None
                return
            socket.send(json.dumps({"$type": "message", "payload": event}))
        over.wait()

    server = serve(talk, "127.0.0.1", 0, subprotocols=["xrpc.v1.json"])  # type: ignore[list-item]
    stream = Jetstream(f"ws://127.0.0.1:{server.socket.getsockname()[1]}/xrpc")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stream
    finally:
        over.set()
        server.shutdown()
        thread.join()
