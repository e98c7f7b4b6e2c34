/** Protocols that do their worst, each in a way that once held up another one's alerts. */
import type { Neighbour } from './quiet.ts';

/** Of the quiet protocol's destination; the busy one's begin at 0. */
const OWN = 50_000;
/** A relay that looks at each mail. */
const MAIL_MS = 50;
const FEW_ALERTS = 3;

/** `quick`: a tenth of the destinations. */
export const neighboursOf = (quick: boolean): Neighbour[] => {
  const some = (count: number): number => (quick ? count / 10 : count);
  const named = (count: number): string => some(count).toLocaleString('en');
  const webhook = { kinds: ['webhook'], quiet: { kind: 'webhook', count: 1, from: OWN } } as const;
  return [
    {
      ...webhook,
      key: 'hanging',
      work: `another protocol has ${named(500)} hanging webhooks`,
      busy: [{ kind: 'webhook', count: some(500), from: 0, manner: 'hanging' }],
      alerts: 10,
    },
    {
      key: 'chats',
      work: `another protocol has ${named(3000)} chats of the same bot`,
      kinds: ['telegram'],
      busy: [{ kind: 'telegram', count: some(3000), from: 0 }],
      alerts: FEW_ALERTS,
      quiet: { kind: 'telegram', count: 1, from: OWN },
    },
    {
      key: 'mailboxes',
      work: `another protocol has ${named(5000)} mailboxes at the same relay`,
      kinds: ['email'],
      busy: [{ kind: 'email', count: some(5000), from: 0 }],
      alerts: FEW_ALERTS,
      quiet: { kind: 'email', count: 1, from: OWN },
      mailMs: MAIL_MS,
    },
    {
      ...webhook,
      key: 'slow',
      work: `another protocol has a webhook that takes 10 s, and ${named(2000)} alerts for it`,
      busy: [{ kind: 'webhook', count: 1, from: 0, manner: 'slow' }],
      alerts: some(2000),
    },
    {
      key: 'announcements',
      work: `another protocol has ${named(200)} webhooks that are gone, which is announced to 30 mailboxes, also this one`,
      kinds: ['webhook', 'email'],
      busy: [
        { kind: 'webhook', count: some(200), from: 0, manner: 'gone' },
        { kind: 'email', count: 30, from: OWN },
      ],
      alerts: 1,
      quiet: { kind: 'email', count: 1, from: OWN },
      mailMs: MAIL_MS,
    },
  ];
};
