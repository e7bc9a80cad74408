"""Lays out what nginx serves: `python -m gateway.nginx.webroot BUILT_PAGES FOLDER`.

`FOLDER/files` are the files of the build. `FOLDER/documents` are the documents of the pages, with
placeholders for the settings that deploy/nginx/start.sh fills in. Each version but the English one
without `lang` has a folder of its own there, which `FOLDER/languages.conf` chooses.

Uses only the standard library, so that an image can be built without packages.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gateway.pages import further, languages
from gateway.pages.html import UNLISTED, Documents, PageSettings, document_path
from gateway.support.edge import Edge

SETTINGS = PageSettings(*(f"@ATAJO_{name.upper()}@" for name in PageSettings._fields))
"""A placeholder for each setting."""


def write(built: Path, folder: Path) -> None:
    """Create the folder, which must not exist. Raises OSError."""
    # nginx has no brotli module, and the document is written below.
    ignored = shutil.ignore_patterns("*.br", "*.html")
    shutil.copytree(built, folder / "files", ignore=ignored)
    edge = Edge.load()
    available = languages.built(built)
    if set(available) - further.TEXTS.keys():
        raise ValueError(f"gateway/pages/further.py lacks a language of {available}")
    (folder / "languages.conf").write_text(languages.nginx_maps(available), encoding="utf-8")
    for version in languages.versions(available):
        documents = Documents(built, edge, SETTINGS, version, all_parts=True)
        target = folder / f"documents{version.folder}"
        target.mkdir(parents=True)
        (target / UNLISTED[1:]).write_bytes(documents.unlisted())
        unavailable = further.render_unavailable(SETTINGS.public_url, version.language)
        (target / further.UNAVAILABLE[1:]).write_bytes(unavailable)
        for path in edge.listed:
            (target / document_path(path, edge)[1:]).write_bytes(documents.of(path))


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("Usage: python -m gateway.nginx.webroot BUILT_PAGES FOLDER")
    write(Path(sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
