"""Tests, intervals, tables and pages: what audits and comparisons share."""
