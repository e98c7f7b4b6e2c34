/** What a demo shows besides its traffic, on a protocol of its own: a storm, and a channel that breaks and is mended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReceivedEvent, SandboxEvent } from '../sandbox/events.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

export const STAGE = 'Demo Stage';
const CHANNEL = 'C0DEMOSTAGE';
/** Where alerts go that nobody has accepted. */
export const FALLBACK = 'oncall@example.com';
export const FALLBACK_AFTER_MS = 5000;

const STORM = 12;
/** After the start of the traffic. */
const SCENES_MS = { storm: 6000, breaks: 15_000, mends: 25_000 };
/** Other answers than these leave the channel in use: it is tried again. */
const OUT_OF_ORDER = { kind: 'answer', status: 503 } as const;

/** Before the daemon starts, so that it knows the protocol from its first listing. */
export const addStage = ({ service }: Sandbox, apiKey: string): void => {
  service.addProtocol(apiKey, { name: STAGE, channels: [{ name: 'slack', contacts: [CHANNEL] }] });
};

/** Whether an event belongs to the scenes, and not to the traffic that is counted. */
export const isOnStage = (event: SandboxEvent): boolean =>
  event.type === 'produced' ? event.protocol === STAGE : [CHANNEL, FALLBACK].includes(event.destination);

/** Resolves when all were played, or at the end. `tell` gets a sentence for each. */
export const playScenes = async (
  { service, receivers }: Sandbox,
  tell: (text: string) => void,
  signal: AbortSignal,
  times = SCENES_MS,
): Promise<void> => {
  const begun = performance.now();
  const wait = (atMs: number): Promise<void> =>
    sleep(Math.max(0, begun + atMs - performance.now()), undefined, { signal });
  const critical = (): void => void service.insertInspection({ protocol: STAGE, assessment: 'critical' });
  try {
    await wait(times.storm);
    tell(`a storm: ${STORM} criticals at once in '${STAGE}'. People get one digest that names each of them`);
    for (let count = 0; count < STORM; count += 1) critical();
    await wait(times.breaks);
    const mend = receivers.slack.script.always(OUT_OF_ORDER, { destination: CHANNEL });
    tell(`Slack channel ${CHANNEL} breaks: it answers 503. The next alert for it goes to the fallback, ${FALLBACK}`);
    critical();
    await wait(times.mends);
    mend();
    tell(`Slack channel ${CHANNEL} is mended: what waited for it is delivered, late but once`);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};

/** What a message on the stage is, for its line. */
export const sceneOf = ({ destination, txHashes }: ReceivedEvent): string => {
  if (destination === FALLBACK) return txHashes.length === 0 ? 'announced' : 'fallback';
  return txHashes.length > 1 ? `a digest of ${txHashes.length}` : 'delivered';
};
