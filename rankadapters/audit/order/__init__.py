"""Whether the choice of the convention changes which model wins."""

from rankadapters.audit.order.ordering import order

__all__ = ["order"]
