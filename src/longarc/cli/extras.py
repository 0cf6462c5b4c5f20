"""The optional packages that some commands need."""

from __future__ import annotations

import importlib.util

from longarc.errors import LongarcError

EXTRAS = {
    "train": ("torch", "safetensors", "onnx"),
    "ray": ("ray", "pyarrow"),
    "serve": ("fastapi", "uvicorn", "prometheus_client", "python_multipart"),
}


def require_extra(extra: str) -> None:
    """Raise if a package of this extra is missing."""
    missing = [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if missing:
        hint = f"Install it with: pip install 'longarc[{extra}]'"
        raise LongarcError(f"this command needs {' and '.join(missing)}", hint)
