"""The hosts as a table, one row each, of what was asked; nothing is asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from diagnostics.core.findings import Verdict
from diagnostics.hosts.survey import Survey

HEAD = ("host", "address", "interface", "MTU", "clock", "python", "torch", "code", "reaches", "bandwidth", "found")


def host_rows(survey: Survey, verdict: Verdict) -> list[tuple[str, ...]]:
    """Returns the cells of each host, "" for what was not asked or not answered."""
    return [_row(survey, verdict, place) for place in range(len(survey.hosts))]


def _row(survey: Survey, verdict: Verdict, place: int) -> tuple[str, ...]:
    host = survey.hosts[place].plain_name
    known = survey.known
    about = known("about").get(place)
    if about is None:
        return (host, survey.hosts[place].address, *[""] * (len(HEAD) - 3), "no answer")
    address = known("addresses").get(place, "")
    card = about.card_of(address)
    clock = known("clocks").get(place)
    prints = known("prints").get(place)
    return (
        host,
        address,
        card.name if card is not None else "",
        str(card.mtu) if card is not None else "",
        f"{clock.offset_s * 1000:+.0f} ms" if clock is not None else "",
        about.versions.get("python", ""),
        about.versions.get("torch", ""),
        prints.total[:7] if prints is not None and prints.files else "",
        _reaches(survey, place),
        _bandwidth(survey, place),
        ", ".join(_codes(verdict, host)) or "ok",
    )


def _codes(verdict: Verdict, host: str) -> Iterator[str]:
    """Yields the codes of the checks that name this host."""
    for outcome in verdict.outcomes:
        words = {word for one in outcome.findings for word in one.where.replace(",", " ").replace(";", " ").split()}
        if host in words:
            yield outcome.code


def _reaches(survey: Survey, place: int) -> str:
    if not survey.known("reached"):
        return ""
    own = {way: one.good for way, one in survey.reached.contacts.items() if way[0] == place}
    return f"{sum(own.values())} of {len(own)}" if own else ""


def _bandwidth(survey: Survey, place: int) -> str:
    if not survey.known("speeds"):
        return ""
    rates = [
        rate
        for pair, one in {**survey.speeds.pairs, **survey.speeds.again}.items()
        if place in pair and (rate := one.slower_bytes_s) is not None
    ]
    return f"{median(rates) * 8e-9:.2g} Gbit/s" if rates else ""


def table_lines(rows: list[tuple[str, ...]], most: int) -> list[str]:
    """Returns the table for a terminal, without empty columns; of many hosts those that something was found about."""
    worth = [row for row in rows if row[-1] != "ok"]
    shown = rows if len(rows) <= most else worth[:most] or rows[:3]
    columns = [place for place in range(len(HEAD)) if any(row[place] for row in shown)]
    cells = [[row[place] for place in columns] for row in (HEAD, *shown)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    left = len(rows) - len(shown)
    return [*lines, f"and {left} more"] if left else lines
