/** `tocsin test`: a marked sample through the real queue, and what became of it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination } from '../alert.ts';
import { openTestCommand, type TestCommand } from '../app/test-command.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import { sampleAlert } from '../features/sample/alert.ts';
import type { DeliveryRecord } from '../ledger/ledger.ts';
import { parseDuration } from '../schema/fields.ts';
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
  /** Why alerts are not sent there now, although this sample was: muted, or not approved. */
  withheld?: string;
}

interface Sent {
  /** The sample's id. */
  alert: Alert['id'];
  outcomes: Outcome[];
  /** A running daemon keeps trying the deliveries that are still waiting. */
  isTried: boolean;
}

const kindOf = (name: string): ChannelKind => {
  const kind = CHANNEL_KINDS.find((known) => known === name);
  if (!kind) throw new UsageError(`--channel must be one of ${CHANNEL_KINDS.join(', ')} (got '${name}')`);
  return kind;
};

const destinationsOf = async ({ protocol, channel, to }: TestOptions, command: TestCommand): Promise<Destination[]> => {
  if (channel !== undefined && to !== undefined && protocol === undefined) return command.address(kindOf(channel), to);
  if (protocol !== undefined && channel === undefined && to === undefined) return command.protocol(protocol);
  throw new UsageError('name either --protocol NAME, or --channel KIND together with --to ADDRESS');
};

const outcomeOf = (record: DeliveryRecord, queuedAt: number, withheld: string | undefined): Outcome => {
  const { destination, state, providerId, attempts } = record;
  const error = state === 'delivered' ? undefined : attempts.at(-1)?.message;
  return {
    destination: destination.id,
    to: `${destination.kind} ${destination.label}`,
    state,
    ...(state === 'delivered' ? { latencyMs: Date.parse(record.at) - queuedAt } : {}),
    ...(providerId === undefined ? {} : { providerId }),
    ...(error === undefined ? {} : { error }),
    ...(withheld === undefined ? {} : { withheld }),
  };
};

const stateText = ({ state, latencyMs, providerId, error }: Outcome): string => {
  if (state !== 'delivered') return `${state}${error === undefined ? '' : `: ${error}`}`;
  return `delivered in ${latencyMs} ms${providerId === undefined ? '' : `, message id ${providerId}`}`;
};

const sentText = ({ alert, outcomes, isTried }: Sent): string => {
  const lines = outcomes.map((outcome) => {
    const { to, withheld } = outcome;
    return `${to}: ${stateText(outcome)}${withheld === undefined ? '' : `; but ${withheld}`}`;
  });
  const isWaiting = outcomes.some(({ state }) => state === 'waiting');
  const rest = isTried ? 'the daemon keeps trying' : 'no daemon runs: the next one will try again';
  return [...lines, ...(isWaiting ? [`${rest}: tocsin trace ${alert}`] : []), ''].join('\n');
};

/** Sends and waits until every delivery has ended, or the time is over. */
const sendSample = async (
  options: TestOptions,
  config: Config,
  command: TestCommand,
  signal: AbortSignal,
): Promise<Sent> => {
  const timeoutMs = parseDuration(options.timeout);
  if (timeoutMs === undefined) throw new UsageError(`--timeout must be a duration like 60s (got '${options.timeout}')`);
  const destinations = await destinationsOf(options, command);
  const service = config.services[0]?.name ?? 'test';
  const alert = sampleAlert(service, options.protocol ?? 'Sample protocol', `test-${randomUUID()}`, Date.now());
  const queuedAt = Date.now();
  const withheld = new Map(
    await Promise.all(destinations.map(async (one) => [one.id, await command.explainSuppression(alert, one)] as const)),
  );
  const isTried = await command.send(destinations.map((destination) => ({ destination, alerts: [alert] })));
  for (;;) {
    const records = (await command.read(alert.id))?.deliveries ?? [];
    const ended = records.length === destinations.length && records.every(({ state }) => state !== 'waiting');
    if (ended || signal.aborted || Date.now() - queuedAt > timeoutMs) {
      const outcomes = records.map((record) => outcomeOf(record, queuedAt, withheld.get(record.destination.id)));
      return { alert: alert.id, outcomes, isTried };
    }
    await sleep(20);
  }
};

export const test = async (options: TestOptions, context: CommandContext): Promise<ExitCode> => {
  const config = await loadConfig(options.config, context.env);
  const command = await openTestCommand(config, context.signal);
  try {
    const sent = await sendSample(options, config, command, context.signal);
    const { outcomes } = sent;
    if (options.json === true) writeJson(context, outcomes);
    else context.write(sentText(sent));
    if (outcomes.every(({ state }) => state === 'delivered')) return EXIT.done;
    return outcomes.some(({ state }) => state === 'dead') ? EXIT.mistake : EXIT.temporary;
  } finally {
    await command.close();
  }
};
