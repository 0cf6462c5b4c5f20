"""The lock file fits pyproject.toml; the bill of materials lists what is installed."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers.paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOCK = (ROOT / "requirements.lock").read_text("utf-8")
LOCKED = [Requirement(text.strip()) for text in re.findall(r"^([a-z0-9][^\\\n]*)\\$", LOCK, re.MULTILINE)]


def declared_requirements(extra: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = []
    for text in project["optional-dependencies"][extra]:
        requirement = Requirement(text)
        if requirement.name == project["name"]:
            requirements += [item for name in requirement.extras for item in declared_requirements(name)]
        else:
            requirements.append(requirement)
    return [*map(Requirement, project["dependencies"]), *requirements]


def test_the_lock_contains_every_dependency_in_its_range() -> None:
    versions: dict[str, list[str]] = {}
    for requirement in LOCKED:
        (specifier,) = requirement.specifier
        assert specifier.operator == "=="
        versions.setdefault(canonicalize_name(requirement.name), []).append(specifier.version)
    for requirement in declared_requirements("test"):
        if requirement.name != "torch":
            locked = versions.get(canonicalize_name(requirement.name), [])
            assert locked and all(map(requirement.specifier.contains, locked)), f"{requirement}: run tools/lock.py"


def test_the_lock_has_a_hash_for_every_package_and_no_address() -> None:
    blocks = [block for block in re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE) if block and not block.startswith("#")]
    assert len(blocks) == len(LOCKED) > 50
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", block) for block in blocks)
    assert "://" not in LOCK
    assert not re.search(r"^(torch|nvidia-|triton)", LOCK, re.MULTILINE)


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "tools" / "sbom.py"), "serve"]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result


def test_the_bill_of_materials_is_cyclonedx(bill: dict[str, Any]) -> None:
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "longarc"
    references = [component["bom-ref"] for component in [bill["metadata"]["component"], *bill["components"]]]
    assert len(set(references)) == len(references)
    for entry in bill["dependencies"]:
        assert entry["ref"] in references and set(entry["dependsOn"]) <= set(references)


def test_the_bill_of_materials_lists_packages_of_the_extras_and_models(bill: dict[str, Any]) -> None:
    components = {component["name"]: component for component in bill["components"]}
    assert {"numpy", "onnxruntime", "fastapi", "starlette", "uvicorn"} <= components.keys()
    assert "torch" not in components
    assert all(components[name]["licenses"] for name in ("numpy", "fastapi"))
    model = Path(ROOT / "src" / "longarc" / "models" / "en_ewt.longarc").read_bytes()
    assert components["en_ewt"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(model).hexdigest()}]
