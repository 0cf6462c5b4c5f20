"""`longarc serve`: run the web server."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import socket
import sys
import threading
import webbrowser
from typing import Annotated, Any
from urllib.parse import quote

import typer

from longarc.cli.completion import complete_model
from longarc.cli.extras import require_extra
from longarc.cli.options import Threads
from longarc.errors import LongarcError

LOOPBACK = frozenset(["localhost", "127.0.0.1", "[::1]"])


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL",
            autocompletion=complete_model,
            help="Models to serve: .longarc files, or names or languages that `longarc models` lists.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 is all interfaces.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")] = 8080,
    token: Annotated[
        str, typer.Option(envvar="LONGARC_TOKEN", help="Reject requests without this token.", show_envvar=True)
    ] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    max_request: Annotated[int, typer.Option(min=1, help="Maximum size of a request in kilobytes.")] = 4096,
    max_sentence: Annotated[int, typer.Option(min=1, help="Maximum number of words in a sentence.")] = 1000,
    max_queue: Annotated[int, typer.Option(min=1, help="Maximum number of words waiting to be parsed.")] = 200_000,
    max_seconds: Annotated[float, typer.Option(min=0.1, help="Maximum duration of a request in seconds.")] = 60.0,
    max_connections: Annotated[int, typer.Option(min=1, help="Maximum number of connections from one address.")] = 256,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Allow pages of this site, e.g. https://example.org; * allows all."),
    ] = None,
    log: Annotated[bool, typer.Option("--log/--no-log", help="Log each request to stderr as a JSON object.")] = False,
    threads: Threads = None,
) -> None:
    """Serve models: a web page with trees and a transition stepper, a JSON API, and an API compatible with UDPipe.

    Ctrl-C stops the server after it has answered the requests it accepted. By default only this machine can reach it;
    if --host makes it public, use --token to restrict access. Web pages of other sites cannot use it unless
    --allow-origin names them.
    """
    require_extra("serve")
    from longarc.server.app import make_app
    from longarc.server.limits import Limits
    from longarc.server.served_models import load_models
    from longarc.server.web_server import run_server

    origins = frozenset(allow_origin or [])
    _check_options(token, origins)
    listener = _listen(host, port)
    if not token and not _is_loopback(host):
        typer.echo(
            "longarc: anyone who can reach this machine can use the server; restrict access with --token", err=True
        )
    limits = Limits(
        request_bytes=max_request * 1024,
        sentence_words=max_sentence,
        queue_words=max_queue,
        seconds=max_seconds,
        connections=max(Limits.connections, max_connections),
        client_connections=max_connections,
    )
    # A server with a token, or for other machines, may be reached under any name, such as that of a proxy.
    hosts = LOOPBACK | {host} if _is_loopback(host) and not token else frozenset[str]()
    served = load_models(models or [], threads=threads)
    app = make_app(served, limits, token, hosts, origins, _log_request if log else None)
    address = _address(host, listener.getsockname()[1])

    def announce() -> None:
        typer.echo(f"Longarc is at {address} (Ctrl-C stops it)", err=True)
        if browser and _has_display():
            page = f"{address}?token={quote(token, safe='')}" if token else address
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    run_server(app, listener, limits, announce)
    typer.echo("longarc: stopped", err=True)


def _check_options(token: str, origins: frozenset[str]) -> None:
    """Raise if the token or an origin cannot be sent in a header."""
    if not (token.isascii() and token.isprintable()) or token != token.strip():
        raise LongarcError("--token: expected printable ASCII characters without spaces around them")
    for origin in sorted(origins):
        if not re.fullmatch(r"\*|[a-z][a-z0-9+.-]*://[^/\s]+", origin):
            raise LongarcError(f"--allow-origin: expected a scheme and a host, such as https://a.org, not {origin!r}")


def _listen(host: str, port: int) -> socket.socket:
    """Open the socket; this comes before loading models so that a port in use is reported at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise LongarcError(f"cannot listen on {host}, port {port}: {error.strerror}", "Try another --port.") from None
    return listener


def _log_request(entry: dict[str, Any]) -> None:
    typer.echo(json.dumps(entry), err=True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
