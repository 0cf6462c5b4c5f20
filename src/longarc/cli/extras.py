"""The optional packages that some commands need."""

from __future__ import annotations

import importlib.util

from longarc.errors import LongarcError

EXTRAS = {
    "train": ("torch", "safetensors", "onnx"),
    "ray": ("ray", "pyarrow"),
    "serve": ("fastapi", "uvicorn", "httptools", "prometheus_client"),
}

CPU_TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
"""PyTorch without CUDA; the wheels on PyPI for Linux contain it."""


def require_extra(extra: str) -> None:
    """Raise if a package of this extra is missing."""
    missing = [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if not missing:
        return
    command = f"pip install 'longarc[{extra}]'"
    hint = f"Install it with: {command}"
    if "torch" in missing:
        hint = (
            f"Install it for the CPU with: {CPU_TORCH} && {command}\n"
            f"Install it for a GPU, with several gigabytes of CUDA on Linux, with: {command}"
        )
    raise LongarcError(f"this command needs {' and '.join(missing)}", hint)
