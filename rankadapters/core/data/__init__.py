"""Rows become queries, validated once."""
