"""Pages from what runs left: the HTML report, and what docs quote."""
