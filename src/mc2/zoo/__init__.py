"""Judge on: PDEZoo, problems with exact solutions from a seed."""
