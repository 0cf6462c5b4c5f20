"""Models for Longarc, which finds them by the entry point `longarc_models` and never imports this package."""
