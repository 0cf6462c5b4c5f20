"""`longarc serve`: the page and the service."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import ipaddress
import os
import socket
import sys
import threading
import webbrowser
from typing import Annotated
from urllib.parse import quote

import typer

from longarc.errors import LongarcError

NEEDED = ("fastapi", "uvicorn", "prometheus_client", "python_multipart")
MOST_CONNECTIONS = 512
YOUNG_OBJECTS = 20_000
"""After so many new objects Python looks for garbage: a request has thousands of them, and hardly any garbage."""
LOOPBACK = frozenset(["localhost", "127.0.0.1", "[::1]"])


def serve(
    models: Annotated[
        list[str] | None, typer.Argument(help="The .longarc files to offer; requests name them without the suffix.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 is all of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8080,
    token: Annotated[
        str, typer.Option(envvar="LONGARC_TOKEN", help="Answer only those who send this token.", show_envvar=True)
    ] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    max_request: Annotated[int, typer.Option(min=1, help="Kilobytes that a request may have.")] = 4096,
    max_sentence: Annotated[int, typer.Option(min=1, help="Words that a sentence may have.")] = 1000,
    max_queue: Annotated[int, typer.Option(min=1, help="Words that may wait to be parsed.")] = 200_000,
    max_seconds: Annotated[float, typer.Option(min=0.1, help="Seconds that a request may take.")] = 60.0,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads; all cores this process may use unless given.")
    ] = None,
) -> None:
    """Serve models: a page to look at trees and to step through transitions, a JSON interface, and the UDPipe service.

    Ctrl-C stops the server after it has answered what it accepted. Only this machine can reach it unless --host says
    otherwise; then a --token keeps others out.
    """
    require_serve()
    import uvicorn

    from longarc.server.app import make_app
    from longarc.server.limits import Limits
    from longarc.server.served_models import load_models

    if not (token.isascii() and token.isprintable()) or token != token.strip():
        raise LongarcError("--token: only ASCII letters, digits and signs can be sent")
    listener = _listen(host, port)
    if not token and not _is_loopback(host):
        typer.echo("longarc: anyone who can reach this machine can use the server; --token keeps others out", err=True)
    limits = Limits(
        request_bytes=max_request * 1024, sentence_words=max_sentence, queue_words=max_queue, seconds=max_seconds
    )
    # With a token, and from other machines, it may have any name: that of a proxy, for example.
    hosts = LOOPBACK | {host} if _is_loopback(host) and not token else frozenset[str]()
    app = make_app(load_models(models or [], threads=threads), limits, token, hosts)
    address = _address(host, listener.getsockname()[1])

    class Server(uvicorn.Server):
        """Says where it is once it can be reached."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            gc.freeze()  # what is there now stays: there is no garbage to be found in it while clients wait
            gc.set_threshold(YOUNG_OBJECTS)
            if not self.should_exit:
                typer.echo(f"Longarc is at {address} (Ctrl-C stops it)", err=True)
                if browser and _has_display():
                    page = f"{address}?token={quote(token, safe='')}" if token else address
                    threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=max(1, round(max_seconds)),
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn passes the signal on after it has shut down
        Server(config).run(sockets=[listener])
    typer.echo("longarc: stopped", err=True)


def require_serve() -> None:
    """Says what to install where serving is not."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise LongarcError(f"serving needs {' and '.join(missing)}", "Install it with: pip install 'longarc[serve]'")


def _listen(host: str, port: int) -> socket.socket:
    """The socket, before models are loaded: a port that is taken should not cost a user's time."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
    except OSError as error:
        raise LongarcError(f"cannot listen on {host}, port {port}: {error.strerror}", "Try another --port.") from None
    return listener


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
