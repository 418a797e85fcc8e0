"""A day of synthetic writes on many tables: what maintenance costs by need, by fixed cron and by a plain threshold."""
