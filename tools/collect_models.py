"""Copy the 8-bit models that `longarc build models/languages --out BUILD` made to the package longarc-models.

The command on a card becomes the one that anybody can repeat, without folders of the machine that built the model.
Also write LICENSES.md, from the cards of all models in the package, and SHA256SUMS. Models that the package contains
and BUILD does not stay there.

    python tools/collect_models.py BUILD
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from longarc.runtime.installed_models import SUFFIX
from longarc.runtime.model_file import DIGESTS, read_card, read_model_file, write_model_file

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "packages" / "longarc-models" / "longarc_models"
RECIPES = CHECKOUT / "models" / "languages"
LICENCES = "LICENSES.md"
FACTS = {"Treebank": "treebank", "Licence": "licence", "Authors": "attribution"}
INTRODUCTION = """# Licences of the models

Each model is under the licence of its treebank. Its weights, word lists and label sets were learned from the annotated
sentences; it contains no sentence. If you distribute a model, name its authors as below, link to its licence, and say
what you changed. All models contain rows of the subword vectors potion-multilingual-128M by The Minish Lab, rounded to
8 bits:

> MIT License. Copyright (c) 2024 Thomas van Dongen. Permission is hereby granted, free of charge, to any person
> obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without
> restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense,
> and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
> following conditions: The above copyright notice and this permission notice shall be included in all copies or
> substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
> IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
> NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
> LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
> SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

Texts of the licences: [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/legalcode),
[CC BY-SA 3.0](https://creativecommons.org/licenses/by-sa/3.0/legalcode),
[CC BY-SA 3.0 US](https://creativecommons.org/licenses/by-sa/3.0/us/legalcode),
[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/legalcode),
[LGPL-LR](https://spdx.org/licenses/LGPLLR.html).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("build", type=Path, help="the folder given to `longarc build --out`")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="the folder for the models")
    arguments = parser.parse_args()
    copied = collect(arguments.build, arguments.package)
    print(f"{arguments.package}: {len(copied)} models copied: {', '.join(copied)}")


def collect(build: Path, package: Path) -> list[str]:
    """Copy the models of all recipes that are built, describe all models of the package, and return the names of the
    copied ones."""
    copied = []
    for recipe in sorted(RECIPES.glob("*.toml")):
        source = build / recipe.stem / f"{recipe.stem}-int8{SUFFIX}"
        if source.exists():
            model = read_model_file(source)
            command = f"longarc build {recipe.relative_to(CHECKOUT)} --out BUILD"
            model = replace(model, card={**model.card, "command": command})
            write_model_file(package / f"{recipe.stem}{SUFFIX}", model)
            copied.append(recipe.stem)
    models = sorted(package.glob(f"*{SUFFIX}"))
    sections = [INTRODUCTION, *(describe(path.stem, read_card(path)) for path in models)]
    (package / LICENCES).write_text("\n".join(sections), "utf-8")
    digests = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in models]
    (package / DIGESTS).write_text("".join(digests), "ascii")
    return copied


def describe(name: str, card: Mapping[str, Any]) -> str:
    """Return the section of a model."""
    lines = [f"## {name}", ""]
    lines += [f"- {title}: {card[key]}" for title, key in FACTS.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
