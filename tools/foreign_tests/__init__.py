"""Public tests of other packages' HDBSCAN with merganser's in place of theirs."""
