"""A local WebSocket server that speaks Jetstream's second version: events from a cursor on, then silence or a cut; a
refusal, where it holds no events that are so old."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

_NAME = "network.bsky.jetstream.subscribeEvents"


@dataclass
class Jetstream:
    url: str
    events: list[dict[str, object]] = field(default_factory=list)
    cut_after: int | None = None  # events of a connection, once
    garbage: bool = False  # begin with frames that cannot be read
    floor: int = 0  # the oldest event held…
    clamps: bool = False  # …from which older cursors go on, instead of being refused
    refusals: list[tuple[int, str]] = field(default_factory=list)  # status and error of connections to come
    cursors: list[int | None] = field(default_factory=list)

    def refusal(self, cursor: int | None) -> tuple[int, str] | None:
        if self.refusals:
            return self.refusals.pop(0)
        if cursor is not None and cursor < self.floor and not self.clamps:
            return 400, "CursorTooOld"
        return None

    def after(self, cursor: int | None) -> list[dict[str, object]]:
        """What a connection is sent: from the cursor on, itself included; all that is held without a cursor, or with
        one that is yet to come."""
        held = [event for event in self.events if int(str(event["seq"])) >= self.floor]
        if cursor is None or self.is_future(cursor):
            return held
        return [event for event in held if int(str(event["seq"])) >= cursor]

    def is_future(self, cursor: int | None) -> bool:
        return cursor is not None and all(cursor > int(str(event["seq"])) for event in self.events)


def commit(
    seq: int,
    text: str | None,
    *,
    rkey: str = "",
    did: str = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa",
    time: str = "",
) -> dict[str, object]:
    """A post that was made, or (text None) deleted."""
    event: dict[str, object] = {
        "$type": f"{_NAME}#commit", "collection": "app.bsky.feed.post", "did": did, "seq": seq,
        "operation": "delete" if text is None else "create", "rev": "3jzfcijpj2z2a", "rkey": rkey or f"r{seq}",
        "time": time or moment_of(seq),
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


def account(seq: int, did: str, *, active: bool = False) -> dict[str, object]:
    """An account that was deleted, or is there (again)."""
    time = moment_of(seq)
    status = {} if active else {"status": "deleted"}
    said = {"active": active, "did": did, "seq": seq, "time": time} | status
    return {"$type": f"{_NAME}#account", "did": did, "seq": seq, "time": time, "account": said}


def moment_of(seq: int) -> str:
    """When an event happened unless it says otherwise: in the last minute before eight."""
    return f"2026-11-28T07:59:{seq % 60:02}.000000Z"


@contextmanager
def streaming() -> Iterator[Jetstream]:
    """Serve on a free port of this machine until the end of the block."""
    over = threading.Event()

    def asked(request: Request | None) -> int | None:
        assert request is not None
        query = parse_qs(urlsplit(request.path).query)
        return int(query["cursor"][0]) if "cursor" in query else None

    def admit(socket: ServerConnection, request: Request) -> Response | None:
        stream.cursors.append(asked(request))
        refusal = stream.refusal(asked(request))
        return socket.respond(refusal[0], json.dumps({"error": refusal[1]})) if refusal else None

    def talk(socket: ServerConnection) -> None:
        def send(payload: dict[str, object]) -> None:
            socket.send(json.dumps({"$type": "message", "payload": payload}))

        cursor = asked(socket.request)
        if stream.garbage:
            socket.send("no json")
            send({"$type": "something.new#later"})
        if stream.is_future(cursor):
            send({"$type": f"{_NAME}#info", "name": "FutureCursor"})
        for sent, event in enumerate(stream.after(cursor)):
            if sent == stream.cut_after:
                stream.cut_after = None
                return
            send(event)
        over.wait()

    server = serve(talk, "127.0.0.1", 0, process_request=admit, subprotocols=["xrpc.v1.json"])  # type: ignore[list-item]
    stream = Jetstream(f"ws://127.0.0.1:{server.socket.getsockname()[1]}/xrpc")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stream
    finally:
        over.set()
        server.shutdown()
        thread.join()
