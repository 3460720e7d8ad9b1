"""Which conventions give a published number."""

from rankadapters.audit.identify.published_number import identify

__all__ = ["identify"]
