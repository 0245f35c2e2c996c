"""Where each fact stands in a batches file: what a process read from its loaders; writer and reader share it.

    0      header    magic (written last), version, pid, start ticks, monotonic ns
    64     sources   slots of 64 bytes: a loader by the line that built it, or the inputs of the model
    ...    passes    slots of 128 bytes: one iteration over a source, from iter() to its end
    ...    batches   slots of 56 bytes: one batch; the last ones are a ring of those sampled later
    ...    prints    one u64 a sample
    ...    indices   one u64 a sample: its index in the dataset + 1 (0: not known)
    ...    strings   u16 length + bytes, as in an agent's file

All numbers are little-endian. A slot is free to be read where its first word is its index + 1.
"""

from __future__ import annotations

MAGIC = b"UPSDRBA1"
VERSION = 1
HEADER = "<8sIIQQ"  # magic, version, pid, start ticks, monotonic ns
HEADER_BYTES = 64

# commit, kind, path where it was built, path where its sampler was, facts "key=value", reserved
SOURCE = "<IIIIII"
SOURCE_BYTES, SOURCE_SLOTS = 64, 16
KIND_LOADER, KIND_INPUT = 0, 1

# commit, source, number in its source, batches, rows, order of prints, sum of prints, order of indices, sampler's
# epoch at the begin and now, flags, optimizer's steps at the begin and now, optimizer (ordinal, 0 none),
# batches with gradients, calls of set_epoch on this sampler, on others, path of the latest call, began ns,
# batches printed
PASS = "<IIIIQQQQqqIIIIIIIIQI"  # noqa: S105 - a pass over a loader
PASS_BYTES, PASS_SLOTS = 128, 256
FLAG_ENDED, FLAG_INDEXED, FLAG_EPOCH = 1, 2, 4

# commit, pass, number in the pass, rows, print, print of the indices, at ns, first sample, samples kept,
# rows given to the model, flags
BATCH = "<IIIIQQQIIII"
BATCH_BYTES = 56
BATCH_GIVEN_OFFSET, BATCH_FLAGS_OFFSET = 48, 52
BATCH_SLOTS, LATE_SLOTS = 3072, 512  # of all batches in the first passes, then of some
FLAG_CONSTANT, FLAG_TRAINED, FLAG_EVALUATED, FLAG_UNREAD = 1, 2, 4, 8

SAMPLE_SLOTS = 32768
NO_SAMPLE = 0xFFFFFFFF

SOURCES_OFFSET = HEADER_BYTES
PASSES_OFFSET = SOURCES_OFFSET + SOURCE_SLOTS * SOURCE_BYTES
BATCHES_OFFSET = PASSES_OFFSET + PASS_SLOTS * PASS_BYTES
PRINTS_OFFSET = BATCHES_OFFSET + (BATCH_SLOTS + LATE_SLOTS) * BATCH_BYTES
INDICES_OFFSET = PRINTS_OFFSET + SAMPLE_SLOTS * 8
STRINGS_OFFSET = INDICES_OFFSET + SAMPLE_SLOTS * 8
STRINGS_BYTES = 64 * 1024
TOTAL_BYTES = STRINGS_OFFSET + STRINGS_BYTES

FULL_PASSES = 2  # passes of a source in which each batch is printed
LATER_EVERY = 64  # of later passes, and where there is no more room, one batch of so many
