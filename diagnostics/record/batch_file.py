"""Decodes a batches file. Nothing in it is trusted: it may be half-written, or from somewhere else."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import replace

from diagnostics.agent.shared import batch_layout as layout
from diagnostics.core.frame_owners import NOWHERE, Homes
from diagnostics.record.agent_bytes import AgentFileError, StringTable
from diagnostics.record.batch_data import BatchPrint, BatchSource, LoaderPass, SourceKind

NAME_BEGIN = "batches-"


def decode_batch_file(data: bytes, homes: Homes = NOWHERE) -> tuple[BatchSource, ...]:
    """Returns the sources in a batches file, in order. Raises AgentFileError with the reason."""
    if len(data) != layout.TOTAL_BYTES:
        raise AgentFileError(f"{len(data)} bytes instead of {layout.TOTAL_BYTES}")
    magic, version, _, _, began_ns = struct.unpack_from(layout.HEADER, data)
    if magic != layout.MAGIC or version != layout.VERSION:
        raise AgentFileError(f"starts with {magic!r} and version {version}, not with {layout.MAGIC!r}")
    strings = StringTable(data[layout.STRINGS_OFFSET :], homes)
    batches: dict[int, list[BatchPrint]] = {}
    for of_pass, batch in _batches(data, began_ns):
        batches.setdefault(of_pass, []).append(batch)
    passes: dict[int, list[LoaderPass]] = {}
    for source, one in _passes(data, strings, batches, began_ns):
        passes.setdefault(source, []).append(one)
    return tuple(_sources(data, strings, passes))


def _sources(data: bytes, strings: StringTable, passes: dict[int, list[LoaderPass]]) -> Iterator[BatchSource]:
    for slot in range(layout.SOURCE_SLOTS):
        at = layout.SOURCES_OFFSET + slot * layout.SOURCE_BYTES
        commit, kind, built, sampler, facts, _ = struct.unpack_from(layout.SOURCE, data, at)
        if commit != slot + 1:
            continue
        words = (word.partition("=") for word in strings.text(facts).split())
        source = BatchSource(
            kind=SourceKind.INPUT if kind == layout.KIND_INPUT else SourceKind.LOADER,
            built=strings.call_path(built),
            sampler=strings.call_path(sampler),
            facts={name: value for name, _, value in words},
            passes=tuple(sorted(passes.get(slot, ()), key=lambda one: one.number)),
        )
        # Not everybody asks a loader for one more batch than it has.
        most = source.number("batches") or sys.maxsize
        yield replace(
            source, passes=tuple(replace(one, ended=one.ended or one.batches >= most) for one in source.passes)
        )


def _passes(
    data: bytes, strings: StringTable, batches: dict[int, list[BatchPrint]], began_ns: int
) -> Iterator[tuple[int, LoaderPass]]:
    for slot in range(layout.PASS_SLOTS):
        fields = struct.unpack_from(layout.PASS, data, layout.PASSES_OFFSET + slot * layout.PASS_BYTES)
        commit, source, number, count, rows, order, total, index_order, epoch, epoch_now = fields[:10]
        flags, first_steps, steps, optimizer, graded, own, others, path, began, printed = fields[10:]
        if commit != slot + 1:
            continue
        has_epoch = bool(flags & layout.FLAG_EPOCH)
        log = {batch.number: batch for batch in batches.get(slot, ())}
        yield (
            source,
            LoaderPass(
                number=number,
                batches=count,
                printed=printed,
                rows=rows,
                order=order,
                total=total,
                index_order=index_order,
                indexed=bool(flags & layout.FLAG_INDEXED),
                epoch=epoch if has_epoch else None,
                epoch_now=epoch_now if has_epoch else None,
                ended=bool(flags & layout.FLAG_ENDED),
                steps=max(0, steps - first_steps),
                optimizer=optimizer,
                trained=graded,
                own_epoch_calls=own,
                other_epoch_calls=others,
                epoch_path=strings.call_path(path),
                began_s=round((began - began_ns) / 1e9, 6),
                log=tuple(log[key] for key in sorted(log)),
            ),
        )


def _batches(data: bytes, began_ns: int) -> Iterator[tuple[int, BatchPrint]]:
    for slot in range(layout.BATCH_SLOTS + layout.LATE_SLOTS):
        at = layout.BATCHES_OFFSET + slot * layout.BATCH_BYTES
        commit, of_pass, number, rows, whole, listed, now, first, kept, given, flags = struct.unpack_from(
            layout.BATCH, data, at
        )
        if commit != slot + 1:
            continue
        yield (
            of_pass,
            BatchPrint(
                number=number,
                rows=rows,
                whole=whole,
                listed=listed,
                at_s=round((now - began_ns) / 1e9, 6),
                samples=_samples(data, layout.PRINTS_OFFSET, first, kept),
                indices=tuple(index - 1 for index in _samples(data, layout.INDICES_OFFSET, first, kept)),
                given=given,
                constant=bool(flags & layout.FLAG_CONSTANT),
                unread=bool(flags & layout.FLAG_UNREAD),
                trained=bool(flags & layout.FLAG_TRAINED),
                evaluated=bool(flags & layout.FLAG_EVALUATED),
            ),
        )


def _samples(data: bytes, area: int, first: int, kept: int) -> tuple[int, ...]:
    if first >= layout.SAMPLE_SLOTS or kept > layout.SAMPLE_SLOTS - first:
        return ()
    return struct.unpack_from(f"<{kept}Q", data, area + 8 * first)
