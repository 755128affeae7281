"""The whole results page by one command: every row on the same instances, in pieces that can be resumed.

`studies.py` declares what is measured; `workers.py` is what other processes do; `batches.py` runs networks on many
estimates at once; `scoring.py` scores many fields at once; `store.py` keeps what is done; `run.py` puts them together.
"""

from mc2.benchmark.reproduce.run import print_progress, reproduce
from mc2.benchmark.reproduce.studies import STUDIES, Row, Study, chosen_studies

__all__ = ["STUDIES", "Row", "Study", "chosen_studies", "print_progress", "reproduce"]
