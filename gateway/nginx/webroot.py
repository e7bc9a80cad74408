"""Lays out what nginx serves: `python -m gateway.nginx.webroot BUILT_PAGES FOLDER`.

`FOLDER/files` are the files of the build. `FOLDER/documents` are the documents of the pages, with
placeholders for the public URL and the contact that deploy/nginx/start.sh fills in.

Uses only the standard library, so that an image can be built without packages.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gateway.pages.html import UNLISTED, Documents, document_path
from gateway.support.edge import Edge

PUBLIC_URL = "@ATAJO_PUBLIC_URL@"
CONTACT = "@ATAJO_CONTACT@"


def write(built: Path, folder: Path) -> None:
    """Create the folder, which must not exist. Raises OSError."""
    # nginx has no brotli module, and the document is written below.
    ignored = shutil.ignore_patterns("*.br", "*.html")
    shutil.copytree(built, folder / "files", ignore=ignored)
    edge = Edge.load()
    documents = Documents(built, edge, PUBLIC_URL, CONTACT)
    target = folder / "documents"
    target.mkdir()
    (target / UNLISTED[1:]).write_bytes(documents.unlisted())
    for path in edge.listed:
        (target / document_path(path, edge)[1:]).write_bytes(documents.of(path))


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("Usage: python -m gateway.nginx.webroot BUILT_PAGES FOLDER")
    write(Path(sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
