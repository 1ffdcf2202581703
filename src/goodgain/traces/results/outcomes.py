"""Outputs that hold no results: errors, and reports that nothing matched."""

from __future__ import annotations

import re
from typing import Any

from goodgain.traces.results.names import TOTALS, normal
from goodgain.traces.results.objects import text_of

_HEAD = 600
_FAILURE = re.compile(
    r"""\s*(?:\[[\w ]{1,40}\]\s*)?[\W_]{0,5}(?:
      error\b\s*(?:$|[:!(\[\]{-]|\d|code|executing|calling|while|when|in\b|during|occurred|fetching|searching|from
                 |running|invoking|processing|message|performing|querying|with|response|:)
    | (?:an?\ |the\ following\ |some\ )?(?:\w+\ ){0,3}(?:error|exception)\ (?:has\ )?(?:occurred|happened|was\ raised)
    | (?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Timeout|Interrupt)\b\s*(?:$|[:(])
    | traceback\ \(most\ recent | exception\b\s*[:(] | fatal\b\s*:
    | (?:the\ )?(?:[\w-]+\ ){0,4}?(?:failed|failure)\b\s*(?:$|[:.!,-]|with|to|due|because|after)
    | failed\ to\b | unable\ to\b | cannot\b\ (?:connect|reach|access|perform|execute|process)
    | could\ not\b\ (?:connect|reach|access|perform|execute|process|retrieve|fetch|complete|resolve|parse|load)
    | couldn't\b\ (?:connect|reach|access|perform|execute|process|retrieve|fetch|complete|resolve|parse|load)
    | (?:the\ )?(?:[\w-]+\ ){0,3}(?:request\ |call\ |search\ |query\ )?(?:timed\ out|time-?out\b)
    | (?:the\ )?(?:\w+\ ){0,3}rate[\ -]limit | too\ many\ requests | quota\ (?:exceeded|exhausted)
    | (?:you\ have\ )?exceeded\ (?:your|the)\ (?:\w+\ )?(?:quota|rate|limit)
    | (?:http(?:\s+status|\s+error)?(?:\s+code)?[\s:/]*(?:1\.[01]\s+|2\s+)?)[45]\d\d\b
    | (?:status(?:\s+code)?[\s:=]*)[45]\d\d\b | [45]\d\d\s+(?:client|server|bad|unauthorized|forbidden|not\ found|too|internal|gateway|service|payment|request|method)
    | unauthorized\b | forbidden\b | access\ denied | permission\ denied | bad\ request\b | not\ authorized\b | internal\ server\ error | service\ unavailable
    | bad\ gateway | gateway\ time-?out | invalid\ (?:request|api|query|argument|input|parameter|json|token|key|response)
    | (?:invalid|missing|incorrect|wrong)\ (?:\w+\ ){0,2}(?:key|token|credentials?|parameters?|arguments?|fields?)\b
    | (?:tool|function)\ \S{1,80}\ (?:not\ found|does\ not\ exist|failed|is\ not) | unknown\ (?:tool|function)
    | connection\ (?:error|refused|reset|timed|aborted|closed) | network\ (?:error|is\ unreachable)
    | (?:ssl|tls|dns|socket|proxy|validation|type|value|key|runtime|syntax|parse|parsing|server|api|http|tool)[\ _-]?error\b
    | <(?:tool_use_)?error> | \[errno | max(?:imum)?\ retries | search\ (?:is\ )?(?:currently\ )?(?:unavailable|disabled)
    | (?:sorry|apologies)[,.!]?\ (?:\w+\ ){0,6}(?:error|failed|unable|wrong) | something\ went\ wrong | oops
    | fehler\b\s*[:!] | erreur\b\s*[:!] | error\s+al\b | 错误|エラー|오류|ошибка
    )""",
    re.I | re.X,
)
_NOTHING = re.compile(
    r"""(?:^|[.:!?>\n"'\[(\])}*]\s*|\b(?:found|retrieved|returned|matched|got|with)\ )(?:sorry,?\ |unfortunately,?\ |there\ (?:are|were|is|was)\ |we\ |i\ |your\ search\ |search\ |it\ (?:seems|appears)\ (?:that\ )?)*
    (?:(?:found\ |returned\ )?(?:no|zero|0)\ (?:\S+\ ){0,5}?(?:results?|documents?|matches|match|hits?|pages?|articles?|papers?|items?|entries|records?|data
        |sources?|passages?|information|answers?|content|files?|messages?|emails?|links?|chunks?|snippets?|rows?|nodes?|urls?|websites?|news|videos?|images?|products?|issues?|threads?|tickets?|publications?|relevant)\b
    | nothing\ (?:was\ |has\ been\ |could\ be\ )?(?:found|matched|relevant|returned)\b
    | (?:the\ |this\ |your\ )?(?:search|query)\ (?:has\ )?(?:returned|yielded|produced|gave|found)\ (?:no|nothing|zero|0)\b
    | (?:did|does|do)\ not\ (?:match|return|find|yield|have)\ (?:any|anything)\b | didn't\ (?:match|return|find|yield)\ (?:any|anything)\b
    | (?:could|can)(?:\ ?not|n't|'t)\ find\b | (?:was|were)\ (?:not|unable\ to\ be)\ found\b
    | -\ .{1,200}?\ -\ did\ not\ match\ any
    | keine\ (?:\w+\ )?(?:ergebnisse|treffer|dokumente) | aucun\ (?:\w+\ )?(?:résultat|document) | aucune\ (?:donnée|réponse|page)
    | no\ se\ (?:han\ )?encontr | ning[uú]n\ resultado | sin\ resultados | nessun\ (?:risultato|documento) | nenhum\ (?:resultado|documento) | geen\ resultaten
    | 未找到|没有找到|無結果|无结果|没有结果|見つかりません|結果はありません|該当なし|결과가\ 없|찾을\ 수\ 없|ничего\ не\ найдено|нет\ результатов
    )""",
    re.I | re.X,
)
_NIL = {"none", "null", "[]", "{}", "n/a", "na", "nil", "empty", "undefined", "[[]]", '""', "()", "-", "no", "nothing", "not found"}  # fmt: skip
_ERROR_KEYS = frozenset((
    "error", "errors", "exception", "fault", "error_message", "error_msg", "err", "failure", "traceback",
    "stack_trace", "stacktrace", "error_description", "error_code", "error_type", "errormessage", "errorcode",
))  # fmt: skip
_BAD_STATUS = {"error", "failed", "failure", "fail", "timeout", "timed_out", "errored", "exception", "denied", "cancelled", "canceled", "rejected"}  # fmt: skip
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


def text_failure(text: str) -> str | None:
    """The first line of a text that reports an error; None if it does not."""
    if _FAILURE.match(text[:_HEAD]):
        return text.strip()[:500]
    return None


def says_nothing_matched(text: str) -> bool:
    """Whether a text only says that there is no result."""
    text = text.strip()
    if not text or text.casefold().rstrip(".!") in _NIL:
        return True
    return len(text) <= _HEAD and bool(_NOTHING.search(text))


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
    for name in _ERROR_KEYS & names.keys():
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
        if isinstance(status, str) and status.casefold() in _BAD_STATUS:
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
