"""Problems that try to break what `mc2.solve` and its certificates claim, and the judge of the claims."""
