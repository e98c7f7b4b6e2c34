/** What people decided by commands, which write to Redis alone, comes into the log: mutes, approvals, revocations. */
import type { Logger } from 'pino';
import type { Store } from '../../app/store.ts';
import { scopeText } from '../../ops/wording.ts';

interface Decision {
  /** The same for the same decision, however often it is read. */
  key: string;
  message: string;
  fields: object;
}

/** Gives what logs every decision that was not there when it was last called; the first call logs nothing. */
export const createDecisionLog = ({ mutes, held }: Pick<Store, 'mutes' | 'held'>, log: Pick<Logger, 'info'>) => {
  const ofMutes = async (): Promise<Decision[]> =>
    (await mutes.list()).flatMap((mute) => {
      const { id, reason, until, endedAt } = mute;
      const fields = { mute: id, what: scopeText(mute), reason, until };
      return [
        { key: id, message: 'a mute has begun', fields },
        ...(endedAt === undefined ? [] : [{ key: `${id} ended`, message: 'a mute was ended by hand', fields }]),
      ];
    });

  const ofDestinations = async (): Promise<Decision[]> => {
    const [approvals, revocations] = await Promise.all([held.approvals(), held.revocations()]);
    const decided = [
      ...approvals.map((one) => ({ ...one, message: 'a destination was approved' })),
      ...revocations.map((one) => ({ ...one, message: 'a destination was revoked' })),
    ];
    return decided.map(({ message, at, id, label }) => ({
      key: `${message} ${id} ${at}`,
      message,
      fields: { destination: id, to: label, at },
    }));
  };

  let known: ReadonlySet<string> | undefined;

  return async (): Promise<void> => {
    const decisions = [...(await ofMutes()), ...(await ofDestinations())];
    const before = known;
    known = new Set(decisions.map(({ key }) => key));
    if (before === undefined) return;
    for (const { key, message, fields } of decisions) if (!before.has(key)) log.info(fields, message);
  };
};
