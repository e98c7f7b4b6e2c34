/** `tocsin test`: a marked sample through the real queue, and what became of it. */

import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Alert, Destination } from '../alert.ts';
import { openTestCommand, type TestCommand } from '../app/test-command.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { createInterpolate, type Environment, withEnvFile } from '../config/variables.ts';
import { UsageError } from '../errors.ts';
import { withName } from '../features/names/names.ts';
import { testAlert } from '../features/sample/sample.ts';
import type { DeliveryRecord } from '../ledger/ledger.ts';
import { nameOf, targetOf } from '../ledger/record.ts';
import { cleanLine } from '../text.ts';
import { durationText } from '../time.ts';
import { type Action, answer, type CommandContext, type CommonOptions, EXIT } from './context.ts';
import { durationOf, kindOf } from './options.ts';

/** An argument that is a variable of the config, such as `${WEBHOOK_URL}`: its value shows in no list of processes. */
const VARIABLE = /^\$\{[A-Za-z_]\w*\}$/;

/** The variable's value, from the environment or the file beside `config`; any other text as it is. Throws a `UsageError`. */
const withVariable = (text: string, option: string, config: string, env: Environment): string => {
  if (!VARIABLE.test(text)) return text;
  const { environment, hint } = withEnvFile(config, env);
  const { text: value, problems } = createInterpolate(environment, dirname(config), { hint })(text);
  if (problems.length > 0) throw new UsageError(`${option} ${problems.join('; ')}`);
  return value;
};

interface TestOptions extends CommonOptions {
  protocol?: string;
  channel?: string;
  to?: string;
  timeout: string;
}

interface Outcome {
  destination: string;
  /** Kind and label. */
  to: string;
  /** The same with what its provider calls it; not for scripts. */
  shown: string;
  /** `cancelled`: it did not end in time, and is not tried any more. */
  state: DeliveryRecord['state'] | 'cancelled';
  /** From queueing to the provider's receipt. */
  latencyMs?: number;
  providerId?: string;
  error?: string;
  /** Why alerts are not sent there now, although this sample was: muted, or not approved. */
  withheld?: string;
}

interface Sent {
  alert: Alert['id'];
  outcomes: Outcome[];
  /** Why what had not ended was cancelled; absent where all had. */
  cancelled?: string;
}

/** Throws a `UsageError`. */
const checkGoal = ({ protocol, channel, to }: TestOptions): void => {
  if (channel !== undefined && to !== undefined && protocol === undefined) kindOf(channel);
  else if (protocol === undefined || channel !== undefined || to !== undefined) {
    throw new UsageError('name either --protocol NAME, or --channel KIND together with --to ADDRESS');
  }
};

const destinationsOf = async (
  { protocol = '', channel, to = '' }: TestOptions,
  command: TestCommand,
  warn: CommandContext['warn'],
): Promise<Destination[]> => {
  if (channel !== undefined) return command.address(kindOf(channel), to);
  const { destinations, problems } = await command.protocol(protocol);
  for (const problem of problems) warn(`not sent: ${cleanLine(problem)}\n`);
  return destinations;
};

/** Says each destination's first failure at once: until the time is over, nothing else would say why nothing comes. */
const createFailureTeller = (warn: CommandContext['warn'], timeoutMs: number): ((record: DeliveryRecord) => void) => {
  const said = new Set<string>();
  return ({ destination, state, attempts }) => {
    const { id } = destination;
    const why = attempts.at(-1)?.message;
    if (state !== 'waiting' || why === undefined || said.has(id)) return;
    said.add(id);
    warn(`${nameOf(destination)}: ${cleanLine(why)}; trying again, ${durationText(timeoutMs)} in all\n`);
  };
};

const outcomeOf = (record: DeliveryRecord, queuedAt: number, withheld?: string): Outcome => {
  const { destination, state, providerId, attempts } = record;
  const error = state === 'delivered' ? undefined : attempts.at(-1)?.message;
  return {
    destination: destination.id,
    to: nameOf(targetOf(destination)),
    shown: nameOf(destination),
    state,
    ...(state === 'delivered' ? { latencyMs: Date.parse(record.at) - queuedAt } : {}),
    ...(providerId === undefined ? {} : { providerId }),
    ...(error === undefined ? {} : { error }),
    ...(withheld === undefined ? {} : { withheld }),
  };
};

/** One of its attempts is the cancellation; the last of the others, perhaps of the same moment, says why it had not ended. */
const cancelledOf = (record: DeliveryRecord, queuedAt: number): Outcome => {
  const attempts = record.attempts.filter(({ reason }) => reason !== 'cancelled');
  return { ...outcomeOf({ ...record, attempts }, queuedAt), state: 'cancelled' };
};

const hasEnded = ({ state }: DeliveryRecord): boolean => state !== 'waiting';

const stateText = ({ state, latencyMs, providerId, error }: Outcome): string => {
  if (state !== 'delivered') return `${state}${error === undefined ? '' : `: ${error}`}`;
  return `delivered in ${latencyMs} ms${providerId === undefined ? '' : `, message id ${providerId}`}`;
};

const sentText = ({ alert, outcomes, cancelled }: Sent): string => {
  const lines = outcomes.map((outcome) => {
    const { shown, withheld } = outcome;
    return cleanLine(`${shown}: ${stateText(outcome)}${withheld === undefined ? '' : `; but ${withheld}`}`);
  });
  const rest = `${cancelled}, so the test was cancelled and is not sent any more: tocsin trace ${alert}`;
  return [...lines, ...(cancelled === undefined ? [] : [rest]), ''].join('\n');
};

/** Sends and waits until every delivery has ended, or the time is over. */
const sendSample = async (
  options: TestOptions,
  timeoutMs: number,
  config: Config,
  command: TestCommand,
  { signal, warn }: Pick<CommandContext, 'signal' | 'warn'>,
): Promise<Sent> => {
  const destinations = await destinationsOf(options, command, warn);
  const alert = testAlert(config, options.protocol);
  const queuedAt = Date.now();
  const withheld = new Map(
    await Promise.all(destinations.map(async (one) => [one.id, await command.explainSuppression(alert, one)] as const)),
  );
  const parcels = destinations.map((destination) => ({ destination, alerts: [alert] }));
  const names = await command.names();
  const read = async (): Promise<DeliveryRecord[]> =>
    ((await command.read(alert.id))?.deliveries ?? []).map((one) => ({
      ...one,
      destination: withName(one.destination, names),
    }));
  const outcomesOf = (records: readonly DeliveryRecord[], cancelled: ReadonlySet<string>): Outcome[] =>
    records.map((record) => {
      const { id } = record.destination;
      return cancelled.has(id) ? cancelledOf(record, queuedAt) : outcomeOf(record, queuedAt, withheld.get(id));
    });
  const sayFailure = createFailureTeller(warn, timeoutMs);
  await command.send(parcels);
  for (;;) {
    const records = await read();
    records.forEach(sayFailure);
    if (records.length === destinations.length && records.every(hasEnded))
      return { alert: alert.id, outcomes: outcomesOf(records, new Set()) };
    if (signal.aborted || Date.now() - queuedAt > timeoutMs) {
      const cancelled = await command.cancel(parcels);
      const outcomes = outcomesOf(await read(), cancelled);
      const why = signal.aborted ? 'stopped' : `not all was delivered within ${durationText(timeoutMs)}`;
      return { alert: alert.id, outcomes, ...(cancelled.size === 0 ? {} : { cancelled: why }) };
    }
    await sleep(20);
  }
};

export const test: Action<TestOptions> = async (options, context) => {
  // Before anything is opened.
  checkGoal(options);
  const timeoutMs = durationOf(options.timeout, '--timeout', '60s');
  const config = await loadConfig(options.config, context.env);
  const to = options.to === undefined ? {} : { to: withVariable(options.to, '--to', options.config, context.env) };
  const command = await openTestCommand(config, context.signal);
  try {
    const sent = await sendSample({ ...options, ...to }, timeoutMs, config, command, context);
    const { outcomes } = sent;
    const plain = outcomes.map(({ shown: _shown, ...one }) => one);
    answer(context, options, plain, () => sentText(sent));
    if (outcomes.every(({ state }) => state === 'delivered')) return EXIT.done;
    return outcomes.some(({ state }) => state === 'dead') ? EXIT.mistake : EXIT.temporary;
  } finally {
    await command.close();
  }
};
