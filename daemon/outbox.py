"""Sends what lies in the outbox, each mail at most once unless a person asks for it again."""

import logging
from datetime import timedelta

from daemon.delivery import Delivery, Letter, Postman
from daemon.schedule import retry_delay
from daemon.service import Service
from daemon.store import mailing
from daemon.store.mailing import OutgoingMail
from domain.errors import BadInput
from reports.mail import address, mail_address, sender_mailbox

logger = logging.getLogger(__name__)

_MOST_ATTEMPTS = 12  # with the doubling delay: about three days


def send_outbox(service: Service, postman: Postman) -> int:
    """Send every mail that is due; how many left. Raises BadInput for a sender that is no mail address."""
    sender = sender_mailbox(service.settings.mail.sender).addr_spec  # before any mail is taken
    _settle_interrupted(service, postman)
    sent = 0
    while mail := _take(service):
        delivery = _deliver(postman, mail, sender)
        _settle(service, mail, delivery)
        sent += delivery.fate == "sent"
        logger.info("mail handled", extra={"action": "mail", "outbox": mail.id, "fate": delivery.fate})
    return sent


def _take(service: Service) -> OutgoingMail | None:
    with service.database.connection() as conn:
        return mailing.take_pending(conn, service.clock())


def _deliver(postman: Postman, mail: OutgoingMail, sender: str) -> Delivery:
    """What became of it. A mail that cannot be addressed fails for good, so that it holds up no other."""
    try:
        recipient = mail_address(mail.recipient, "the recipient")
        message = address(bytes(mail.message), recipient=recipient, message_id=mail.message_id)
    except BadInput as exc:
        return Delivery("failed", str(exc))
    label = f"{recipient}-{mail.subscription}"
    return postman.deliver(Letter(sender, recipient, message, label, mail.message_id, mail.due_at))


def _settle(service: Service, mail: OutgoingMail, delivery: Delivery) -> None:
    now = service.clock()
    with service.database.connection() as conn:
        if delivery.fate != "later":
            mailing.settle(conn, mail.id, delivery.fate, delivery.detail, now=now)
        elif mail.attempts >= _MOST_ATTEMPTS:
            mailing.settle(
                conn, mail.id, "failed", f"given up after {mail.attempts} attempts: {delivery.detail}", now=now
            )
        else:
            next_try = now + retry_delay(mail.attempts - 1)
            mailing.settle(conn, mail.id, "pending", delivery.detail, now=now, next_try=next_try)


def _settle_interrupted(service: Service, postman: Postman) -> None:
    """A killed sender left its mail on its way: a folder can take it again; with a mail server no one can know."""
    now = service.clock()
    grace = timedelta(0) if postman.repeatable else timedelta(seconds=10 * service.settings.mail.timeout_s)
    with service.database.connection() as conn:
        state: mailing.OutboxState = "pending" if postman.repeatable else "uncertain"
        if count := mailing.settle_interrupted(conn, state, before=now - grace, now=now):
            logger.warning("mails were interrupted", extra={"action": "mail", "mails": count, "state": state})
