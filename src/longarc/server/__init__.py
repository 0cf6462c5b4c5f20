"""The service and its page: `longarc serve`. Needs the extra `longarc[serve]`."""
