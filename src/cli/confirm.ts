/** Asks before something that cannot be taken back. */
import { UsageError } from '../errors.ts';
import type { CommandContext } from './context.ts';

/**
 * Resolves where `yes` was given or a person at the terminal says so; throws a `UsageError` otherwise. `deed` goes on
 * from "this": `drops 12 deliveries`.
 */
export const confirm = async (
  { ask }: Pick<CommandContext, 'ask'>,
  deed: string,
  yes: boolean | undefined,
): Promise<void> => {
  if (yes === true) return;
  if (ask === undefined) throw new UsageError(`this ${deed}: say --yes to do it`);
  const answer = await ask(`This ${deed}. Go on? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new UsageError('nothing was done');
};
