"""One page that shows what the audits find."""
