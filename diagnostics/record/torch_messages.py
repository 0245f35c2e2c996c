"""What gloo, NCCL, the stores and torch write when a peer is gone or a wait runs out: one table, a name for each kind.

A text is searched as a whole. Which of these make a rank a victim is decided elsewhere.
"""

from __future__ import annotations

import re

# A peer that was there, and went away.
_CONNECTION_LOST = (
    r"closed by peer",
    r"reset by peer",
    r"broken pipe",
    r"failed to recv",
    r"socket (?:closed|timeout)",
    r"remote process exited",
    r"connection was (?:closed|reset)",
    r"NCCL communicator was aborted",
)
# A peer that could not be reached, or did not come.
_NO_ANSWER = (r"connection refused", r"recvValue failed", r"wait timeout", r"timed out waiting", r"barrier timed out")
# The same in other words: gloo's pairs, NCCL's watchdog, the rendezvous.
_BACKENDS_WORDS = (
    r"(?:read|write|connect) \[[^\]]{1,200}\]: ",
    r"Timed out waiting \d+ ?ms",
    r"ProcessGroup[^\n]{0,40} (?:timed out|aborted)",
    r"ncclRemoteError",
    r"ncclSystemError",
    r"DistNetworkError",
    r"RendezvousConnectionError",
    r"The client socket has timed out",
    r"collective operation timeout",
)
# Somebody's own patience has ended: gloo, NCCL's watchdog, monitored_barrier, a store.
_RAN_OUT = (
    r"Timed out waiting \d+ ?ms",
    r"collective operation timeout",
    r"before timing out",
    r"failed to pass monitoredBarrier",
    r"monitoredBarrier.{0,200}(?:timed out|timeout)",
    r"barrier timed out",
    r"wait timeout after \d+ ?ms",
    r"Timeout waiting for key",
    r"Socket Timeout",
    r"Store timeout",
)
# A store that does not answer any more, seen by a rank that waits for a key of it.
_STORE_GONE = (r"store->get\('?.{1,200} got error: (?:Connection|Socket|wait timeout)",)

_FLAGS = re.IGNORECASE | re.DOTALL
CONNECTION_LOST = re.compile("|".join(_CONNECTION_LOST), _FLAGS)
LOST_PEER = re.compile("|".join((*_CONNECTION_LOST, *_NO_ANSWER)), _FLAGS)
RAN_OUT = re.compile("|".join(_RAN_OUT), _FLAGS)
WAIT_ENDED = re.compile("|".join((*_RAN_OUT, *_STORE_GONE)), _FLAGS)
_LOST_PEER_IN_ANY_WORDS = re.compile("|".join((*_CONNECTION_LOST, *_NO_ANSWER, *_BACKENDS_WORDS)), _FLAGS)
# Said by the side that found the disagreement, which is not the side that made it: never only a lost peer.
_FOUND_A_FAULT = re.compile(r"mismatch|op\.preamble|Detected", re.IGNORECASE)
# The rank whose failure torch.distributed.checkpoint gathered, and raises on all of them.
FAILED_ON_RANK = re.compile(r"^Traceback \(most recent call last\): \(RANK (\d{1,6})\)$", re.MULTILINE)
# Whom monitored_barrier misses.
NOT_AT_THE_BARRIER = re.compile(r"Ranks? ([\d, ]{1,400}?) failed to pass monitoredBarrier", re.IGNORECASE)


def is_lost_peer(text: str) -> bool:
    """Whether a text complains about a peer, and about nothing that is wrong with what the ranks do."""
    return bool(_LOST_PEER_IN_ANY_WORDS.search(text)) and not _FOUND_A_FAULT.search(text)
