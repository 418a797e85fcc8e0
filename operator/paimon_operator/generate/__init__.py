"""Programs that write committed files from the models: CRDs and the page of reasons."""
