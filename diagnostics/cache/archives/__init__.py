"""Zip directories and other containers, read without trust."""
