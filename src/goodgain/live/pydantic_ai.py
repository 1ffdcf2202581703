"""Pydantic AI: its own OpenTelemetry instrumentation, switched on for every agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings

from goodgain.live import otel

if TYPE_CHECKING:
    from goodgain.live.capturing import Capture


def install(capture: Capture) -> otel.GoodgainProcessor:
    """Instrument all agents; where they are instrumented already, listen to the global provider."""
    if Agent._instrument_default:
        return otel.install(capture)
    provider = TracerProvider()  # of its own, so that nothing else of the program changes
    Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
    return otel.install(capture, provider)
