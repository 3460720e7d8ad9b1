"""Plots of plain data; matplotlib is imported when the first plot is drawn."""
