"""Text features agree with scikit-learn's, by name and by column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import compose, naive_bayes
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from yarrow.errors import DataError, NotFittedError, ParameterError
from yarrow.features import OnlineIDF, TextFeatures

TEXTS = [
    "Buy now, buy NOW!",
    "",
    "Été à la plage, été.",
    "a_b 12 don't",
    "now",
    "ὈΔΥΣΣΕΎΣ 東京 東京",
]


def by_name(vectorizer, texts):
    names = vectorizer.get_feature_names_out()
    return [
        {names[j]: value for j, value in zip(row.indices, row.data, strict=True)}
        for row in vectorizer.transform(texts)
    ]


def test_texts_come_as_a_column_of_any_library_or_as_one_of_a_frame():
    expected = TextFeatures().fit_transform(TEXTS).toarray().tolist()
    table = {"n": range(len(TEXTS)), "text": TEXTS}
    for column in (pd.Series(TEXTS), pl.Series(TEXTS), pa.array(TEXTS), pa.chunked_array([TEXTS])):
        assert TextFeatures().fit_transform(column).toarray().tolist() == expected
    for rows in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table | {"n": list("abcdef")})):
        assert TextFeatures(on="text").fit_transform(rows).toarray().tolist() == expected
        with pytest.raises(DataError, match="X is a frame: say by on='n' which column"):
            TextFeatures().fit(rows)
        with pytest.raises(DataError, match="field 'body': no such column; it has n, text"):
            TextFeatures(on="body").fit(rows)
    with pytest.raises(DataError, match="row 1: None is not text; say '' where there is none"):
        TextFeatures().fit(["a", None])
    with pytest.raises(DataError, match="field 'text': None is not text"):
        TextFeatures(on="text").transform_one({"body": "a"})


@pytest.mark.parametrize("words", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("lowercase", [True, False])
def test_words_are_those_of_scikit_learn(words, lowercase):
    sklearns = CountVectorizer(token_pattern=r"\w+", ngram_range=words, lowercase=lowercase)
    ours = TextFeatures(words=words, lowercase=lowercase)
    assert [ours.transform_one(text) for text in TEXTS] == by_name(sklearns.fit(TEXTS), TEXTS)


def test_characters_are_those_of_scikit_learn():
    sklearns = CountVectorizer(analyzer="char", ngram_range=(2, 4)).fit(TEXTS)
    expected = [{f"chars={name}": n for name, n in row.items()} for row in by_name(sklearns, TEXTS)]
    ours = TextFeatures(words=None, chars=(2, 4))
    assert [ours.transform_one(text) for text in TEXTS] == expected


@pytest.mark.parametrize(
    ("weighting", "options"), [("binary", {"binary": True}), ("log", {"sublinear_tf": True})]
)
def test_weightings_are_those_of_scikit_learn(weighting, options):
    sklearns = TfidfVectorizer(token_pattern=r"\w+", use_idf=False, norm=None, **options)
    ours = TextFeatures(weighting=weighting)
    for found, expected in zip(
        (ours.transform_one(text) for text in TEXTS),
        by_name(sklearns.fit(TEXTS), TEXTS),
        strict=True,
    ):
        assert found == pytest.approx(expected)


def test_words_and_characters_do_not_share_names():
    row = TextFeatures(words=(1, 1), chars=(3, 3)).transform_one("abc abc")
    assert row["abc"] == row["chars=abc"] == 2


@given(st.lists(st.text(), max_size=5))
def test_matrix_and_names_say_the_same(texts):
    features = TextFeatures(chars=(1, 2)).fit(texts)
    assert by_name(features, texts) == [features.transform_one(text) for text in texts]


def test_the_vocabulary_grows_and_old_columns_stay():
    features = TextFeatures().partial_fit(["b a"])
    first = features.transform(["a b c"])
    features.partial_fit(["c a"])
    second = features.transform(["a b c"])
    assert list(features.get_feature_names_out()) == ["b", "a", "c"]
    np.testing.assert_array_equal(second.toarray(), [[1, 1, 1]])
    np.testing.assert_array_equal(second[:, :2].toarray(), first.toarray())
    assert list(features.fit(["x"]).vocabulary_) == ["x"]


@given(st.lists(st.text(), min_size=1, max_size=5), st.integers(1, 50))
def test_hashing_needs_no_fit_and_keeps_sums(texts, n_features):
    features = TextFeatures(n_features=n_features)
    matrix = features.transform(texts)
    assert matrix.shape == (len(texts), n_features)
    named = [TextFeatures().transform_one(text) for text in texts]
    np.testing.assert_array_equal(matrix.toarray().sum(axis=1), [sum(r.values()) for r in named])
    rows = [features.transform_one(text) for text in texts]
    expected = [[row.get(column, 0) for column in range(n_features)] for row in rows]
    np.testing.assert_array_equal(matrix.toarray(), expected)


def test_hashing_is_the_same_everywhere_and_spreads():
    check_value_of_crc32 = 0xCBF43926  # in every description of CRC-32, for "123456789"
    hashed = TextFeatures(n_features=2**20).transform_one("123456789")
    assert hashed == {check_value_of_crc32 % 2**20: 1.0}
    words = " ".join(f"word{i}" for i in range(4000))
    used = len(TextFeatures(n_features=4000).transform_one(words))
    assert abs(used / 4000 - (1 - np.exp(-1))) < 0.03  # what random hashing gives


def test_rows_may_be_dicts_with_the_text_in_a_field():
    assert TextFeatures(on="body").transform_one({"body": "Hi", "id": 3}) == {"hi": 1.0}
    assert TextFeatures(on="body").transform_one("Hi") == {"hi": 1.0}
    with pytest.raises(DataError, match="field 'body': 7 is not text"):
        TextFeatures(on="body").transform_one({"body": 7})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": (2, 1)}, r"'words' parameter must be None or \(n, m\) with 1 <= n <= m"),
        ({"words": 1}, "'words' parameter"),
        ({"chars": (0, 2)}, "'chars' parameter"),
        ({"weighting": "tf"}, "'weighting' parameter must be one of 'count', 'binary', 'log'"),
        ({"n_features": 0}, "'n_features' parameter"),
        ({"on": 3}, "'on' parameter"),
    ],
)
def test_bad_parameters_are_errors(options, message):
    for call in (TextFeatures(**options).fit, TextFeatures(**options).transform_one):
        with pytest.raises(ParameterError, match=message):
            call(["text"])


def test_one_text_is_not_many_and_unfitted_is_an_error():
    with pytest.raises(DataError, match="pass a list of texts"):
        TextFeatures().fit("one text")
    with pytest.raises(NotFittedError):
        TextFeatures().transform(["text"])


def test_text_works_in_pipelines_of_both_libraries():
    sklearns = TfidfVectorizer(token_pattern=r"\w+", norm=None).fit(TEXTS)
    ours = make_pipeline(TextFeatures(), OnlineIDF())
    names = ours.fit(TEXTS)[0].get_feature_names_out()
    order = [sklearns.vocabulary_[name] for name in names]
    np.testing.assert_allclose(
        ours.transform(TEXTS).toarray(), sklearns.transform(TEXTS).toarray()[:, order]
    )

    model = compose.Pipeline(TextFeatures(on="body"), naive_bayes.MultinomialNB())
    for body, label in [("cheap pills", True), ("lunch today", False), ("cheap lunch", True)]:
        model.learn_one({"body": body}, label)
    assert model.predict_one({"body": "cheap pills today"}) is True


def test_an_error_names_the_text():
    with pytest.raises(DataError, match=r"^row 1: 2 is not text"):
        TextFeatures().fit(["one", 2])
