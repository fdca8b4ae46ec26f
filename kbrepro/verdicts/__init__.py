"""Rules and the verdicts that they give: judging, every reading, what a notebook leaves, tables and pictures of it."""
