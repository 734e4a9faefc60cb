"""Published methods to compare with: InvCal and alternating ∝SVM."""

from decorrupt.baselines.alternating_psvm import AlternatingPSVMClassifier
from decorrupt.baselines.invcal import InvCalClassifier

__all__ = ["AlternatingPSVMClassifier", "InvCalClassifier"]
