/** The page behind the link in a mail. Everybody with the link may acknowledge: it was sent to one mailbox, and works for days. */
import { acknowledgesByLink } from '../../channels/registry.ts';
import type { LinkedAlerts, LinkPages } from '../../ops/page/acknowledge.ts';
import { counted, nameText } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { Acknowledge } from './acknowledge.ts';
import { isTokenOf, readLink } from './annotation.ts';
import type { OnRefused } from './press.ts';
import type { AcknowledgementParts, ButtonMessage } from './store.ts';
import { alreadyText, firstOf, personName } from './words.ts';

interface LinkDependencies extends Pick<AcknowledgementParts, 'store' | 'ledger' | 'isOpen' | 'now'> {
  acknowledge: Acknowledge;
  onRefused: OnRefused;
}

const MOST_NAMED = 5;

/** What `ops/page/acknowledge.ts` asks. Rejects where Redis fails. */
export const createLinkPages = (dependencies: LinkDependencies): LinkPages => {
  const { store, ledger, acknowledge, isOpen, onRefused, now } = dependencies;

  const messageOf = async (token: string): Promise<ButtonMessage | undefined> => {
    const message = await store.message(token);
    if (message === undefined || !acknowledgesByLink(message.destination.kind)) return undefined;
    const { destination, alerts } = message;
    const isOurs = isTokenOf(token, await store.key(), destination.id, alerts) && (await isOpen())(destination);
    return isOurs ? message : undefined;
  };

  const linesOf = async ({ alerts }: ButtonMessage): Promise<string[]> => {
    const records = await Promise.all(alerts.slice(0, MOST_NAMED).map((id) => ledger.read(id)));
    const lines = records.flatMap((record) => {
      if (record === undefined) return [];
      const { protocol, type, at, txHash } = record.alert;
      return [
        `${nameText(protocol)}: ${type}, ${clockText(at)}${txHash === undefined ? '' : `, transaction ${txHash}`}`,
      ];
    });
    return alerts.length > MOST_NAMED ? [...lines, `and ${counted(alerts.length - MOST_NAMED, 'more alert')}`] : lines;
  };

  return {
    isSigned: async (link) => readLink(await store.key(), link, now()) !== undefined,
    find: async (link): Promise<LinkedAlerts | undefined> => {
      const found = readLink(await store.key(), link, now());
      const message = found === undefined || found === 'expired' ? undefined : await messageOf(found.token);
      if (message === undefined) return undefined;
      const { alerts, destination } = message;
      const known = await store.acknowledged(alerts);
      const first = firstOf(known.values());
      return {
        count: alerts.length,
        to: destination.label,
        lines: await linesOf(message),
        ...(first !== undefined && known.size >= alerts.length ? { done: alreadyText(first) } : {}),
        acknowledge: (name) => acknowledge(message, { name: personName(name, destination.label) }, 'link'),
      };
    },
    onRefused: (from) => onRefused({ kind: 'email', reason: 'unknown' }, { from }),
  };
};
