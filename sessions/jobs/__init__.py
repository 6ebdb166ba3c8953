"""Work in the background that belongs to no session: clones, webhooks, cleaning up."""
