/** Tocsin's own messages, in the words that it has for them. */
import { type Alert, type Announcement, type ChannelKind, TOCSIN } from '../../alert.ts';
import { destinationId } from '../../item.ts';
import { HOUR_MS, iso, MINUTE_MS } from '../../time.ts';
import { mailboxText } from '../acknowledgement/acknowledge.ts';
import { type AnnouncementText, announcementAlert } from '../announcements/announce.ts';
import { heldText } from '../approval/hold.ts';
import { readAgainText, unreadText } from '../blindness/message.ts';
import { brokenText, movedText, recoveredText } from '../broken-destinations/message.ts';
import { muteReportTexts } from '../mutes/report.ts';
import { heardText, silentText } from '../silence/message.ts';
import { stormOverText } from '../storms/storms.ts';
import { changesText } from '../tripwire/message.ts';
import { begunText, overText } from '../watchdog/message.ts';
import { AT, hashOf, idOf, SERVICE } from './findings.ts';

/** The Slack channel that scenes are about. */
export const ALERTS = {
  ...{ id: destinationId('slack', 'C024BE91L'), kind: 'slack' as const },
  ...{ address: 'C024BE91L', label: 'C024BE91L', name: '#alerts' },
};

const broken = (): string =>
  brokenText({
    ...{ destination: ALERTS, isSender: false, reason: 'destination-dead', message: 'the channel is archived' },
    protocols: ['Harbor Lending'],
    explanation: {
      is: 'is archived',
      todo: 'unarchive the channel, or list another one, at the monitoring service or in the config of Tocsin',
    },
    ...{ said: 'slack.com answered is_archived', since: iso(AT - 12 * MINUTE_MS) },
    ...{ waiting: 0, dead: 3, hasFallback: true },
  });

const works = (): string =>
  recoveredText({
    ...{ destination: ALERTS, isSender: true, since: iso(AT - 40 * MINUTE_MS), now: AT },
    ...{ message: 'Slack has revoked the bot token of Tocsin (slack.com answered token_revoked)' },
    ...{ waiting: 7, dead: 0, hasFallback: true },
  });

const silent = (): string =>
  silentText(SERVICE, [{ protocol: 'Harbor Lending', forMs: 6 * HOUR_MS, usualMs: 4 * MINUTE_MS }]);

const changed = (): string =>
  changesText(SERVICE, [
    {
      ...{ protocol: 'Harbor Lending', kind: 'changed', isCritical: true },
      differences: [
        {
          aspect: 'channels',
          old: ['slack C024BE91L', 'email security@harbor.example'],
          now: ['webhook https://hooks.example'],
        },
      ],
    },
  ]);

const DISK = {
  ...{ name: 'disk' as const, of: 'host-1', at: 'host-1' },
  what: 'at host-1: the disk of the data folder of Tocsin (/var/lib/tocsin) is nearly full',
  ...{ why: '2% is free', since: iso(AT - 9 * MINUTE_MS) },
};

const UNREAD = {
  ...{ service: SERVICE, protocols: [] },
  ...{ since: iso(AT - 6 * MINUTE_MS), reason: 'the service answered 503' },
};

/** What a mute hid: a few findings of two protocols, and a stored notification. */
const muteReport = (): AnnouncementText => {
  const items = Array.from({ length: 6 }, (_, n) => ({
    protocol: n < 4 ? 'Harbor Lending' : 'Meridian Swap',
    type: n === 5 ? 'notification.created' : 'inspection.critical',
    severity: n === 5 ? 'NOTIFICATION' : 'CRITICAL',
    ...{ detectors: n === 5 ? [] : ['flashLoan'], itemId: idOf(`muted ${n}`) },
    said: n === 5 ? 'Pool A is migrated by its team' : `${(6 - n) * 410_000} USDC borrowed and repaid`,
    at: iso(AT - (6 - n) * 15 * MINUTE_MS),
    ...(n !== 5 && { txHash: hashOf(`muted ${n}`), chainId: '1' }),
  }));
  const mute = {
    ...{ id: 'mute-1f2e3d', protocols: ['Harbor*', 'Meridian*'], detectors: [], destinations: [] },
    ...{ reason: 'planned migration of Pool A', author: 'maintenance', hid: items.length },
    ...{ from: iso(AT - 2 * HOUR_MS), until: iso(AT) },
  };
  return muteReportTexts(mute, AT, { hid: items.length, items })[0] ?? { message: '' };
};

interface Announced {
  name: string;
  group: string;
  says: string;
  alert(): Alert;
  /** Only these get it. Default: every kind. */
  kinds?: readonly ChannelKind[];
}

const announced = (
  about: Announcement,
  group: string,
  says: string,
  text: () => string | AnnouncementText,
): Announced => ({
  ...{ name: `${TOCSIN.toLowerCase()} ${about}`, group, says },
  alert: () => {
    const said = text();
    const parts = typeof said === 'string' ? { message: said } : said;
    return announcementAlert({ about, key: 'preview', ...parts }, AT);
  },
});

const held = (): string =>
  heldText(
    { id: destinationId('slack', 'C0999NEW1'), kind: 'slack', label: 'C0999NEW1', name: '#harbor-alerts' },
    { isRevoked: false, protocols: ['Harbor Lending'], held: 2 },
  );

const CAUGHT_UP = { alerts: 2, isBound: false };

export const ANNOUNCED: readonly Announced[] = [
  announced('destination.broken', 'announcements: channels', 'Slack #alerts is archived: three alerts died', broken),
  announced('destination.well', 'announcements: channels', 'Slack works again', works),
  announced('destination.moved', 'announcements: channels', 'A Telegram chat has another id now', () =>
    movedText({ id: 'telegram-1', kind: 'telegram', address: '-4001', label: '-4001', name: 'Ops room' }, '-1002001'),
  ),
  announced('destination.new', 'announcements: channels', 'Somebody has to approve a new destination', held),
  announced('protocol.silent', 'announcements: protocols', 'Harbor Lending has not been inspected for 6 hours', silent),
  announced('protocol.heard', 'announcements: protocols', 'Harbor Lending is inspected again', () =>
    heardText(SERVICE, { protocols: ['Harbor Lending'], gone: 0, since: iso(AT - 6 * HOUR_MS), forMs: 6 * HOUR_MS }),
  ),
  announced('protocol.changed', 'announcements: protocols', "Harbor Lending lost its last person's channel", changed),
  announced('service.unread', 'announcements: service', 'The monitoring service cannot be read', () =>
    unreadText({ ...UNREAD, watched: 6 }),
  ),
  announced('service.read', 'announcements: service', 'The monitoring service is read again', () =>
    readAgainText({ ...UNREAD, gone: 0, forMs: 6 * MINUTE_MS, caughtUp: CAUGHT_UP }),
  ),
  announced('trouble.begun', 'announcements: service', 'The disk of Tocsin is nearly full', () => begunText([DISK])),
  announced('trouble.over', 'announcements: service', 'The disk of Tocsin has room again', () =>
    overText([DISK], { left: 0, hosts: new Set(['host-1']), now: AT }),
  ),
  announced('storm.over', 'announcements: channels', 'A storm is over: that was the last digest', () =>
    stormOverText({
      destination: ALERTS,
      messages: 4,
      alerts: 2160,
      from: AT - 9 * MINUTE_MS,
      until: AT - 3 * MINUTE_MS,
    }),
  ),
  {
    ...announced('alert.acknowledged', 'acknowledgement', 'Somebody is at it, as mailboxes hear', () =>
      mailboxText({ by: 'Ann', via: 'slack', to: ALERTS.label, at: iso(AT + MINUTE_MS) }, ALERTS.name, [
        { protocol: 'Harbor Lending', txHash: hashOf('one') },
      ]),
    ),
    kinds: ['email'],
  },
  announced('mute.ended', 'mute report', 'A mute is over: it hid six alerts, and here they are', muteReport),
];
