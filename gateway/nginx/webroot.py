"""Lays out what nginx serves: `python -m gateway.nginx.webroot BUILT_PAGES FOLDER`.

`FOLDER/files` are the files of the build. `FOLDER/documents` are the pages' documents with
placeholders where the public address and the contact belong: deploy/nginx/start.sh fills them in.

Runs on the standard library alone, so that an image can be built without any package.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from gateway.pages.html import UNLISTED, Document, document_of
from gateway.support.edge import Edge

PUBLIC_URL = "@ATAJO_PUBLIC_URL@"
CONTACT = "@ATAJO_CONTACT@"


def write(built: Path, folder: Path) -> None:
    """Make the folder, which must not be there yet. Raises OSError."""
    # nginx has no module for brotli, and the document is written below.
    ignored = shutil.ignore_patterns("*.br", "index.html")
    shutil.copytree(built, folder / "files", ignore=ignored)
    edge = Edge.load()
    document = Document((built / "index.html").read_text(encoding="utf-8"), PUBLIC_URL, CONTACT)
    documents = folder / "documents"
    documents.mkdir()
    (documents / UNLISTED[1:]).write_bytes(document.unlisted())
    for path in edge.listed:
        (documents / document_of(path, edge)[1:]).write_bytes(document.listed(path))


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("Usage: python -m gateway.nginx.webroot BUILT_PAGES FOLDER")
    write(Path(sys.argv[1]), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
