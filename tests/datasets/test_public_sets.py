"""Named public sets: what is published about them, their order, their options."""

from __future__ import annotations

import os

import numpy as np
import pytest

from yarrow.datasets import describe, load, load_activity, load_documents, load_ratings, names
from yarrow.datasets.catalogue import SETS, declared
from yarrow.errors import ParameterError

SLOW = {"kddcup99", "mnist"}  # loaded once, in tests of their own
QUICK = [name for name in names() if name not in SLOW]


def here(name: str) -> None:
    if not declared(name).is_here():
        pytest.skip(f"{name} is not in YARROW_DATA")


@pytest.fixture(scope="module", autouse=True)
def one_cache_for_all(request):
    """Count words once, for this and for later runs of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("YARROW_CACHE", str(request.config.cache.mkdir("datasets")))
        yield


@pytest.mark.parametrize("name", QUICK)
def test_a_set_is_what_it_declares(name):
    here(name)
    data = load(name)
    classes = len(data.classes)
    assert (len(data), data.X.shape[1], classes) == SETS[name].size
    assert data.task == {0: "regression", 2: "binary"}.get(classes, "multiclass")
    assert data.X.dtype == np.float32
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    assert np.isfinite(data.X.data).all()
    assert data.X.has_canonical_format
    assert data.name == name
    assert data.feature_names is None or len(data.feature_names) == data.X.shape[1]
    if data.test is not None:
        assert data.test.X.shape[1] == data.X.shape[1]
        assert set(data.test.classes) <= set(data.classes) or name == "nsl-kdd"
    assert looks_shuffled(data.y) or not data.order.startswith("shuffled")


def looks_shuffled(y: np.ndarray) -> bool:
    """Whether a class follows itself as often as by chance."""
    _, counts = np.unique(y, return_counts=True)
    by_chance = ((counts / len(y)) ** 2).sum()
    repeated = (y[1:] == y[:-1]).mean()
    return bool(abs(repeated - by_chance) < 4 * np.sqrt(0.25 / len(y)))


PUBLISHED = {  # counts of classes, from the papers and pages that published the sets
    "usps": [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644],
    "usps part=test": [359, 264, 198, 166, 200, 160, 170, 147, 166, 177],
    "a9a": [24_720, 7_841],
    "a9a part=test": [12_435, 3_846],
    "w1a": [2_405, 72],
    "mushrooms": [4_208, 3_916],
    "splice": [483, 517],
    "svmguide1 part=all": [1_089 + 2_000, 2_000 + 2_000],
    "breast-cancer": [239, 444],
    "electricity": [26_075, 19_237],
    "enron-spam": [16_545, 17_170],
    "enron-spam mailbox=enron3": [4_012, 1_500],
    "sms-spam": [4_827, 747],
    "spam-corpus-drift": [6_937, 2_387],
    "usenet1": [800, 700],
    "usenet2": [1_000, 500],
    "movie-reviews": [1_000, 1_000],
    "movie-reviews/sentences": [5_331, 5_331],
    "amazon-sentiment domain=dvd": [1_000, 1_000],
    "amazon-sentiment task=domain": [2_000] * 4,
    "amazon-sentiment/five domain=video": [3_000, 3_000],
    "amazon-sentiment/five task=domain": [6_000] * 5,
    "amazon-sentiment/vectors domain=books part=test": [2_201, 2_264],
    "amazon-sentiment/vectors domain=dvd part=test": [1_779, 1_807],
    "20newsgroups classes=alt.atheism,talk.religion.misc": [480, 377],
    "20newsgroups classes=alt.atheism,talk.religion.misc part=test": [319, 251],
    "20newsgroups classes=sci.electronics,sci.med part=all": [984, 990],
    "reuters21578 classes=earn part=train": [2_877, 9_603 - 2_877],
    "reuters21578 classes=acq part=test": [719, 3_299 - 719],
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_classes_have_the_published_counts(name):
    here(name)
    _, counts = np.unique(load(name).y, return_counts=True)
    assert counts.tolist() == PUBLISHED[name]


def test_mnist_pairs_and_one_against_all():
    here("mnist")
    pair = load("mnist", classes=(3, 5))
    assert np.unique(pair.y, return_counts=True)[1].tolist() == [6_131, 5_421]
    assert np.unique(pair.test.y, return_counts=True)[1].tolist() == [1_010, 892]
    assert (pair.task, pair.name) == ("binary", "mnist classes=3,5")
    assert 0 <= pair.X.data.min() < pair.X.data.max() == 1
    alone = load("mnist classes=3 part=test")
    assert (len(alone), int((alone.y == 1).sum()), alone.classes) == (10_000, 1_010, [-1, 1])


def test_kddcup99():
    here("kddcup99")
    data = load("kddcup99")
    counts = dict(zip(*np.unique(data.y, return_counts=True), strict=True))
    assert (len(data), data.X.shape[1], len(counts)) == SETS["kddcup99"].size
    assert counts["smurf"] == 280_790
    assert counts["normal"] == 97_278
    assert len(data.test) == 311_029
    row = dict(zip(data.feature_names, data.X[[0]].toarray()[0].tolist(), strict=True))
    assert (row["src_bytes"], row["service=http"], row["service=smtp"]) == (181, 1, 0)
    assert row["dst_host_same_src_port_rate"] == np.float32(0.11)


def test_words_of_a_text_are_its_features():
    here("sms-spam")
    first = "go until jurong point crazy available only in bugis n great world la e buffet cine "
    first += "there got amore wat"
    data = load("sms-spam features=counts")
    row = data.X[[0]]
    assert [data.feature_names[i] for i in row.indices] == first.split()
    assert row.data.tolist() == [1.0] * len(first.split())
    lengths = (load("sms-spam unit=true").X ** 2).sum(axis=1)
    assert np.allclose(lengths, np.diff(data.X.indptr) > 0)  # some messages have no word
    pairs = load("sms-spam features=bigrams")
    assert "go until" in pairs.feature_names
    rare = load("sms-spam min_documents=5").X
    assert np.bincount(rare.indices).min() == 5


@pytest.mark.parametrize("name", ["20newsgroups", "usps", "amazon-sentiment task=domain"])
@pytest.mark.parametrize("classes", ["cheese", "cheese,ham"])
def test_an_unknown_class_is_named_beside_the_known_ones(name, classes):
    here(name)
    known = {"u": "0, 1, 2", "2": "'alt.atheism', 'comp", "a": "'books', 'dvd'"}[name[0]]
    with pytest.raises(ParameterError, match=f"has no class 'cheese'; it has {known}"):
        load(f"{name} classes={classes}")


def test_head_lines_of_messages_can_be_left_out():
    here("20newsgroups")
    groups = "classes=rec.autos,rec.motorcycles"
    full, short = load(f"20newsgroups {groups}"), load(f"20newsgroups {groups} headers=false")
    assert short.X.nnz < full.X.nnz
    organization = full.feature_names.index("organization")
    assert full.X[:, [organization]].mean() > 0.9
    assert short.X[:, [short.feature_names.index("organization")]].mean() < 0.1


def test_columns_of_numbers_are_as_published():
    here("electricity")
    data = load("electricity")
    assert data.feature_names[:4] == ["date", "day", "period", "nswprice"]
    assert np.allclose(data.X[[0]].toarray()[0][:5], [0, 2, 0, 0.056443, 0.439155])
    assert data.order.startswith("file order")
    # What makes this set famous: the last label is a good guess.
    assert abs((data.y[1:] != data.y[:-1]).mean() - 0.147) < 0.001


@pytest.mark.parametrize(
    ("name", "path", "zero_based"),
    [
        ("heart", "libsvm-classics/heart.svm.gz", False),
        ("rcv1-vw-small part=test", "libsvm-classics/rcv1-vw-small.t.svm.gz", False),
        ("spam-corpus-drift", "spam-corpus-drift/spam-corpus.svm.gz", False),
        (
            "amazon-sentiment/vectors domain=dvd",
            "amazon-sentiment/msda5000-dvd-train.svm.gz",
            True,
        ),
    ],
)
def test_scikit_learn_reads_the_same_rows(name, path, zero_based):
    from sklearn.datasets import load_svmlight_file

    here(name)
    data = load(name)
    X, y = load_svmlight_file(
        os.path.join(os.environ["YARROW_DATA"], path),
        n_features=data.X.shape[1],
        zero_based=zero_based,
    )
    weights = np.random.default_rng(0).normal(size=data.X.shape[1])  # a row's number, nearly
    ours, theirs = data.X @ weights, X @ weights
    order, their_order = np.lexsort([data.y, ours]), np.lexsort([y, theirs])
    assert np.allclose(ours[order], theirs[their_order], rtol=1e-4, atol=1e-4)
    assert np.array_equal(data.y[order], y[their_order])


def test_another_seed_is_another_shuffle_of_the_same_rows():
    here("heart")
    first, again, other = load("heart"), load("heart", seed=0), load("heart seed=3")
    assert (first.X != again.X).nnz == 0
    assert (first.X != other.X).nnz > 0
    assert other.order == "shuffled with seed 3, since the file may be sorted by class"
    assert np.array_equal(np.sort(first.X.toarray(), axis=0), np.sort(other.X.toarray(), axis=0))


def test_reuters_takes_articles_of_one_topic_or_asks_for_one():
    here("reuters21578")
    data = load("reuters21578")
    assert "earn" in data.classes
    assert len(data.classes) == 20
    pair = load("reuters21578 classes=crude,ship")
    assert pair.classes == ["crude", "ship"]
    assert load("reuters21578 classes=crude").classes == ["crude", "not crude"]
    with pytest.raises(ParameterError, match="has no class 'cheese'"):
        load("reuters21578 classes=cheese")


def test_ratings_come_in_the_order_of_time():
    here("movielens-100k")
    ratings = load_ratings()
    assert len(ratings) == 100_000
    assert (np.diff(ratings.times) >= 0).all()
    assert (ratings.users.max(), ratings.items.max()) == (943, 1_682)
    assert np.bincount(ratings.ratings)[1:].tolist() == [6_110, 11_370, 27_145, 34_174, 21_201]
    data = load("movielens-100k")
    user, movie = (data.feature_names[i] for i in data.X[[7]].indices)
    assert (user, movie) == (f"user={ratings.users[7]}", f"movie={ratings.items[7]}")
    assert data.y[7] == ratings.ratings[7]


@pytest.mark.skipif(not os.environ.get("YARROW_DATA"), reason="YARROW_DATA is not set")
def test_documents_and_a_log_as_they_are():
    documents = load_documents()
    assert documents.counts.shape == (2_246, 10_473) == (len(documents), len(documents.words))
    assert (documents.counts.nnz, documents.counts.sum()) == (302_031, 435_838)
    log = load_activity()
    assert len(log) == 609
    assert len({row["task_label"] for row in log}) == 5
    times = [row["timestamp"] for row in log]
    assert times == sorted(times)


@pytest.mark.parametrize("name", names())
def test_every_set_describes_itself(name):
    text = describe(name)
    assert text.startswith(f"{name}: ")
    assert f"{SETS[name].size.rows:,} rows" in text
    assert "seed=0" in text


def test_stems_leave_out_stop_words():
    here("20newsgroups/ob-2-1")
    plain, stems = load("20newsgroups/ob-2-1"), load("20newsgroups/ob-2-1 stem=true")
    assert {"the", "motorcycles"} <= set(plain.feature_names)
    assert "the" not in stems.feature_names
    assert "motorcycl" in stems.feature_names
    assert (plain.y == stems.y).all()
    assert stems.X.shape[1] < plain.X.shape[1]
