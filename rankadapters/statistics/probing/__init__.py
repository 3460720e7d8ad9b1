"""Probing a function: cases to ask about, its answers, the conventions that fit them, and known mistakes."""
