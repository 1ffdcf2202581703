"""Secrets in command lines do not reach reports and results."""

from __future__ import annotations

import pytest

from goodgain.redaction import hide_secrets, redacted


@pytest.mark.parametrize(
    "words",
    [
        ["label", "--api-key", "SECRET"],
        ["label", "--api-key=SECRET"],
        ["evaluate", "--conf", "spark.hadoop.fs.s3a.secret.key=SECRET"],
        ["evaluate", "--conf", "fs.azure.account.key=SECRET"],
        ["check", "--target", "https://user:SECRET@host/search?q={query}"],
        ["check", "--target", "https://host/search?q={query}&api_key=SECRET"],
        ["check", "--target", "https://host/s?sig=SECRET&q=x"],
        ["experiment", "postgresql://me:SECRET@db/x"],
        ["label", "--header", "Authorization: Bearer SECRET"],
        ["label", "--token", "SECRET"],
        ["label", "sk-SECRETSECRETSECRET"],
        ["label", "--password", "SECRET"],
    ],
)
def test_secrets_are_hidden(words):
    assert "SECRET" not in " ".join(redacted(words))
    assert redacted(words)[0] == words[0]


@pytest.mark.parametrize(
    "text",
    ["nDCG@10", "run=bm25.txt", "https://host/search?q={query}&k=10", "keyword.run", "--measures", "monkey=3",
     "C:\\data\\run.txt", "key-value.run", "a:b"],
)  # fmt: skip
def test_other_words_stay(text):
    assert hide_secrets(text) == text
