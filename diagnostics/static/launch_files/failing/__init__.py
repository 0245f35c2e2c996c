"""Commands of a script that fail: where `set -e` holds, whose status a function ends with, and what answers it."""
