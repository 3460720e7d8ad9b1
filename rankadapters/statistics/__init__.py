"""Code that audits and comparisons share: significance tests, confidence intervals, tables and pages."""
