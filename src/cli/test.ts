/** `tocsin test`: a marked sample through the real queue, and what became of it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS, type ChannelKind, type Destination } from '../alert.ts';
import { parseDuration } from '../config/fields.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { DeliveryRecord } from '../deliver/ledger.ts';
import { sampleAlert } from '../dispatch/sample.ts';
import { UsageError } from '../errors.ts';
import { openBench, type TestBench } from '../wiring/bench.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';

interface TestOptions extends CommonOptions {
  protocol?: string;
  channel?: string;
  to?: string;
  timeout: string;
}

interface Outcome {
  destination: string;
  to: string;
  state: DeliveryRecord['state'];
  /** From queueing to the provider's receipt. */
  latencyMs?: number;
  providerId?: string;
  error?: string;
}

const kindOf = (name: string): ChannelKind => {
  const kind = CHANNEL_KINDS.find((known) => known === name);
  if (!kind) throw new UsageError(`--channel must be one of ${CHANNEL_KINDS.join(', ')} (got '${name}')`);
  return kind;
};

const destinationsOf = async ({ protocol, channel, to }: TestOptions, bench: TestBench): Promise<Destination[]> => {
  if (channel !== undefined && to !== undefined && protocol === undefined) return bench.address(kindOf(channel), to);
  if (protocol !== undefined && channel === undefined && to === undefined) return bench.protocol(protocol);
  throw new UsageError('name either --protocol NAME, or --channel KIND together with --to ADDRESS');
};

const outcomeOf = (record: DeliveryRecord, queuedAt: number): Outcome => {
  const { destination, state, providerId, attempts } = record;
  const error = state === 'delivered' ? undefined : attempts.at(-1)?.message;
  return {
    destination: destination.id,
    to: `${destination.kind} ${destination.label}`,
    state,
    ...(state === 'delivered' ? { latencyMs: Date.parse(record.at) - queuedAt } : {}),
    ...(providerId === undefined ? {} : { providerId }),
    ...(error === undefined ? {} : { error }),
  };
};

const lineOf = ({ to, state, latencyMs, providerId, error }: Outcome): string => {
  if (state !== 'delivered') return `${to}: ${state}${error === undefined ? '' : `: ${error}`}`;
  return `${to}: delivered in ${latencyMs} ms${providerId === undefined ? '' : `, message id ${providerId}`}`;
};

/** Sends and waits until every delivery has ended, or the time is over. */
const sendSample = async (
  options: TestOptions,
  config: Config,
  bench: TestBench,
  signal: AbortSignal,
): Promise<Outcome[]> => {
  const timeoutMs = parseDuration(options.timeout);
  if (timeoutMs === undefined) throw new UsageError(`--timeout must be a duration like 60s (got '${options.timeout}')`);
  const destinations = await destinationsOf(options, bench);
  const service = config.services[0]?.name ?? 'test';
  const alert = sampleAlert(service, options.protocol ?? 'Sample protocol', `test-${randomUUID()}`, Date.now());
  const queuedAt = Date.now();
  await bench.send(destinations.map((destination) => ({ destination, alerts: [alert] })));
  for (;;) {
    const records = (await bench.read(alert.id))?.deliveries ?? [];
    const ended = records.length === destinations.length && records.every(({ state }) => state !== 'waiting');
    if (ended || signal.aborted || Date.now() - queuedAt > timeoutMs) {
      return records.map((record) => outcomeOf(record, queuedAt));
    }
    await sleep(20);
  }
};

export const test = async (options: TestOptions, context: CommandContext): Promise<ExitCode> => {
  const config = await loadConfig(options.config, context.env);
  const bench = await openBench(config, context.signal);
  try {
    const outcomes = await sendSample(options, config, bench, context.signal);
    if (options.json === true) writeJson(context, outcomes);
    else context.write(outcomes.map((outcome) => `${lineOf(outcome)}\n`).join(''));
    if (outcomes.every(({ state }) => state === 'delivered')) return EXIT.done;
    return outcomes.some(({ state }) => state === 'dead') ? EXIT.mistake : EXIT.temporary;
  } finally {
    await bench.close();
  }
};
