"""Pages from what runs left: the HTML report, and what README and docs quote."""
