"""Where each fact stands in the area `timings` of an agent's file: what a rank did in each of its latest steps.

    0     header   u64 words: number of the latest step, facts of the whole run
    128   ring     slots of 72 bytes: one step, split into phases
    ...   stages   slots of 64 bytes: what one data worker of one loader did, written by that worker itself

All numbers are little-endian. A step's slot is its number modulo the slots.
"""

from __future__ import annotations

DATA, FORWARD, BACKWARD, COLLECTIVE, OPTIMIZER, CHECKPOINT, EVALUATION, OTHER = range(8)
PHASES = ("data", "forward", "backward", "collective", "optimizer", "checkpoint", "evaluation", "other")

HEADER_WORDS = 16
HEADER_BYTES = HEADER_WORDS * 8
STEPS, FLAGS, GC_COUNT, GC_NS, COMPILES, THREADS, CPUS = range(7)
FLAG_DEVICE = 1  # a device computes: host times are no compute times

# number of the step (written last), reserved, end ns, microseconds of each phase, microseconds of CPU of the thread
# that steps: in forward, in backward, in all; of garbage collection; graphs compiled so far; flags
STEP = "<IIQ8I3IIII"
STEP_BYTES = 72
STEP_SLOTS = 1024
STEP_EVALUATED, STEP_POINT_TO_POINT = 1, 2

# batches, ns in fetching, ns of CPU in it, ns in collate, ns of CPU in it, ns from the first fetch to the last, pid
STAGE = "<7Q"
STAGE_BYTES = 64
STAGE_SLOTS = 128
STAGES_OF_LOADER = 32  # workers of one loader; the first four loaders
LOADERS = STAGE_SLOTS // STAGES_OF_LOADER

RING_OFFSET = HEADER_BYTES
STAGES_OFFSET = RING_OFFSET + STEP_SLOTS * STEP_BYTES
TIMINGS_BYTES = STAGES_OFFSET + STAGE_SLOTS * STAGE_BYTES
MOST = 0xFFFFFFFF
