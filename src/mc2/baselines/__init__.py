"""Compare: methods that others would use, all behind one small interface."""
