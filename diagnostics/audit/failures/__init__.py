"""Rules A5xx: failures that are hidden, and success that is claimed too early, or measured on what was trained on."""
