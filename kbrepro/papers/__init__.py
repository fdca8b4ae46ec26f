"""The papers' own code, a room each; a room imports the core and no other paper."""
