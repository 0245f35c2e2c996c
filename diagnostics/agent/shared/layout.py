"""Where each fact stands in an agent's file; the writer in this folder and the doctor's reader share it.

    0      header     magic (written last), version, pid, clocks, table of areas, text KEY=value NUL ...
    8192   lifecycle  slots of 64 bytes, each written once
    ...    strings    u16 length + bytes; the id of a string is its offset in the area
    then, from the first use of torch.nn on (see areas.py):
    ...    modules    open stacks by thread, ring of entered modules, ring of constructions
    ...    names      a strings area for the modules' names and constructors' call paths
    ...    collectives   counter of the default group, ring of calls, groups, checkpoints of their hashes, strings
    ...    steps      counts of optimizer steps and backward passes, ring of the times of steps
    ...    timings    what the latest steps consisted of (timing_layout.py)

All numbers are little-endian. Names of areas, offsets and sizes are read from the table, so that sizes may
change without a new version. A call path is a string of u32 ids, innermost frame first; a frame is the
string "file NUL line NUL function".
"""

from __future__ import annotations

from .timing_layout import TIMINGS_BYTES

MAGIC = b"UPSDRAG1"
VERSION = 1

HEADER_BYTES = 8192
# magic, version, header bytes, pid, parent pid, start ticks, monotonic ns, wall ns, pid forked from, text bytes
HEADER = "<8sIIIIQQQII"
AREA_TABLE_OFFSET = 128
AREA_ENTRY = "<16sQQ"  # name, offset in the file, bytes
AREA_ENTRY_BYTES = 32
AREA_COUNT = 8
TEXT_OFFSET = 512
TEXT_BYTES = HEADER_BYTES - TEXT_OFFSET

LIFECYCLE_HEADER_BYTES = 64  # u32 events that found no slot
# commit (slot + 1, written last), thread, sequence, monotonic ns, kind, text, call path, reserved, value
EVENT = "<IIQQIIIIq"
EVENT_BYTES = 64
EVENT_SLOTS = 384
ENDING_SLOTS = 64  # the last slots are kept for how the process ends
LIFECYCLE_BYTES = LIFECYCLE_HEADER_BYTES + EVENT_SLOTS * EVENT_BYTES

STRINGS_HEADER_BYTES = 16  # u32 strings that found no room
MAX_STRING_BYTES = 2048
MAX_FRAMES = 32

BASE_BYTES = 128 * 1024  # header, lifecycle, strings; each file has them
FORKED_BASE_BYTES = 64 * 1024  # of a forked child: a job may fork a thousand times

STACK_WORDS = 128  # u32: thread, depth, name an exception came out of, low bits of when, names
STACK_HEADER_WORDS = 4
STACK_LEVELS = STACK_WORDS - STACK_HEADER_WORDS
STACK_COUNT = 8
RING_SLOTS = 1024  # u64: sequence << 26 | kind << 24 | name
MODULES_HEADER_BYTES = 64
STACKS_BYTES = STACK_COUNT * STACK_WORDS * 4
RING_BYTES = RING_SLOTS * 8
MODULES_BYTES = MODULES_HEADER_BYTES + STACKS_BYTES + 2 * RING_BYTES  # entered, constructed
KIND_FORWARD, KIND_BACKWARD = 0, 1
NAME_BITS = 24
SEQUENCE_SHIFT = 26

# Calls of torch.distributed. A slot is free to be read where `commit` is its index + 1 (modulo the slots).
COLLECTIVES_HEADER_BYTES = 64  # u32 calls that were in no group with an entry
# commit, sequence, entered ns, left ns (0: inside), group's counter, thread, op, group, shape, dtype, path, root, flags
CALL = "<QQQQqIIIIIIiI"
CALL_BYTES = 72
CALL_SLOTS = 1024
CALL_LEFT_OFFSET, CALL_FLAGS_OFFSET = 24, 68
NO_ROOT = -1
FLAG_ASYNC, FLAG_FAILED = 1, 2
# A group: commit (1), name, ranks, operations its counter has too many (below 0: too few), calls hashed, rolling hash
GROUP = "<IIIiQQ"
GROUP_BYTES = 32
GROUP_UNEVEN_OFFSET = 12
GROUP_SLOTS = 32
CHECKPOINT_EVERY = 64  # calls
CHECKPOINT_SLOTS = 256  # u64 hashes, of the latest ones
CALLS_OFFSET = COLLECTIVES_HEADER_BYTES
GROUPS_OFFSET = CALLS_OFFSET + CALL_SLOTS * CALL_BYTES
CHECKPOINTS_OFFSET = GROUPS_OFFSET + GROUP_SLOTS * GROUP_BYTES
CALL_STRINGS_OFFSET = CHECKPOINTS_OFFSET + GROUP_SLOTS * CHECKPOINT_SLOTS * 8
COLLECTIVES_BYTES = 256 * 1024

# Steps: u64 words, then the ring of the times (monotonic ns) of the latest steps.
STEP_COUNT, STEP_FIRST, STEP_LAST, BACKWARDS, BACKWARD_ENTERED, BACKWARD_LEFT = range(6)
GROUP_NUMBER, GROUP_NUMBER_AT = 6, 7  # counter of the default group + 1 (0: unknown), and when it was read
STEPS_HEADER_WORDS = 16
STEP_SLOTS = 257  # one more than the durations
STEPS_BYTES = (STEPS_HEADER_WORDS + STEP_SLOTS) * 8

# The areas that are added when torch.nn, a collective or an optimizer is first used, in this order.
TORCH_AREAS = (
    ("modules", MODULES_BYTES),
    ("names", 256 * 1024),
    ("collectives", COLLECTIVES_BYTES),
    ("steps", STEPS_BYTES),
    ("timings", TIMINGS_BYTES),
)


def base_areas(total_bytes: int) -> tuple[tuple[str, int, int], ...]:
    """Returns ((name, offset, bytes), ...) of the areas each file has."""
    strings = HEADER_BYTES + LIFECYCLE_BYTES
    return (("lifecycle", HEADER_BYTES, LIFECYCLE_BYTES), ("strings", strings, total_bytes - strings))


def torch_areas(start: int) -> tuple[tuple[tuple[str, int, int], ...], int]:
    """Returns ((name, offset, bytes), ...) of the areas added at file offset `start`, and their end."""
    areas, offset = [], start
    for name, size in TORCH_AREAS:
        areas.append((name, offset, size))
        offset += (size + 63) // 64 * 64
    return tuple(areas), offset
