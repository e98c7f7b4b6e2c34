/** The second button: mutes the detectors that fired, for the protocol of the message, within the rules of the config. */

import { UsageError } from '../../errors.ts';
import type { OperatorLog } from '../../ledger/operator-log.ts';
import { type Mute, muteFacts, scopeText } from '../../mute.ts';
import { formatDuration } from '../../schema/fields.ts';
import { clockText } from '../../time.ts';
import { type MuteRules, newMute } from '../mutes/new-mute.ts';
import type { Person } from './acknowledge.ts';
import { muteLengthOf } from './annotation.ts';
import type { ButtonMessage } from './store.ts';
import { whoText } from './words.ts';

export interface MuteDependencies {
  rules: MuteRules;
  mutes: { add(mute: Mute): Promise<unknown> };
  /** Those that hold now. */
  activeMutes(): Promise<readonly Mute[]>;
  operatorLog: Pick<OperatorLog, 'record'>;
  now(): number;
}

/** What a press would mute, in a sentence; nothing is muted before `begin`. */
export type PlannedMute =
  | { text: string; outcome: 'muted' | 'muted before'; begin(): Promise<void>; refused?: undefined }
  | { refused: string };

export type MuteFromButton = (message: ButtonMessage, by: Person) => Promise<PlannedMute>;

const REASON = 'from a button';

const NOTHING = 'No detector fired that could be muted from here.';

const sameScope = (one: Mute, other: Mute): boolean => scopeText(one) === scopeText(other);

const mutedText = (fresh: readonly Mute[], until: string, others: number): string => {
  const rest = others === 0 ? '' : ' The rest was muted already.';
  return `Muted until ${clockText(until)}: ${fresh.map(scopeText).join(' | ')}.${rest}`;
};

/** Plans a mute of the detectors of a message, for `muteLengthOf(rules)`. Rejects where Redis fails. */
export const createMuteFromButton = ({
  rules,
  mutes,
  activeMutes,
  operatorLog,
  now,
}: MuteDependencies): MuteFromButton => {
  const length = formatDuration(muteLengthOf(rules));

  const begin = async (fresh: readonly Mute[]): Promise<void> => {
    for (const mute of fresh) {
      await mutes.add(mute);
      await operatorLog.record({ action: 'mute-begun', by: 'button', ...muteFacts(mute) });
    }
  };

  return async ({ detectors = [] }, { name, userId }) => {
    if (detectors.length === 0) return { refused: NOTHING };
    const author = whoText({ by: name, userId });
    let wanted: Mute[];
    try {
      wanted = detectors.map(([protocol, names]) =>
        newMute({ names: { protocol, detectors: names }, reason: REASON, author, for: length }, rules, now()),
      );
    } catch (error) {
      if (error instanceof UsageError) return { refused: `That is not muted: ${error.message}.` };
      throw error;
    }
    const active = await activeMutes();
    const fresh = wanted.filter((one) => !active.some((other) => sameScope(one, other)));
    const [first] = fresh;
    if (first !== undefined) {
      const text = mutedText(fresh, first.until, wanted.length - fresh.length);
      return { text, outcome: 'muted', begin: () => begin(fresh) };
    }
    const until = active.find((other) => wanted.some((one) => sameScope(one, other)))?.until;
    const text = `That is muted already${until === undefined ? '' : `, until ${clockText(until)}`}.`;
    return { text, outcome: 'muted before', begin: async () => {} };
  };
};
