"""The gateway's packages import each other in the order that its docstring gives."""

from __future__ import annotations

import grimp

LAYERS = (
    {"__main__"},
    {"bootstrap"},
    {"app", "nginx", "settings"},
    {"api", "functions"},
    {"use_cases"},
    {"backends"},
    {"redirects"},
    {"http", "pages", "visits"},
    {"support"},
)
"""From the process to the helpers. Packages of one layer do not import each other."""


def test_imports_point_down() -> None:
    graph = grimp.build_graph("gateway")
    layer_of = {name: number for number, names in enumerate(LAYERS) for name in names}
    for module in graph.modules - {"gateway"}:
        package = module.split(".")[1]
        for imported in graph.find_modules_directly_imported_by(module):
            other = imported.split(".")[1]
            assert other == package or layer_of[package] < layer_of[other], (module, imported)
