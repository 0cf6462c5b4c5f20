"""Write requirements.lock: the versions and hashes of all packages that tests and CI install, for every platform.

Needs uv (`pip install uv`) and the package index. Run it after a change of the dependencies in pyproject.toml:

    python tools/lock.py

torch and the packages of its CUDA build are left out: its CPU build has the same version but another hash, and is often
installed from elsewhere. constraints.txt pins the version.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"
COMPILE = ["uv", "pip", "compile", "pyproject.toml", "--extra", "test", "-c", "constraints.txt", "--universal"]
OPTIONS = ["--python-version", "3.10", "--generate-hashes", "--no-header", "--no-annotate", "--upgrade", "--quiet"]
LEFT_OUT = re.compile(r"(torch|triton|cuda-[\w-]+|nvidia-[\w-]+)==")
HEADER = """# Written by tools/lock.py; do not edit. Install with:
#     pip install --require-hashes --no-deps -r requirements.lock
# torch is not in it, see tools/lock.py.
"""


def without_torch(lock: str) -> str:
    """Remove torch and the packages that only its CUDA build needs; each requirement is followed by its hashes."""
    requirements = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)
    return "".join(requirement for requirement in requirements if not LEFT_OUT.match(requirement))


def main() -> None:
    result = subprocess.run([*COMPILE, *OPTIONS], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(result.returncode)
    LOCK.write_text(HEADER + without_torch(result.stdout), "utf-8")


if __name__ == "__main__":
    main()
