"""Fixed texts of the report."""

TITLE = "Learning from label proportions: the paper’s experiments, run again"
LEAD = (
    "Scott and Zhang (2019), “Learning from Multiple Corrupted Sources, with Application to "
    "Learning from Label Proportions”, Tables 1 and 2: their numbers beside those of our own runs."
)
INTRODUCTION = (
    "The task: train a classifier for two classes, for example forged and genuine banknotes, "
    "without the label of any single row. Only groups of rows, called bags, and the proportion of "
    "positive rows in each bag are known. Larger bags give less information.",
    "The experiment: each of seven public data sets is split at random, 80 % of the rows for "
    "training and 20 % for testing. The training rows are divided into bags of 2, 4, 8, 16, 32 or "
    "64; rows that do not fill a bag are left out. Each method gets the rows, the bags and the "
    "proportions, but no labels. It selects its settings by cross-validation over whole bags, and "
    "then classifies the test rows. This is repeated with new splits and bags, which are the same "
    "for all methods that we ran. The paper used five repetitions.",
    "The measure: balanced accuracy is the mean of the recalls of the two classes; 0.5 is "
    "guessing, 1 is perfect. Accuracy (Table 2) is the share of test rows classified correctly. A "
    "cell is one combination of data set and bag size; there are 42.",
)
SUSPECT = (
    "† In both tables, the paper’s ∝SVM row for contraceptive is identical to the one for german. "
    "We show and count it as published, but it cannot be right."
)
MARKS = {"better": "▲", "worse": "▼", "same": "="}
