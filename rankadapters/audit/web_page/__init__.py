"""Web page with the results of the audits."""
