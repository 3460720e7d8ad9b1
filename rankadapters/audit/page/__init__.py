"""One page that shows what the audits find."""

from rankadapters.audit.page.html_page import page

__all__ = ["page"]
