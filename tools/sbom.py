"""Print a software bill of materials for the installed Longarc: a CycloneDX document in JSON.

It lists the packages that are installed for Longarc and the chosen extras, with their licences and what depends on
what, and the models that come with Longarc, with their digests.

    python tools/sbom.py serve train > sbom.json
"""

from __future__ import annotations

import argparse
import hashlib
import json
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import longarc

MODELS = Path(longarc.__file__).parent / "models"
NO_EXTRA = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("extras", nargs="*", help="extras of Longarc to include, such as serve")
    print(json.dumps(make_bill(parser.parse_args().extras), indent=2))


def make_bill(extras: list[str]) -> dict[str, Any]:
    """Return the document."""
    graph = collect_dependencies("longarc", frozenset(extras))
    components = {name: describe_package(name) for name in sorted(graph)}
    main_component = {**components.pop("longarc"), "type": "application"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": main_component},
        "components": [*components.values(), *map(describe_model, sorted(MODELS.glob("*.longarc")))],
        "dependencies": [
            {"ref": package_url(name), "dependsOn": sorted(map(package_url, graph[name]))} for name in sorted(graph)
        ],
    }


def collect_dependencies(name: str, extras: frozenset[str]) -> dict[str, set[str]]:
    """Return the direct dependencies of a package and of all packages that it needs and that are installed."""
    graph: dict[str, set[str]] = {}
    waiting = [(canonicalize_name(name), extras)]
    visited = set()
    while waiting:
        package = waiting.pop()
        if package in visited:
            continue
        visited.add(package)
        needed = graph.setdefault(package[0], set())
        for text in metadata.requires(package[0]) or []:
            requirement = Requirement(text)
            other = canonicalize_name(requirement.name)
            if is_needed(requirement, package[1]) and is_installed(other):
                waiting.append((other, frozenset(requirement.extras)))
                needed |= {other} - {package[0]}
    return graph


def is_needed(requirement: Requirement, extras: frozenset[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in [NO_EXTRA, *extras])


def is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def describe_package(name: str) -> dict[str, Any]:
    details = metadata.metadata(name)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": package_url(name),
        "name": details["Name"],
        "version": details["Version"],
        "purl": package_url(name),
    }
    if "Summary" in details:
        component["description"] = details["Summary"]
    if licences := find_licences(details):
        component["licenses"] = licences
    return component


def find_licences(details: metadata.PackageMetadata) -> list[dict[str, Any]]:
    """Return the licence as an SPDX expression if there is one, else as the package names it."""
    if "License-Expression" in details:
        return [{"expression": details["License-Expression"]}]
    classifiers = details.get_all("Classifier") or []
    names = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: ")]
    licence = details["License"].strip() if "License" in details else ""
    if not names and licence and "\n" not in licence:
        names = [licence]
    return [{"license": {"name": name}} for name in names]


def describe_model(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {
        "type": "machine-learning-model",
        "bom-ref": f"model:{path.stem}@{digest[:12]}",
        "name": path.stem,
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }


def package_url(name: str) -> str:
    return f"pkg:pypi/{canonicalize_name(name)}@{metadata.version(name)}"


if __name__ == "__main__":
    main()
