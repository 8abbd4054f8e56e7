"""Theorems as functions of a run: each takes a `Run` and returns a `Bound`.

A bound knows its assumptions and looks for them in the run: the updates are replayed by a textbook
form of the method, so a run of another method is refused. Where one does not hold, `value` is
infinite and the assumption says why. Where a paper's statement fails, the docstring says how, and a
test shows it. A bound that says no more than what is true anyway is called vacuous. Comparators are
found by batch solvers or given by the user.

| function | theorem |
| --- | --- |
| `perceptron`, `perceptron_hinge` | Novikoff; with the losses of any u |
| `gradient_descent`, `soft_pull` | Zinkevich; SG-L1 |
| `objective_regularised`, `norm_constrained` | Shen & Dietterich, Theorems 3.1, 3.2 |
| `objective_regularised_pruned`, `norm_constrained_pruned` | the same, Theorems 3.3, 3.4 |
| `soft_margin` | the same, Theorem 5.1 |
| `arow`, `arow_as_perceptron` | AROW, Theorems 1 and 2; Remark 6 |
| `truncated_gradient`, `dual_averaging` | Langford, Li & Zhang; Xiao |
| `sgft_penalty`, `sgft` | SGFT, Lemma 1 and Theorem 1 |
| `frequency_dual_averaging` | the same authors' outlook; our proof |
| `weighted_majority`, `hedge` | Littlestone & Warmuth; Freund & Schapire |
| `fixed_share`, `mixture` | Herbster & Warmuth; Vovk |
"""

from yarrow.evaluate.bounds.for_arow import arow, arow_as_perceptron
from yarrow.evaluate.bounds.for_experts import (
    fixed_share,
    hedge,
    mixture,
    weighted_majority,
)
from yarrow.evaluate.bounds.for_gradient_descent import gradient_descent, soft_pull
from yarrow.evaluate.bounds.for_perceptron import perceptron, perceptron_hinge
from yarrow.evaluate.bounds.for_regularized_pa import (
    norm_constrained,
    norm_constrained_pruned,
    objective_regularised,
    objective_regularised_pruned,
    soft_margin,
)
from yarrow.evaluate.bounds.for_sgft import frequency_dual_averaging, sgft, sgft_penalty
from yarrow.evaluate.bounds.for_sparse import dual_averaging, truncated_gradient

__all__ = [
    "arow",
    "arow_as_perceptron",
    "dual_averaging",
    "fixed_share",
    "frequency_dual_averaging",
    "gradient_descent",
    "hedge",
    "mixture",
    "norm_constrained",
    "norm_constrained_pruned",
    "objective_regularised",
    "objective_regularised_pruned",
    "perceptron",
    "perceptron_hinge",
    "sgft",
    "sgft_penalty",
    "soft_margin",
    "soft_pull",
    "truncated_gradient",
    "weighted_majority",
]
