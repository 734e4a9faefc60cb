"""Tables of margins (ecological inference): group × outcome from the totals of places."""

from decorrupt.ecological.check import TableCheck
from decorrupt.ecological.inference import EcologicalInference
from decorrupt.ecological.tables import bounds, fit_margins, goodman

__all__ = ["EcologicalInference", "TableCheck", "bounds", "fit_margins", "goodman"]
