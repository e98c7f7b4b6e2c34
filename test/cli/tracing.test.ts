/** With an endpoint named, the traces of alerts go to a real collector, and nothing else does unless it is asked for. */
import { expect, test } from 'vitest';
import { build } from '../../src/version.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { startDaemonProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startWorldFor } from './config-file.ts';

const ONCALL = 'oncall@example.com';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string } }[];
  links?: { spanId: string }[];
}

interface Export {
  resourceSpans: { resource: { attributes: Span['attributes'] }; scopeSpans: { spans: Span[] }[] }[];
}

const spansIn = (bodies: readonly string[]): Span[] =>
  bodies
    .map((body) => JSON.parse(body) as Export)
    .flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );

const textOf = ({ attributes }: Pick<Span, 'attributes'>, name: string): string | undefined =>
  attributes.find(({ key }) => key === name)?.value.stringValue;

/** A world with a collector. Its daemons send what is left when they end. */
const startTracedWorld = async (onFinished: (stop: () => Promise<void>) => void) => {
  const collector = await startHttpReceiver(() => ({ status: 200, body: '{}' }));
  onFinished(() => collector.close());
  const { world, file, environment } = await startWorldFor({
    ...{ onFinished, names: ['Vault'], kinds: ['slack', 'email'] },
    config: {
      alerts: { acknowledge: true },
      channels: { slack: { appToken: 'xapp-sandbox' } },
      fallback: { after: '1s', until: 'acknowledged', channels: [{ name: 'email', contacts: [ONCALL] }] },
    },
  });
  const start = (more: Record<string, string> = {}) =>
    startDaemonProgram(file, { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin, ...more }, onFinished);
  const bodies = () => collector.accepted.filter(({ path }) => path === '/v1/traces').map(({ body }) => body);
  return { world, start, bodies };
};

test('all that is traced is alerts, each as one trace, from its read to its acknowledgement', {
  timeout: 90_000,
}, async ({ onTestFinished }) => {
  const { world, start, bodies } = await startTracedWorld(onTestFinished);
  const daemon = await start();
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  const { slack, smtp } = world.sandbox.receivers;
  await until('presses can arrive', () => slack.sockets.count() === 1);
  world.critical('Vault');
  await world.delivered();
  await until('the fallback has it', () => smtp.received().some(({ destination }) => destination === ONCALL));
  const [{ destination: channel = '', id: ts = '' } = {}] = slack.received();
  await slack.press({ channel, ts, action: 'acknowledge' });
  await until('it is acknowledged', () => daemon.log('a press was accepted').length > 0);
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);

  const spans = spansIn(bodies());
  const [root] = spans.filter(({ name }) => name === 'read inspection.critical');
  expect(root?.parentSpanId ?? '').toBe('');
  const own = spans.filter(({ traceId }) => traceId === root?.traceId);
  const below = own.filter((span) => span !== root);
  expect(new Set(below.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root?.spanId]));
  const attempts = below.filter(({ name }) => name.startsWith('deliver '));
  expect(attempts.map(({ name }) => name).toSorted()).toEqual(['deliver email', 'deliver email', 'deliver slack']);
  expect(attempts.map((span) => textOf(span, 'tocsin.outcome'))).toEqual(attempts.map(() => 'delivered'));
  expect(attempts.some((span) => (textOf(span, 'messaging.message.id') ?? '') !== '')).toBe(true);
  const [fallback] = below.filter(({ name }) => name === 'fallback');
  expect(textOf(fallback ?? { attributes: [] }, 'tocsin.reason')).toBe('unacknowledged');
  const [acknowledged] = below.filter(({ name }) => name === 'acknowledge');
  expect(textOf(acknowledged ?? { attributes: [] }, 'tocsin.channel')).toBe('slack');
  expect(below).toHaveLength(attempts.length + 2);
  // Others are alerts, too: news of ours, as to a mailbox that somebody has acknowledged.
  for (const { name } of spans) expect(name).toMatch(/^(read|deliver) |^(fallback|acknowledge)$/);
  for (const traceId of new Set(spans.map((span) => span.traceId))) {
    expect(spans.some((span) => span.traceId === traceId && (span.parentSpanId ?? '') === '')).toBe(true);
  }
  expect(daemon.log('delivered')[0]).toMatchObject({ traces: [root?.traceId] });
  const { resourceSpans } = JSON.parse(bodies()[0] ?? '{}') as Export;
  const resource = resourceSpans[0]?.resource ?? { attributes: [] };
  const said = ['service.name', 'service.version', 'vcs.ref.head.revision'].map((name) => textOf(resource, name));
  // The revision as the daemon found it: on a busy machine git may not answer in time.
  const [, revision = ''] = /^tocsin_build_info\{.*revision="([^"]*)"/m.exec(metrics) ?? [];
  expect(said).toEqual(['tocsin', build().version, revision === '' ? undefined : revision]);
});

test('the jobs of BullMQ are traced where that is asked for, and attempts link to theirs', {
  timeout: 90_000,
}, async ({ onTestFinished }) => {
  const { world, start, bodies } = await startTracedWorld(onTestFinished);
  const daemon = await start({ OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http, bullmq' });
  world.critical('Vault');
  await world.delivered();
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
  const spans = spansIn(bodies());
  const jobs = spans.filter(({ name }) => name === 'process deliver-slack').map(({ spanId }) => spanId);
  const [attempt] = spans.filter(({ name }) => name === 'deliver slack');
  expect(jobs).toEqual(expect.arrayContaining(attempt?.links?.map(({ spanId }) => spanId) ?? ['no links']));
});
