/** Gives the messages of a delivery their buttons or link, and keeps what a press needs to find them again. */
import type { Alert } from '../../alert.ts';
import type { Channel, Message } from '../../channels/channel.ts';
import type { WithButtons } from '../../deliver/stage.ts';
import { transactionOf } from '../../deliver/threads.ts';
import { annotationOf, detectorsOf, linkOf, tokenOf } from './annotation.ts';
import type { Show } from './show.ts';
import { type AcknowledgementParts, type ButtonMessage, WORKS_FOR_MS } from './store.ts';
import { mayAcknowledge } from './words.ts';

interface AttachDependencies extends Pick<AcknowledgementParts, 'store' | 'muteRules' | 'names' | 'mayMute' | 'now'> {
  show: Pick<Show, 'message'>;
  /** Of the page behind a link. Left out: nobody could reach it. */
  urlOf?(link: string): string;
}

/** A body that is larger is not kept: its message stays as it is. */
const LARGEST_BODY = 64 * 1024;

const bodyToKeep = (body: unknown): { body?: unknown } => (JSON.stringify(body).length <= LARGEST_BODY ? { body } : {});

const AS_IT_IS = async (): Promise<void> => {};

/**
 * For the messages of one channel: buttons where it has them, else a link where it can show one and there is a page behind
 * it (`urlOf`). What is needed to find a message again is in Redis for `WORKS_FOR_MS` before it is sent. A message without
 * alerts that somebody could acknowledge stays as it is. Rejects where Redis fails: the delivery is tried again.
 */
export const createAttach = (
  { buttons, withAcknowledgeLink }: Pick<Channel, 'buttons' | 'withAcknowledgeLink'>,
  { store, show, muteRules, names, mayMute, urlOf, now }: AttachDependencies,
): WithButtons => {
  const withLink = async (message: Message, alerts: readonly Alert[]): Promise<Message> => {
    if (withAcknowledgeLink === undefined || urlOf === undefined) return message;
    const { destination, body } = message;
    const ids = alerts.map(({ id }) => id);
    const key = await store.key();
    const token = tokenOf(key, destination.id, ids);
    await store.keepMessage(token, { destination, alerts: ids });
    return { ...message, body: withAcknowledgeLink(body, urlOf(linkOf(key, token, now() + WORKS_FOR_MS))) };
  };

  /** What a press on it means. */
  const pressedOf = async ({ destination, isDigest }: Message, about: readonly Alert[]): Promise<ButtonMessage> => {
    const alerts = about.filter(mayAcknowledge);
    const fired = isDigest ? undefined : detectorsOf(alerts, muteRules);
    const detectors = fired !== undefined && (await mayMute(destination)) ? fired : undefined;
    const transaction = transactionOf(about);
    const protocols = alerts.map(({ protocol }) => protocol);
    const since = Math.min(...alerts.map(({ at }) => Date.parse(at)));
    return {
      ...{ destination, alerts: alerts.map(({ id }) => id) },
      ...(isDigest || new Set(protocols).size < 2 ? {} : { protocols }),
      ...(Number.isFinite(since) ? { since } : {}),
      ...(detectors === undefined ? {} : { detectors }),
      ...(transaction === undefined ? {} : { transaction }),
    };
  };

  return async (message, about, isChange) => {
    const { destination } = message;
    const alerts = about.filter(mayAcknowledge);
    if (alerts.length === 0) return { message, sent: AS_IT_IS };
    if (!buttons?.areAt(destination.address)) return { message: await withLink(message, alerts), sent: AS_IT_IS };
    const kept = await pressedOf(message, about);
    const token = tokenOf(await store.key(), destination.id, kept.alerts);
    const known = isChange ? await store.acknowledged(kept.alerts) : new Map();
    const annotation = await annotationOf(token, kept, known, { names, muteRules });
    const body = buttons.put(message.body, annotation);
    const hasRoom = body !== message.body;
    if (!hasRoom && !isChange) return { message, sent: AS_IT_IS };
    // Without a body nothing changes it: what is kept of the message before has not all of its alerts.
    await store.keepMessage(token, { ...kept, ...(hasRoom ? bodyToKeep(buttons.kept(message.body)) : {}) });
    const sent = async (handle: string): Promise<void> => {
      await store.placeMessage(token, destination.id, handle);
      // Somebody was faster, in another chat: this message could not be found then.
      if ((await store.acknowledged(kept.alerts)).size > 0) show.message(destination, handle);
    };
    return { message: { ...message, body }, sent };
  };
};
