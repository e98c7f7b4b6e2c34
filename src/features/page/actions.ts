/** What operators do on the status page: the same as by the commands, and written to the same log. */
import { randomUUID } from 'node:crypto';
import { type Destination, muteFacts, scopeText } from '../../alert.ts';
import type { Condition } from '../../condition.ts';
import type { Config } from '../../config/schema.ts';
import { UsageError } from '../../errors.ts';
import type { DeadDelivery, DeadLetters } from '../../ledger/dead-letters.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OperatorAction, OperatorLog } from '../../ledger/operator-log.ts';
import { NO_DESTINATION, nameOf } from '../../ledger/record.ts';
import type { PageActions, Planned } from '../../ops/page/actions.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { cleanLine, counted, nameText } from '../../text.ts';
import { clockText } from '../../time.ts';
import type { createDestinations, KnownDestination } from '../approval/destinations.ts';
import { KNOWN_FOR, type KnownRemarks, knownFacts, newKnown, remarkId } from '../conditions/known.ts';
import { createActiveMutes } from '../mutes/active.ts';
import { newMute } from '../mutes/new-mute.ts';
import type { MuteStore } from '../mutes/store.ts';
import type { createDrop, Retried } from '../replay/retry.ts';
import { sampleAlert } from '../sample/sample.ts';
import { targetName } from './alerts.ts';

interface PageActionsDependencies {
  config: Pick<Config, 'mutes' | 'services'>;
  dead: Pick<DeadLetters, 'get' | 'latest' | 'count'>;
  retry(letters: readonly DeadDelivery[]): Promise<Retried>;
  drop: ReturnType<typeof createDrop>;
  mutes: MuteStore;
  conditions(): Promise<readonly Condition[]>;
  knownRemarks: KnownRemarks;
  approval: Pick<ReturnType<typeof createDestinations>, 'find' | 'approve' | 'revoke'>;
  /** Every destination that is known with its address. */
  destinations(): readonly Destination[];
  ledger: Pick<Ledger, 'recordWaiting'>;
  queues: Pick<ParcelQueues, 'enqueue'>;
  operatorLog: Pick<OperatorLog, 'record'>;
  now(): number;
}

/** One press sends no more: it waits for its end. */
const MOST_RETRIED = 500;

const idIn = (fields: URLSearchParams): string => fields.get('id') ?? '';

const letterText = ({ alert, destination }: DeadDelivery): string =>
  `${nameText(alert.protocol)}, ${alert.type}, to ${targetName(destination ?? NO_DESTINATION)}`;

/** The log of the commands, with where it was done, and by whom as far as that is known. */
const createRecord =
  ({ operatorLog }: PageActionsDependencies) =>
  (action: OperatorAction, user: string | undefined): Promise<void> =>
    operatorLog.record({ ...action, by: 'page', ...(user === undefined ? {} : { user: cleanLine(user) }) });

const createDeadActions = (dependencies: PageActionsDependencies) => {
  const { dead, retry, drop } = dependencies;
  const record = createRecord(dependencies);

  const find = async (id: string): Promise<DeadDelivery> => {
    const [letter] = await dead.get([id]);
    if (letter === undefined)
      throw new UsageError('this dead delivery is no longer kept: it was sent again, or dropped');
    return letter;
  };

  const again = async (letters: readonly DeadDelivery[], user: string | undefined): Promise<string> => {
    const { kinds: _kinds, refused, ...result } = await retry(letters);
    await record({ action: 'dead-retried', ...result, refused: refused.length }, user);
    const { sent, held, waiting, delivered } = result;
    return [
      `${counted(sent, 'delivery is', 'deliveries are')} sent again.`,
      ...(held === 0 ? [] : [`${held} held until their destination is approved.`]),
      ...(waiting === 0 ? [] : [`${waiting} waiting already.`]),
      ...(delivered === 0 ? [] : [`${delivered} delivered meanwhile.`]),
      ...refused.slice(0, 3).map(({ problem }) => `One stays dead: ${problem}.`),
    ].join(' ');
  };

  return {
    retry: async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const shared = { label: 'Send again' };
      if (idIn(fields) === 'all') {
        const count = Math.min(MOST_RETRIED, await dead.count());
        if (count === 0) throw new UsageError('no dead delivery is kept');
        const text = `${counted(count, 'message goes', 'messages go')} to people or programs, those that died last first. One press sends ${MOST_RETRIED} at most.`;
        const run = async () => ({ text: await again(await dead.latest(MOST_RETRIED), user) });
        return { ...shared, question: `Send ${counted(count, 'dead delivery', 'dead deliveries')} again?`, text, run };
      }
      const letter = await find(idIn(fields));
      const run = async () => ({ text: await again([letter], user), alert: letter.alert.id });
      return { ...shared, question: 'Send this delivery again?', text: `${letterText(letter)}.`, run };
    },
    drop: async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const letter = await find(idIn(fields));
      const run = async () => {
        const dropped = await drop([letter]);
        await record({ action: 'dead-dropped', dropped }, user);
        return { text: dropped === 0 ? 'It is being sent again, and stays.' : 'It is dropped.' };
      };
      const text = `${letterText(letter)}. It will not be sent any more.`;
      return { question: 'Drop this delivery?', text, label: 'Drop', isFinal: true, run };
    },
  };
};

const textIn = (fields: URLSearchParams, name: string): string | undefined => fields.get(name)?.trim() || undefined;

const createMuteActions = (dependencies: PageActionsDependencies) => {
  const { config, mutes, now } = dependencies;
  const activeMutes = createActiveMutes({ config, mutes, now });
  const record = createRecord(dependencies);

  const scopeIn = (fields: URLSearchParams) => {
    const scope = ['protocol', 'detector', 'destination'].map((name) => [name, textIn(fields, name)] as const);
    return Object.fromEntries(scope.filter(([, value]) => value !== undefined));
  };

  return {
    mute: async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const words = { for: textIn(fields, 'for') ?? '', reason: textIn(fields, 'reason') ?? '' };
      const author = user ?? textIn(fields, 'author') ?? 'the status page';
      if (words.reason === '') throw new UsageError('say why');
      const mute = newMute({ ...scopeIn(fields), ...words, author }, config.mutes, now());
      const run = async () => {
        await mutes.add(mute);
        await record({ action: 'mute-begun', ...muteFacts(mute) }, user);
        return { text: `Muted: ${scopeText(mute)}, until ${clockText(mute.until)}.` };
      };
      return { question: 'Mute?', text: scopeText(mute), label: 'Mute', isAsked: true, run };
    },
    'mute-end': async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const mute = (await activeMutes.states()).active.find(({ id }) => id === idIn(fields));
      if (mute === undefined) throw new UsageError('this mute is over already');
      const run = async () => {
        await mutes.end(mute.id, now());
        await record({ action: 'mute-ended', ...muteFacts(mute) }, user);
        return { text: 'The mute is over.' };
      };
      const report =
        mute.hid === 0 ? 'It hid nothing.' : `People get a report of the alerts that it hid: ${mute.hid} so far.`;
      return { question: 'End this mute?', text: `${scopeText(mute)}. ${report}`, label: 'End the mute', run };
    },
  };
};

const createKnownActions = (dependencies: PageActionsDependencies) => {
  const { conditions, knownRemarks, now } = dependencies;
  const record = createRecord(dependencies);
  return {
    known: async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const one = (await conditions()).find((each) => remarkId(each) === idIn(fields));
      if (one === undefined) throw new UsageError('this remark is gone, or says something else now');
      const author = user ?? textIn(fields, 'author') ?? 'the status page';
      const run = async () => {
        const words = { reason: textIn(fields, 'reason') ?? '', until: textIn(fields, 'until') ?? '' };
        const known = newKnown(one, { ...words, author }, now());
        await knownRemarks.add(known);
        await record({ action: 'remark-known', ...knownFacts(known) }, user);
        return { text: `It is known until ${clockText(known.until)}, and counts no more until then.` };
      };
      const asked = [
        { name: 'reason', label: 'Why it may stay so', longest: 300 },
        { name: 'until', label: 'Until when: 30d, or a date like 2026-12-31', value: KNOWN_FOR.usual, longest: 40 },
        { name: 'author', label: 'Who you are', longest: 100, isOptional: true },
      ];
      return {
        ...{ question: 'Mark this remark as known?', text: one.what, label: 'Mark as known', run },
        fields: user === undefined ? asked : asked.slice(0, 2),
      };
    },
    'known-end': async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const known = (await knownRemarks.list()).find(({ id }) => id === idIn(fields));
      if (known === undefined) throw new UsageError('this remark is not marked as known any more');
      const run = async () => {
        await knownRemarks.end(known.id);
        await record({ action: 'remark-counted', ...knownFacts(known) }, user);
        return { text: 'It counts again.' };
      };
      return { question: 'Let this remark count again?', text: known.what, label: 'Let it count again', run };
    },
  };
};

const factsOf = ({ id, label }: Pick<KnownDestination, 'id' | 'label'>) => ({ destination: id, to: label });

const createDestinationActions = (dependencies: PageActionsDependencies) => {
  const { config, approval, destinations, ledger, queues, now } = dependencies;
  const record = createRecord(dependencies);

  const test = async (fields: URLSearchParams, user?: string): Promise<Planned> => {
    const destination = destinations().find(({ id }) => id === idIn(fields));
    if (destination === undefined) throw new UsageError('no protocol leads to this destination now');
    const run = async () => {
      const alert = sampleAlert(config.services[0]?.name ?? 'test', 'Sample protocol', `test-${randomUUID()}`, now());
      const parcel = { destination, alerts: [alert] };
      await ledger.recordWaiting([parcel]);
      await queues.enqueue([parcel]);
      await record({ action: 'test-sent', ...factsOf(destination) }, user);
      return { text: `A test to ${nameOf(destination)} is queued.`, alert: alert.id };
    };
    const text = `${nameOf(destination)} gets a sample that is marked as a test.`;
    return { question: 'Send a test?', text, label: 'Send the test', run };
  };

  return {
    test,
    approve: async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const one = await approval.find(idIn(fields));
      const run = async () => {
        const [sent = 0] = await approval.approve([one]);
        if (one.state !== 'approved') await record({ action: 'destination-approved', ...factsOf(one), sent }, user);
        return { text: `${nameOf(one)} is approved; ${counted(sent, 'held alert is', 'held alerts are')} sent.` };
      };
      const led =
        one.protocols.length === 0 ? '' : ` Alerts of ${one.protocols.slice(0, 5).map(nameText).join(', ')} go there.`;
      const text = `${nameOf(one)}.${led} ${counted(one.waiting, 'alert is held and', 'alerts are held and')} will be sent.`;
      return { question: 'Approve this destination?', text, label: 'Approve and send', run };
    },
    revoke: async (fields: URLSearchParams, user?: string): Promise<Planned> => {
      const one = await approval.find(idIn(fields));
      if (one.state === 'config' || one.state === 'allowed') {
        throw new UsageError(`the config itself allows ${nameOf(one)}: change that there`);
      }
      const run = async () => {
        const isNew = await approval.revoke(one);
        if (isNew) await record({ action: 'destination-revoked', ...factsOf(one) }, user);
        return { text: isNew ? `${nameOf(one)} is revoked.` : `${nameOf(one)} was revoked before.` };
      };
      const text = `${nameOf(one)} gets nothing until somebody approves it. Alerts for it are held.`;
      return { question: 'Revoke this destination?', text, label: 'Revoke', run };
    },
  };
};

export const createPageActions = (dependencies: PageActionsDependencies): PageActions => ({
  ...createDeadActions(dependencies),
  ...createMuteActions(dependencies),
  ...createKnownActions(dependencies),
  ...createDestinationActions(dependencies),
});
