"""Rules A5xx, but for A521, A522 and A524: failures that are hidden, and success or a measure claimed too early."""
