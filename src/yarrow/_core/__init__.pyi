"""The compiled core of yarrow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray

from yarrow._core import rules as rules


class RuleInput:
    """What a loop tells a rule about one row."""

    @property
    def margin(self) -> float:
        """z.w before the update"""

    @property
    def target(self) -> float:
        """the margin asked for"""

    @property
    def zz(self) -> float:
        """|z|^2, intercept included"""

    @property
    def ww(self) -> float:
        """|w|^2 (affine family)"""

    @property
    def v(self) -> float:
        """z' Sigma z (confidence family)"""

    @property
    def weight(self) -> float:
        """sample weight times class weight"""

    @property
    def t(self) -> float:
        """rows learned so far, this one included"""

    @property
    def updates(self) -> float:
        """updates made before this row"""

    @property
    def memory(self) -> float:
        """what the rule left for this column; 0 at first"""

class Rule:
    """A pure function of scalars: one row in, two numbers out."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> list[str]: ...

    @property
    def meets_many_rivals(self) -> bool: ...

    def steps(self, inputs: Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C', device='cpu', writable=False)], parameters: Sequence[float]) -> object:
        """
        The answers to some inputs, a line each: two numbers and the new memory.
        """

    @staticmethod
    def from_address(address: int, parameters: Sequence[str], owner: object) -> Rule:
        """
        A compiled function void(double *input, double *parameters, double *step).
        """

    @staticmethod
    def from_callable(function: Callable) -> Rule:
        """A Python function of a RuleInput that returns two numbers."""

class Learner(enum.Enum):
    """By the loop that it runs; or a mixture."""

    affine = 0

    elastic = 1

    l1_constrained = 2

    p_norm = 3

    exponential = 4

    exponential_signed = 5

    voted = 6

    soft_threshold = 7

    dual_averaging = 8

    elastic_net = 9

    cumulative_penalty = 10

    frequency_penalty = 11

    frequency_cumulative_penalty = 12

    frequency_dual_averaging = 13

    adagrad_mirror = 14

    adagrad_dual = 15

    ftrl_proximal = 16

    truncated_gradient = 17

    randomized_rounding = 18

    feature_groups = 19

    task_groups = 20

    largest = 21

    diagonal = 22

    projected = 23

    whitened = 24

    herded = 25

    fading_visits = 26

    fading_rows = 27

    projected_fading_visits = 28

    projected_fading_rows = 29

    restarting = 30

    surest = 31

    full = 32

    full_row_inside = 33

    factored = 34

    joint = 35

    yarrow = 36

    yarrow_regression = 37

class Strategy(enum.Enum):
    """How classes become columns of weights."""

    regression = 0

    binary = 1

    one_versus_rest = 2

    top1 = 3

    max_loss = 4

    many = 5

    joint = 6

    examples = 7

    pairs = 8

def column_sources(strategy: Strategy, classes: int, places: Sequence[int]) -> list[tuple[int, float]]:
    """
    For each column of a model that knows more classes: the column of one that knows so many, or -1, and its sign. `places`: each class's number there, or -1.
    """

class WhenFull(enum.Enum):
    """What happens to one feature too many."""

    refuse = 0

    drop = 1

    prune = 2

NO_LIMIT: int = 2147483647

MOST_HASH_BITS: int = 30

class ModelF32:
    """A learner with its names, classes and lock."""

    def __init__(self, *, kind: Learner, strategy: Strategy, rule: Rule, rule_parameters: Sequence[float], rivals: int, loop_parameters: Sequence[float], constants: Mapping[str, Sequence[float]], initial_variance: float, intercept: float, epsilon: float, average: bool, hash_bits: int, max_features: int, when_full: WhenFull, declared: list, max_classes: int, class_weights: list, costs: list) -> None: ...

    def declare_groups(self, names: list, groups: Sequence[int]) -> None:
        """Before the first row: the group of each name, numbered from 0."""

    def separate_groups(self, separator: str) -> None:
        """
        Before the first row: what stands before the separator is a feature's group.
        """

    def learn_rows(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)], label_names: list, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)] | None, names: list, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)] | None, undo: bool, jobs: int = 1) -> None:
        """
        Learns rows: of a table of values, or with indices and begins those of a CSR matrix; columns of one-versus-rest by so many threads.
        """

    def predict_then_learn_rows(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)], label_names: list, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)] | None, names: list, delay: int, wants_scores: bool, wants_uncertainty: bool, undo: bool) -> tuple:
        """
        Predicts each row and learns it `delay` rows later: predictions as class numbers (-1: none known) or values; scores, a column a class in the order of appearance; and what makes probabilities of them: variances of the margins, and the calibration at each row.
        """

    def predict_rows(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, names: list, variances: bool = True, jobs: int = 1) -> tuple:
        """
        Scores, a column a class in the order of appearance, and the variances of the margins; by so many threads.
        """

    def predict_two_classes(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, names: list, jobs: int = 1) -> object:
        """
        The probabilities of two classes in the order of appearance, as calibrated; None where there are not two.
        """

    def learn_one(self, x: object | None, label: object | None, weight: object | None) -> None: ...

    def begin(self) -> None:
        """From here on, what is learned can be taken back."""

    def roll_back(self) -> None:
        """Takes back what was learned since `begin`."""

    def commit(self) -> None:
        """What was learned since `begin` is kept."""

    def predict_one(self, x: object | None) -> object: ...

    def score_one(self, x: object | None) -> tuple: ...

    def last_score(self, x: object) -> float:
        """
        The score of one column by the last weights, even where averages predict.
        """

    def plane(self, which: int) -> tuple:
        """
        Numbers per slot (0: intercept) and column (0: the weights, 1: their variances, both as they count now), and the column of each class.
        """

    def count_nonzero(self) -> int:
        """Weights that are not zero, without the intercept's."""

    def covariances(self) -> object:
        """
        The covariance of the weights of each class, in the order of their appearance; of a joint one the part between each two.
        """

    @property
    def planes(self) -> list[str]:
        """What the numbers of a feature and column are called, in their order."""

    @property
    def t(self) -> float: ...

    @property
    def updates(self) -> float: ...

    @property
    def mistakes(self) -> float: ...

    @property
    def column_memory(self) -> list[float]: ...

    @property
    def calibration(self) -> tuple: ...

    @property
    def n_features(self) -> int: ...

    @property
    def classes(self) -> list: ...

    @property
    def declared(self) -> list: ...

    @property
    def class_weights(self) -> list: ...

    @property
    def memory(self) -> int: ...

    @property
    def hashed_kinds(self) -> int: ...

    @property
    def has_integer_names(self) -> bool: ...

    @property
    def feature_names(self) -> list: ...

    def place(self, names: list) -> list[int]: ...

    def explain(self, names: list, values: Sequence[float], of_class: int) -> tuple:
        """
        What a unit of each feature adds to a class's score of the row that they make, what the constant adds, whether all of it is the score, and what values of 0 add.
        """

    def settled(self, order: Sequence[int]) -> dict:
        """
        What a mixture predicts by (docs/export.md), of its classes in this order.
        """

    @property
    def experts(self) -> list[tuple[str, float, float]]:
        """
        Of a mixture: its experts, what each is worth, and how much of a prediction it makes.
        """

    @property
    def intervals(self) -> list[tuple[float, float, float]]:
        """
        Coverages of intervals, half their widths, and how often they held the target.
        """

    def radius(self, coverage: float) -> float:
        """
        Half the width of the interval around a prediction that holds the target so often.
        """

    def get_state(self) -> dict:
        """The exact training state as named arrays."""

    def get_named_state(self) -> tuple:
        """The state, as views of memory, and its classes, of one moment."""

    def set_state(self, state: dict, classes: list) -> None:
        """
        Go on from a state that get_state gave. A model that refuses one is of no more use.
        """

    def learn_from(self, reader: TextReaderF32, learner: StreamLearnerF32, account: Account, seconds: float) -> bool: ...

    def learn_packed(self, learner: StreamLearnerF32, account: Account, rows: list) -> None: ...

    def learn_named(self, learner: StreamLearnerF32, account: Account, names: list, begins: Sequence[int], indices: Sequence[int], values: Sequence[float], labels: list, weights: Sequence[float], lines: Sequence[int]) -> None: ...

    def predict_from(self, reader: TextReaderF32, scores: bool, variances: bool) -> object: ...

class ModelF64:
    """A learner with its names, classes and lock."""

    def __init__(self, *, kind: Learner, strategy: Strategy, rule: Rule, rule_parameters: Sequence[float], rivals: int, loop_parameters: Sequence[float], constants: Mapping[str, Sequence[float]], initial_variance: float, intercept: float, epsilon: float, average: bool, hash_bits: int, max_features: int, when_full: WhenFull, declared: list, max_classes: int, class_weights: list, costs: list) -> None: ...

    def declare_groups(self, names: list, groups: Sequence[int]) -> None:
        """Before the first row: the group of each name, numbered from 0."""

    def separate_groups(self, separator: str) -> None:
        """
        Before the first row: what stands before the separator is a feature's group.
        """

    def learn_rows(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)], label_names: list, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)] | None, names: list, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)] | None, undo: bool, jobs: int = 1) -> None:
        """
        Learns rows: of a table of values, or with indices and begins those of a CSR matrix; columns of one-versus-rest by so many threads.
        """

    def predict_then_learn_rows(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)], label_names: list, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', writable=False)] | None, names: list, delay: int, wants_scores: bool, wants_uncertainty: bool, undo: bool) -> tuple:
        """
        Predicts each row and learns it `delay` rows later: predictions as class numbers (-1: none known) or values; scores, a column a class in the order of appearance; and what makes probabilities of them: variances of the margins, and the calibration at each row.
        """

    def predict_rows(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, names: list, variances: bool = True, jobs: int = 1) -> tuple:
        """
        Scores, a column a class in the order of appearance, and the variances of the margins; by so many threads.
        """

    def predict_two_classes(self, values: Annotated[NDArray, dict(writable=False)], indices: Annotated[NDArray, dict(writable=False)] | None, begins: Annotated[NDArray, dict(writable=False)] | None, columns: int, may_miss: bool, names: list, jobs: int = 1) -> object:
        """
        The probabilities of two classes in the order of appearance, as calibrated; None where there are not two.
        """

    def learn_one(self, x: object | None, label: object | None, weight: object | None) -> None: ...

    def begin(self) -> None:
        """From here on, what is learned can be taken back."""

    def roll_back(self) -> None:
        """Takes back what was learned since `begin`."""

    def commit(self) -> None:
        """What was learned since `begin` is kept."""

    def predict_one(self, x: object | None) -> object: ...

    def score_one(self, x: object | None) -> tuple: ...

    def last_score(self, x: object) -> float:
        """
        The score of one column by the last weights, even where averages predict.
        """

    def plane(self, which: int) -> tuple:
        """
        Numbers per slot (0: intercept) and column (0: the weights, 1: their variances, both as they count now), and the column of each class.
        """

    def count_nonzero(self) -> int:
        """Weights that are not zero, without the intercept's."""

    def covariances(self) -> object:
        """
        The covariance of the weights of each class, in the order of their appearance; of a joint one the part between each two.
        """

    @property
    def planes(self) -> list[str]:
        """What the numbers of a feature and column are called, in their order."""

    @property
    def t(self) -> float: ...

    @property
    def updates(self) -> float: ...

    @property
    def mistakes(self) -> float: ...

    @property
    def column_memory(self) -> list[float]: ...

    @property
    def calibration(self) -> tuple: ...

    @property
    def n_features(self) -> int: ...

    @property
    def classes(self) -> list: ...

    @property
    def declared(self) -> list: ...

    @property
    def class_weights(self) -> list: ...

    @property
    def memory(self) -> int: ...

    @property
    def hashed_kinds(self) -> int: ...

    @property
    def has_integer_names(self) -> bool: ...

    @property
    def feature_names(self) -> list: ...

    def place(self, names: list) -> list[int]: ...

    def explain(self, names: list, values: Sequence[float], of_class: int) -> tuple:
        """
        What a unit of each feature adds to a class's score of the row that they make, what the constant adds, whether all of it is the score, and what values of 0 add.
        """

    def settled(self, order: Sequence[int]) -> dict:
        """
        What a mixture predicts by (docs/export.md), of its classes in this order.
        """

    @property
    def experts(self) -> list[tuple[str, float, float]]:
        """
        Of a mixture: its experts, what each is worth, and how much of a prediction it makes.
        """

    @property
    def intervals(self) -> list[tuple[float, float, float]]:
        """
        Coverages of intervals, half their widths, and how often they held the target.
        """

    def radius(self, coverage: float) -> float:
        """
        Half the width of the interval around a prediction that holds the target so often.
        """

    def get_state(self) -> dict:
        """The exact training state as named arrays."""

    def get_named_state(self) -> tuple:
        """The state, as views of memory, and its classes, of one moment."""

    def set_state(self, state: dict, classes: list) -> None:
        """
        Go on from a state that get_state gave. A model that refuses one is of no more use.
        """

    def learn_from(self, reader: TextReaderF64, learner: StreamLearnerF64, account: Account, seconds: float) -> bool: ...

    def learn_packed(self, learner: StreamLearnerF64, account: Account, rows: list) -> None: ...

    def learn_named(self, learner: StreamLearnerF64, account: Account, names: list, begins: Sequence[int], indices: Sequence[int], values: Sequence[float], labels: list, weights: Sequence[float], lines: Sequence[int]) -> None: ...

    def predict_from(self, reader: TextReaderF64, scores: bool, variances: bool) -> object: ...

def classifier_constants() -> dict[str, list[float]]:
    """
    The numbers of YarrowClassifier, by their names in core/mixture/constants.hpp.
    """

def regressor_constants() -> dict[str, list[float]]:
    """Those of YarrowRegressor."""

UNNAMED_RATES: list = ...

SPLINE_FEATURES: int = 128

COLUMN_SHARE: float = 0.99

LEAST_COVERAGE: float = 0.5

MOST_COVERAGE: float = 0.99

SCALARS: list = ...

CALIBRATION_BINS: int = 96

NAMES_UNKNOWN: int = 4

def two_classes(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], variances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], calibrations: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', writable=False)], mirrored: bool) -> object:
    """
    Probabilities of two classes by their scores and variances, a calibration a row; mirrored scores are one margin and its mirror image.
    """

MOST_CLASSES: int = 10000

def check_new_class(label: object, known: int, limit: int) -> None:
    """
    Refuses one class more than those known, where no more than a limit may appear.
    """

def number_texts(labels: list) -> object:
    """
    The number of each text of a list, by its first appearance, and the texts; None if something else stands in it.
    """

def number_cells(cells: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', writable=False)]) -> tuple:
    """
    The number of each row of bytes, by its first appearance, and where that is.
    """

MOST_COMPLAINTS: int = 5

def copy_lines(ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], text: int, byte: int, out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]) -> tuple:
    """
    Texts as lines, from that byte of that text on, as many bytes as there is room for; how many, and where the next one is.
    """

LONGEST_LINE: int = 67108864

class Names:
    """Names of features, numbered in the order of appearance."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def resolve(self, names: list) -> object:
        """The numbers of these names, new ones where they are new."""

    def since(self, first: int) -> list:
        """All names from this number on."""

    @property
    def are_numbers(self) -> bool:
        """Whether each name is its own number."""

class Account:
    """What has happened to a stream so far."""

    def __init__(self) -> None: ...

    @property
    def rows(self) -> float: ...

    @property
    def mistakes(self) -> float: ...

    @property
    def squared_error(self) -> float: ...

    @property
    def features(self) -> int: ...

    @property
    def skipped(self) -> int: ...

    @property
    def returns(self) -> int: ...

    @property
    def complaints(self) -> list[str]: ...

    def take_checkpoints(self) -> list: ...

    def take_results(self) -> tuple: ...

class TextReaderF32:
    """A stream of svmlight or VW text, parsed in blocks."""

    def __init__(self, file: object, format: str, *, threads: int, index_base: int, max_index: int, labels_optional: bool, skip_errors: bool, hash_bits: int, interactions: Sequence[tuple[str, str]], block_bytes: int, longest_line: int) -> None: ...

    def next_arrays(self) -> object: ...

    def next_rows(self, names: Names) -> object: ...

    @property
    def bytes(self) -> int: ...

    @property
    def lines(self) -> int: ...

    @property
    def skipped(self) -> int: ...

    @property
    def complaints(self) -> list[str]: ...

    @property
    def index_base(self) -> int: ...

class StreamLearnerF32:
    """Learns streams into one model."""

    def __init__(self, model: ModelF32, skip_errors: bool, keep_results: bool) -> None: ...

class TextReaderF64:
    """A stream of svmlight or VW text, parsed in blocks."""

    def __init__(self, file: object, format: str, *, threads: int, index_base: int, max_index: int, labels_optional: bool, skip_errors: bool, hash_bits: int, interactions: Sequence[tuple[str, str]], block_bytes: int, longest_line: int) -> None: ...

    def next_arrays(self) -> object: ...

    def next_rows(self, names: Names) -> object: ...

    @property
    def bytes(self) -> int: ...

    @property
    def lines(self) -> int: ...

    @property
    def skipped(self) -> int: ...

    @property
    def complaints(self) -> list[str]: ...

    @property
    def index_base(self) -> int: ...

class StreamLearnerF64:
    """Learns streams into one model."""

    def __init__(self, model: ModelF64, skip_errors: bool, keep_results: bool) -> None: ...

class Counts:
    """Counts by name (rows) and number (columns), most of them nothing."""

    def __init__(self) -> None: ...

    @property
    def rows(self) -> dict:
        """The names, in their order; only to be read."""

    def add(self, name: object, column: int, amount: float) -> None:
        """Add to an amount, which does not fall below zero."""

    def add_to_each(self, names: dict, column: int, amount: float) -> None:
        """Add the same to an amount at each key of a dict."""

    def add_items(self, items: dict, column: int, factor: float) -> None:
        """Add the values of a dict, times a factor, at its keys."""

    def merge(self, column: int, into: int) -> None:
        """Move all amounts of a column to another."""

    def at(self, name: object, column: int) -> float: ...

    def total(self, name: object) -> float: ...

    def state_dict(self) -> list:
        """
        Return plain data: each name, and the columns that have an amount, with it.
        """

    def load_state_dict(self, state: Iterable) -> None:
        """Go on from plain data."""

    def add_shares(self, shares: dict, factor: float, more: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Add factor * share * amount / (total + more) of all known names to `out`.
        """

    def add_rarities(self, times: dict, factor: float, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """
        Write log(total + 1) - log(total - amount + 1), a row of values for each name, and add them, times the factor and the number of times, to `sum`.
        """

def best_pair(first: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], second: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], penalty: float, unit: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float]:
    """
    Write the score of the best pair that ends at each place, in this unit; return the best place and how far it leads.
    """

class Lock:
    """A reentrant lock that a fork waits for."""

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object | None, error: object | None, trace: object | None) -> None: ...
