/**
 * One of every kind of message, always the same: for `tocsin preview`, for the pictures in docs/messages.md, and for tests
 * that look at all messages. Names and numbers are made up.
 */
import { type Alert, CHANNEL_KINDS, type ChannelKind, isHuman } from '../../alert.ts';
import type { Annotation, ComposeContext } from '../../channels/channel.ts';
import { acknowledgesByLink } from '../../channels/registry.ts';
import { followUpId } from '../../item.ts';
import type { DeliveryRecord } from '../../ledger/record.ts';
import { iso } from '../../time.ts';
import { noteOf } from '../acknowledgement/words.ts';
import { lateNotice } from '../fallback/notice.ts';
import { sampleAlert } from '../sample/sample.ts';
import { ALERTS, ANNOUNCED } from './announced.ts';
import {
  AT,
  asset,
  digest,
  finding,
  HASH,
  hostileFinding,
  hostileNotification,
  idOf,
  notification,
  ORIGIN,
  POOL_A,
  SERVICE,
  strangerOf,
} from './findings.ts';

export interface Scene {
  name: string;
  /** Scenes of one group are one picture. */
  group: string;
  /** What its reader shall know within three seconds. */
  says: string;
  alerts(): Alert[];
  /** Only these get it. Default: every kind. */
  kinds?: readonly ChannelKind[];
  /** Of a digest in a storm, of a message that has grown, of a reply below it. */
  more?: Pick<ComposeContext, 'storm' | 'grew' | 'heard'>;
  /** What stands below the message, where alerts can be acknowledged. */
  annotation?: Annotation;
}

const FIRED = {
  drasticBalanceChange: 'Token balance dropped 90% below its 24 h mean',
  flashLoan: '2250565 WETH borrowed and repaid in the same transaction',
};

/** The finding that most scenes are about. */
const single = (): Alert =>
  finding({
    label: 'single',
    ...{ protocol: 'Harbor Lending', assets: [POOL_A], fired: FIRED, hash: HASH, origin: ORIGIN },
  });

const suspicious = (): Alert => {
  const fired = { mixer: 'The origin was funded by a mixer 2 hours ago' };
  return finding({
    label: 'suspicious',
    ...{ protocol: 'Lantern Bridge', assets: [asset('Escrow')], fired, chainId: 8453, method: 'withdraw' },
    assessment: 'suspecious',
  });
};

const privileged = (): Alert => {
  const fired = { adminCall: 'Ownership was transferred to an address that was created today' };
  return finding({
    label: 'privileged',
    ...{ protocol: 'Northlight Vaults', assets: [asset('Vault Controller')], fired, method: 'transferOwnership' },
    context: { ...strangerOf(fired), adminOf: ['Vault Controller'], privilegedOn: ['Vault Controller'] },
  });
};

const SIX = [
  ['Harbor Lending', 'Pool A'],
  ['Meridian Swap', 'WETH/USDX Pair'],
  ['Northlight Vaults', 'Vault 7'],
  ['Tidewater Stables', 'Peg Module'],
  ['Quarry Perps', 'Margin Account'],
  ['Lantern Bridge', 'Escrow'],
] as const;

const incidentOfSix = (): Alert[] =>
  SIX.map(([protocol, contract], index) => {
    const fired = {
      flashLoan: '2250565 WETH borrowed and repaid in the same transaction',
      ...(index % 2 === 0 && { drasticBalanceChange: `Token balance dropped ${90 - index}% below its 24 h mean` }),
    };
    const assets = [contract === 'Pool A' ? POOL_A : asset(contract)];
    return finding({ label: `six ${protocol}`, protocol, assets, fired, hash: HASH, origin: ORIGIN });
  });

const SIX_FOUND = SIX.map((_, index) => () => incidentOfSix()[index] ?? single());

const followUp = (change: 'downgraded' | 'upgraded' | 'vanished'): Alert => {
  const wasBefore = change === 'upgraded' ? { was: 'suspecious', is: 'critical' } : { was: 'critical' };
  const first = single();
  return {
    ...first,
    id: followUpId(first.id, change, 1),
    type: `inspection.${change}`,
    followUp: { of: first.id, ...wasBefore, ...(change === 'downgraded' && { is: 'ok' }) },
  };
};

const late = (): Alert => {
  const at = iso(AT);
  const attempt = { at, outcome: 'dead', durationMs: 180, message: 'the channel is archived' } as const;
  const deliveries: DeliveryRecord[] = [{ state: 'dead', destination: ALERTS, at, attempts: [attempt] }];
  return { ...single(), notice: lateNotice({ deliveries, afterMs: 120_000, faultOf: () => undefined }) };
};

const replayed = (): Alert => ({ ...single(), replay: true });

const long = (): Alert => {
  const sentence = 'Balance of a holder changed: 0x18072e8c35bf992dc9e9c616612e7696a6cecc1b lost 1,250.75 WETH. ';
  const fired = {
    drasticBalanceChange: `Token balance dropped 90% below its 24 h mean\n${sentence.repeat(320)}`,
    flashLoan: FIRED.flashLoan,
    reentrancy: 'withdraw was entered 14 times before its first call returned',
  };
  const assets = Array.from({ length: 40 }, (_, n) => asset(`Isolated Market Number ${n + 1}`));
  return finding({ label: 'long', protocol: 'Harbor Lending', assets: [POOL_A, ...assets], fired });
};

const nearlyEmpty = (): Alert => {
  const found = finding({ label: 'nearly empty', protocol: 'Harbor Lending', assets: [], fired: {} });
  const { context: _context, txHash: _txHash, ...whole } = found;
  return { ...whole, item: { _id: idOf('nearly empty'), assessment: 'critical', protocol: 'Harbor Lending' } };
};

const scene = (name: string, group: string, says: string, ...alerts: (() => Alert)[]): Scene => ({
  ...{ name, group, says },
  alerts: () => alerts.map((make) => make()),
});

const several = (name: string, says: string, alerts: () => Alert[]): Scene => ({ name, group: name, says, alerts });

const NOTIFIED = 'CRITICAL: Pool A lost 90% of its WETH within one block.\nThe team is asked to pause borrowing.';

const TOKEN = 'sceneTokenOf22Letters_';
const ACKNOWLEDGE = { name: 'acknowledge', label: 'Acknowledge' } as const;
const MUTE = { name: 'mute', label: 'Mute these detectors 1h' } as const;
const notedOf = (of: number, taken: string[] = [], open: string[] = []) =>
  noteOf([{ by: 'Ann', via: 'telegram', to: '-1001234567890', destination: 'ops', at: iso(AT + 62_000) }], {
    ...{ of, since: AT, protocols: { taken, open }, nameOf: () => 'Ops room' },
  });

/** The kinds whose messages can be changed. */
const GROWING = CHANNEL_KINDS.filter((kind) => isHuman({ kind }) && !acknowledgesByLink(kind));

export const SCENES: readonly Scene[] = [
  scene('single', 'single', 'Harbor Lending is critical: the balance of Pool A dropped by 90% in a flash loan', single),
  scene(
    'suspicious',
    'other findings',
    'Lantern Bridge is suspicious: a withdrawal by an address of a mixer',
    suspicious,
  ),
  scene('privileged', 'other findings', 'Northlight Vaults is critical: an admin gave its ownership away', privileged),
  scene('notification', 'notification', 'The service has a message about Harbor Lending: Pool A lost 90%', () =>
    notification('notification', 'Harbor Lending', NOTIFIED),
  ),
  several('incident of six', 'One transaction is critical for six protocols, all by one flash loan', incidentOfSix),
  {
    ...scene('incident that has grown', 'incident of six', 'The same, found one after the other', ...SIX_FOUND),
    ...{ kinds: GROWING, more: { grew: { times: 4, at: AT + 18_000 } } },
  },
  {
    ...scene('what is new', 'incident of six', 'Three more protocols than you heard of', ...SIX_FOUND),
    ...{ kinds: GROWING, more: { heard: 3 } },
  },
  several('digest of 12', '12 alerts in four protocols; the worst is a transfer of ownership', () => digest(12)),
  {
    ...several('storm of 2000', '1,100 of the 2,000 alerts of a storm; the worst come first', () => digest(1100)),
    more: { storm: { message: 3, alerts: 2000 } },
  },
  {
    ...scene('to acknowledge', 'acknowledgement', 'Somebody has to press: I have seen this', single),
    annotation: { token: TOKEN, buttons: [ACKNOWLEDGE, MUTE] },
  },
  {
    ...scene('acknowledged', 'acknowledgement', 'Somebody is at it', single),
    annotation: { token: TOKEN, buttons: [MUTE], ...notedOf(1) },
  },
  {
    ...scene('then worse', 'acknowledgement', 'What was found since has nobody', single, SIX_FOUND[1] ?? single),
    annotation: { token: TOKEN, buttons: [ACKNOWLEDGE, MUTE], ...notedOf(2, ['Harbor Lending'], ['Meridian Swap']) },
    ...{ kinds: GROWING, more: { grew: { times: 1, at: AT + 90_000 } } },
  },
  scene('downgraded', 'follow-ups', 'What was critical in Harbor Lending is ok now', () => followUp('downgraded')),
  scene('upgraded', 'follow-ups', 'What was suspicious in Harbor Lending is critical now', () => followUp('upgraded')),
  scene('vanished', 'follow-ups', 'The service does not list a critical finding any more', () => followUp('vanished')),
  scene('fallback', 'fallback and replay', 'The fallback gets this because #alerts took nothing', late),
  scene('replay', 'fallback and replay', 'This is history that somebody forwards again', replayed),
  ...ANNOUNCED.map(({ name, group, says, alert, kinds }) => ({
    ...scene(name, group, says, alert),
    ...(kinds === undefined ? {} : { kinds }),
  })),
  scene('test', 'test', 'This is a test: nothing happened', () =>
    sampleAlert(SERVICE, 'Harbor Lending', `sample-${AT}`, AT),
  ),
  scene('hostile', 'hostile', 'Text from outside looks like text from outside, whatever it says', hostileFinding),
  scene('hostile notification', 'hostile', 'So does a whole message from outside', hostileNotification),
  scene('nearly empty', 'nearly empty', 'Harbor Lending is critical, and the service says no more', nearlyEmpty),
  scene('very long', 'very long', 'Three detectors fired in Harbor Lending, whatever the first has to say', long),
];
