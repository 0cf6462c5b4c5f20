"""Draw trees: as text for terminals, SVG for screens and papers, TikZ for LaTeX."""
