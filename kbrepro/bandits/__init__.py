"""The small shared package: Gaussian-process bandits on a finite set of arms."""
