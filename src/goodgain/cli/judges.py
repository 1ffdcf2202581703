"""The options of `goodgain label` that say who judges and with which prompt, and the judge that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.cli.options import add_sample, add_seed, add_timeout

if TYPE_CHECKING:
    import argparse

    from goodgain.labels import Ensemble, Judge, Pair, Prompt

NUGGET_TOKENS = 1000  # of a reply that lists up to 30 facts
RULES = ("vote", "mean", "median")


def add_judge(p: argparse.ArgumentParser) -> None:
    """The model and how it is called."""
    judge = p.add_argument_group("judge")
    judge.add_argument(
        "--model",
        metavar="NAME",
        action="append",
        help="model name; repeat for an ensemble",
    )
    judge.add_argument(
        "--base-url",
        metavar="URL",
        help="URL of the server (default: the model's provider)",
    )
    judge.add_argument(
        "--judge", metavar="NAME", action="append",
        help="openai, anthropic or a plug-in's judge (default: anthropic for claude models "
        "without --base-url, otherwise openai)",
    )  # fmt: skip
    judge.add_argument(
        "--judge-name", metavar="NAME",
        help="store the labels under this name (default: the model, its server and parameters)",
    )  # fmt: skip
    judge.add_argument(
        "--temperature", metavar="T", default="",
        help="sampling temperature, or none for the server's default (default: 0, or 0.7 with --replicates)",
    )  # fmt: skip
    judge.add_argument(
        "--max-tokens", type=int, metavar="N",
        help="maximum reply tokens per document (default: 300, with --task nuggets 1000)",
    )  # fmt: skip
    add_timeout(judge)
    judge.add_argument(
        "--replicates", type=int, default=1, metavar="N",
        help="ask N times and take the median (default: 1)",
    )  # fmt: skip
    judge.add_argument(
        "--ensemble", choices=RULES, metavar="RULE",
        help="how to combine the gains of several judges or prompts: vote, mean, median (default: vote)",
    )  # fmt: skip
    judge.add_argument(
        "--minimum", type=int, metavar="N",
        help="members of an ensemble that must have a gain (default: more than half)",
    )  # fmt: skip


def add_prompt(p: argparse.ArgumentParser) -> None:
    """What the model is asked."""
    prompt = p.add_argument_group("prompt")
    prompt.add_argument(
        "--prompt", metavar="NAME|FILE", action="append",
        help="gain-0-4, relevance-0-3, narrative-0-4, gold-0-4, answer-0-1, answer-0-4, or your "
        "own template; repeat for an ensemble (default: gain-0-4, with --answers answer-0-1)",
    )  # fmt: skip
    prompt.add_argument(
        "--template", metavar="FILE", help="published prompt, sent byte for byte (with --raw)"
    )
    prompt.add_argument(
        "--raw", action="store_true",
        help="fill only the placeholders of --template, such as {query} and {passage}",
    )  # fmt: skip
    prompt.add_argument(
        "--reply", metavar="RULE", default="",
        help="where to find the gain in the reply to --template: a regular expression or a JSON "
        "path such as $.O",
    )  # fmt: skip
    prompt.add_argument("--grades", metavar="LOW..HIGH", help="scale of --template, e.g. 0..3")
    prompt.add_argument(
        "--examples", metavar="HUMAN",
        help="human labels to show the judge as examples, in any format; never from the query it "
        "judges, and left out by calibrate",
    )  # fmt: skip
    prompt.add_argument(
        "--shots", type=int, default=4, metavar="N", help="number of examples (default: 4)"
    )
    add_sample(prompt)
    add_seed(prompt)
    prompt.add_argument(
        "--batch", type=int, default=1, metavar="N",
        help="documents of a question per call (default: 1)",
    )  # fmt: skip
    prompt.add_argument(
        "--keep", choices=("hash", "text"), default="hash",
        help="what the store keeps for audits: the hash of a document's text, or also the text "
        "(default: hash)",
    )  # fmt: skip
    prompt.add_argument(
        "--text-limit", type=int, default=24_000, metavar="N",
        help="maximum characters of a document; longer ones are truncated and recorded as such "
        "(default: 24000)",
    )  # fmt: skip
    prompt.add_argument(
        "--canaries", type=int, default=0, metavar="N",
        help="add decoy documents for N questions, and known answers; calibrate reports how the judge "
        "labelled them",
    )  # fmt: skip


def add_provider(p: argparse.ArgumentParser) -> None:
    """What else a provider's API takes."""
    provider = p.add_argument_group("provider options (part of a label's key)")
    provider.add_argument(
        "--reasoning-effort", metavar="LEVEL", help="effort of a reasoning model, e.g. low"
    )
    provider.add_argument("--model-seed", type=int, metavar="N", help="seed of the model")
    provider.add_argument(
        "--extra-body", metavar="JSON|@FILE", help="additional fields of the request body"
    )
    provider.add_argument(
        "--header", action="append", default=[], metavar="NAME:VALUE",
        help="HTTP header; $VARIABLE in it is read from the environment",
    )  # fmt: skip


def chosen_judge(args: argparse.Namespace) -> Judge | Ensemble:
    """The judge, created with the settings that the user chose; it has defaults for the others."""
    from goodgain.errors import UsageError
    from goodgain.labels import Ensemble, Prompt

    if not (args.model or args.judge):
        raise UsageError("--model or --judge is required")
    judges = [
        _judge(args, model, kind) for model in args.model or [None] for kind in args.judge or [None]
    ]
    prompts = [Prompt.of(prompt) for prompt in args.prompt or []]
    if len(judges) == 1 and len(prompts) < 2:
        if args.ensemble or args.minimum:
            raise UsageError(
                "an ensemble needs several judges or prompts",
                hint="repeat --model, --judge or --prompt",
            )
        return judges[0]
    chosen: list[Prompt | None] = [*prompts] or [None]
    members: Any = [(judge, prompt) for judge in judges for prompt in chosen]
    return Ensemble(members, args.ensemble or "vote", args.minimum)


def chosen_prompt(args: argparse.Namespace) -> Prompt | str | None:
    """The prompt of --prompt or --template; of several, each member of the ensemble has its own."""
    from goodgain.errors import UsageError
    from goodgain.labels import RawPrompt

    if args.template is None:
        for option in ("raw", "reply", "grades"):
            if getattr(args, option):
                raise UsageError(f"--{option} requires --template")
        return args.prompt[0] if args.prompt else None
    if args.prompt:
        raise UsageError("--template and --prompt exclude each other")
    if not args.raw:
        raise UsageError(
            "--template sends a published prompt verbatim, which --raw confirms",
            hint="add --raw; a template in goodgain's own form is --prompt FILE",
        )
    if not args.grades:
        raise UsageError("--template requires its scale", hint="for example --grades 0..3")
    return RawPrompt.read_file(args.template, scale=args.grades, reply=args.reply)


def with_examples(
    args: argparse.Namespace, prompt: Prompt | str | None, pairs: list[Pair]
) -> Prompt:
    """The prompt with examples drawn from people's labels."""
    from goodgain.errors import UsageError
    from goodgain.io.files import is_store
    from goodgain.labels import Prompt
    from goodgain.labels.examples import choose_examples

    if len(args.prompt or ()) > 1:
        raise UsageError("--examples takes one prompt, not several")
    store = args.examples if is_store(args.examples) else args.store
    examples = choose_examples(
        args.examples, pairs, args.shots, seed=args.seed, store=store, sample=args.sample
    )
    return Prompt.of(prompt).with_examples(examples, args.shots)


def _judge(args: argparse.Namespace, model: str | None, kind: str | None) -> Judge:
    from goodgain.labels import Price, create_judge, judge_for
    from goodgain.labels.judges.options import parse_extra_body, parse_headers
    from goodgain.labels.judges.registry import BUILT_IN

    settings: dict[str, Any] = {
        "model": model,
        "base_url": args.base_url,
        "price": Price.parse(args.price) if args.price else None,
        "max_tokens": args.max_tokens or (NUGGET_TOKENS if args.task == "nuggets" else None),
        "timeout": args.timeout,
        "seed": args.model_seed,
        "reasoning_effort": args.reasoning_effort,
        "extra_body": parse_extra_body(args.extra_body) or None,
        "headers": parse_headers(args.header) or None,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if args.temperature or kind is None or kind in BUILT_IN:
        settings["temperature"] = _temperature(args)
    return create_judge(kind, **settings) if kind else judge_for(**settings)


def _temperature(args: argparse.Namespace) -> float | None:
    from goodgain.errors import UsageError

    if not args.temperature:
        return 0.7 if args.replicates > 1 else 0.0
    if args.temperature == "none":
        return None
    try:
        return float(args.temperature)
    except ValueError:
        raise UsageError(
            f"invalid --temperature '{args.temperature}'", hint="a number, or none"
        ) from None
