"""Rules A5xx, but for A521 and A522: failures that are hidden, and success or a measure that is claimed too early."""
