"""Cases for the alert rules: a product that fails in one respect.

A case of `cases.yaml` changes some of the series of a healthy product (`healthy.yaml`) and names
all alerts that fire then, so both missing and wrong alerts are found.

A value is a number, or `4/s` for a counter with that rate; `Mi` and `Gi` are units. A list has the
value until the tenth minute and the value after it, or null for no sample. Anything else is
promtool's notation; ` * 20` at its end repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

# Samples are a minute apart.
_TURN = 10
"""The first changed sample."""
_LENGTH = 371
"""Number of samples of a series."""
_VALUE = re.compile(r"([\d.]+)(Mi|Gi|)(/s)?")
_UNITS = {"": 1, "Mi": 1 << 20, "Gi": 1 << 30}

Series = dict[str, str]


@dataclass(frozen=True)
class Case:
    """After `minutes`, exactly the alerts in `firing` fire, each as `<name> <severity>`.

    A case tests one alert. If that does not fire, the case shows how close it may come.
    """

    alert: str
    story: str
    minutes: int
    changed: Mapping[str, str]
    firing: tuple[str, ...]


@cache
def _read(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _samples(spec: object) -> str:
    """Return a value in promtool's notation."""
    before, after = spec if isinstance(spec, list) else (spec, spec)
    found = _VALUE.fullmatch(str(before))
    if not found:
        samples, _, times = str(spec).partition(" * ")
        return " ".join([samples] * int(times or 1))
    start = float(found[1]) * _UNITS[found[2]]
    then = None if after is None else _VALUE.fullmatch(str(after))
    end = float(then[1]) * _UNITS[then[2]] if then else 0
    if found[3] or (then and then[3]):
        turn = start * 60 * _TURN
        rest = f"{turn:f}+{end * 60:f}x{_LENGTH - _TURN - 1}"
        return f"0+{start * 60:f}x{_TURN - 1} {rest}"
    rest = f"{end:f}+0x{_LENGTH - _TURN - 1}" if then else "stale"
    return f"{start:f}+0x{_TURN - 1} {rest}"


def _series(name: str, instance: str) -> Iterator[str]:
    """Return the series of an instance for a name such as `metric label=one|another`."""
    metric, *labels = name.split()
    job = instance.rpartition("-")[0]
    home = {"app_kubernetes_io_part_of": "atajo", "job": job, "instance": instance}
    given = dict(label.split("=", 1) for label in labels)
    for values in product(*(value.split("|") for value in given.values())):
        every = {
            "app_kubernetes_io_part_of": "atajo",
            **home,
            **dict(zip(given, values, strict=True)),
        }
        yield metric + "{" + ",".join(f'{label}="{it}"' for label, it in every.items()) + "}"


def _of(spec: Mapping[str, object], instance: str) -> Series:
    return {one: _samples(it) for name, it in spec.items() for one in _series(name, instance)}


def _dependencies(instance: str) -> str:
    names = _read("healthy.yaml")["dependencies"][instance.rpartition("-")[0]]
    return f"atajo_dependency_up dependency={'|'.join(names)}"


def healthy() -> Series:
    """Return every series that the alerts use, for a healthy product under load."""
    data = _read("healthy.yaml")
    spec: Series = {}
    for job, instances in data["instances"].items():
        for instance in instances:
            spec |= _of({"up": 1} if job == "web" else data["every"], instance)
            spec |= _of(data["jobs"][job], instance)
            needs = data["dependencies"].get(job, ())
            if needs:
                spec |= _of({_dependencies(instance): 1}, instance)
            if "store" in needs:
                spec |= _of(data["stores"], instance)
    return spec | _changed(data["working"])


def _changed(spec: Mapping[str, Any]) -> Series:
    """Return the changed series: `<series or group> of <instances>`, or `silent <instances>`.

    A silent instance has a target that does not answer.
    """
    changed: Series = {}
    for key, value in spec.items():
        name, _, instances = key.rpartition(" of ")
        names = dict.fromkeys(_read("healthy.yaml")["groups"].get(name, [name]), value)
        for instance in instances.removeprefix("silent ").split():
            if key.startswith("silent "):
                away = {"atajo_ready": [1, None], _dependencies(instance): [1, None]}
                names = {"up": [1, 0], **away}
            changed |= _of(names, instance)
    return changed


CASES = tuple(
    Case(
        alert,
        one["story"],
        one["minutes"],
        _changed(one.get("changed", {})),
        # Its own severities, or another alert with its severity.
        tuple(name if " " in name else f"{alert} {name}" for name in one.get("fires", ())),
    )
    for alert, stories in _read("cases.yaml").items()
    for one in stories
)
