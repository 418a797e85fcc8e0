"""What the images are made of besides this project's own code: lists of packages with their hashes."""
