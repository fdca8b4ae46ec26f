"""Function networks: layers observed one by one, confidence sets carried through them, GPN-UCB and its rivals."""
