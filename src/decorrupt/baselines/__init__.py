"""Published methods to compare with: InvCal, alternating and convex ∝SVM."""

from decorrupt.baselines.alternating_psvm import AlternatingPSVMClassifier
from decorrupt.baselines.convex_psvm import ConvexPSVMClassifier
from decorrupt.baselines.invcal import InvCalClassifier

__all__ = ["AlternatingPSVMClassifier", "ConvexPSVMClassifier", "InvCalClassifier"]
