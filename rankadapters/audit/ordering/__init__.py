"""Whether the choice of the convention changes which model wins."""
