"""What the probes over several hosts share: the survey, hosts by name, who differs from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from diagnostics.hosts.survey import Survey
from diagnostics.preflight.probe import PreflightConfig, Skip

SHOWN = 6  # names in a sentence


def survey_of(config: PreflightConfig) -> Survey:
    """Returns the survey. Raises Skip where there are no two hosts to compare."""
    if config.hosts is None:
        raise Skip("needs several hosts: ups-doctor preflight --hosts FILE")
    if len(config.hosts.about) < 2:
        raise Skip("fewer than two hosts answer")
    return config.hosts


def named(survey: Survey, places: Iterable[int]) -> str:
    """Returns hosts by name: `n1, n2 and n3`, or the first ones and how many more."""
    return listed([survey.hosts[place].plain_name for place in sorted(places)])


def listed(words: Collection[str]) -> str:
    """Returns `a, b and c`, of many the first ones."""
    if len(words) > SHOWN:
        return f"{', '.join([*words][: SHOWN - 1])} and {len(words) - SHOWN + 1} more"
    *first, last = words or [""]
    return f"{', '.join(first)} and {last}" if first else last


def usual(values: Mapping[int, str]) -> str | None:
    """Returns the value that more than half of the hosts have, None where there is none."""
    if not values:
        return None
    value, count = Counter(values.values()).most_common(1)[0]
    return value if 2 * count > len(values) else None


def sides(survey: Survey, values: Mapping[int, str]) -> str:
    """Returns who has which value: `2.9.1 on n3, 2.8.0 on n1 and n2`, the rarest first."""
    by_value: dict[str, list[int]] = {}
    for place, value in values.items():
        by_value.setdefault(value, []).append(place)
    rows = sorted(by_value.items(), key=lambda row: len(row[1]))
    return ", ".join(f"{value or 'none'} on {named(survey, places)}" for value, places in rows)


def different(values: Mapping[int, str]) -> list[int]:
    """Returns the hosts whose value is not the usual one; all, where there is none."""
    if len(set(values.values())) < 2:
        return []
    most = usual(values)
    return [place for place, value in sorted(values.items()) if value != most]


def verb(hosts: Collection[int], one: str, many: str) -> str:
    """Returns the form of a word for so many hosts."""
    return one if len(hosts) == 1 else many
