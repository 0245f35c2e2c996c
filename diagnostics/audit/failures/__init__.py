"""Rules A3xx: failures that are hidden, and success that is claimed too early."""
