"""Plots of plain data; matplotlib is imported when one is drawn."""
