"""Base types of requests and answers: frozen, strict, without unknown fields."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

U16 = Annotated[int, Field(ge=0, le=2**16 - 1)]
U32 = Annotated[int, Field(ge=0, le=2**32 - 1)]
U64 = Annotated[int, Field(ge=0, le=2**64 - 1)]
I32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]

ClockName = Literal["tsc", "monotonic", "parallel"]
"""The time-stamp counter, in ticks; the system's monotonic clock, in nanoseconds; or, of programs
alone, what each of several processors could have executed, in instructions."""


class MessagePart(BaseModel):
    """A part of a request or an answer."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)


class Sent(MessagePart):
    """A message to the probe; `LEFT_OUT` names the fields that are not sent where None."""

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _short(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = handler(self)
        return {
            name: value
            for name, value in fields.items()
            if value is not None or name not in self.LEFT_OUT
        }
