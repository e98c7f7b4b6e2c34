/** With an endpoint named, the trace of an alert goes from its read to the provider's id, to a real collector. */
import { expect, test } from 'vitest';
import { build } from '../../src/version.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { startDaemonProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startWorldFor } from './config-file.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string } }[];
  status: { code?: number };
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

test('an alert is one trace, and the log names it', { timeout: 90_000 }, async ({ onTestFinished }) => {
  const collector = await startHttpReceiver(() => ({ status: 200, body: '{}' }));
  onTestFinished(() => collector.close());
  const { world, file, environment } = await startWorldFor({ onFinished: onTestFinished, names: ['Vault'] });
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin, OTEL_BSP_SCHEDULE_DELAY: '100' };
  const daemon = await startDaemonProgram(file, { ...environment, ...tracing }, onTestFinished);
  world.critical('Vault');
  await world.delivered();
  const bodies = () => collector.accepted.filter(({ path }) => path === '/v1/traces').map(({ body }) => body);
  const spans = () => spansIn(bodies());
  const attempts = () => spans().filter(({ name }) => name.startsWith('deliver '));
  await until('the attempts are traced', () => attempts().length >= 4);
  const [root] = spans().filter(({ name }) => name === 'read inspection.critical');
  expect(root?.parentSpanId ?? '').toBe('');
  for (const span of attempts()) {
    expect(span).toMatchObject({ traceId: root?.traceId, parentSpanId: root?.spanId });
    expect(textOf(span, 'tocsin.outcome')).toBe('delivered');
  }
  expect(attempts().some((span) => (textOf(span, 'messaging.message.id') ?? '') !== '')).toBe(true);
  expect(spans().some(({ name }) => name.includes('deliver-slack'))).toBe(true);
  expect(daemon.log('delivered')[0]).toMatchObject({ traces: [root?.traceId] });
  const { resourceSpans } = JSON.parse(bodies()[0] ?? '{}') as Export;
  const resource = resourceSpans[0]?.resource ?? { attributes: [] };
  const said = ['service.name', 'service.version', 'vcs.ref.head.revision'].map((name) => textOf(resource, name));
  expect(said).toEqual(['tocsin', build().version, build().revision]);
});
