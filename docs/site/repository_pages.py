"""What the documentation site adds to docs/: pages from the top of the repository, and links into it.

MkDocs calls these functions; see `hooks` in mkdocs.yml.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {"architecture.md": "ARCHITECTURE.md", "contributing.md": "CONTRIBUTING.md", "security.md": "SECURITY.md"}
"""Pages of the site that are files at the top of the repository."""
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from the top of the repository."""
    for page, name in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links to files outside docs/ to their page, or to the repository on the web."""
    source = PAGES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    pages = {f"docs/{file.src_uri}": file.src_uri for file in files}
    pages.update({name: page for page, name in PAGES.items()})

    def replace(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        if target in pages:
            here = posixpath.dirname(page.file.src_uri)
            return f"]({posixpath.relpath(pages[target], here or '.')}{match[2] or ''})"
        if (ROOT / target).exists():
            kind = "tree" if (ROOT / target).is_dir() else "blob"
            return f"]({config.repo_url}/{kind}/main/{target}{match[2] or ''})"
        return match[0]

    return LINK.sub(replace, markdown)
