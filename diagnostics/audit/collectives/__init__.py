"""Rules A201 to A217: collectives and messages that not all ranks reach alike."""
