"""Rules and the verdicts that they give: judging, interpretations, what a notebook leaves, tables and pictures."""
