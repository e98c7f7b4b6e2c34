/** The options of `inspections list` and `inspections stats` as a query, checked before anything is asked. */
import { UsageError } from '../errors.ts';
import type { InspectionQuery } from '../service/queries.ts';
import { ASSESSMENTS, type Assessment, readAssessment } from '../service/wire.ts';
import { parseMoment } from './moment.ts';

export interface PeriodOptions {
  since?: string;
  until?: string;
  sort?: string;
}

export interface InspectionOptions extends PeriodOptions {
  protocol: string;
  chain?: string;
  contract?: string;
  id?: string[];
  hash?: string;
  origin?: string;
  status?: string;
  detected?: string[];
}

const check = (option: string, text: string | undefined, form: RegExp, rule: string): string | undefined => {
  if (text === undefined || form.test(text)) return text;
  throw new UsageError(`${option} must be ${rule} (got '${text}')`);
};

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const ADDRESS_RULE = 'an address: 0x and 40 hex digits';

const assessmentOf = (text: string | undefined): Assessment | undefined => {
  if (text === undefined) return undefined;
  const read = readAssessment(text);
  const found = ASSESSMENTS.find((known) => known === read);
  if (found === undefined) throw new UsageError(`--status must be one of ${ASSESSMENTS.join(', ')} (got '${text}')`);
  return found;
};

const sortOf = (text: string | undefined): 'asc' | 'dsc' | undefined => {
  if (text === undefined || text === 'asc' || text === 'dsc') return text;
  throw new UsageError(`--sort must be asc or dsc (got '${text}')`);
};

const named = (option: string, texts: readonly string[] | undefined): readonly string[] | undefined => {
  if (texts?.some((text) => text.trim() === '')) throw new UsageError(`${option} is empty`);
  return texts;
};

/** Both ends are exclusive, as the service has it. */
export const periodOf = ({ since, until, sort }: PeriodOptions, now: number) => {
  const startDate = since === undefined ? undefined : parseMoment(since, '--since', now);
  const endDate = until === undefined ? undefined : parseMoment(until, '--until', now);
  if (startDate !== undefined && endDate !== undefined && startDate >= endDate)
    throw new UsageError('--since must be before --until');
  return { startDate, endDate, sort: sortOf(sort) };
};

/** Throws a `UsageError` for what the service could not be asked. */
export const inspectionQuery = (options: InspectionOptions, now: number): InspectionQuery => {
  const { protocol, chain, contract, id, hash, origin, status, detected } = options;
  if (contract !== undefined && chain === undefined) throw new UsageError('--contract needs --chain beside it');
  return {
    protocol,
    chainId: check('--chain', chain, /^[1-9]\d{0,19}$/, 'a chain id in decimal digits'),
    contractAddress: check('--contract', contract, ADDRESS, ADDRESS_RULE),
    id: named('--id', id),
    hash: check('--hash', hash, /^0x[0-9a-f]{64}$/i, 'a transaction hash: 0x and 64 hex digits'),
    origin: check('--origin', origin, ADDRESS, ADDRESS_RULE),
    status: assessmentOf(status),
    detected: named('--detected', detected),
    ...periodOf(options, now),
  };
};
