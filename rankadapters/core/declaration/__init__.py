"""Declared values: fields, conventions, signatures."""
