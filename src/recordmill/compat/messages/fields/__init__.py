"""Kinds of fields that messages are declared with, each with the container that scripts get."""

from recordmill.compat.messages.fields.mapped import Mapped, MessageMap
from recordmill.compat.messages.fields.nested import Nested
from recordmill.compat.messages.fields.repeated import Repeated, ScalarList
from recordmill.compat.messages.fields.repeated_messages import MessageList, RepeatedMessages

__all__ = ["Mapped", "MessageList", "MessageMap", "Nested", "Repeated", "RepeatedMessages", "ScalarList"]
