"""A local HTTP server that speaks a platform's wire format, for its real client library.

Faults are set ahead: each is given, once, to the next request whose path holds its text. Everything that was asked is
kept in `requests`.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    params: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    body: Any = None  # bytes, text, or what becomes JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    cut: bool = False  # the connection ends in the middle of the body

    def encoded(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()

    @property
    def content_type(self) -> str:
        return "text/html" if isinstance(self.body, str) else "application/json; charset=utf-8"


@dataclass
class ReplayServer:
    url: str
    requests: list[Request] = field(default_factory=list)
    _faults: list[tuple[str, Answer]] = field(default_factory=list)

    def fail(self, answer: Answer, *, path: str = "", times: int = 1) -> None:
        self._faults += [(path, answer)] * times

    def take_fault(self, request: Request) -> Answer | None:
        for place, (path, answer) in enumerate(self._faults):
            if path in request.path:
                del self._faults[place]
                return answer
        return None

    def asked(self, path: str) -> list[Request]:
        return [request for request in self.requests if path in request.path]


@contextmanager
def serving(answer: Callable[[Request], Answer]) -> Iterator[ReplayServer]:
    """Serve on a free port of this machine until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            params = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            params |= {f"{name}[*]": ",".join(values) for name, values in parse_qs(parts.query).items()}
            request = Request(self.command, parts.path, params, dict(self.headers.items()), body)
            server.requests.append(request)
            given = server.take_fault(request) or answer(request)
            time.sleep(given.delay_s)
            self._send(given)

        def _send(self, given: Answer) -> None:
            content = b"" if self.command == "HEAD" else given.encoded()
            self.send_response(given.status)
            for name, value in ({"Content-Type": given.content_type} | dict(given.headers)).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            if self.close_connection:  # the client asked for it: unless told so, it may use the connection again
                self.send_header("Connection", "close")
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # a client that is killed, or waits no longer
                self.wfile.write(content[: len(content) // 2] if given.cut else content)
            if given.cut:
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _handle

        def log_message(self, format: str, *args: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = ReplayServer(f"http://127.0.0.1:{httpd.server_port}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
