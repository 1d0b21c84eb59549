"""The parameters of the paper and the bounds of their uniform prior (Matl et al., Section 4.1)."""

PARAMETERS = ("restitution", "log10_concentration")
LOW, HIGH = (0.55, 1.0), (0.95, 5.0)
