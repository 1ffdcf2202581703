"""Outputs that hold no results: errors, and reports that nothing matched."""

from __future__ import annotations

import re
from typing import Any

from goodgain.traces.results.names import BAD_STATUS, ERRORS, TOTALS, normal
from goodgain.traces.results.objects import text_of

_HEAD = 600
_FAILURE = re.compile(
    r"""\s{0,99}(?:\[[\w ]{1,40}\]\s{0,9})?[\W_]{0,5}(?:
      error\b\s{0,9}(?:$|[:!(\[\]{]|-[ ]|\d|code\b|occurred\b|in[ ](?:tool|search|request)\b
        |(?:executing|calling|while|during|fetching|searching|running|invoking
            |processing|performing|querying
           |retrieving|parsing|connecting|using|from[ ](?:tool|server|api))\b)
    | (?:an?[ ]|the[ ]following[ ]|some[ ])?(?:\w+[ ]){0,3}(?:error|exception)[ ](?:has[ ])?
      (?:occurred|happened|was[ ]raised)
    | (?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Timeout|Interrupt)\b\s{0,9}(?:$|[:(])
    | traceback[ ]\(most[ ]recent | exception\b\s{0,9}[:(] | fatal\b\s{0,9}:
        | \[errno | <(?:tool_use_)?error>
    | (?:the[ ])?(?:web[ ]|api[ ]|http[ ]|tool[ ])?(?:search|request|query
        |call|tool|retrieval|fetch|lookup|execution
        |operation|connection|function|invocation|api|server|engine|task|action)[ ](?:has[ ])?
      (?:failed|failure|timed[ ]out|time-?out|error)\b
    | (?:client|server)[ ]error\b\s{0,9}['":(]
    | (?:(?:the[ ])?(?:\w+[ ])?timed[ ]out | time-?out)\b\s{0,9}(?:$|[:.!,(]
        |after\b|error\b|while\b|waiting\b|exceeded\b)
    | (?:the[ ])?(?:\w+[ ]){0,3}(?:rate[ -]?limit|quota|limit)[ ](?:was[ ]
        |has[ ]been[ ]|is[ ])?(?:exceeded|reached|hit|error)\b
    | rate[ -]?limited\b | too[ ]many[ ]requests\b | (?:you[ ]have[ ])?exceeded[ ](?:your
        |the)[ ](?:\w+[ ]){0,2}(?:quota|rate|limit)
    | http(?:/[12](?:\.[01])?)?(?:\s{1,9}status|\s{1,9}error)?(?:\s{1,9}code)?[\s:]{0,9}[45]\d\d\b
    | status(?:\s{1,9}code)?[\s:=]{0,9}[45]\d\d\b
    | [45]\d\d\s{1,9}(?:client|server|bad|unauthorized|forbidden|not[ ]found
        |too|internal|gateway|service|payment|method)\b
    | (?:unauthorized|forbidden|access[ ]denied|permission[ ]denied|bad[ ]request
        |not[ ]authorized|internal[ ]server[ ]error
        |service[ ](?:is[ ])?(?:temporarily[ ])?unavailable|bad[ ]gateway
            |connection[ ](?:refused|reset|aborted|closed)
        |network[ ]is[ ]unreachable|max(?:imum)?[ ]retries[ ]exceeded|unknown[ ](?:tool
            |function)|something[ ]went[ ]wrong|oops)
      \b\s{0,9}(?:$|[:.!,('"-]|by\b|with\b|for\b|please\b)
    | (?:invalid|missing|incorrect|wrong)[ ](?:\w+[ ]){0,2}(?:request|api
        |query|argument|input|parameter|json|token|key
        |response|credential|field)s?\b\s{0,9}(?:$|[:.!,('"]|format\b|provided\b
            |key\b|given\b|error\b|body\b)
    | (?:tool|function)[ ]\S{1,80}[ ](?:not[ ]found|does[ ]not[ ]exist|failed|is[ ]not[ ])
    | (?:ssl|tls|dns|socket|proxy|network|validation|type|value|key|runtime
        |syntax|parse|parsing|api|http|tool)[ _-]?error
      \b\s{0,9}(?:$|[:!(])
    | search[ ](?:is[ ])?(?:currently[ ])?(?:unavailable|disabled)\b
    | (?:sorry|apologies)[,.!]?[ ](?:\w+[ ]){0,6}(?:error|failed|wrong)\b
    | (?:fehler|erreur)\b\s{0,9}[:!] | error\s{1,9}al\b | 错误|エラー|오류|ошибка
    | (?P<weak>failed[ ]to\b | unable[ ]to\b | could(?:[ ]not|n't)\b[ ](?:connect
        |reach|access|perform|execute|process
        |retrieve|fetch|complete|resolve|parse|load) | cannot\b[ ](?:connect
            |reach|access|perform|execute|process))
    )""",
    re.I | re.X,
)
_NOTHING = re.compile(
    r"""(?:^|[.:!?>\n"'\[(\])}*]\s{0,9}|\b(?:found|retrieved|returned|matched|got|with)[ ])
    (?:(?:sorry,?|unfortunately,?|there[ ](?:are|were|is|was)|we|i|your[ ]search|search
       |it[ ](?:seems|appears)(?:[ ]that)?)[ ]){0,4}
    (?: (?:found[ ]|returned[ ])?(?:no|zero|0)[ ](?:\S{1,40}[ ]){0,4}?(?:
            (?:results?|matches|matching|hits?|documents?|docs)\b
          | (?:pages?|articles?|papers?|items?|entries|records?|data|sources?
              |passages?|information|answers?|content
              |files?|messages?|emails?|links?|chunks?|snippets?|rows?|nodes?
                  |urls?|websites?|news|videos?|images?
              |products?|issues?|threads?|tickets?|publications?)
            (?:[ ](?:was|were|is|are|has[ ]been|have[ ]been|could[ ]be|that|which|to[ ]be))?
            (?:[ ](?:found|available|matched|returned|retrieved|match)\b|[.!]?\s{0,9}$))
      | no[ ]relevant\b
      | nothing[ ](?:was[ ]|has[ ]been[ ]|could[ ]be[ ])?(?:found|matched|relevant|returned)\b
      | (?:the[ ]|this[ ]|your[ ])?(?:search|query)[ ](?:has[ ])?(?:returned
          |yielded|produced|gave|found)[ ]
        (?:no|nothing|zero|0)\b
      | (?:did|does|do)[ ]not[ ](?:match|return|find|yield|have)[ ](?:any|anything)\b
      | didn't[ ](?:match|return|find|yield)[ ](?:any|anything)\b
      | (?:could|can)(?:[ ]?not|n't|'t)[ ]find\b | unable[ ]to[ ]find[ ](?:any|relevant|a|the)\b
      | failed[ ]to[ ]find[ ](?:any|relevant|a|the)\b
      | -[ ].{1,200}?[ ]-[ ]did[ ]not[ ]match[ ]any
      | keine[ ](?:\w+[ ])?(?:ergebnisse|treffer|dokumente) | aucun[ ](?:\w+[ ])?(?:résultat|document)
      | aucune[ ](?:donnée|réponse|page) | no[ ]se[ ](?:han[ ])?encontr
          | ning[uú]n[ ]resultado | sin[ ]resultados
      | nessun[ ](?:risultato|documento) | nenhum[ ](?:resultado|documento) | geen[ ]resultaten
      | 未找到|没有找到|無結果|无结果|没有结果|見つかりません|結果はありません|該当なし
      | 결과가[ ]없|찾을[ ]수[ ]없
      | ничего[ ]не[ ]найдено|нет[ ]результатов
    )""",
    re.I | re.X,
)
_NIL = {
    "none", "null", "[]", "{}", "n/a", "na", "nil", "empty", "undefined", "[[]]", '""', "()", "-", "no",
    "nothing", "not found",
}  # fmt: skip
_MESSAGES = (
    "message",
    "msg",
    "detail",
    "details",
    "reason",
    "description",
    "title",
    "info",
    "note",
    "notice",
)


def text_failure(text: str, *, surely: bool = False) -> str | None:
    """The start of a text that reports an error; None if it does not.

    `surely` leaves out words that a title may begin with ("Unable to connect").
    """
    match = _FAILURE.match(text[:_HEAD])
    if match is None or (surely and match["weak"]):
        return None
    return text.strip()[:500]


def says_nothing_matched(text: str, *, surely: bool = False) -> bool:
    """Whether a text only says that there is no result; `surely` if it begins with that."""
    text = text.strip()
    if not text or text.casefold().rstrip(".!") in _NIL:
        return True
    if len(text) > _HEAD:
        return False
    return bool(_NOTHING.match(text) if surely else _NOTHING.search(text))


def data_failure(value: Any) -> str | None:
    """The error that an object reports; None if it reports none."""
    for _ in range(4):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, dict):
            reason = _object_failure(value)
            if reason is not None:
                return reason
            inner = [
                v
                for k, v in value.items()
                if isinstance(v, dict) and str(k) not in ("metadata", "meta")
            ]
            if len(inner) != 1:
                return None
            value = inner[0]
        else:
            return None
    return None


def _object_failure(value: dict[Any, Any]) -> str | None:
    names = {normal(str(k)): v for k, v in list(value.items())[:200]}
    message = next((t for n in _MESSAGES if (t := text_of(names.get(n)))), "")
    for name in ERRORS & names.keys():
        held = names[name]
        if held in (None, False, "", 0, "0") or held == [] or held == {}:
            continue
        if isinstance(held, str) and held.casefold() in ("none", "null", "no", "false", "ok"):
            continue
        return _message(held) or message or name
    if (
        names.get("is_error") is True
        or names.get("has_error") is True
        or names.get("failed") is True
    ):
        return message or text_of(names.get("content")) or "the output is marked as an error"
    if names.get("success") is False or names.get("ok") is False or names.get("succeeded") is False:
        return message or "the output is marked as not successful"
    kind = names.get("type")
    if isinstance(kind, str) and (kind.casefold() == "error" or kind.casefold().endswith("_error")):
        return message or kind
    for name in (
        "status",
        "status_code",
        "code",
        "http_status",
        "http_code",
        "result_status",
        "state",
    ):
        status = names.get(name)
        if isinstance(status, str) and status.casefold() in BAD_STATUS:
            return message or f"status '{status}'"
        number = (
            int(status) if isinstance(status, str) and re.fullmatch(r"[45]\d\d", status) else status
        )
        if isinstance(number, int) and not isinstance(number, bool) and 400 <= number <= 599:
            return message or f"status {number}"
    if message and len(value) <= 3 and text_failure(message):
        return message
    if list(names) == ["detail"] and isinstance(names["detail"], str | list):
        return message or "the server rejected the request"
    return None


def _message(held: Any) -> str:
    if isinstance(held, list) and held:
        held = held[0]
    if isinstance(held, dict):
        named = {normal(str(k)): v for k, v in held.items()}
        for name in (
            "message",
            "msg",
            "detail",
            "error_message",
            "reason",
            "description",
            "title",
            "type",
            "code",
        ):
            if named.get(name):
                return str(named[name])[:500]
        return "error"
    return held[:500] if isinstance(held, str) else ""


def is_zero_total(name: str, value: Any) -> bool:
    """Whether a field says that there are no results."""
    if name not in TOTALS:
        return False
    if isinstance(value, dict):
        value = value.get("value")
    return value in (0, "0") and not isinstance(value, bool)
