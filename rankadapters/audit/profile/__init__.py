"""What the data are like, and which choices of a convention matter on them."""

from rankadapters.audit.profile.profiling import profile

__all__ = ["profile"]
