"""The audit engine: files in, hits out; settings, ignores, fixes and the ways of showing them."""
