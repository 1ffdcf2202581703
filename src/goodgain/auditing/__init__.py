"""From a published table back to the conventions under which it was computed."""

from goodgain.auditing.auditor import audit
from goodgain.auditing.result import Audit

__all__ = ["Audit", "audit"]
