"""Rules A2xx: collectives and messages that not all ranks reach alike."""
