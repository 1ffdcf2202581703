"""Secrets in command lines do not reach reports and results."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from goodgain import Qrels
from goodgain.errors import InputError
from goodgain.redaction import hide_in, hide_in_urls, hide_secrets, redacted


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
        ["experiment", "postgresql://me:p@SECRET@db/x"],
        ["experiment", "postgresql://me:p/SECRET@db/x"],
        ["label", "--store", "host=db user=me password=SECRET dbname=x"],
        ["label", "--store", "host=db password='SECRET two' dbname=x"],
        [
            "evaluate",
            "--conf",
            "conn=DefaultEndpointsProtocol=https;AccountName=a;AccountKey=SECRET==",
        ],
        ["label", "--extra-body", '{"apiKey": "SECRET", "top_p": 1}'],
        ["label", "--headers", '{"Authorization": "Bearer SECRET"}'],
        ["label", "--headers", "{'X-Api-Key': 'SECRET'}"],
        ["label", "clientSecret=SECRET"],
        ["label", "accessToken:SECRET"],
        ["label", "PGPASSWORD=SECRET"],
        ["label", "--header", "X-Custom: Basic SECRET=="],
        ["check", "--target", "https://host/s?X-Amz-Signature=SECRET&q=x"],
        ["check", "--target", "https://host/s?q=x#access_token=SECRET"],
        ["label", "ghp_SECRETSECRETSECRET"],
        ["label", "--passphrase", "SECRET"],
        ["evaluate", "--conf", "fs.azure.account.key.me.dfs.core.windows.net=SECRET"],
        ["evaluate", "--conf", "spark.hadoop.fs.azure.sas.c.me.blob.core.windows.net=SECRET"],
        ["check", "--target", "mcp:python server.py --token SECRET#search"],
        ["check", "--target", "mcp:curl -u user:SECRET https://host#search"],
        ["check", "--target", "https://host/?next=https%3A%2F%2Fh%3Fapi_key%3DSECRET"],
        ["check", "--target", "https%3A%2F%2Fme%3ASECRET%40host"],
        ["check", "--target", "https://host/?session_id=SECRET"],
        ["check", "--target", "https://hooks.slack.com/services/T0/B0/SECRET"],
        ["label", "DB_PASS=SECRET"],
        ["label", "bearer SECRETSECRET"],
        ["label", "Authorization:", "Bearer", "SECRET"],
        ["label", "X-Api-Key:", "SECRET"],
        ["label", '{\\"api_key\\": \\"SECRET\\"}'],
        ["label", "-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----"],
        ["label", "jdbc:oracle:thin:me/SECRET@host:1521/x"],
    ],
)
def test_secrets_are_hidden(words):
    assert "SECRET" not in " ".join(redacted(words))
    assert redacted(words)[0] == words[0]


@pytest.mark.parametrize(
    "text",
    ["nDCG@10", "run=bm25.txt", "https://host/search?q={query}&k=10", "keyword.run", "--measures", "monkey=3",
     "C:\\data\\run.txt", "key-value.run", "a:b", "https://host:8080/@me/run.txt", "https://medium.com/@me/post",
     "sklearn_baseline_of_tuesday.run", "pkg-of-everything-we-have.run", "hfhfhfhfhfhfhfhf", "max_tokens=500",
     "token=${TOKEN}", "monkeys: 3", "nDCG(gain='exp')@10", "BASICALLY nothing"],
)  # fmt: skip
def test_other_words_stay(text):
    assert hide_secrets(text) == text


def test_a_number_of_tokens_is_no_secret():
    words = ["label", "--max-tokens", "500", "--max-tokens=0.5", "--token=500a"]
    assert redacted(words) == [*words[:4], "--token=***"]


def test_settings_keep_what_comes_from_the_environment():
    settings = {
        "headers": {"Authorization": "Bearer ${TOKEN}", "x-key": "SECRET"},
        "max_tokens": "5",
    }
    assert hide_in(settings) == {
        "headers": {"Authorization": "Bearer ${TOKEN}", "x-key": "***"}, "max_tokens": "5",
    }  # fmt: skip


@pytest.mark.parametrize(
    "piece", ["a", "-", "://", "x://a:", "key:", "--key ", "eyJ", "-u a", "\\"]
)
def test_long_texts_take_linear_time(piece):
    """A base64 text of 100 kB in an option once took minutes."""
    started = time.process_time()
    hide_secrets(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("address", "shown"),
    [("abfs://box@account.dfs.core.windows.net/run.parquet",) * 2,
     ("wasbs://my-box@account/run?sig=SECRET", "wasbs://my-box@account/run?sig=***"),
     ("abfs://box:SECRET@account/run", "abfs://***@account/run")],
)  # fmt: skip
def test_containers_of_azure_are_no_secrets(address, shown):
    assert str(InputError(f"cannot read '{address}'")) == f"cannot read '{shown}'"


@pytest.mark.parametrize(
    "address",
    ["https://me:SECRET@127.0.0.1:9/q.txt", "s3://ME:SECRET@bucket/q.parquet?region=x",
     "s3://bucket/q.parquet?secret_key=SECRET&access_key=SECRET", "http://host/?token=SECRET",
     "postgresql://me:SECRET@127.0.0.1:9/labels"],
)  # fmt: skip
def test_errors_hide_what_addresses_hold(address, capsys):
    from goodgain.cli import run

    assert run(["evaluate", address, "none.run"]) == 2
    printed = capsys.readouterr()
    assert "SECRET" not in printed.out + printed.err
    with pytest.raises(InputError) as error:
        Qrels(address)
    assert "SECRET" not in f"{error.value} {error.value!r} {error.value.args}"


def test_errors_keep_what_is_no_address():
    text = "unknown key 'api_key=x' in the experiment; token: abc"
    assert str(InputError(text, where="a.toml:3", hint="set api_key=NAME")) == (
        f"{text} (a.toml:3)\nhint: set api_key=NAME"
    )
    assert hide_in_urls("see https://host/docs?page=2 and {a: '1'}") == (
        "see https://host/docs?page=2 and {a: '1'}"
    )


def test_crash_files_hide_secrets_of_messages(capsys):
    from goodgain.cli.crash import report_crash

    def fail():
        raise RuntimeError("https://me:SECRET@host failed\nAuthorization: Bearer SECRETSECRET")

    with pytest.raises(RuntimeError) as raised:
        fail()
    try:
        raise ValueError("password=SECRET") from raised.value
    except ValueError as error:
        assert report_crash(error, ["evaluate"]) == 70
    message = capsys.readouterr().err
    path = Path(message.split("'")[1])
    text = path.read_text()
    path.unlink()
    code = "Bearer SECRETSECRET"  # of this file: it stands in the traceback as code
    assert "SECRET" not in message
    assert "RuntimeError: https://***@host failed" in text and "ValueError: password=***" in text
    assert all(code in line for line in text.splitlines() if "SECRETSECRET" in line)
